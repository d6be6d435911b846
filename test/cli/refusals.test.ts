import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/index.ts';
import type { Shell } from '../../src/shell.ts';
import { partial } from '../world/partial.ts';

/** A shell in which nothing can be opened: what is refused here costs nothing. */
function shell() {
  const said: string[] = [];
  const screen: Shell['screen'] = {
    out: (text) => said.push(text),
    err: (text) => said.push(text),
    outIsTerminal: false,
    width: null,
    colour: false,
    outColour: false,
    live: null,
  };
  const readText = async (path: string): Promise<string> => {
    throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
  };
  return {
    said,
    shell: partial<Shell>({ screen, readText, newRunId: () => 'r0000000000', version: '0', cwd: '/' }),
  };
}

test.each<[string, readonly string[], RegExp]>([
  ['the prompt is empty', ['run', '  '], /prompt is empty.*→ Describe the task/s],
  ['the option does not exist', ['run', 'x', '--candidate', '3'], /unknown option.*--candidates/s],
  ['the number is none', ['run', 'x', '-n', 'many'], /whole number/],
  [
    'the time is none',
    ['run', 'x', '--timeout', '0s'],
    /--timeout takes a positive whole number of minutes, or one/,
  ],
  [
    'the number is no digits',
    ['runs', '--limit', '1e30'],
    /Give a whole number from 1 to 1,000,000, in digits/,
  ],
  ['the number is hexadecimal', ['runs', '--limit', '0x10'], /whole number from 1/],
  ['the number is huge', ['audit', '--limit', '99999999999999999999'], /whole number from 1/],
  ['the number is zero', ['audit', '--limit', '0'], /whole number from 1/],
  ['the jobs are too many', ['select', '--jobs', '1000000000000'], /whole number from 1 to 1,000, /],
  ['the rounds are too many', ['arena', 'gen', 'x', '--rounds', '101'], /whole number from 1 to 100, /],
  ['the amount is hexadecimal', ['select', '--budget', '0x10'], /amount in US dollars below 1,000,000/],
  ['the amount is nothing', ['select', '--budget', '.'], /amount in US dollars/],
  ['there is no such date', ['arena', 'mine', 'x', '--since', '2026-02-31'], /or a date of the past/],
  ['the time is before git', ['arena', 'mine', 'x', '--since', '9999y'], /not before 1970/],
  ['the time is nothing', ['arena', 'mine', 'x', '--since', '0d'], /Give a time such as 90d/],
  ['the budget is none', ['run', 'x', '--budget', '$5000'], /US dollars, from \$0\.01 to \$1,000/],
  [
    'the model is no name',
    ['run', 'x', '--models', '@gpt'],
    /@gpt is not a valid name; give models as provider/,
  ],
  ['the strategy is mistyped', ['compete', 'x', '--evaluator', 'humn'], /did you mean human/],
  ['the synonym contradicts', ['run', 'x', '--coders', 'a', '--agents', 'b'], /cannot be used with option/],
  ['the file is missing', ['run', '--file', 'gone.md'], /Cannot read the task: there is no file gone\.md/],
  ['the task is given twice', ['run', 'x', '--file', 'gone.md'], /as an argument or with --file, not both/],
])('%s: one clear sentence with the next step, and exit code 2', async (_, argv, words) => {
  const terminal = shell();
  expect(await runCli(terminal.shell, argv)).toBe(2);
  expect(terminal.said.join('')).toMatch(words);
});

test.each([
  ['before the command', ['--env-file', 'my.env', 'doctor', '--json']],
  ['after it', ['doctor', '--json', '--env-file', 'my.env']],
])('--env-file %s takes effect before settings are read', async (_, argv) => {
  const order: string[] = [];
  const { shell: bare } = shell();
  const doctor = async () => {
    order.push('read');
    return [];
  };
  await runCli({ ...bare, doctor, useEnvFile: (path) => void order.push(path) }, argv);
  expect(order).toEqual(['my.env', 'read']);
});
