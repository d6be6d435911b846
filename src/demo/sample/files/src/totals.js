/**
 * @typedef {object} Total
 * @property {string} name
 * @property {number} count
 * @property {number} cents
 */

const KEYS = {
  category: (expense) => expense.category,
  month: (expense) => expense.date.slice(0, 7),
};

/**
 * Adds up expenses by category or month; the largest sum comes first, months in order of time.
 * @param {import('./expenses.js').Expense[]} expenses
 * @param {'category' | 'month'} by
 * @returns {Total[]}
 */
export function totals(expenses, by = 'category') {
  const key = KEYS[by];
  if (!key) throw new Error(`cannot group by ${by}`);
  const groups = new Map();
  for (const expense of expenses) {
    const name = key(expense);
    const total = groups.get(name) ?? { name, count: 0, cents: 0 };
    groups.set(name, { name, count: total.count + 1, cents: total.cents + expense.cents });
  }
  const order = by === 'month' ? (a, b) => a.name.localeCompare(b.name) : (a, b) => b.cents - a.cents;
  return [...groups.values()].sort(order);
}

/**
 * @param {import('./expenses.js').Expense[]} expenses
 * @param {string} month as `2024-03`
 */
export function inMonth(expenses, month) {
  return expenses.filter((expense) => expense.date.startsWith(`${month}-`));
}
