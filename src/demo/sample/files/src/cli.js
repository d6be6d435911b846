import { parseArgs } from 'node:util';
import { readExpenses } from './expenses.js';
import { jsonReport, textReport } from './report.js';
import { inMonth, totals } from './totals.js';

const USAGE = 'usage: tally FILE [--month YYYY-MM] [--by category|month] [--json]';

/**
 * The command line.
 * @param {string[]} argv
 * @param {{ readFile: (path: string) => Promise<string>, out: (text: string) => void, error: (text: string) => void }} io
 * @returns {Promise<number>} exit code: 0 done, 1 the file cannot be used, 2 bad usage
 */
export async function run(argv, io) {
  let options;
  try {
    options = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        month: { type: 'string' },
        by: { type: 'string', default: 'category' },
        json: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    io.error(`tally: ${error.message}\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = options;
  if (positionals.length !== 1 || !['category', 'month'].includes(values.by)) {
    io.error(USAGE);
    return 2;
  }
  try {
    const all = readExpenses(await io.readFile(positionals[0]));
    const result = totals(values.month ? inMonth(all, values.month) : all, values.by);
    io.out(
      values.json ? jsonReport(result) : textReport(result, values.by === 'month' ? 'Month' : 'Category'),
    );
    return 0;
  } catch (error) {
    io.error(`tally: ${error.message}`);
    return 1;
  }
}
