// What happens in the page before and, for native form controls, instead of an input event. Every function takes
// an element's number and returns a plain record; {error, …} says why the action is refused.

function describe(element) {
  for (let at = element; at && at !== document.documentElement; at = composedParent(at)) {
    if (at.nodeType !== Node.ELEMENT_NODE) continue;
    const number = numberOf.get(at);
    const role = roleOf(at);
    if (number !== undefined) return { key: number, text: "" };
    if (role === "dialog" || role === "alertdialog" || getComputedStyle(at).position === "fixed") {
      const name = nameOf(at, role)[0] || clean(at.textContent).trim().slice(0, 60);
      return { key: null, text: `${role || at.localName} "${name}"` };
    }
  }
  const text = clean(element.textContent || "").trim().slice(0, 60);
  return { key: null, text: `${element.localName} "${text}"` };
}

// The box that stands for the element: its own, its label's, or that of a descendant when it has none.
function standIn(element) {
  if (canBeSeen(element)) return element;
  const label = visibleLabel(element);
  if (label) return label;
  if (isRendered(element) && hasBox(element)) return element;
  for (const inner of element.querySelectorAll("*")) if (isRendered(inner) && hasBox(inner)) return inner;
  return null;
}

function receives(hit, element, stand) {
  if (!hit) return false;
  if (composedContains(element, hit) || composedContains(stand, hit)) return true;
  const label = hit.closest("label");
  return !!label && label.control === element;
}

function pointsOf(stand) {
  const points = [];
  const add = (x, y) => { if (x >= 0 && y >= 0 && x < innerWidth && y < innerHeight) points.push([x, y]); };
  const rects = [...stand.getClientRects()].filter((rect) => rect.width > 0 && rect.height > 0).slice(0, 8);
  for (const rect of rects) {
    const left = Math.max(rect.left, 0), right = Math.min(rect.right, innerWidth);
    const top = Math.max(rect.top, 0), bottom = Math.min(rect.bottom, innerHeight);
    if (right > left && bottom > top) add((left + right) / 2, (top + bottom) / 2);
  }
  for (const rect of rects) {
    for (const fy of [0.5, 0.2, 0.8]) for (const fx of [0.2, 0.8, 0.5, 0.04, 0.96]) add(rect.left + rect.width * fx, rect.top + rect.height * fy);
  }
  return points;
}

function findPoint(element, stand) {
  let cover = null;
  for (const [x, y] of pointsOf(stand)) {
    const hit = deepElementFromPoint(x, y);
    if (receives(hit, element, stand)) return { x, y };
    cover = cover || hit;
  }
  return { cover };
}

// Where to press: scrolls the element into view, looks for a point that it would receive.
function aim(number, allowDisabled, effectMs = 0) {
  const element = elementOf(number);
  if (!element) return { error: "stale" };
  if (!allowDisabled && isDisabled(element)) return { error: "disabled" };
  const stand = standIn(element);
  if (!stand) return { error: "hidden" };
  let found = inViewport(stand) ? findPoint(element, stand) : { cover: null };
  for (const block of ["center", "nearest", "start", "end"]) {
    if (found.x !== undefined) break;
    stand.scrollIntoView({ block, inline: "nearest", behavior: "instant" });
    found = findPoint(element, stand);
  }
  if (found.x !== undefined) {
    if (effectMs && !changesByItself(element)) expectEffect(effectMs, false);
    return { x: found.x, y: found.y };
  }
  if (!found.cover) return { error: "hidden" };
  return { error: "covered", by: describe(found.cover) };
}

// Form controls change without the page's doing, and that cannot be observed as a change of the document.
function changesByItself(element) {
  return element.localName === "input" ? !["button", "submit", "reset", "image"].includes(element.type)
    : element.localName === "select" || element.localName === "textarea" || element.isContentEditable;
}

function inViewport(element) {
  const box = element.getBoundingClientRect();
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
}

// For an element of a child frame: its frame's origin in this document, and whether the frame gets the press.
function frameOffset(number, x, y) {
  const frame = elementOf(number);
  if (!frame) return { error: "stale" };
  const box = frame.getBoundingClientRect();
  const left = box.left + frame.clientLeft + parseFloat(getComputedStyle(frame).paddingLeft);
  const top = box.top + frame.clientTop + parseFloat(getComputedStyle(frame).paddingTop);
  const at = { x: left + x, y: top + y };
  const hit = deepElementFromPoint(at.x, at.y);
  if (hit !== frame) return { error: "covered", by: hit ? describe(hit) : { key: null, text: "the edge of the page" } };
  return at;
}

const SET_TYPES = new Set(["date", "datetime-local", "month", "week", "time", "color", "range"]);
const NO_TEXT_TYPES = new Set(["checkbox", "radio", "file", "button", "submit", "reset", "image"]);

// How text gets into the element: "keys" for typing, "set" for controls whose value is chosen, not typed.
function editable(number) {
  const element = elementOf(number);
  if (!element) return { error: "stale" };
  const target = editTarget(element);
  if (!target) return { error: "not_editable", role: roleOf(element) };
  if (isDisabled(target)) return { error: "disabled" };
  if (target.readOnly || target.getAttribute("aria-readonly") === "true") return { error: "readonly" };
  const multiline = target.localName === "textarea" || target.isContentEditable;
  const searches = target.type === "search" || target.autocomplete === "off" || target.hasAttribute("aria-autocomplete")
    || ["combobox", "searchbox"].includes(target.getAttribute("role"));
  return { searches, how: SET_TYPES.has(target.type) && target.localName === "input" ? "set" : "keys", multiline, type: target.type || "" };
}

function editTarget(element) {
  const tag = element.localName;
  if (tag === "textarea" || element.isContentEditable) return element;
  if (tag === "input") return NO_TEXT_TYPES.has(element.type) ? null : element;
  // A combobox or search role on a wrapper: its field is inside.
  return element.querySelector("input:not([type=hidden]):not([type=checkbox]):not([type=radio]):not([type=file]), textarea");
}

function selectContent(number) {
  const element = elementOf(number);
  const target = element && editTarget(element);
  if (!target) return { error: "stale" };
  const active = deepActiveElement();
  if (active !== target && !target.contains(active)) target.focus({ preventScroll: true });
  if (target.select) target.select();
  else {
    const range = document.createRange();
    range.selectNodeContents(target);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }
  return { empty: target.value !== undefined ? target.value === "" : target.textContent === "" };
}

function afterTyping(number, effectMs) {
  expectEffect(effectMs, true);
  return {};
}

function announce(element) {
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  element.dispatchEvent(new Event("change", { bubbles: true }));
}

function setValue(number, value) {
  const element = elementOf(number);
  const target = element && editTarget(element);
  if (!target) return { error: "stale" };
  target.focus({ preventScroll: true });
  const before = target.value;
  target.value = value;
  if (target.value !== value && (target.value === "" || target.type !== "range")) {
    if (target.type === "color" && target.value.toLowerCase() === value.toLowerCase()) { announce(target); return {}; }
    target.value = before;
    return { error: "bad_value", type: target.type };
  }
  announce(target);
  return {};
}

function choose(number, wanted) {
  const element = elementOf(number);
  if (!element) return { error: "stale" };
  if (element.localName !== "select") return { error: "not_select", role: roleOf(element) };
  if (isDisabled(element)) return { error: "disabled" };
  const options = [...element.options];
  const label = (option) => clean(option.label).trim();
  const chosen = [];
  for (const value of wanted) {
    const text = clean(value).trim();
    const found = options.find((option) => label(option) === text) || options.find((option) => option.value === value)
      || options.find((option) => label(option).toLowerCase() === text.toLowerCase());
    if (!found) return { error: "no_option", wanted: value, options: options.map(label) };
    if (found.matches(":disabled")) return { error: "option_disabled", wanted: value };
    chosen.push(found);
  }
  if (chosen.length > 1 && !element.multiple) return { error: "single" };
  element.focus({ preventScroll: true });
  if (element.multiple) for (const option of options) option.selected = chosen.includes(option);
  else chosen[0].selected = true;
  announce(element);
  return {};
}

function focusOn(number) {
  const element = elementOf(number);
  if (!element) return { error: "stale" };
  element.focus({ preventScroll: false });
  return {};
}

function scrollerOf(element) {
  for (let at = element; at && at.nodeType !== Node.DOCUMENT_NODE; at = composedParent(at)) {
    if (at.nodeType !== Node.ELEMENT_NODE) continue;
    const style = getComputedStyle(at);
    if (/(auto|scroll)/.test(style.overflowY) && at.scrollHeight > at.clientHeight + 1) return at;
  }
  return document.scrollingElement || document.documentElement;
}

// Scrolls by most of a screen; false when there is nothing further.
function scrollPage(number, direction) {
  const element = number === null ? document.scrollingElement || document.documentElement : elementOf(number);
  if (!element) return { error: "stale" };
  let scroller = number === null ? element : scrollerOf(element);
  if (number === null && scroller.scrollHeight <= scroller.clientHeight + 1) {
    scroller = scrollerOf(deepElementFromPoint(innerWidth / 2, innerHeight / 2) || scroller);
  }
  const before = scroller.scrollTop;
  const amount = 0.8 * (scroller === document.scrollingElement ? innerHeight : scroller.clientHeight);
  scroller.scrollBy({ top: direction === "down" ? amount : -amount, behavior: "instant" });
  return { moved: scroller.scrollTop !== before };
}

function fileField(number) {
  const element = elementOf(number);
  if (!element) return { error: "stale" };
  if (element.localName !== "input" || element.type !== "file") return { error: "not_file" };
  return isDisabled(element) ? { error: "disabled" } : {};
}

function pageText() {
  const body = bodyOf.call(document);
  return body ? body.innerText : "";
}
