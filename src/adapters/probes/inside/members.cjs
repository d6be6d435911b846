'use strict';

/** Methods and getters of a class and its superclasses, sorted by name; none if there is no class. */
function membersOf(value) {
  const found = new Map();
  for (
    let proto = value?.prototype;
    proto && proto !== Object.prototype;
    proto = Object.getPrototypeOf(proto)
  ) {
    for (const [key, { value: method, get }] of Object.entries(Object.getOwnPropertyDescriptors(proto))) {
      if (key === 'constructor' || key.startsWith('_') || found.has(key)) continue;
      if (get) found.set(key, { key, getter: true, arity: 0 });
      else if (typeof method === 'function') found.set(key, { key, getter: false, arity: method.length });
    }
  }
  return [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

module.exports = { membersOf };
