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

/** Parses the output of jest with `--json`. Throws an Error for anything else. */
export const readJest = (text: string): Outcomes => inJest(text, jestOutcome);

/** Parses the output of vitest's reporter `json`, in which a test that did not run to its end is pending: it failed. */
export const readVitestJson = (text: string): Outcomes =>
  inJest(text, (status) => (status === 'pending' ? 'failed' : jestOutcome(status)));

function inJest(text: string, outcomeOf: (status: string) => TestOutcome): Outcomes {
  const outcomes = new Outcomes();
  for (const file of Jest.parse(JSON.parse(text)).testResults) {
    const name = relativePath(file.name);
    for (const test of file.assertionResults) {
      const message = test.failureMessages.join('\n');
      outcomes.add([name, ...test.ancestorTitles, test.title], outcomeOf(test.status), message);
    }
    // A file that could not be loaded reports no tests.
    if (file.status === 'failed' && file.assertionResults.length === 0)
      outcomes.add([name, 'did not load'], 'failed', file.message);
  }
  return outcomes;
}

/** A test by its file and the titles of its suites and of itself. */
interface TestTitles {
  readonly file: string;
  readonly titles: readonly string[];
}

/**
 * Tests in the output of vitest's reporter `json` that did not run, or not to their end: their worker died, a hook
 * failed before them, or the run ended early. Throws an Error for anything else.
 */
export function unfinishedInVitest(text: string): readonly TestTitles[] {
  return Jest.parse(JSON.parse(text)).testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'pending')
      // Versions before 2, and tests of types, name the file as a suite.
      .map(({ ancestorTitles, title }) => ({
        file: name,
        titles: [...ancestorTitles.filter((one) => !name.endsWith(one)), title],
      })),
  );
}

const jestOutcome = (status: string): TestOutcome => {
  if (status === 'passed') return 'passed';
  return status === 'failed' ? 'failed' : 'skipped';
};

const MochaTest = z.looseObject({
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
 * Parses the output of mocha's reporter `json`, in the order of the tests. On standard output, which versions before
 * 9.2 use, other lines may precede it. Throws an Error for anything else.
 */
export function readMocha(text: string): Outcomes {
  const outcomes = new Outcomes();
  const start = Math.max(0, text.lastIndexOf('\n{\n  "stats": {'));
  // A coverage tool may print its summary behind it.
  const end = text.lastIndexOf('\n}');
  const { tests, failures, pending } = Mocha.parse(
    JSON.parse(end < start ? text.slice(start) : text.slice(start, end + 2)),
  );
  const key = (test: MochaTest) => JSON.stringify([test.file, test.fullTitle]);
  // Of tests with one title, some may be pending: both lists contain the same object, or else the title decides.
  const whole = (test: MochaTest) => JSON.stringify(test);
  const waiting = Map.groupBy(pending, whole);
  const all = new Set(tests.map(whole));
  const titles = new Set(pending.filter((test) => !all.has(whole(test))).map(key));
  for (const test of tests) {
    const failed = Object.keys(test.err).length > 0;
    const isPending = waiting.get(whole(test))?.pop() !== undefined || titles.has(key(test));
    outcomes.add(
      mochaParts(test),
      failed ? 'failed' : isPending ? 'skipped' : 'passed',
      failureMessage(test),
    );
  }
  // A failing hook is not a test, but prevents tests from running.
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

const GoEvent = z.object({
  Action: z.string(),
  Package: z.string().catch(''),
  ImportPath: z.string().catch(''),
  Test: z.string().catch(''),
  Output: z.string().catch(''),
  FailedBuild: z.string().catch(''),
});

const GO_OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  pass: 'passed',
  fail: 'failed',
  skip: 'skipped',
};
/** Maximum characters of a running test's output that are kept. */
const MAX_GO_OUTPUT_CHARS = 4_000;

/**
 * Parses the output of `go test -json`: one event per line (cmd/test2json in golang/go). Ids are package, test and
 * subtests; a package that fails although none of its tests does gets a separate id. Throws an Error if there is no
 * event. Tests' output is inside events; other lines are skipped.
 */
export function readGo(text: string): Outcomes {
  const outcomes = new Outcomes();
  const output = new Map<string, string>();
  const failing = new Set<string>();
  let events = 0;
  for (const line of text.split('\n')) {
    const event = eventOf(line);
    if (!event) continue;
    events += 1;
    const where = event.Package || event.ImportPath;
    const key = JSON.stringify([where, event.Test]);
    if (event.Action === 'output' || event.Action === 'build-output') {
      output.set(key, `${output.get(key) ?? ''}${event.Output}`.slice(-MAX_GO_OUTPUT_CHARS));
      continue;
    }
    const outcome = GO_OUTCOMES[event.Action];
    if (!outcome) continue;
    if (event.Test !== '') {
      outcomes.add([where, ...event.Test.split('/')], outcome, output.get(key));
      if (outcome === 'failed') failing.add(where);
    } else if (outcome === 'failed' && !failing.has(where)) {
      // What the compiler said is named by what was built, which may be another package.
      const built = output.get(JSON.stringify([event.FailedBuild, '']));
      outcomes.add([where, 'did not run'], 'failed', built ?? output.get(key));
    }
  }
  if (events === 0) throw new Error('it holds no event of go test');
  return outcomes;
}

function eventOf(line: string): z.infer<typeof GoEvent> | null {
  if (!line.startsWith('{')) return null;
  try {
    return GoEvent.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    // Build output appears between the events.
    return null;
  }
}

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

/** Parses the output of rspec with `--format json`. Throws an Error for anything else. */
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
