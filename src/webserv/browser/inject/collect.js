// One pass over the document's composed tree, in reading order, into a small tree of plain records:
//   "text"                       text, white space collapsed
//   {t: "b" | "li" | "l" | …, c} structure with children, see BLOCK_KINDS in observation/element.py
//   {t: "e", k, r, n, …, c?}     an element that can be acted on; c when its content says more than its name
//   {t: "fr", k, n}              a frame, whose own pass is put in its place

const HEADINGS = { h1: 1, h2: 2, h3: 3, h4: 4, h5: 5, h6: 6 };
const FULLY_SHOWN = { opacityProperty: true, visibilityProperty: true };

class Walk {
  constructor(options) {
    this.options = options;
    this.visited = 0;
    this.chars = 0;
    this.cut = 0;
    this.overlay = findOverlay();
    this.over = null;
    this.stated = new Set(); // labels whose text is said as a control's name
  }

  children(parent, context, out) {
    for (const child of composedChildren(parent)) this.node(child, context, out);
  }

  node(node, context, out) {
    if (node.nodeType === Node.TEXT_NODE) {
      if (!context.hidden && !context.mute) this.text(node.data, context, out);
      return;
    }
    try {
      if (node.nodeType === Node.ELEMENT_NODE) this.element(node, context, out);
    } catch {
      // Only a form whose fields are named like DOM methods gets here; its content is read as if it were a block.
      for (const child of childNodesOf.call(node)) this.node(child, context, out);
    }
  }

  text(data, context, out) {
    if (data.length > TEXT_NODE_LIMIT || this.chars > TEXT_LIMIT) {
      this.cut += 1;
      data = data.slice(0, Math.max(0, Math.min(TEXT_NODE_LIMIT, TEXT_LIMIT - this.chars)));
    }
    this.chars += data.length;
    if (data.includes("\n") && context.style && context.style.whiteSpaceCollapse.startsWith("preserve")) {
      const lines = data.replace(/[\u200b\ufeff\u00ad]/g, "").split(/\r?\n/);
      lines.forEach((line, index) => {
        if (index) out.push({ t: "br" });
        if (line.trim()) pushText(out, line.replace(/\t/g, "  "));
      });
      return;
    }
    pushText(out, clean(data));
  }

  element(element, context, out) {
    const tag = element.localName;
    if (SKIPPED.has(tag)) return;
    if (++this.visited > this.options.maxNodes) {
      this.cut += 1;
      return;
    }
    if (element.shadowRoot) watchRoot(element.shadowRoot);
    const style = getComputedStyle(element);
    const proxy = tag === "input" && TOGGLE_TYPES.has(element.type) ? visibleLabel(element) : null;
    const display = style.display;
    if (display === "none") {
      if (proxy && !context.hidden) this.control(element, style, context, out);
      return;
    }
    if (tag === "br") {
      if (!context.mute) out.push({ t: "br" });
      return;
    }
    const inner = this.enter(element, style, context);
    if (inner === null) {
      if (proxy && !context.hidden) this.control(element, style, context, out);
      return;
    }
    if (element === this.overlay && this.over === null) {
      this.over = [];
      this.region(element, style, { ...inner, mute: false }, this.over);
      return;
    }
    this.visible(element, style, inner, out);
  }

  // The context of an element's content; null when nothing of it can be seen.
  enter(element, style, context) {
    // One native question clears most elements; what it doubts is looked at closely.
    const clear = element.checkVisibility(FULLY_SHOWN);
    if (style.display !== "contents") {
      if ((!clear && style.opacity === "0") || style.contentVisibility === "hidden") return null;
      const clips = style.overflowX !== "visible";
      const position = style.position;
      // Boxes are only measured where they can matter: most elements neither clip nor leave the flow.
      if (clips || position === "absolute" || position === "fixed") {
        const box = element.getBoundingClientRect();
        if (isClippedAway(style, box)) return null;
        const flat = box.height === 0 || box.width === 0;
        if (flat && clips && style.display !== "inline" && element !== bodyOf.call(document)) return null;
      }
    }
    return {
      hidden: !clear && style.visibility !== "visible",
      mute: context.mute,
      style,
      pointer: style.cursor === "pointer",
      pointerAround: context.pointer || context.actionable,
      actionable: context.actionable,
    };
  }

  visible(element, style, context, out) {
    const tag = element.localName;
    if (!context.hidden) {
      const role = roleOf(element);
      if (isInteractive(element, role, style, context.pointerAround)) {
        this.control(element, style, context, out);
        return;
      }
      if (tag === "iframe" || tag === "frame") {
        if (hasBox(element)) out.push({ t: "fr", k: keyOf(element), n: clean(element.title || "").trim() });
        return;
      }
      if (tag === "img" || tag === "svg" || role === "img" || tag === "canvas") {
        this.image(element, context, out);
        return;
      }
      if (tag === "label" && this.isStated(element)) {
        this.inline(element, style, { ...context, mute: true }, out);
        return;
      }
      if (tag === "progress" || tag === "meter") {
        if (!context.mute) pushText(out, ` ${tag} ${Math.round((100 * element.value) / (element.max || 1)) || 0}% `);
        return;
      }
      if (this.structure(element, tag, role, style, context, out)) return;
    }
    if (tag === "details" && !element.open) {
      const summary = element.querySelector(":scope > summary");
      if (summary) this.node(summary, context, out);
      return;
    }
    this.inline(element, style, context, out);
  }

  structure(element, tag, role, style, context, out) {
    const heading = HEADINGS[tag] ? HEADINGS[tag] : role === "heading" ? Number(element.getAttribute("aria-level") || 2) : 0;
    const add = (record) => {
      this.children(element, context, record.c);
      if (hasContent(record.c)) out.push(record);
      return true;
    };
    if (heading) return add({ t: "h", l: heading, c: [] });
    const written = element.getAttribute("role");
    const plain = written === "presentation" || written === "none";
    if (!plain) {
      if (tag === "li" || role === "listitem") return add({ t: "li", m: marker(element), c: [] });
      if (tag === "ul" || tag === "ol" || tag === "menu" || role === "list") return add({ t: "l", c: [] });
      const part = tag === "table" ? "tb" : tag === "tr" ? "tr" : tag === "td" || tag === "th" ? "td" : TABLE_ROLES[role];
      if (part) return add(tableRecord(element, part, tag, role));
      if (tag === "dt" || tag === "dd") return add({ t: tag, c: [] });
    }
    if ((tag === "caption" || tag === "legend") && !holdsControls(element)) {
      if (nameOf(element.parentElement, roleOf(element.parentElement))[1] === "caption") return true;
    }
    if (tag === "del" || tag === "s" || tag === "strike") {
      pushText(out, " ~~");
      const inner = [];
      this.children(element, context, inner);
      trimEnds(inner);
      for (const item of inner) typeof item === "string" ? pushText(out, item) : out.push(item);
      pushText(out, "~~ ");
      return true;
    }
    return this.region(element, style, context, out, role || landmarkOf(element, tag));
  }

  region(element, style, context, out, role = roleOf(element)) {
    const forced = element === this.overlay;
    if (!forced && !REGION_ROLES.has(role)) return false;
    const name = groupName(element, role);
    if (!forced && !name && NAMED_ONLY.has(role)) return false;
    const record = { t: "rg", r: REGION_ROLES.has(role) ? role : "dialog", n: name, c: [] };
    this.children(element, context, record.c);
    if (hasContent(record.c)) out.push(record);
    return true;
  }

  inline(element, style, context, out) {
    const display = style.display;
    if (display === "contents" || display === "inline") {
      this.children(element, context, out);
      return;
    }
    if (display.startsWith("inline")) {
      pushText(out, " ");
      this.children(element, context, out);
      pushText(out, " ");
      return;
    }
    const inner = [];
    this.children(element, context, inner);
    if (!hasContent(inner)) {
      if (inner.length) pushText(out, " ");
      return;
    }
    if (inner.length === 1 && inner[0].t && inner[0].t !== "e" && inner[0].t !== "br" && inner[0].t !== "im") out.push(inner[0]);
    else out.push({ t: "b", c: inner });
  }

  image(element, context, out) {
    if (context.mute) return;
    const name = nameOf(element, "img")[0];
    if (element.localName === "svg" && !name) {
      for (const text of element.querySelectorAll("text")) pushText(out, ` ${clean(text.textContent)} `);
      return;
    }
    if (element.localName === "canvas" || (name && hasBox(element))) {
      out.push({ t: "im", r: element.localName === "canvas" ? "canvas" : "img", n: name || clean(element.textContent).trim() });
    }
  }

  isStated(label) {
    const control = label.control;
    if (!control || control.type === "hidden") return false;
    const widget = control.localName === "select" && control.nextElementSibling?.querySelector("[role=combobox]");
    if (widget && replacedSelect(widget, "combobox") === control) return true;
    if (!visibleLabel(control) && !canBeSeen(control)) return false;
    return nameOf(control, roleOf(control))[1] === "label" && clean(label.textContent).length < NAME_LIMIT;
  }

  control(element, style, context, out) {
    let role = roleOf(element) || "clickable";
    const [name, source] = nameOf(element, role);
    const box = (visibleLabel(element) && !(isRendered(element) && hasBox(element)) ? visibleLabel(element) : element).getBoundingClientRect();
    const record = { t: "e", k: keyOf(element), r: role, n: name };
    const value = valueOf(element, role);
    if (value !== null) record.v = value;
    const states = statesOf(element, role);
    if (states.length) record.s = states;
    if (element.localName === "select") record.o = [...element.options].map((option) => clean(option.label).trim());
    else if (element.list) record.o = [...element.list.options].map((option) => option.value || option.label);
    if (role === "link" && typeof element.href === "string") record.h = element.href;
    if (element.multiple && element.localName === "select") record.m = 1;
    const target = targetOf(element);
    if (target !== record.h) record.d = target;
    record.x = [Math.round(box.x), Math.round(box.y), Math.round(box.width), Math.round(box.height)];
    const proxied = box !== null && style.position !== "static" && visibleLabel(element);
    if (!proxied && !style.display.startsWith("inline") && style.display !== "none") record.b = 1;
    if (!name) record.f = element.getAttribute("name") || element.id || "";
    if (!VALUE_ROLES.has(role) && !["select", "textarea", "input"].includes(element.localName)) {
      const inner = [];
      const nested = { ...context, mute: false, hidden: false, actionable: true };
      this.children(element, nested, inner);
      if (role === "link" && inner.some((item) => item.t === "im") && !flatten(inner, true).text.trim()) record.i = 1;
      if (this.saysMore(inner, name, source, record)) record.c = inner;
    }
    out.push(record);
  }

  // Whether an element's content must be shown beside its name: it holds elements of its own, or visible text
  // that the name does not contain.
  saysMore(inner, name, source, record) {
    if (!hasContent(inner)) return false;
    const said = flatten(inner);
    if (said.elements) {
      if (source === "content") record.n = name.length > 60 ? firstText(inner) : name;
      return true;
    }
    const text = clean(said.text).trim();
    if (text.length > LEAF_NAME_LIMIT) {
      if (source === "content") record.n = firstText(inner);
      return true;
    }
    if (source === "content") return false;
    return /[\p{L}\p{N}]/u.test(text) && !name.toLowerCase().includes(text.toLowerCase());
  }
}

function marker(element) {
  const list = element.parentElement;
  if (!list || list.localName !== "ol" || getComputedStyle(element).listStyleType === "none") return "-";
  const items = [...list.children].filter((child) => child.localName === "li");
  return `${(list.start || 1) + items.indexOf(element)}.`;
}

function tableRecord(element, part, tag, role) {
  if (part === "tb") return { t: "tb", n: groupName(element, "table"), c: [] };
  if (part === "tr") return { t: "tr", c: [] };
  const record = { t: "td", c: [] };
  if (tag === "th" || role === "columnheader" || role === "rowheader") record.h = 1;
  if (element.colSpan > 1) record.s = Math.min(element.colSpan, 50);
  return record;
}

// A caption or legend that holds controls is shown as content, not as a name.
function groupName(element, role) {
  const [name, source] = nameOf(element, role);
  const caption = source === "caption" && element.querySelector(":scope > caption, :scope > legend");
  return caption && holdsControls(caption) ? "" : name;
}

function landmarkOf(element, tag) {
  const sectioned = () => element.closest("article, aside, main, nav, section") !== null;
  if (tag === "header") return sectioned() ? "" : "banner";
  if (tag === "footer") return sectioned() ? "" : "contentinfo";
  if (tag === "form") return "form";
  if (tag === "section") return "region";
  if (tag === "figure") return "figure";
  return "";
}

// What covers the whole viewport: a modal dialog, or a fixed layer that every probe of the viewport hits.
function findOverlay() {
  const modals = document.querySelectorAll("dialog:modal, [aria-modal='true']");
  for (let i = modals.length - 1; i >= 0; i -= 1) {
    if (isRendered(modals[i]) && hasBox(modals[i]) && getComputedStyle(modals[i]).opacity !== "0") return modals[i];
  }
  let layer = null;
  for (const [fx, fy] of [[0.5, 0.5], [0.1, 0.15], [0.9, 0.15], [0.1, 0.85], [0.9, 0.85]]) {
    let at = deepElementFromPoint(innerWidth * fx, innerHeight * fy);
    while (at instanceof Element && getComputedStyle(at).position !== "fixed") at = composedParent(at);
    if (!(at instanceof Element) || at.contains(bodyOf.call(document)) || (layer && at !== layer)) return null;
    layer = at;
  }
  const all = document.getElementsByTagName("*").length;
  return layer && layer.getElementsByTagName("*").length < 0.6 * all && layer.textContent.trim() ? layer : null;
}

function collect(options) {
  actionOfForm = new WeakMap();
  activeElement = deepActiveElement();
  const walk = new Walk(options);
  const out = [];
  const context = { hidden: false, mute: false, style: null, pointer: false, pointerAround: false, actionable: false };
  const body = bodyOf.call(document);
  if (body) walk.node(body, context, out);
  return JSON.stringify({ url: location.href, title: clean(titleOf.call(document)).trim(), page: out, over: walk.over, cut: walk.cut, gone: newlyGone() });
}
