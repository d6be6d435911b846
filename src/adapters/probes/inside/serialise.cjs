'use strict';
// A value as text: equal values give equal texts in every process. Limited in depth, breadth and length.

const { hashOf } = require('./mutate.cjs');

const MAX_SHOWN = 400;
const MAX_READ = 20_000;
const MAX_DEPTH = 8;
const MAX_ITEMS = 400;

/** Errors thrown by the engine itself, by parts of their messages: a bug, not a result. */
const ENGINE =
  /is not (a function|a constructor|defined|iterable|extensible|async iterable)|^Cannot (read|set|access|destructure|convert|assign|redefine|delete|mix)|Maximum call stack|^Invalid (array length|string length|count value|time value)|object null|undefined|circular structure|^Reduce of empty|is read-only/;
const NATIVE = new Set([
  'TypeError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'InternalError',
  'URIError',
  'EvalError',
]);

/** `{ kind, text }` of what a call returned: kind `v`. */
function observedValue(value) {
  let text;
  try {
    text = textOf(value, { left: MAX_READ, seen: new Map() }, 0);
  } catch {
    text = '[unreadable]';
  }
  return { kind: 'v', text: shortened(text) };
}

/** `{ kind, text }` of what a call threw: `x` for an error of the engine, whose wording is irrelevant, else `e`. */
function observedError(error) {
  try {
    const name = nameOf(error);
    const message = String(error?.message ?? textOf(error, { left: 500, seen: new Map() }, 0));
    if (NATIVE.has(name) && ENGINE.test(message)) return { kind: 'x', text: name };
    return { kind: 'e', text: shortened(`${name}: ${message.split('\n')[0]}`) };
  } catch {
    return { kind: 'e', text: 'an unreadable error' };
  }
}

/** Many error classes set no name of their own. */
function nameOf(error) {
  const name = String(error?.name ?? typeof error);
  const made = error?.constructor?.name;
  return name === 'Error' && typeof made === 'string' && made !== '' ? made : name;
}

const shortened = (text) =>
  text.length <= MAX_SHOWN
    ? text
    : `${text.slice(0, MAX_SHOWN)}… #${hashOf(text).toString(16)} (${text.length})`;

function textOf(value, budget, depth) {
  budget.left -= 1;
  if (budget.left < 0) return '…';
  switch (typeof value) {
    case 'string': {
      budget.left -= value.length;
      return JSON.stringify(value);
    }
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'undefined':
    case 'boolean':
      return String(value);
    case 'symbol':
      return value.toString();
    case 'function':
      return '[function]';
    default:
      return value === null ? 'null' : objectText(value, budget, depth);
  }
}

function objectText(value, budget, depth) {
  const known = budget.seen.get(value);
  if (known !== undefined) return `[again ${known}]`;
  if (depth >= MAX_DEPTH) return '[deep]';
  budget.seen.set(value, budget.seen.size);
  try {
    return partsText(value, budget, depth);
  } finally {
    budget.seen.delete(value);
  }
}

function partsText(value, budget, depth) {
  const inner = (each) => textOf(each, budget, depth + 1);
  const tag = Object.prototype.toString.call(value);
  if (Array.isArray(value)) {
    const items = [];
    for (let at = 0; at < Math.min(value.length, MAX_ITEMS); at += 1)
      items.push(at in value ? inner(value[at]) : '');
    return `[${items.join(', ')}${value.length > MAX_ITEMS ? `, … ${value.length}` : ''}]`;
  }
  if (tag === '[object Date]') return `Date(${Number(value)})`;
  if (tag === '[object RegExp]') return String(value);
  if (tag === '[object Promise]') return '[promise]';
  if (tag === '[object Error]') return `[${observedError(value).text}]`;
  if (tag === '[object Map]')
    return `Map{${[...value]
      .slice(0, MAX_ITEMS)
      .map(([k, v]) => `${inner(k)} => ${inner(v)}`)
      .join(', ')}}`;
  if (tag === '[object Set]') return `Set{${[...value].slice(0, MAX_ITEMS).map(inner).join(', ')}}`;
  if (ArrayBuffer.isView(value))
    return `${value.constructor?.name}[${Array.from(value).slice(0, MAX_ITEMS).join(',')}]`;
  if (value instanceof Number || value instanceof String || value instanceof Boolean)
    return `boxed ${inner(value.valueOf())}`;
  return fieldsText(value, inner);
}

/** Instances of classes by their own text representation, else by their fields; their internal state may differ. */
function fieldsText(value, inner) {
  const prototype = Object.getPrototypeOf(value);
  const plain =
    prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
  const name = plain ? '' : `${prototype.constructor?.name ?? 'Object'} `;
  if (!plain) {
    const own = saidByItself(value);
    if (own !== undefined) return `${name}${inner(own)}`;
  }
  const fields = Object.keys(value)
    .filter(
      (key) =>
        plain || (typeof value[key] !== 'function' && value[key] !== undefined && !key.startsWith('_')),
    )
    .sort()
    .slice(0, MAX_ITEMS)
    .map((key) => `${/^[\w$]+$/.test(key) ? key : JSON.stringify(key)}: ${inner(value[key])}`);
  return `${name}{${fields.join(', ')}}`;
}

function saidByItself(value) {
  for (const method of ['toJSON', 'toString']) {
    if (typeof value[method] !== 'function' || value[method] === Object.prototype.toString) continue;
    const said = value[method]();
    if (said !== value) return said;
  }
  return undefined;
}

module.exports = { observedValue, observedError };
