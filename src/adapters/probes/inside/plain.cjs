'use strict';
// Data that can be copied and passed to a function again.

const SCALARS = new Set(['string', 'number', 'boolean', 'undefined', 'bigint']);

function isPlainData(value, depth = 0) {
  if (value === null || SCALARS.has(typeof value)) return true;
  if (typeof value !== 'object' || depth > 5) return false;
  if (Array.isArray(value)) return value.length <= 500 && value.every((each) => isPlainData(each, depth + 1));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false;
  return Object.values(value).every((each) => isPlainData(each, depth + 1));
}

function copied(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(copied);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copied(each)]));
}

module.exports = { copied, isPlainData };
