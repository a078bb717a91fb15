// Behaviour of the report's pages; without it everything can still be read.
"use strict";

const root = document.documentElement;

function stored(key, value) {
  // Storage may be refused to pages opened from disk; the theme is then forgotten, nothing else.
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch { /* see above */ }
  return null;
}

function setUpTheme() {
  const button = document.querySelector(".theme");
  const chosen = stored("webserv-theme");
  if (chosen) root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    stored("webserv-theme", root.dataset.theme);
  });
}

function setUpSorting(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.dataset.sort) return;
    const numeric = head.dataset.sort === "number";
    const label = document.createElement("button");
    label.type = "button";
    label.append(...head.childNodes);
    head.append(label);
    label.addEventListener("click", () => {
      const down = head.ariaSort ? head.ariaSort === "ascending" : numeric;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.ariaSort = down ? "descending" : "ascending";
      const value = (row) => {
        const cell = row.cells[column];
        return numeric ? Number(cell.dataset.value ?? 0) : cell.textContent.trim();
      };
      const keyed = [...table.tBodies[0].rows].map((row) => [value(row), row]);
      keyed.sort(([a], [b]) => (numeric ? a - b : a.localeCompare(b, "en", { numeric: true })) * (down ? -1 : 1));
      table.tBodies[0].append(...keyed.map(([, row]) => row));
    });
  });
}

function setUpFilter() {
  const table = document.querySelector("table.episodes");
  if (!table) return;
  const input = document.querySelector("#filter");
  const chips = [...document.querySelectorAll("[data-outcome]")].filter((node) => node.tagName === "BUTTON");
  const nothing = document.querySelector("#nothing");
  const wanted = new URLSearchParams(location.hash.replace(/^#episodes\??/, ""));
  let outcome = wanted.get("outcome") ?? "";
  input.value = wanted.get("q") ?? "";

  function apply() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const fits =
        (!outcome || row.dataset.outcome === outcome) && words.every((word) => row.dataset.text.includes(word));
      row.hidden = !fits;
      shown += fits;
    }
    nothing.hidden = shown > 0;
    chips.forEach((chip) => chip.classList.toggle("on", chip.dataset.outcome === outcome));
    // The address says what is shown, so that it can be passed on and survives a visit to an episode.
    const state = new URLSearchParams();
    if (outcome) state.set("outcome", outcome);
    if (input.value) state.set("q", input.value);
    const hash = state.size ? `#episodes?${state}` : location.hash.startsWith("#episodes?") ? "#episodes" : location.hash;
    if (hash !== location.hash) history.replaceState(null, "", hash);
  }

  input.addEventListener("input", apply);
  chips.forEach((chip) => chip.addEventListener("click", () => { outcome = chip.dataset.outcome; apply(); }));
  document.querySelectorAll(".pick").forEach((button) => button.addEventListener("click", () => {
    input.value = button.dataset.pick;
    outcome = "";
    apply();
    document.querySelector("#episodes").scrollIntoView();
  }));
  if (outcome || input.value) apply();
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !typing(event)) { event.preventDefault(); input.focus(); }
  });
}

function typing(event) {
  return event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, textarea, select");
}

function drawBox(shot) {
  const image = shot.querySelector("img");
  const mark = document.createElement("span");
  mark.className = "target";
  const place = () => {
    const [x, y, width, height] = shot.dataset.box.split(",").map(Number);
    const percent = (part, whole) => `${(100 * part) / whole}%`;
    // The screenshot has one pixel per CSS pixel of the viewport.
    const { naturalWidth: across, naturalHeight: down } = image;
    if (x + width < 0 || y + height < 0 || x > across || y > down) {
      mark.className = "away";
      mark.textContent = y > down ? "↓ target further down" : y + height < 0 ? "↑ target further up" : "target out of sight";
      shot.append(mark);
      return;
    }
    Object.assign(mark.style, {
      left: percent(x, across), top: percent(y, down), width: percent(width, across), height: percent(height, down),
    });
    shot.append(mark);
  };
  if (image.complete && image.naturalWidth) place();
  else image.addEventListener("load", place);
}

function setUpEpisode() {
  const cards = [...document.querySelectorAll(".card")];
  if (!cards.length && !document.querySelector(".turn")) return;
  document.querySelectorAll(".shot[data-box]").forEach(drawBox);
  const large = document.querySelector("dialog.large");
  document.querySelectorAll(".shot").forEach((shot) => shot.addEventListener("click", () => {
    large.querySelector("img").src = shot.querySelector("img").src;
    large.showModal();
  }));
  large.addEventListener("click", () => large.close());

  const go = (relation) => document.querySelector(`.turn a[rel=${relation}]`)?.click();
  const step = (by) => {
    // From the card that was stepped to last; else from the first that is in sight.
    const line = document.querySelector(".bar").offsetHeight + 2;
    const seen = cards.findIndex((card) => card.getBoundingClientRect().bottom > line);
    const fresh = seen >= 0 && cards[seen].getBoundingClientRect().top > line;
    const focused = cards.indexOf(document.activeElement);
    const from = focused >= 0 ? focused : fresh && by > 0 ? seen - 1 : seen;
    const target = cards[Math.min(from + by, cards.length - 1)];
    if (target) { target.scrollIntoView(); target.focus({ preventScroll: true }); }
    else { document.activeElement.blur(); scrollTo(0, 0); }
  };
  const openAll = () => {
    const texts = [...document.querySelectorAll("details.text")];
    const open = texts.some((text) => !text.open);
    texts.forEach((text) => { text.open = open; });
  };
  document.addEventListener("keydown", (event) => {
    if (typing(event) || large.open) return;
    const keys = {
      ArrowLeft: () => go("prev"), ArrowRight: () => go("next"), j: () => step(1), k: () => step(-1), o: openAll,
      Escape: () => document.querySelector(".crumb").click(),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
}

setUpTheme();
document.querySelectorAll("table.sortable").forEach(setUpSorting);
setUpFilter();
setUpEpisode();
