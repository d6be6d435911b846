// Milliseconds and size of the pages of a large run, and their ratio to those of a small one.
//   TESTS=5000 DIFF_KIB=2048 ROUNDS=7 node bench/pages.ts
import { type TestRun, testTable } from '../src/core/evidence/index.ts';
import type { RunView } from '../src/core/reports/index.ts';
import { candidate, evidence, judged } from '../test/core/reports/sample.ts';
import { richParts, richRun } from '../test/web/rich-run.ts';
import { collected, pageOf, type StoredParts, storedRun } from '../test/web/stored-run.ts';
import { quantile } from './numbers.ts';

const { env } = process;
const ROUNDS = Number(env.ROUNDS ?? 7);
const ALIASES = 'ABCDEFGHIJKL'.split('');
const TESTS = Number(env.TESTS ?? 5_000);
const DIFF_BYTES = Number(env.DIFF_KIB ?? 2_048) * 2 ** 10;
/** Milliseconds in which every page of the large run must answer. */
const MOST_MS = Number(env.MOST_MS ?? 300);

const suite = (failing: (at: number) => boolean): TestRun => ({
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 60_000,
  tests: Object.fromEntries(
    Array.from({ length: TESTS }, (_, at) => [
      `test/part-${at % 50}.test.ts > a suite > does what is expected of case ${at}`,
      failing(at) ? 'failed' : 'passed',
    ]),
  ),
  tail: 'done',
});

function large(): { readonly view: RunView; readonly parts: StoredParts } {
  const view = judged({
    candidates: ALIASES.map((alias) => candidate(alias)),
    evidence: ALIASES.map((alias) => evidence(alias)),
  });
  const { table, outputs } = testTable({
    onBase: suite(() => false),
    candidates: ALIASES.map((alias, nth) => ({ alias, run: suite((at) => at % 23 === nth) })),
    peers: [],
    inputs: [],
  });
  const lines = (name: string) =>
    Array.from(
      { length: DIFF_BYTES / 64 },
      (_, at) => `export const ${name}${at} = '${'x'.repeat(30)}';\n`,
    ).join('');
  const [one, other] = [lines('one'), lines('other')];
  return {
    view,
    parts: {
      table,
      outputs,
      patches: {
        A: collected({ 'src/big.ts': [null, one] }),
        B: collected({ 'src/big.ts': [null, other] }),
      },
    },
  };
}

const PATHS = {
  overview: '',
  'tests that differ': '/tests',
  'all tests': '/tests?show=all',
  'one test': '/tests/0-0',
  diff: '/candidates/A',
  comparison: '/compare/A/B',
};

/** Median of the rounds, after one that warms up. */
async function measured(view: RunView, parts: StoredParts, path: string) {
  const world = await storedRun(view, parts);
  let bytes = 0;
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const began = performance.now();
    bytes = Buffer.byteLength(await pageOf(world, view, path));
    if (round > 0) times.push(performance.now() - began);
  }
  return { ms: quantile(times, 0.5), bytes };
}

const big = large();
const slow: string[] = [];
console.log(
  '| page | small run | large run | ratio | size of the large one |\n| --- | --: | --: | --: | --: |',
);
for (const [name, path] of Object.entries(PATHS)) {
  const small = await measured(richRun(), richParts(), path);
  const found = await measured(big.view, big.parts, path);
  const cells = [
    `${small.ms.toFixed(1)} ms`,
    `${found.ms.toFixed(0)} ms`,
    (found.ms / small.ms).toFixed(1),
    `${Math.round(found.bytes / 1000)} kB`,
  ];
  console.log(`| ${name} | ${cells.join(' | ')} |`);
  if (found.ms >= MOST_MS) slow.push(name);
}
if (slow.length > 0) {
  console.error(`The limit is ${MOST_MS} ms. Slower: ${slow.join(', ')}.`);
  process.exitCode = 1;
}
