// Numbers for elements: the same element keeps its number while it lives, and a number is never given twice
// in one document. Nothing is written to the page: the maps live in our isolated world.

const numberOf = new WeakMap();
const elementByNumber = new Map();
let lastNumber = 0;

function keyOf(element) {
  let number = numberOf.get(element);
  if (number === undefined) {
    number = ++lastNumber;
    numberOf.set(element, number);
    elementByNumber.set(number, new WeakRef(element));
  }
  return number;
}

function elementOf(number) {
  const element = elementByNumber.get(number)?.deref();
  return element && element.isConnected ? element : null;
}
