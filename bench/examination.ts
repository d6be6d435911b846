// How long it takes to examine candidates whose tests take a second, a minute or ten minutes, for 2, 4 and 8 candidates.
// Everything runs in real sandboxes, but the clock of the tests is scripted: each of the repository's 20 test files takes a
// twentieth of the suite, so that ten minutes need not pass. Every candidate changes the code in a way of its own and adds
// a test; every fourth breaks a base test. One thing runs at a time, so that times are also what the machine works.
// Prints the table of docs/selection.md; the last column is the time for each candidate beyond the first, in suites.
//
//   node bench/examination.ts [--suites 60,600] [--candidates 2,4]
import { parseArgs } from 'node:util';
import { systemClock } from '../src/adapters/system/index.ts';
import type { Evidence } from '../src/core/evidence/index.ts';
import type { Files } from '../test/adapters/git/world.ts';
import {
  type FixtureOptions,
  NODE_TEST,
  openSharedFixture,
  type SharedFixture,
} from '../test/runs/examination-world.ts';

const { values: options } = parseArgs({
  options: {
    suites: { type: 'string', default: '1,60,600' },
    candidates: { type: 'string', default: '2,4,8' },
  },
});
const numbersOf = (text: string): readonly number[] => text.split(',').map(Number);

const TEST_FILES = 20;
const moduleOf = (at: number, body: string): Files => ({
  [`src/part${at}.js`]: `export const part${at} = (list) => ${body};\n`,
});
const testOf = (at: number, name: string, body: string): Files => ({
  [`test/${name}.test.js`]: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { part${at} } from '../src/part${at}.js';

test('${name}', () => ${body});
`,
});

const SUM = 'list.reduce((a, b) => a + b)';
const REPOSITORY: Files = Object.assign(
  { 'package.json': '{ "type": "module" }\n', 'run-tests.sh': 'exec node --test --test-reporter=tap\n' },
  ...Array.from({ length: TEST_FILES }, (_, at) => ({
    ...moduleOf(at, SUM),
    ...testOf(at, `part${at}`, `assert.equal(part${at}([${at}, 1]), ${at + 1})`),
  })),
);

/** The nth of several candidates: right in its own way, with a test that fails on the base; every fourth breaks a test. */
const candidate = (nth: number): Files => ({
  ...moduleOf(
    0,
    nth % 4 === 3 ? `list.length + ${nth}` : `list.concat(${'0, '.repeat(nth + 1)}).reduce((a, b) => a + b)`,
  ),
  ...(nth % 4 === 3 ? {} : testOf(0, `nothing-${nth}`, `assert.equal(part0([]), 0)`)),
});

const aliasOf = (nth: number): string => String.fromCharCode(65 + nth);

/** Test commands are the only ones of this form; a file by itself is an argument. */
const testFilesIn = (argv: readonly string[]): number | null =>
  argv[0] === 'sh' && argv[3] === 'sh' ? argv.length - 4 || TEST_FILES : null;

interface Examined {
  /** Milliseconds of the examination: the script's for tests, the machine's for the rest. */
  readonly ms: number;
  /** Runs of test files, in suites. */
  readonly suites: number;
  readonly evidence: readonly Evidence[];
}

async function examined(
  shared: SharedFixture,
  {
    suiteMs,
    candidates,
    test,
  }: { readonly suiteMs: number; readonly candidates: number; readonly test: string },
): Promise<Examined> {
  let scripted = 0;
  let real = 0;
  let files = 0;
  const inFront: FixtureOptions['exec'] = async (spec, run) => {
    const began = systemClock.elapsed();
    const result = await run(spec);
    const count = testFilesIn(spec.argv);
    if (count === null) return result;
    real += systemClock.elapsed() - began;
    const ms = (suiteMs * count) / TEST_FILES;
    scripted += ms;
    files += count;
    return { ...result, ms };
  };
  const elapsed = () => systemClock.elapsed() - real + scripted;
  const fixture = await shared.fixture({
    files: REPOSITORY,
    test,
    clock: { elapsed },
    parallel: 1,
    exec: inFront,
  });
  const onBase = await fixture.base();
  const all = Object.fromEntries(
    Array.from({ length: candidates }, (_, nth) => [aliasOf(nth), candidate(nth)]),
  );
  [scripted, real, files] = [0, 0, 0];
  const began = systemClock.elapsed();
  const evidence = Object.values(await fixture.examine(onBase, all));
  return { ms: elapsed() - began, suites: files / TEST_FILES, evidence };
}

const time = (ms: number): string =>
  ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
const leftOut = (evidence: readonly Evidence[]): string =>
  evidence[0]?.cut?.leftOut.map(({ what, count, of }) => `${what} (${count} of ${of})`).join(', ') ?? '–';

/** The second prints the same report, but Runoff cannot run single files with it. */
const RUNNERS = { 'node --test': NODE_TEST, 'a script': 'sh run-tests.sh' } as const;

const shared = await openSharedFixture();
try {
  console.log(
    '| tests | suite | candidates | time | test runs, in suites | left out | each further candidate, in suites |\n|---|--:|--:|--:|--:|---|--:|',
  );
  for (const [name, test] of Object.entries(RUNNERS))
    for (const suite of numbersOf(options.suites)) {
      const suiteMs = suite * 1000;
      const alone = await examined(shared, { suiteMs, candidates: 1, test });
      const counts = [1, ...numbersOf(options.candidates)];
      for (const candidates of counts) {
        const of = candidates === 1 ? alone : await examined(shared, { suiteMs, candidates, test });
        const each = candidates === 1 ? '' : ((of.ms - alone.ms) / (candidates - 1) / suiteMs).toFixed(2);
        console.log(
          `| ${name} | ${time(suiteMs)} | ${candidates} | ${time(of.ms)} | ${of.suites.toFixed(1)} | ${leftOut(of.evidence)} | ${each} |`,
        );
      }
    }
} finally {
  shared.close();
}
