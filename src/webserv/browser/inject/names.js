// Roles and accessible names: the parts of HTML-AAM (https://www.w3.org/TR/html-aam-1.0/) and accname
// (https://www.w3.org/TR/accname-1.2/) that pages use. Deviations: placeholder counts as a name (as HTML-AAM
// allows), and an icon without any name is named after its icon class, because a person sees the icon.

const INPUT_ROLES = {
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox", file: "file", color: "color", date: "date",
  "datetime-local": "datetime", month: "month", week: "week", time: "time", password: "password",
};
const TAG_ROLES = {
  button: "button", select: "select", textarea: "textbox", summary: "button", nav: "navigation", main: "main",
  aside: "complementary", dialog: "dialog", option: "option", progress: "progressbar", meter: "meter",
  video: "video", audio: "audio", canvas: "canvas", article: "article", fieldset: "group", search: "search",
};
const CONTENT_NAMED = new Set([
  "button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
  "treeitem", "gridcell", "cell", "columnheader", "rowheader", "heading", "tooltip", "clickable", "row",
]);
const NAME_LIMIT = 240;

function roleOf(element) {
  const written = element.getAttribute("role");
  const explicit = written ? written.trim().split(/\s+/)[0].toLowerCase() : "";
  if (explicit && explicit !== "none" && explicit !== "presentation") return explicit;
  const tag = element.localName;
  if (tag === "input") {
    if (element.type === "text" && element.getAttribute("list")) return "combobox";
    return INPUT_ROLES[element.type] || "textbox";
  }
  if (tag === "a" || tag === "area") return element.hasAttribute("href") ? "link" : "";
  if (tag === "img") return "img";
  if (TAG_ROLES[tag]) return TAG_ROLES[tag];
  if (isEditingHost(element)) return "textbox";
  return "";
}

function textOf(element, depth) {
  // Name from content: text, alternatives and labels of descendants, hidden ones left out.
  let text = "";
  for (const child of composedChildren(element)) {
    if (text.length > NAME_LIMIT * 2) break;
    if (child.nodeType === Node.TEXT_NODE) text += child.data.slice(0, NAME_LIMIT * 4);
    else if (child.nodeType === Node.ELEMENT_NODE) text += embeddedText(child, depth + 1);
  }
  return text;
}

function embeddedText(element, depth) {
  const tag = element.localName;
  if (SKIPPED.has(tag) && !(tag === "title" && element.ownerSVGElement)) return "";
  if (tag === "br") return " ";
  const label = element.getAttribute("aria-label");
  if (label && label.trim()) return ` ${label} `;
  if (tag === "img" || tag === "area") return ` ${element.alt || element.title || ""} `;
  if (tag === "svg") return ` ${svgTitle(element)} `;
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility !== "visible") return "";
  if (tag === "select") return ` ${[...element.selectedOptions].map((option) => option.label).join(" ")} `;
  if (tag === "input" && !TOGGLE_TYPES.has(element.type) && element.type !== "password") return ` ${element.value} `;
  if (tag === "textarea") return ` ${element.value} `;
  const inner = depth < 40 ? textOf(element, depth) : element.textContent.slice(0, NAME_LIMIT);
  return style.display.startsWith("inline") && style.display !== "inline-block" ? inner : ` ${inner} `;
}

function svgTitle(element) {
  const title = element.querySelector(":scope > title, :scope > g > title");
  return title ? title.textContent : "";
}

function referencedText(element, attribute) {
  const written = element.getAttribute(attribute);
  if (!written) return "";
  const ids = written.split(/\s+/).filter(Boolean);
  const root = element.getRootNode();
  const parts = [];
  for (const id of ids.slice(0, 20)) {
    const other = root.getElementById ? root.getElementById(id) : document.getElementById(id);
    if (other) parts.push(other.getAttribute("aria-label") || textOf(other, 0) || other.value || "");
  }
  return parts.join(" ");
}

function labelText(element) {
  const parts = [];
  for (const label of element.labels || []) {
    let text = "";
    const visit = (node) => {
      for (const child of composedChildren(node)) {
        if (child === element) continue;
        if (child.nodeType === Node.TEXT_NODE) text += child.data;
        else if (child.nodeType === Node.ELEMENT_NODE && !["select", "textarea", "input"].includes(child.localName)) {
          if (child.contains(element)) visit(child);
          else text += embeddedText(child, 1);
        }
      }
    };
    visit(label);
    text = clean(text).trim();
    const said = (one) => one.replace(/[\s:*]+$/, "").toLowerCase();
    if (!parts.some((part) => said(part) === said(text))) parts.push(text);
  }
  return parts.join(" ");
}

// Drop-down libraries hide the native select and put a widget behind it; its label then names the widget.
function replacedSelect(element, role) {
  if (role !== "combobox" || element.localName === "input") return null;
  for (let at = element, i = 0; at && i < 4; at = at.parentElement, i += 1) {
    const before = at.previousElementSibling;
    if (before && before.localName === "select") return canBeSeen(before) ? null : before;
  }
  return null;
}

function iconHint(element) {
  const marked = [element, ...element.querySelectorAll("*")].slice(0, 12);
  for (const part of marked) {
    const use = part.localName === "use" ? part.getAttribute("href") || part.getAttribute("xlink:href") || "" : "";
    const words = `${part.getAttribute("data-icon") || ""} ${part.getAttribute("class") || ""} ${use.replace("#", " icon-")}`;
    const found = words.match(/(?:^|[\s_-])(?:icon|icons|fa|bi|glyphicon|mdi|ti|feather|lucide)[-_]{1,2}([a-z][a-z-]{1,30})/i);
    if (found && !/^(solid|regular|fw|lg|sm|xs|2x|3x|brands|icon)$/.test(found[1])) return found[1].replace(/-/g, " ");
  }
  return "";
}

// Returns [name, where it came from]: "label" tells the walk that the label's text is already said.
function nameOf(element, role) {
  const pick = (text) => text && clean(text.slice(0, NAME_LIMIT * 8)).trim();
  const replaced = replacedSelect(element, role);
  let name = replaced ? pick(replaced.getAttribute("aria-label") || labelText(replaced)) : "";
  if (name) return [cut(name), "label"];
  name = pick(referencedText(element, "aria-labelledby"));
  if (name) return [cut(name), "labelledby"];
  name = pick(element.getAttribute("aria-label") || "");
  if (name) return [cut(name), "aria"];
  const tag = element.localName;
  if (tag === "input" && ["button", "submit", "reset"].includes(element.type)) {
    const standard = { submit: "Submit", reset: "Reset", button: "" }[element.type];
    name = pick(element.value || element.title || standard);
    if (name) return [cut(name), "value"];
  }
  if (tag === "img" || tag === "area" || (tag === "input" && element.type === "image")) {
    name = pick(element.getAttribute("alt") || element.title || "");
    if (name) return [cut(name), "alt"];
  }
  if (element.labels && element.labels.length) {
    name = pick(labelText(element));
    if (name) return [cut(name), "label"];
  }
  if (tag === "fieldset" || tag === "table" || tag === "figure") {
    const inner = element.querySelector(
      ":scope > legend, :scope > caption, :scope > figcaption");
    name = inner ? pick(textOf(inner, 0)) : "";
    if (name) return [cut(name), "caption"];
  }
  if (tag === "svg") {
    name = pick(svgTitle(element));
    if (name) return [cut(name), "title"];
  }
  if (CONTENT_NAMED.has(role)) {
    name = pick(textOf(element, 0));
    if (name) return [cut(name), "content"];
  }
  name = pick(element.getAttribute("title") || "");
  if (name) return [cut(name), "title"];
  name = pick(element.getAttribute("placeholder") || element.getAttribute("aria-placeholder") || "");
  if (name) return [cut(name), "placeholder"];
  if (CONTENT_NAMED.has(role)) {
    name = pick(iconHint(element));
    if (name) return [cut(name), "icon"];
  }
  return ["", ""];
}

function cut(text) {
  return text.length <= NAME_LIMIT ? text : `${text.slice(0, NAME_LIMIT - 1)}…`;
}
