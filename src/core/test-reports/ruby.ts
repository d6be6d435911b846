import { z } from 'zod';
import type { TestOutcome } from '../evidence/index.ts';
import { Outcomes, relativePath, reportLines } from './outcomes.ts';

const Rspec = z.object({
  examples: z.array(
    z.object({
      full_description: z.string(),
      status: z.string(),
      file_path: z.string().catch(''),
      exception: z
        .object({ message: z.string().catch('') })
        .optional()
        .catch(undefined),
    }),
  ),
  messages: z.array(z.string()).catch([]),
  summary: z.object({ errors_outside_of_examples_count: z.number().catch(0) }),
});

/** What rspec writes with `--format json`. Throws an Error for anything else. */
export function readRspec(text: string): Outcomes {
  const { examples, messages, summary } = Rspec.parse(JSON.parse(text));
  const outcomes = new Outcomes();
  for (const { full_description, status, file_path, exception } of examples) {
    const outcome = status === 'passed' || status === 'failed' ? status : 'skipped';
    outcomes.add([relativePath(file_path), full_description], outcome, exception?.message);
  }
  if (summary.errors_outside_of_examples_count > 0)
    outcomes.add(['rspec', 'did not load'], 'failed', messages.join('\n'));
  return outcomes;
}

/**
 * What minitest writes with `-v`: a line for each test, then what failed, then how many ran. Several test programs may
 * follow each other. Throws an Error where the number of tests is not the number of lines.
 */
export function readMinitest(text: string): Outcomes {
  const outcomes = new Outcomes();
  const lines = reportLines(text);
  const said = failuresOf(lines);
  let count = 0;
  let told = 0;
  for (const line of lines) {
    const found = /([\w:]+)#(\S.{0,500}?) = \d+(?:\.\d+)? s = ([.FES])$/.exec(line);
    const total = /^(\d{1,7}) (?:runs|tests), \d+ assertions, /.exec(line);
    if (total) told += Number(total[1]);
    if (!found) continue;
    const [, group = '', name = '', letter = ''] = found;
    count += 1;
    outcomes.add([group, name], LETTERS[letter] ?? 'failed', said.get(`${group}#${name}`));
  }
  if (count === 0) throw new Error('it names no test');
  if (count !== told) throw new Error(`it names ${count} tests and says that ${told} ran`);
  return outcomes;
}

const LETTERS: Readonly<Record<string, TestOutcome>> = {
  '.': 'passed',
  F: 'failed',
  E: 'failed',
  S: 'skipped',
};

/** Lines of one failure that are kept. */
const MOST_LINES = 30;

function failuresOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const said = new Map<string, string>();
  for (const [at, line] of lines.entries()) {
    if (!/^\s{1,4}\d+\) (?:Failure|Error):$/.test(line)) continue;
    const name = (lines[at + 1] ?? '').replace(/(?: \[.*\])?:$/, '');
    const rest = lines.slice(at + 1, at + 1 + MOST_LINES);
    const end = rest.findIndex((one) => one.trim() === '');
    said.set(name, rest.slice(0, end < 0 ? rest.length : end).join('\n'));
  }
  return said;
}
