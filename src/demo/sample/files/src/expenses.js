import { parseCsv } from './csv.js';
import { parseCents } from './money.js';
import { toRecords } from './table.js';

/**
 * @typedef {object} Expense
 * @property {string} date as `2024-03-31`
 * @property {string} category
 * @property {number} cents
 * @property {string} note
 */

/**
 * Reads expenses from CSV text.
 * @param {string} text
 * @returns {Expense[]}
 */
export function readExpenses(text) {
  return toRecords(parseCsv(text)).map((record, index) => {
    const row = index + 2;
    for (const column of ['date', 'category', 'amount']) {
      if (record[column] === undefined) throw new Error(`there is no column ${column}`);
    }
    if (!/^\d{4}-\d{2}-\d{2}$/.test(record.date)) throw new Error(`row ${row}: not a date: ${record.date}`);
    return {
      date: record.date,
      category: record.category || 'other',
      cents: parseCents(record.amount),
      note: record.note ?? '',
    };
  });
}
