import fc from 'fast-check';
import { expect, test } from 'vitest';
import { comparePatches, type PoolPatch } from '../../../src/core/likeness/index.ts';
import { anyPatch, anyText, change, created, patch } from './sample.ts';

const parse = (...added: readonly string[]): string =>
  change(
    'src/parse.ts',
    [' const text = read();', '-return text;', ...added.map((line) => `+${line}`), ' }'],
    { at: 20, heading: 'export function parse() {' },
  );
const trims = parse('return text.trim();');
const trimsToo = parse('const clean = text.trim();', 'return clean;');
const lowers = parse('return text.toLowerCase() ?? null;');
const elsewhere = change('src/print.ts', [' print(text);', '+flush(stream, 3);'], { at: 90 });

const pool = (...texts: readonly string[]): readonly PoolPatch[] =>
  texts.map((text, i) => ({ id: String.fromCharCode(65 + i), text }));
const only = (candidates: readonly PoolPatch[], id: string) => {
  const found = comparePatches(candidates).find((one) => one.id === id);
  if (!found) throw new Error(`no ${id}`);
  return found;
};

test("the candidate whose changes match the others' most agrees most", () => {
  const [a, b, c, d] = comparePatches(pool(trims, trimsToo, lowers, elsewhere)).map(({ share }) => share) as [
    number,
    number,
    number,
    number,
  ];
  expect(Math.max(a, b)).toBeGreaterThan(c);
  expect(c).toBeGreaterThan(d);
  expect(d).toBeLessThan(0.05);
});

test('omitting what others change costs more than adding something', () => {
  const both = patch(trims, elsewhere);
  const [whole, part] = comparePatches(pool(both, trims, both.replace('flush', 'drain')));
  expect(whole?.share).toBeGreaterThan(part?.share as number);
});

test('the comparison names the files and functions that others change, too', () => {
  expect(only(pool(trims, lowers, elsewhere), 'A')).toMatchObject({
    files: [{ name: 'src/parse.ts', others: 1 }],
    functions: [{ name: 'src/parse.ts: export function parse() {', others: 1 }],
  });
});

test('candidates that make the same source changes are one class', () => {
  const noted = patch(
    trims.replace('return text.trim();', 'return text.trim(); // no blanks'),
    created('test/a.test.ts', ['x()']),
  );
  const found = comparePatches(pool(trims, lowers, noted));
  expect(found.map(({ alike }) => alike)).toEqual([['A', 'C'], ['B'], ['A', 'C']]);
  expect(found[0]?.classIndex).toBe(found[2]?.classIndex);
  expect(found[0]).toMatchObject({ share: found[2]?.share });
});

test('a third copy of a patch adds nothing', () => {
  const twice = comparePatches(pool(lowers, lowers, trims, trimsToo, elsewhere));
  const often = comparePatches(pool(lowers, lowers, trims, trimsToo, elsewhere, lowers, lowers, lowers));
  for (const i of [0, 2, 3, 4]) expect(often[i]?.share).toBe(twice[i]?.share);
});

test('a class that is ranked as one candidate has no vote on itself, unless another family made the same change', () => {
  const shareOf = (candidates: readonly PoolPatch[]) =>
    comparePatches(candidates, { classesAsOne: true }).find(({ id }) => id === 'A')?.share ?? 0;
  const alone = shareOf(pool(trims, lowers, elsewhere));
  const [a, b, c, d] = pool(trims, trims, lowers, elsewhere) as [PoolPatch, PoolPatch, PoolPatch, PoolPatch];
  expect(shareOf([a, b, c, d])).toBe(alone);
  expect(comparePatches([a, b, c, d])[0]?.share).toBeGreaterThan(alone);
  expect(shareOf([{ ...a, family: 'gpt' }, { ...b, family: 'claude' }, c, d])).toBeGreaterThan(alone);
});

test('three candidates of one family have one vote on the others, and none on each other', () => {
  const run = (text: string, family: string, id: string): PoolPatch => ({ id, text, family });
  const loud = [
    run(lowers, 'x', 'A'),
    run(lowers, 'x', 'B'),
    run(lowers, 'x', 'C'),
    run(trims, 'y', 'D'),
    run(trimsToo, 'z', 'E'),
  ];
  const shares = new Map(comparePatches(loud).map(({ id, share }) => [id, share]));
  expect(shares.get('D')).toBeGreaterThan(shares.get('A') as number);
  const single = loud.filter(({ id }) => id !== 'B' && id !== 'C');
  for (const id of ['A', 'D', 'E']) expect(only(single, id).share).toBe(shares.get(id));
});

test('candidates of a single family are compared with each other', () => {
  const runs = pool(trims, trimsToo, elsewhere).map((one) => ({ ...one, family: 'x' }));
  expect(comparePatches(runs).map(({ share }) => share)).toEqual(
    comparePatches(pool(trims, trimsToo, elsewhere)).map(({ share }) => share),
  );
});

test.each([
  ['does-not-apply', { text: trims, applies: false }],
  ['no-source-change', { text: change('README.md', ['+trim']) }],
  ['no-effective-change', { text: change('src/parse.ts', ['+// trim']) }],
  ['no-effective-change', { text: '' }],
  ['unbalanced-brackets', { text: parse('if (text) {', 'return text.trim();') }],
  ['removes-tests', { text: patch(trims, change('test/parse.test.ts', Array(11).fill('-check();'))) }],
  ['scratch-files', { text: patch(trims, created('debug_parse.js', ['run()'])) }],
  ['scratch-files', { text: patch(trims, created('src/parse.ts.orig', ['run()'])) }],
] as const)('%s is named and lowers the score', (guard, odd) => {
  const candidates = [{ id: 'odd', ...odd }, ...pool(trims, trimsToo, lowers)];
  const found = only(candidates, 'odd');
  expect(found.flaws).toContain(guard);
  expect(found.score).toBeLessThan(0.1 + 0.9 * found.share);
  expect(only(candidates, 'A').flaws).toEqual([]);
});

test('a small fix in tests, and one that is known to apply, lower no score', () => {
  const tested = patch(trims, change('test/parse.test.ts', ['-check(" a");', '+check("a");']));
  expect(only([{ id: 'A', text: tested, applies: true }], 'A').flaws).toEqual([]);
});

test('tests that move to another file are not lost, whatever else is added there', () => {
  const lines = Array.from({ length: 20 }, (_, i) => `check(${i});`);
  const gone = change(
    'test/parse.test.js',
    lines.map((line) => `-${line}`),
  );
  const flawsWith = (added: readonly string[]) =>
    only([{ id: 'A', text: patch(trims, gone, created('test/parse.test.ts', [...added])) }], 'A').flaws;
  expect(flawsWith(['import { parse } from "../src";', ...lines.map((line) => `  ${line}`)])).toEqual([]);
  expect(flawsWith(lines.slice(0, 10))).toEqual([]);
  expect(flawsWith(lines.slice(0, 9))).toEqual(['removes-tests']);
  expect(flawsWith(Array(20).fill(lines[0]))).toEqual(['removes-tests']);
});

test('different patches without production changes are different candidates', () => {
  const documents = ['README.md', 'CHANGELOG.md', 'docs/install.md'].map((path) => change(path, ['+word']));
  const [readme = '', ...others] = documents;
  expect(comparePatches(pool(readme, ...others, readme)).map(({ alike }) => alike.join(''))).toEqual([
    'AD',
    'B',
    'C',
    'AD',
  ]);
});

const anyPool = fc.array(
  fc.record({
    text: fc.oneof(anyText, anyPatch),
    family: fc.constantFrom('x', 'y', undefined),
    place: fc.nat(),
  }),
  { maxLength: 5 },
);

test('no pool causes an error or a score out of range', () => {
  fc.assert(
    fc.property(anyPool, (some) => {
      const found = comparePatches(some.map(({ text, family }, i) => ({ id: `${i}`, text, family })));
      expect(found.map(({ id }) => id)).toEqual(some.map((_, i) => `${i}`));
      for (const { score, share, text, cover, classIndex } of found) {
        expect(Math.min(score, share, text, cover)).toBeGreaterThanOrEqual(0);
        expect(Math.max(score, share, text, cover)).toBeLessThanOrEqual(1);
        expect(classIndex).toBeLessThan(some.length);
      }
    }),
    { numRuns: 100 },
  );
});

test('order and ids have no effect', () => {
  fc.assert(
    fc.property(anyPool, (some) => {
      const candidates = some.map((one, i) => ({ ...one, id: `${i}` }));
      const renamed = (id: string) => `was ${9 - Number(id)}`;
      const turned = candidates
        .map((one) => ({ ...one, id: renamed(one.id) }))
        .sort((a, b) => a.place - b.place);
      const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
      const expected = comparePatches(candidates).map((one) => ({
        ...one,
        id: renamed(one.id),
        alike: one.alike.map(renamed).sort(),
      }));
      expect(comparePatches(turned).toSorted(byId)).toEqual(expected.sort(byId));
    }),
    { numRuns: 100 },
  );
});

test('identical patches tie', () => {
  fc.assert(
    fc.property(anyPatch, fc.array(anyPatch, { maxLength: 3 }), (twin, others) => {
      const [a, b] = comparePatches(pool(twin, twin, ...others));
      expect({ ...a, id: '' }).toEqual({ ...b, id: '' });
    }),
    { numRuns: 100 },
  );
});
