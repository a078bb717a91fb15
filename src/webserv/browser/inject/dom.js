// The composed tree (light and open shadow trees as they are rendered) and what of it can be seen.

const SKIPPED = new Set([
  "script", "style", "template", "link", "meta", "head", "title", "param", "source", "track", "base", "datalist", "noscript",
]);
const TOGGLE_TYPES = new Set(["checkbox", "radio", "file"]);

// A page's forms and named elements hide properties of the same name ("title", "body"), in every world.
const getterOf = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
const childNodesOf = getterOf(Node.prototype, "childNodes");
const bodyOf = getterOf(Document.prototype, "body");
const titleOf = getterOf(Document.prototype, "title");
const imagesOf = getterOf(Document.prototype, "images");
const readyStateOf = getterOf(Document.prototype, "readyState");

const UNCLEAN = /[\u200b\ufeff\u00ad\u00a0\t\n\r\f\v\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]| {2}/;

function clean(text) {
  return !UNCLEAN.test(text) ? text : text.replace(/[\u200b\ufeff\u00ad]/g, "").replace(/[\s\u00a0]+/g, " ");
}

function composedChildren(node) {
  if (node.shadowRoot) return node.shadowRoot.childNodes;
  if (node.localName === "slot" && node.getRootNode() instanceof ShadowRoot) {
    const assigned = node.assignedNodes();
    if (assigned.length) return assigned;
  }
  return node.childNodes;
}

function composedParent(node) {
  if (node.assignedSlot) return node.assignedSlot;
  const parent = node.parentNode;
  return parent instanceof ShadowRoot ? parent.host : parent;
}

function composedContains(ancestor, node) {
  for (let at = node; at; at = composedParent(at)) if (at === ancestor) return true;
  return false;
}

function deepElementFromPoint(x, y) {
  let hit = document.elementFromPoint(x, y);
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

function deepActiveElement() {
  let active = document.activeElement;
  while (active && active.shadowRoot && active.shadowRoot.activeElement) active = active.shadowRoot.activeElement;
  return active;
}

function isRendered(element) {
  return element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false });
}

function hasBox(element) {
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

// "Visually hidden" helper classes: one pixel, clipped away, or parked left of or above the document.
function isClippedAway(style, box) {
  if (style.position === "static" || style.position === "relative") {
    return style.overflowX === "hidden" && style.overflowY === "hidden" && box.width <= 1 && box.height <= 1;
  }
  if (/^rect\((0|1)(px)?,? (0|1)(px)?,? (0|1)(px)?,? (0|1)(px)?\)$/.test(style.clip)) return true;
  if (/^inset\((50|100)%\)$/.test(style.clipPath)) return true;
  if (box.width <= 1 && box.height <= 1 && style.overflowX === "hidden") return true;
  return (box.width > 0 || box.height > 0) && (box.right + scrollX <= 0 || box.bottom + scrollY <= 0);
}

function canBeSeen(element) {
  if (!isRendered(element) || !hasBox(element)) return false;
  const style = getComputedStyle(element);
  return style.opacity !== "0" && !isClippedAway(style, element.getBoundingClientRect());
}

// A checkbox, radio button or file field that its own styling hides is used through its label.
function visibleLabel(element) {
  if (element.localName !== "input" || !TOGGLE_TYPES.has(element.type)) return null;
  for (const label of element.labels || []) {
    if (isRendered(label) && hasBox(label) && getComputedStyle(label).opacity !== "0") return label;
  }
  return null;
}

function isDisabled(element) {
  if (element.matches(":disabled")) return true;
  return !!element.closest('[aria-disabled="true"]');
}

function isEditingHost(element) {
  if (!element.hasAttribute("contenteditable") && element.localName !== "body") return false;
  return element.isContentEditable && !(element.parentElement && element.parentElement.isContentEditable);
}
