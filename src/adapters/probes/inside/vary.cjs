'use strict';
// Values that are several steps away from a known one: combined with other known values, and changed more than once.

const { hashOf, similarValues } = require('./mutate.cjs');

const MAX_STEPS = 3;
const PARTS = /[A-Za-z0-9]+|\s+|[^\w\s]|_/g;

/**
 * `value` after one to three random steps. `others` are values that were at its position elsewhere; the same arguments
 * give the same result.
 */
function varied(value, others, pool, seed) {
  let result = value;
  const steps = 1 + (hashOf(`${seed}|steps`) % MAX_STEPS);
  for (let nth = 0; nth < steps; nth += 1) result = stepped(result, others, pool, `${seed}|${nth}`);
  return result;
}

function stepped(value, others, pool, seed) {
  const dice = hashOf(seed);
  const kind = dice % 10;
  const other = others.length > 0 ? others[(dice >>> 4) % others.length] : undefined;
  if (kind < 2 && other !== undefined && typeof other === typeof value) return other;
  if (kind < 5) {
    const crossed = cross(value, other, dice >>> 8);
    if (crossed !== undefined) return crossed;
  }
  const inner = kind < 8 ? within(value, others, pool, seed) : undefined;
  if (inner !== undefined) return inner;
  const likes = similarValues(value, pool, seed);
  const light = kind < 9 ? likes.filter((each) => each.light) : likes;
  return light.length === 0 ? value : light[(dice >>> 8) % light.length].value;
}

/** A list or an object with one part changed by several steps; undefined for a value without parts. */
function within(value, others, pool, seed) {
  if (value === null || typeof value !== 'object') return undefined;
  const keys = Object.keys(value);
  if (keys.length === 0) return undefined;
  const key = keys[hashOf(`${seed}|part`) % keys.length];
  const theirs = others.flatMap((other) =>
    other !== null && typeof other === 'object' ? Object.values(other) : [],
  );
  const changed = stepped(value[key], theirs, pool, `${seed}|within`);
  return Array.isArray(value) ? Object.assign([...value], { [key]: changed }) : { ...value, [key]: changed };
}

/**
 * The start of one value and the end of the other, or one value with its parts rearranged; undefined if that is
 * impossible.
 */
function cross(value, other, dice) {
  if (Array.isArray(value)) {
    if (Array.isArray(other) && other !== value && dice % 2 === 0) return spliced(value, other, dice >>> 1);
    if (value.length < 2) return undefined;
    const [from, to] = [(dice >>> 1) % value.length, (dice >>> 6) % value.length];
    return Object.assign([...value], { [to]: value[from] });
  }
  if (typeof value === 'string') {
    const parts = value.match(PARTS) ?? [];
    const theirs = typeof other === 'string' && other !== value ? (other.match(PARTS) ?? []) : [];
    if (theirs.length > 0 && dice % 2 === 0) return spliced(parts, theirs, dice >>> 1).join('');
    if (parts.length < 2) return undefined;
    const [from, to] = [(dice >>> 1) % parts.length, (dice >>> 6) % parts.length];
    return Object.assign([...parts], { [to]: parts[from] }).join('');
  }
  return undefined;
}

function spliced(first, second, dice) {
  const at = dice % (Math.min(first.length, second.length) + 1);
  return [...first.slice(0, at), ...second.slice(at)];
}

module.exports = { varied };
