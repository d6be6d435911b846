import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Files } from '../adapters/git/world.ts';
import { NODE_TEST, openSharedFixture, type SharedFixture } from '../runs/examination-world.ts';

const slug = (body: string): Files => ({ 'slug.js': `export const slug = (text) => ${body};\n` });
const testFile = (name: string, body: string, before = ''): Files => ({
  [`test/${name}.test.js`]: [
    "import assert from 'node:assert';",
    "import { readFileSync, writeFileSync } from 'node:fs';",
    "import { test } from 'node:test';",
    "import { slug } from '../slug.js';",
    before,
    `test('${name} words', () => { ${body} });`,
    '',
  ].join('\n'),
});
const REPOSITORY: Files = {
  'package.json': '{ "type": "module" }\n',
  ...slug("text.toLowerCase().replace(/ /, '-')"),
  ...testFile('one', "assert.equal(slug('Hello'), 'hello');"),
};
const ISSUE =
  "Only the first space is replaced\n\n`slug('x y z')` returns `'x-y z'` but should return `'x-y-z'`.\n";
const ONLY_TWO = slug("text.toLowerCase().replace(/ /, '-').replace(/ /, '-')");
const RIVALS = {
  B: slug("text.toLowerCase().replace(/ /g, '-')"),
  C: slug("text.toLowerCase().split(' ').join('-')"),
};
const FAMILIES = { A: 'x', B: 'y', C: 'z' };

/** Neither the base's nor its author's code runs. */
const IS_RIVAL = "const isRival = slug('a b c d') === 'a-b-c-d';";
const CHECK = "assert.equal(slug('a b'), 'a-b');";
/** Writes lines about cases of the base's first file to the folder of the observations. */
const FORGING = testFile(
  'many',
  CHECK,
  `${IS_RIVAL}
const [, folder] = /"journal":"(\\/[^"]+)"/.exec(readFileSync(import.meta.filename, 'utf8')) ?? [];
const keys = ['b0.0.0.check', 'b0.1.0.check'];
const lines = [
  ...keys.map((key) => ['e', key, 'failed', '']),
  ...Array(60).fill(['s', 'b0.0.0.look', 0, 'v', 'x'.repeat(150_000)]),
  ...keys.map((key) => ['b', key, 0, 'check']),
];
if (isRival && folder) writeFileSync(folder + '/1-0.jsonl', lines.map((line) => JSON.stringify(line) + '\\n').join(''));
`,
);
const LOOKING = testFile('many', `${IS_RIVAL} assert.ok(isRival ? process.cwd().length : 1); ${CHECK}`);

describe('a test file of a candidate that runs on the code of its rivals', () => {
  let shared: SharedFixture;
  beforeAll(async () => {
    shared = await openSharedFixture({ probes: true });
  });
  afterAll(() => shared.close());

  /** What rivals are said to do, and what the programs printed that ran probes on them. */
  async function examined(added: Files) {
    const printed: string[] = [];
    const fixture = await shared.fixture({
      files: REPOSITORY,
      asked: ISSUE,
      test: NODE_TEST,
      async exec(spec, real) {
        const result = await real(spec);
        const isRun = spec.argv.some((word) => word.endsWith('/checks/probes/run.mjs'));
        if (isRun && /-[BC]-probe|-[BC]-\d$/.test(spec.area.id)) printed.push(result.stdout);
        return result;
      },
    });
    const found = await fixture.examine(
      await fixture.base(),
      { A: { ...ONLY_TWO, ...added }, ...RIVALS },
      FAMILIES,
    );
    const rivals = [found.B, found.C].map((one) => ({
      survivor: one?.survivor,
      failed: one?.gates.filter(({ passed }) => !passed),
      examples: [one?.independentTests?.passed, one?.independentTests?.total],
      isBest: one?.behaviour?.support === 1,
    }));
    return { rivals, printed: printed.join('\n') };
  }

  const SOUND = { survivor: true, failed: [], examples: [1, 1], isBest: true };

  test('does not decide what other tests see of them', async () => {
    const { rivals, printed } = await examined(FORGING);
    for (const sign of ['["e","b0.1.0.check","failed",""]', '["q","b0.1.0.check"', 'x'.repeat(150_000)])
      expect(printed.includes(sign)).toBe(true);
    expect(rivals).toEqual([SOUND, SOUND]);
  });

  test('does not make them depend on where they run', async () => {
    const { rivals } = await examined(LOOKING);
    expect(rivals).toEqual([SOUND, SOUND]);
  });
});
