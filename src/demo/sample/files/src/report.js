import { formatCents } from './money.js';

/**
 * Lays out totals as a table, with a last line for the sum.
 * @param {import('./totals.js').Total[]} totals
 * @param {string} heading
 * @returns {string}
 */
export function textReport(totals, heading = 'Category') {
  const rows = [...totals, sum(totals)];
  const width = Math.max(heading.length, ...rows.map((row) => row.name.length)) + 4;
  const line = (name, count, amount) => name.padEnd(width) + count.padStart(6) + amount.padStart(10);
  return [
    line(heading, 'Count', 'Amount'),
    ...rows.map((row) => line(row.name, String(row.count), formatCents(row.cents))),
  ].join('\n');
}

/**
 * @param {import('./totals.js').Total[]} totals
 * @returns {string}
 */
export function jsonReport(totals) {
  const plain = ({ name, count, cents }) => ({ name, count, amount: formatCents(cents) });
  return JSON.stringify({ totals: totals.map(plain), total: formatCents(sum(totals).cents) }, null, 2);
}

function sum(totals) {
  return {
    name: 'TOTAL',
    count: totals.reduce((count, total) => count + total.count, 0),
    cents: totals.reduce((cents, total) => cents + total.cents, 0),
  };
}
