import { z } from 'zod';
import type { TestOutcome } from '../evidence/index.ts';
import { Outcomes, relativePath } from './outcomes.ts';

const Jest = z.object({
  testResults: z.array(
    z.object({
      name: z.string().catch(''),
      status: z.string().catch(''),
      message: z.string().catch(''),
      assertionResults: z
        .array(
          z.object({
            ancestorTitles: z.array(z.string()).catch([]),
            title: z.string().catch(''),
            status: z.string(),
            failureMessages: z.array(z.string()).catch([]),
          }),
        )
        .catch([]),
    }),
  ),
});

/** What jest writes with `--json`. Throws an Error for anything else. */
export function readJest(text: string): Outcomes {
  const outcomes = new Outcomes();
  for (const file of Jest.parse(JSON.parse(text)).testResults) {
    const name = relativePath(file.name);
    for (const test of file.assertionResults) {
      const said = test.failureMessages.join('\n');
      outcomes.add([name, ...test.ancestorTitles, test.title], jestOutcome(test.status), said);
    }
    // A file that could not be loaded has no tests to name.
    if (file.status === 'failed' && file.assertionResults.length === 0)
      outcomes.add([name, 'did not load'], 'failed', file.message);
  }
  return outcomes;
}

const jestOutcome = (status: string): TestOutcome => {
  if (status === 'passed') return 'passed';
  return status === 'failed' ? 'failed' : 'skipped';
};

const MochaTest = z.object({
  title: z.string().catch(''),
  fullTitle: z.string().catch(''),
  file: z.string().nullish().catch(undefined),
  err: z.record(z.string(), z.unknown()).catch({}),
});
type MochaTest = z.infer<typeof MochaTest>;
const Mocha = z.object({
  tests: z.array(MochaTest),
  failures: z.array(MochaTest),
  pending: z.array(MochaTest),
});

/**
 * What mocha's reporter `json` writes, in the order of the tests. On standard output, where versions before 9.2 write it,
 * other lines may stand before it. Throws an Error for anything else.
 */
export function readMocha(text: string): Outcomes {
  const outcomes = new Outcomes();
  const start = Math.max(0, text.lastIndexOf('\n{\n  "stats": {'));
  const { tests, failures, pending } = Mocha.parse(JSON.parse(text.slice(start)));
  const key = (test: MochaTest) => JSON.stringify([test.file, test.fullTitle]);
  const waiting = new Set(pending.map(key));
  for (const test of tests) {
    const failed = Object.keys(test.err).length > 0;
    const outcome = failed ? 'failed' : waiting.has(key(test)) ? 'skipped' : 'passed';
    outcomes.add(mochaParts(test), outcome, failureMessage(test));
  }
  // A hook that fails is no test, but it keeps tests from being run.
  const named = new Set(tests.map(key));
  for (const test of failures) {
    if (!named.has(key(test))) outcomes.add(mochaParts(test), 'failed', failureMessage(test));
  }
  return outcomes;
}

const failureMessage = ({ err }: MochaTest): string =>
  [err.message, err.stack].filter((text) => typeof text === 'string').join('\n');

const mochaParts = ({ file, fullTitle, title }: MochaTest): readonly string[] => {
  const suites = fullTitle.endsWith(title) ? fullTitle.slice(0, fullTitle.length - title.length) : '';
  return [relativePath(file ?? ''), suites, title];
};
