import type { Turn } from '../../scripted-models/index.ts';
import { bash, edit, LOOK, RUN_TESTS, say } from './turns.ts';

/** Works at first, then tidies up once more without looking: the last edit leaves a syntax error behind. */
export const WREN: readonly Turn[] = [
  LOOK,
  edit(
    'I split each line by hand, so that commas inside quotes can be skipped.',
    'src/csv.js',
    "line.split(',').map(unquote)",
    'splitLine(line).map(unquote)',
  ),
  edit(
    '',
    'src/csv.js',
    '/** Takes the quotes off a quoted cell. */',
    `/** Splits a line at the commas outside of quotes. */
function splitLine(line) {
  const cells = [''];
  let inQuotes = false;
  for (const char of line) {
    if (char === '"') inQuotes = !inQuotes;
    if (char === ',' && !inQuotes) {
      cells.push('');
    } else {
      cells[cells.length - 1] += char;
    }
  }
  return cells;
}

/** Takes the quotes off a quoted cell. */`,
  ),
  bash('Tests.', RUN_TESTS),
  edit(
    'They pass. I shorten the loop a little.',
    'src/csv.js',
    `    if (char === ',' && !inQuotes) {
      cells.push('');
    } else {
      cells[cells.length - 1] += char;
    }
  }
  return cells;`,
    `    if (char === ',' && !inQuotes) cells.push('');
    else {
      cells[cells.length - 1] += char;
  }
  return cells;`,
  ),
  say('Lines are now split at commas outside of quotes only. All tests pass.'),
];
