// Numbers for elements: the same element keeps its number while it lives, and a number is never given twice
// in one document. Nothing is written to the page: the maps live in our isolated world.

const numberOf = new WeakMap();
const elementByNumber = new Map();
const reportedGone = new Set();
let lastNumber = 0;

function keyOf(element) {
  let number = numberOf.get(element);
  if (number === undefined) {
    number = ++lastNumber;
    numberOf.set(element, number);
    elementByNumber.set(number, new WeakRef(element));
  }
  reportedGone.delete(number);
  return number;
}

// Numbers of elements that have left the document since the last call. They may come back.
function newlyGone() {
  const gone = [];
  for (const [number, reference] of elementByNumber) {
    const element = reference.deref();
    if (element && element.isConnected) continue;
    if (!reportedGone.has(number)) gone.push(number);
    if (element) reportedGone.add(number);
    else {
      elementByNumber.delete(number);
      reportedGone.delete(number);
    }
  }
  return gone;
}

function elementOf(number) {
  const element = elementByNumber.get(number)?.deref();
  return element && element.isConnected ? element : null;
}
