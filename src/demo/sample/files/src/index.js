export { parseCsv } from './csv.js';
export { readExpenses } from './expenses.js';
export { formatCents, parseCents } from './money.js';
export { jsonReport, textReport } from './report.js';
export { inMonth, totals } from './totals.js';
