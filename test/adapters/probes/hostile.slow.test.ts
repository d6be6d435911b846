import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProbeBench, outcomesOf, type ProbeBench, seenFor } from './bench.ts';

const test_ = (body: string) => `import assert from 'node:assert';
import { test } from 'node:test';
import { f } from '../f.js';
test('a', () => { assert.equal(f(6), 12); });
test('b', async () => { ${body} });
`;
const tree = (f: string, body = 'assert.equal(f(2), 4);') => ({
  'package.json': '{"type":"module"}',
  'f.js': f,
  'test/f.test.js': test_(body),
});
const TESTS = ['test/f.test.js'];
const DOUBLE = 'export const f = (n) => n * 2;';

describe('hostile code under test', () => {
  let bench: ProbeBench;
  beforeAll(async () => {
    bench = await openProbeBench();
  });
  afterAll(() => bench.close());

  test('loses only the call that never returns', async () => {
    const files = tree('export const f = (n) => { if (n === 7) for (;;); return n * 2; };');
    const derived = await bench.derive(files, { tests: TESTS });
    const ran = await bench.run(files, derived, { limits: { variantMs: 200, restarts: 8 } });
    expect(ran.output.ended).toBe('done');
    expect(seenFor(ran, 'f(7)')).toBe('does not come back');
    expect(seenFor(ran, 'f(8)')).toBe('16');
    expect(outcomesOf(derived, ran, 'base')).toEqual(['passed', 'passed']);
    const skip = ran.output.lines.flatMap((line) => {
      const [type, key, call] = line as readonly string[];
      return type === 'h' ? [{ key, ...(call ? { call } : {}) }] : [];
    });
    const again = await bench.run(files, derived, { skip });
    expect(again.output.lines.some((line) => (line as readonly string[])[0] === 'h')).toBe(false);
    expect(seenFor(again, 'f(8)')).toBe('16');
  });

  test('cannot end the run by exiting, crashing or flooding the output', async () => {
    const files = tree(`import { writeSync } from 'node:fs';
export const f = (n) => {
  if (n === 5) process.exit(0);
  if (n === 7) process.kill(process.pid, 'SIGKILL');
  if (n === 8) for (let i = 0; i < 2000; i++) writeSync(1, 'x'.repeat(1000));
  return n * 2;
};`);
    const derived = await bench.derive(files, { tests: TESTS });
    const ran = await bench.run(files, derived, { limits: { restarts: 8 } });
    expect(ran.output.ended).toBe('done');
    expect(seenFor(ran, 'f(5)')).toBe('ProcessExit: exit code 0');
    expect(seenFor(ran, 'f(7)')).toBe('ends the process');
    expect(seenFor(ran, 'f(8)')).toBe('16');
    expect(outcomesOf(derived, ran, 'base')).toEqual(['passed', 'passed']);
  });

  test('does not block the run with a promise that never settles', async () => {
    const files = tree(
      'export const f = (n) => (n === 6 ? 12 : n === 3 ? new Promise(() => {}) : Promise.resolve(n * 2));',
      'assert.equal(await f(2), 4);',
    );
    const derived = await bench.derive(files, { tests: TESTS });
    const ran = await bench.run(files, derived);
    expect(ran.output.ended).toBe('done');
    expect(seenFor(ran, 'f(4)')).toBe('8');
    expect(outcomesOf(derived, ran, 'base')).toEqual(['passed', 'passed']);
  });

  test('cannot hide values by hostile methods', async () => {
    const files =
      tree(`const trap = new Proxy({}, { get() { throw new Error('no'); }, ownKeys() { throw new Error('no'); } });
const ring = {}; ring.self = ring;
export const f = (n) => n === 6 ? 12 : n === 2 ? 4 : n === 3 ? trap : n === 4 ? ring : n === 5 ? 'x'.repeat(9e6) : n === 7 ? { toString() { for (;;) { throw null; } } } : n;`);
    const derived = await bench.derive(files, { tests: TESTS });
    const ran = await bench.run(files, derived);
    expect(ran.output.ended).toBe('done');
    expect(seenFor(ran, 'f(3)')).toBe('[unreadable]');
    expect(seenFor(ran, 'f(4)')).toBe('{self: [again 0]}');
    expect(seenFor(ran, 'f(5)')?.length).toBeLessThan(500);
    expect(seenFor(ran, 'f(8)')).toBe('8');
  });

  test('gets the same random numbers on every tree, and shared state breaks no case', async () => {
    const files = tree(
      'let calls = 0;\nexport const f = (n) => { calls += 1; return n === 6 || n === 2 ? n * 2 : Math.random(); };\nexport const count = () => calls;',
    );
    const derived = await bench.derive(files, { tests: TESTS });
    const [one, other] = [await bench.run(files, derived), await bench.run(files, derived)];
    expect([...one.observations]).toEqual([...other.observations]);
    expect(seenFor(one, 'f(4)')).toMatch(/^0\.\d+$/);
  });

  test('cannot place a derived file outside the tree', async () => {
    const files = tree(DOUBLE);
    const derived = await bench.derive(files, { tests: TESTS });
    const astray = { ...derived, files: derived.files.map((file) => ({ ...file, path: '../astray.js' })) };
    await expect(bench.run(files, astray)).rejects.toThrow('lies outside of the tree');
    expect(existsSync(join(bench.programs, '..', '..', 'astray.js'))).toBe(false);
  });

  test('gives nothing for files that do not parse, are no tests, are too big or missing', async () => {
    const files = {
      ...tree(DOUBLE),
      'test/broken.test.js': 'test("a", () => {',
      'test/none.js': 'export const a = 1;',
      'test/big.test.js': `test('a', () => {});${' '.repeat(3000)}`,
      'test/text.test.rb': 'it "works" do end',
    };
    const tests = [
      ...Object.keys(files).filter((path) => /^test/.test(path)),
      'test/missing.js',
      '../outside.js',
    ];
    const { files: derived } = await bench.derive(files, { tests, limits: { bytes: 2000 } });
    expect(derived.map(({ path }) => path)).toEqual(TESTS);
  });

  test('does not keep the files of others from being derived', async () => {
    const added = (by: string, texts: readonly string[]) =>
      texts.map((text, nth) => ({ path: `test/${by}-${nth}.test.js`, text, by }));
    const nested = test_(`assert.equal(f(${'['.repeat(30_000)}1${']'.repeat(30_000)}), 2);`);
    const many = Array.from({ length: 30 }, (_, nth) => test_(`assert.equal(f(${nth}), ${2 * nth});`));
    const long = many.map((text) => `${text}// ${'x'.repeat(20_000)}`);
    const honest = added('B', [test_('assert.equal(f(70), 140);')]);
    for (const [hostile, most] of [
      [[nested], 0],
      [many, 8],
      [long, 4],
    ] as const) {
      const { files } = await bench.derive(tree(DOUBLE), {
        tests: TESTS,
        added: [...added('A', hostile), ...honest],
      });
      expect(files.filter(({ by }) => by.length === 0).map(({ path }) => path)).toEqual(TESTS);
      expect(files.filter(({ by }) => by.includes('A'))).toHaveLength(most);
      expect(files.filter(({ by }) => by.includes('B'))).toHaveLength(1);
    }
  });

  test('does no harm by an issue that looks like code', async () => {
    const issue = `${'`'.repeat(5000)}js\nassert.equal(f(6), 12);\n${'| a '.repeat(3000)}|\n`.repeat(3);
    const code =
      '```js\nprocess.exit(1);\nassert.equal(f(6), 12);\n```\n```js\nassert.equal(f(6), 12); });\ntest("x", () => {\n```\n';
    const derived = await bench.derive(tree(DOUBLE), { issue: `${issue}\n${code}`, tests: TESTS });
    const ran = await bench.run(tree(DOUBLE), derived);
    expect(outcomesOf(derived, ran, 'base')).toEqual(['passed', 'passed']);
  });
});
