'use strict';
// Other values of the same kind, with which a probe replaces a literal or an argument. Pure and deterministic. Runs in
// the process of the repository's own tests, on any version of Node: plain CommonJS, no syntax after ES2020.

const { boardOf, boardsLike } = require('./board.cjs');

const MAX_TEXT = 2000;
const MAX_COUNT = 12;
const MAX_PARTS = 40;
const TOKENS = /[A-Za-z]+|\d+|\s+|[^\w\s]|_/g;

/**
 * 32-bit FNV-1a of a text: the only source of choice here. `before` is the hash of a text that comes before it, so that
 * what many texts begin with is read once.
 */
function hashOf(text, before = 0x811c9dc5) {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** The items in an order that depends only on `seed` and themselves. */
function shuffled(items, seed) {
  const seeded = hashOf(`${seed}|`);
  return items
    .map((item, at) => [hashOf(`${at}|${String(item)}`, seeded), item])
    .sort((a, b) => a[0] - b[0])
    .map(([, item]) => item);
}

const light = (value, how) => ({ value, how, light: true });
const wild = (value, how) => ({ value, how, light: false });

/** The shape of a text: the kinds of characters in it, as bits, and the logarithm of its length. */
function shapeOf(text) {
  const kinds = (/\d/.test(text) ? 1 : 0) + (/[a-z]/.test(text) ? 2 : 0) + (/[A-Z]/.test(text) ? 4 : 0);
  return {
    text,
    kinds: kinds + (/\s/.test(text) ? 8 : 0) + (/[^\w\s]/.test(text) ? 16 : 0),
    size: Math.log(text.length + 1),
  };
}

const BITS = Array.from(
  { length: 32 },
  (_, bits) => [...bits.toString(2)].filter((bit) => bit === '1').length,
);

/** Shapes and parts of the texts of a pool, with the parts' kinds, cached because they are needed very often. */
const known = new WeakMap();
function textsOf(pool) {
  if (!known.has(pool)) {
    const texts = pool.filter((other) => typeof other === 'string');
    const parts = [
      ...new Set(texts.filter((text) => text.length <= 200).flatMap((text) => text.match(TOKENS) ?? [])),
    ];
    const some = parts.slice(0, 400).map((part) => ({ part, kind: kindOf(part) }));
    known.set(pool, { shapes: texts.map(shapeOf), parts: some });
  }
  return known.get(pool);
}

/** The most similar texts of the pool; the seed decides between equally similar ones. */
function nearest(text, pool, seed, most) {
  const own = shapeOf(text);
  const seeded = hashOf(seed);
  const isNearer = (a, b) =>
    a.far < b.far || (a.far === b.far && hashOf(a.text, seeded) < hashOf(b.text, seeded));
  // Sorting them all takes longer than everything else here.
  const found = [];
  for (const shape of textsOf(pool).shapes) {
    if (shape.text === text) continue;
    const one = { text: shape.text, far: BITS[own.kinds ^ shape.kinds] + Math.abs(own.size - shape.size) };
    let at = found.length;
    while (at > 0 && isNearer(one, found[at - 1])) at -= 1;
    if (at < most) found.splice(at, 0, one);
    if (found.length > most) found.pop();
  }
  return found.map((one) => one.text);
}

function stringsLike(text, pool, seed) {
  const at = text.length > 0 ? hashOf(`${seed}|${text}`) % text.length : 0;
  const words = text.split(/(\s+)/);
  const found = nearest(text, pool, seed, 5).map((other) => light(other, 'another value'));
  if (text.length > 1) {
    found.push(light(text.slice(0, -1), 'without its end'), light(text.slice(1), 'without its start'));
    found.push(light(text.slice(0, at) + text.slice(at + 1), 'a character less'));
  }
  if (text.length > 0) {
    found.push(light(text.slice(0, at) + text[at] + text.slice(at), 'a character twice'));
    found.push(light(text + text[at], 'longer'));
  }
  found.push(...tokensChanged(text, pool, seed));
  if (/\d/.test(text)) found.push(...digitsChanged(text, seed));
  if (words.length > 2) {
    found.push(light(words.slice(0, -2).join(''), 'a word less'));
    found.push(light([...words].reverse().join(''), 'words reversed'));
  }
  const lines = text.split('\n');
  if (lines.length > 2) found.push(light(lines.slice(0, -1).join('\n'), 'a line less'));
  if (/[a-z]/.test(text)) found.push(light(text.toUpperCase(), 'upper case'));
  if (/[A-Z]/.test(text)) found.push(light(text.toLowerCase(), 'lower case'));
  found.push(
    wild('', 'empty'),
    wild(` ${text} `, 'spaces around'),
    wild([...text].reverse().join(''), 'reversed'),
  );
  found.push(wild(text + text, 'doubled'), wild(`${text.slice(0, at)}-${text.slice(at)}`, 'a hyphen inside'));
  found.push(
    wild(`${text.slice(0, at)}'${text.slice(at)}`, 'an apostrophe inside'),
    wild(`${text}é☃`, 'beyond ASCII'),
  );
  return found;
}

/** Texts with their own grammar (versions, patterns, queries): inserts parts of one value into another. */
function tokensChanged(text, pool, seed) {
  const tokens = text.match(TOKENS) ?? [];
  if (tokens.length < 2 || tokens.length > 400) return [];
  const { parts, shapes } = textsOf(pool);
  const seeded = hashOf(`${seed}|`);
  const some = Array.from(
    { length: Math.min(MAX_PARTS, parts.length) },
    (_, nth) => parts[hashOf(String(nth), seeded) % parts.length],
  );
  const joined = (at, gone, ...put) => [...tokens.slice(0, at), ...put, ...tokens.slice(at + gone)].join('');
  const places = shuffled([...tokens.keys()], `${seed}|places`);
  const at = (nth) => places[nth % places.length];
  const alike = (token) => {
    const own = kindOf(token);
    return some.filter(({ part, kind }) => kind === own && part !== token);
  };
  const found = [0, 1, 2].flatMap((nth) => {
    const [other] = alike(tokens[at(nth)]).slice(nth);
    return other === undefined ? [] : [light(joined(at(nth), 1, other.part), 'another part')];
  });
  for (const [nth, { part }] of some.slice(0, 2).entries())
    found.push(light(joined(at(nth + 3), 0, part), 'a part more'));
  found.push(light(joined(at(5), 1), 'a part less'), light(joined(at(6), 0, tokens[at(6)]), 'a part twice'));
  const other = shapes.length > 0 ? shapes[hashOf(`${seed}|halves`) % shapes.length].text : text;
  if (other !== text && other.length <= 200)
    found.push(light(text.slice(0, text.length >> 1) + other.slice(other.length >> 1), 'half of another'));
  return found;
}

const kindOf = (token) =>
  /[A-Za-z]/.test(token) ? 'word' : /\d/.test(token) ? 'number' : /\s/.test(token) ? 'space' : 'mark';

function digitsChanged(text, seed) {
  const places = [...text.matchAll(/\d/g)].map((match) => match.index);
  return shuffled(places, seed)
    .slice(0, 3)
    .map((at, nth) => {
      const digit = (Number(text[at]) + (nth === 1 ? 9 : nth + 1)) % 10;
      return light(text.slice(0, at) + digit + text.slice(at + 1), 'another digit');
    });
}

function numbersLike(number, pool, seed) {
  const others = shuffled(
    pool.filter((other) => typeof other === 'number' && other !== number),
    seed,
  ).slice(0, 8);
  const found = others.map((other) => light(other, 'another value'));
  found.push(light(number + 1, 'one more'), light(number - 1, 'one less'));
  // Small counts often select cases: each may have its own.
  if (Number.isInteger(number) && number >= 0 && number <= MAX_COUNT) {
    for (let off = 2; off <= MAX_COUNT; off += 1) {
      if (number + off <= MAX_COUNT) found.push(light(number + off, 'another count'));
      if (number - off >= 0) found.push(light(number - off, 'another count'));
    }
  }
  if (!Number.isInteger(number)) found.push(light(Math.round(number), 'rounded'));
  if (Math.abs(number) > MAX_COUNT) {
    for (const off of [2, 3, 4, 5])
      found.push(light(number + off, 'a little more'), light(number - off, 'a little less'));
    found.push(light(Math.trunc(number / 2), 'half'), light(number + Math.trunc(number / 3), 'a third more'));
  }
  found.push(wild(0, 'zero'), wild(-number || -1, 'negative'), wild(number * 10, 'ten times'));
  found.push(wild(number + 0.5, 'a half more'));
  return found;
}

function arraysLike(array, pool, seed, depth) {
  const board = boardOf(array, pool);
  if (!board) return listsLike(array, pool, seed, depth);
  const boards = boardsLike(board, (most, nth) => hashOf(`${seed}|${nth}`) % most);
  return [
    ...boards,
    ...listsLike(array, pool, seed, depth)
      .map((each) => ({ ...each, light: false }))
      .slice(0, MAX_BROKEN),
  ];
}

/** Maximum number of values that are no longer valid boards. */
const MAX_BROKEN = 4;

/** The most likely value, another likely one, and any. */
function someOf(likes, seed) {
  const [first, ...rest] = likes;
  const mixed = shuffled(rest, `${seed}|some`);
  const second = mixed.find((each) => each.light);
  return [first, second, mixed.find((each) => each !== second)].filter((each) => each !== undefined);
}

function listsLike(array, pool, seed, depth) {
  const found = [];
  if (array.length > 0) {
    for (const at of shuffled([...array.keys()], seed).slice(0, 3)) {
      for (const each of someOf(likeAt(array[at], pool, `${seed}|${at}`, depth), `${seed}|${at}`)) {
        found.push({
          ...each,
          value: Object.assign([...array], { [at]: each.value }),
          how: `an element: ${each.how}`,
        });
      }
    }
    found.push(light(array.slice(0, -1), 'without the last'), light(array.slice(1), 'without the first'));
    found.push(light([...array, array[0]], 'the first again'));
  }
  for (const at of array.length > 2 ? shuffled([...array.keys()], `${seed}|copies`).slice(0, 3) : []) {
    found.push(
      light(Object.assign([...array], { [at]: array[(at + 1) % array.length] }), 'an element twice'),
    );
  }
  if (array.length > 1) {
    found.push(light([array[1], array[0], ...array.slice(2)], 'the first two swapped'));
    found.push(wild([...array].reverse(), 'reversed'));
  }
  found.push(wild([], 'empty'));
  return found;
}

function objectsLike(object, pool, seed, depth) {
  const keys = shuffled(Object.keys(object), seed).slice(0, 4);
  const found = [];
  for (const key of keys) {
    for (const each of someOf(likeAt(object[key], pool, `${seed}|${key}`, depth), `${seed}|${key}`)) {
      found.push({ ...each, value: { ...object, [key]: each.value }, how: `${key}: ${each.how}` });
    }
  }
  for (const key of keys) {
    const { [key]: _, ...rest } = object;
    found.push(light(rest, `without ${key}`));
  }
  for (const key of keys) {
    for (const other of stringsLike(key, pool, seed)
      .filter((each) => each.light)
      .slice(0, 2)) {
      const entries = Object.entries(object).map(([name, value]) => [
        name === key ? other.value : name,
        value,
      ]);
      found.push({ ...other, value: Object.fromEntries(entries), how: `key ${key}: ${other.how}` });
    }
  }
  return found;
}

const isPlain = (value) => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
};

function likeAt(value, pool, seed, depth) {
  if (depth <= 0) return [];
  if (typeof value === 'string') return value.length > MAX_TEXT ? [] : stringsLike(value, pool, seed);
  if (typeof value === 'number' && Number.isFinite(value)) return numbersLike(value, pool, seed);
  if (typeof value === 'bigint')
    return [light(value + 1n, 'one more'), wild(0n, 'zero'), wild(-value, 'negative')];
  if (typeof value === 'boolean') return [light(!value, 'the opposite')];
  if (Array.isArray(value)) return arraysLike(value, pool, seed, depth - 1);
  if (value !== null && typeof value === 'object' && isPlain(value))
    return objectsLike(value, pool, seed, depth - 1);
  return [];
}

/**
 * Values to try instead of `value`, those that are most likely valid first: `light` ones have the same shape, the
 * others are boundary values of its kind. `pool` contains values seen elsewhere. All of them are different from each
 * other and from `value`.
 */
function similarValues(value, pool, seed) {
  const seen = new Set([keyOf(value)]);
  const fresh = likeAt(value, pool, seed, 3).filter((each) => {
    const key = keyOf(each.value);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  return [...fresh.filter((each) => each.light), ...fresh.filter((each) => !each.light)];
}

const MAY_HOLD_BIGINTS = new Set(['bigint', 'object']);

function keyOf(value) {
  // No other key begins like that of a text.
  if (typeof value === 'string') return `"${value}`;
  try {
    const named = MAY_HOLD_BIGINTS.has(typeof value)
      ? JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each))
      : JSON.stringify(value);
    return named ?? String(value);
  } catch {
    return 'unknown';
  }
}

module.exports = { hashOf, shuffled, similarValues };
