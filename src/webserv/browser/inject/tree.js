// Building and asking the small tree that collect.js makes: text runs are joined, emptiness and content are told.

function pushText(out, text) {
  if (!text) return;
  const last = out.length - 1;
  if (last < 0 || typeof out[last] !== "string") out.push(text);
  else if (text[0] === " " && out[last].endsWith(" ")) out[last] += text.slice(1);
  else out[last] += text;
}

function trimEnds(items) {
  if (typeof items[0] === "string") items[0] = items[0].trimStart();
  const last = items.length - 1;
  if (typeof items[last] === "string") items[last] = items[last].trimEnd();
}

function hasContent(items) {
  return items.some((item) => (typeof item === "string" ? item.trim() !== "" : item.t !== "br"));
}

function flatten(items, withoutImages = false) {
  let text = "";
  let elements = 0;
  const visit = (list) => {
    for (const item of list) {
      if (typeof item === "string") text += item;
      else if (item.t === "e" || item.t === "fr") elements += 1;
      else if (item.t === "im") text += withoutImages ? " " : ` ${item.n} `;
      else if (item.c) {
        text += " ";
        visit(item.c);
        text += " ";
      } else text += " ";
    }
  };
  visit(items);
  return { text, elements };
}

function firstText(items) {
  for (const item of items) {
    const text = typeof item === "string" ? item.trim() : item.c ? firstText(item.c) : item.n || "";
    if (text) return text.length > 60 ? `${text.slice(0, 59)}…` : text;
  }
  return "";
}
