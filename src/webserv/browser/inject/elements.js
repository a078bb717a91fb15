// Which elements can be acted on, and what a policy is told of them: states, value, target.

const INTERACTIVE_ROLES = new Set([
  "button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
  "treeitem", "combobox", "textbox", "searchbox", "slider", "spinbutton",
]);
const REGION_ROLES = new Set([
  "navigation", "main", "banner", "contentinfo", "complementary", "search", "form", "region", "dialog", "alertdialog",
  "alert", "status", "log", "group", "radiogroup", "tablist", "tabpanel", "menu", "menubar", "listbox", "toolbar",
  "tree", "tooltip", "figure",
]);
const NAMED_ONLY = new Set(["form", "region", "group", "radiogroup", "figure", "toolbar", "tablist", "menu", "listbox"]);
const TABLE_ROLES = { table: "tb", grid: "tb", treegrid: "tb", row: "tr", cell: "td", gridcell: "td", columnheader: "td", rowheader: "td" };
const VALUE_ROLES = new Set(["textbox", "searchbox", "spinbutton", "combobox", "slider", "password", "date", "datetime", "month", "week", "time", "color", "file"]);
let activeElement = null; // while a pass lasts
let actionOfForm = new WeakMap(); // one pass long
const LEAF_NAME_LIMIT = 160;
const VALUE_LIMIT = 4000;
const TEXT_NODE_LIMIT = 100000; // characters; far more than an observation holds
const TEXT_LIMIT = 500000;

function isInteractive(element, role, style, pointerAround) {
  const tag = element.localName;
  if (tag === "a" || tag === "area") {
    if (element.hasAttribute("href")) return true;
  } else if (tag === "input") return element.type !== "hidden";
  else if (tag === "button" || tag === "select" || tag === "textarea") return true;
  else if (tag === "summary") return element.parentElement?.localName === "details";
  else if ((tag === "video" || tag === "audio") && element.controls) return true;
  if (INTERACTIVE_ROLES.has(role) && tag !== "option") return true;
  if (isEditingHost(element)) return true;
  if (tag === "body" || tag === "html" || tag === "iframe") return false;
  if (element.hasAttributes()) {
    if (element.hasAttribute("onclick") || element.getAttribute("draggable") === "true") return true;
    if (element.hasAttribute("tabindex") && element.tabIndex >= 0 && !TABLE_ROLES[role] && !REGION_ROLES.has(role)) return true;
  }
  return !pointerAround && style.cursor === "pointer" && tag !== "label";
}

function statesOf(element, role) {
  const states = [];
  const hasAria = element.getAttributeNames().some((name) => name.startsWith("aria-"));
  const aria = (name) => (hasAria ? element.getAttribute(`aria-${name}`) : null);
  if (isDisabled(element)) states.push("disabled");
  if (element.readOnly && VALUE_ROLES.has(role)) states.push("readonly");
  if (element.required || aria("required") === "true") states.push("required");
  if (aria("invalid") && aria("invalid") !== "false") states.push("invalid");
  const native = element.localName === "input" && (element.type === "checkbox" || element.type === "radio");
  if (native ? element.indeterminate && element.type === "checkbox" : aria("checked") === "mixed") states.push("mixed");
  else if (native ? element.checked : aria("checked") === "true") states.push("checked");
  if (aria("selected") === "true") states.push("selected");
  if (aria("pressed") === "true") states.push("pressed");
  if (aria("current") && aria("current") !== "false") states.push("current");
  const expanded = element.localName === "summary" ? String(element.parentElement.open) : aria("expanded");
  if (expanded === "true") states.push("expanded");
  else if (expanded === "false") states.push("collapsed");
  if (element === activeElement && element !== bodyOf.call(document)) states.push("focused");
  return states;
}

function valueOf(element, role) {
  const tag = element.localName;
  if (tag === "select") return [...element.selectedOptions].map((option) => clean(option.label).trim()).join(", ");
  if (tag === "input") {
    if (TOGGLE_TYPES.has(element.type) && element.type !== "file") return null;
    if (["button", "submit", "reset", "image"].includes(element.type)) return null;
    if (element.type === "file") return [...element.files].map((file) => file.name).join(", ");
    if (element.type === "password") return "•".repeat(element.value.length);
    return element.value.slice(0, VALUE_LIMIT);
  }
  if (tag === "textarea") return element.value.slice(0, VALUE_LIMIT);
  if (isEditingHost(element)) return element.innerText.trim().slice(0, VALUE_LIMIT);
  if (replacedSelect(element, role)) return clean(textOf(element, 0)).trim();
  if (role === "slider" || role === "spinbutton") {
    return element.getAttribute("aria-valuetext") || element.getAttribute("aria-valuenow");
  }
  return null;
}

// What the element stands for beyond role and name: two elements of two documents with the same role, name and
// target are the same thing to a policy and may share an id.
function targetOf(element) {
  const here = inSiteFrame(element) ? "" : location.pathname;
  if (typeof element.href === "string") {
    const inPage = (element.getAttribute("href") || "").startsWith("#");
    return inPage ? `${here}${element.hash}#` : element.href;
  }
  const form = element.form;
  const field = `${element.getAttribute("name") || ""}#${element.type || ""}`;
  if (form) {
    const action = actionOf(form);
    const value = TOGGLE_TYPES.has(element.type) || element.localName === "button" ? element.value : "";
    return `${action}#${field}#${value}`;
  }
  return `${here}#${field}#${element.id}`;
}

// Not `form.action`, which a field named "action" hides.
function actionOf(form) {
  let action = actionOfForm.get(form);
  if (action === undefined) {
    const written = Element.prototype.getAttribute.call(form, "action");
    try {
      action = written ? new URL(written, document.baseURI).href : location.pathname;
    } catch {
      action = written;
    }
    actionOfForm.set(form, action);
  }
  return action;
}

// Navigation, header and footer are the same on every page of a site; what else a script button does is its page's.
function inSiteFrame(element) {
  const frame = element.closest("nav, header, footer, [role=navigation], [role=banner], [role=contentinfo]");
  return !!frame && !frame.closest("main, article, [role=main]");
}

function holdsControls(element) {
  return element.querySelector("a[href], button, input:not([type=hidden]), select, textarea, [tabindex], [onclick]") !== null;
}
