// Tells when the document has come to rest. One MutationObserver per document, made as soon as the document is.

const NOISE_CHANGES = 8; // so many changes of one small target …
const NOISE_SPAN_MS = 600; // … over this time make it a clock or ticker, which nobody needs to wait for
const LONG_ANIMATION_MS = 3000; // a finite animation with more than this to go is decoration

let lastChange = performance.now();
let expectFrom = 0; // an action was taken then, and until …
let expectUntil = 0; // … a page that shows no effect of it is given the benefit of the doubt
let lastEffect = 0;
let leaving = 0; // when a navigation away from this document was started, 0 for none
let changesOf = new WeakMap();
const noisy = new WeakSet();
const observedRoots = new WeakSet();

function isNoise(record, now) {
  const target = record.target;
  if (noisy.has(target)) return true;
  if (record.type === "childList") {
    for (const node of record.addedNodes) if (node.nodeType === Node.ELEMENT_NODE) return false;
    for (const node of record.removedNodes) if (node.nodeType === Node.ELEMENT_NODE) return false;
  }
  const seen = changesOf.get(target);
  if (!seen) {
    changesOf.set(target, { count: 1, since: now });
    return false;
  }
  if (now - seen.since > 10 * NOISE_SPAN_MS) {
    seen.count = 0;
    seen.since = now;
  }
  seen.count += 1;
  if (seen.count >= NOISE_CHANGES && now - seen.since >= NOISE_SPAN_MS) noisy.add(target);
  return false;
}

const observer = new MutationObserver((records) => {
  const now = performance.now();
  for (const record of records.length > 500 ? records.slice(-500) : records) {
    if (!isNoise(record, now)) {
      lastChange = lastEffect = now;
      break;
    }
  }
});

function watchRoot(root) {
  if (observedRoots.has(root)) return;
  observedRoots.add(root);
  observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
}

watchRoot(document);

// The Navigation API tells of link clicks, form posts and location changes in the task that starts them, long
// before the network does. Downloads and same-document changes leave the document where it is.
if (globalThis.navigation) {
  navigation.addEventListener("navigate", (event) => {
    if (event.hashChange || event.destination.sameDocument || event.downloadRequest !== null) return;
    leaving = performance.now();
    event.signal.addEventListener("abort", () => { leaving = 0; });
  });
}
addEventListener("pageshow", () => { leaving = 0; });

function pendingAnimation() {
  for (const animation of document.getAnimations()) {
    if (animation.playState !== "running" || !animation.effect) continue;
    const timing = animation.effect.getComputedTiming();
    if (!Number.isFinite(timing.endTime) || animation.playbackRate <= 0) continue;
    if (animation.timeline !== document.timeline) continue;
    const left = timing.endTime - Number(animation.currentTime || 0);
    if (left > 0 && left <= LONG_ANIMATION_MS) return true;
  }
  return false;
}

function pendingImage() {
  for (const image of imagesOf.call(document)) {
    if (image.complete || !(image.currentSrc || image.src)) continue;
    const box = image.getBoundingClientRect();
    if (box.bottom >= 0 && box.right >= 0 && box.top <= innerHeight && box.left <= innerWidth && isRendered(image)) {
      return true;
    }
  }
  return false;
}

function unrest(leavingGraceMs) {
  if (leaving && performance.now() - leaving < leavingGraceMs) return "a navigation";
  if (readyStateOf.call(document) !== "complete") return "the page's load event";
  if (pendingImage()) return "an image";
  if (pendingAnimation()) return "an animation";
  return "";
}

// A press without any effect so far, and typing into a field that searches, often act after a timer of their own.
// Timers cannot be seen from here, so such a page is given some time; `always` for effects that hide the later one.
function expectEffect(ms, always) {
  changesOf = new WeakMap(); // what a policy changes again and again is no clock
  expectFrom = always ? Infinity : performance.now();
  expectUntil = performance.now() + ms;
}

// Resolves to "" once the document has been at rest for `quietMs`, else after `capMs` to what it waited for.
// `busy` tells that the network has been at work since the action, which is effect enough.
function waitQuiet(quietMs, capMs, leavingGraceMs, busy) {
  // Where scripts are off (a sandboxed frame, a sandboxing policy), our timers are off, too; but nothing changes.
  if (matchMedia("(scripting: none)").matches) return unrest(leavingGraceMs);
  const start = performance.now();
  lastChange = Math.max(lastChange, start - quietMs);
  return new Promise((resolve) => {
    const look = () => {
      const now = performance.now();
      const reason = unrest(leavingGraceMs);
      if (reason) lastChange = now;
      const idle = now - Math.max(lastChange, start);
      const doubt = !busy && now < expectUntil && lastEffect < expectFrom;
      if (!reason && !doubt && idle >= quietMs) resolve("");
      else if (now - start >= capMs) resolve(reason || "changes of the page");
      else setTimeout(look, reason || doubt ? 12 : Math.max(1, quietMs - idle));
    };
    look();
  });
}
