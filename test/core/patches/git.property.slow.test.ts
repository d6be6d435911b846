import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinSections, parsePatch, patchedText } from '../../../src/core/patches/index.ts';
import { type Entry, Git, type Tree } from '../git.ts';

const line = fc.constantFrom(
  'a',
  'b',
  '',
  '--- x',
  '+++ y',
  '@@ -1 +1 @@',
  'diff --git a/x b/x',
  '\\ No newline',
  'é\r',
  '\tint x;',
  ' ',
);
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ended]) => lines.join('\n') + (ended && lines.length > 0 ? '\n' : ''));
const entry: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 2, arbitrary: text.map((executable) => ({ executable })) },
  { weight: 1, arbitrary: fc.constantFrom('a', 'sub dir/é', './x').map((link) => ({ link })) },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ minLength: 4, maxLength: 200 })
      .map((bytes) => Buffer.concat([Buffer.from([0, 255]), bytes])),
  },
);
/** No two of these are one name where case does not count, and none is the folder of another. */
const path = fc.constantFrom(
  'a.ts',
  'src/b c.ts',
  'src/é.ts',
  'src/"quoted".ts',
  "src/it's.ts",
  'src/日本.py',
  'src/-dash',
  'src/b/c.ts',
  'src/a.test.ts',
  'test/x y.ts',
  'test/fixtures/in.txt',
  'vitest.config.ts',
  'ends with space ',
  'a b/a b',
);
const tree = fc.dictionary(path, entry, { maxKeys: 10 });

test("git's diff of any two trees is parsed completely, and its parts apply", () => {
  using git = new Git();
  fc.assert(
    fc.property(tree, tree, (before: Tree, after: Tree) => {
      const { raw, text: patchText } = git.diff(before, after);
      const parsed = parsePatch(raw, patchText);
      if (parsed.kind === 'refused') throw new Error(parsed.reasons.join('\n'));
      const { files } = parsed.patch;
      expect(joinSections(files)).toBe(patchText);
      expect(git.apply(joinSections(files))).toBe(git.tree('b'));
      for (const part of [parsed.patch.production, parsed.patch.tests]) git.apply(joinSections(part));
      for (const file of files) {
        const [base, target] = [before[file.path], after[file.path]];
        if (typeof target !== 'string' || (base !== undefined && typeof base !== 'string') || file.binary)
          continue;
        expect(patchedText(base ?? null, file)).toEqual({ kind: 'text', text: target });
      }
    }),
    { numRuns: 60 },
  );
});

test('a patch that contradicts its list is rejected', () => {
  using git = new Git();
  const before = { 'src/a.ts': 'one\ntwo\nthree\n', 'src/b.ts': 'x\n', 'run.sh': 'x\n' };
  const after = { 'src/a.ts': 'one\n2\nthree\n', 'src/c.ts': 'y\n', 'run.sh': { executable: 'x\n' } };
  const { raw, text: patchText } = git.diff(before, after);
  expect(parsePatch(raw, patchText).kind).toBe('patch');
  const twisted: Record<string, string> = {
    'another file': patchText.replace('diff --git a/src/a.ts b/src/a.ts', 'diff --git a/src/a.ts b/src/z.ts'),
    'another file below the header': patchText.replace('+++ b/src/a.ts', '+++ b/src/b.ts'),
    'a rename': patchText.replace(
      '--- a/src/a.ts',
      'rename from src/a.ts\nrename to src/z.ts\n--- a/src/a.ts',
    ),
    'a longer hunk': patchText.replace('@@ -1,3 +1,3 @@', '@@ -1,3 +1,4 @@'),
    'a line too much': patchText.replace('-two\n', '-two\n+more\n'),
    'no line sign': patchText.replace('-two\n', 'two\n'),
    'another mode': patchText.replace('new mode 100755', 'new mode 100644'),
    'a link': patchText.replace('new file mode 100644', 'new file mode 120000'),
    'another object': patchText.replace(/index [0-9a-f]{8}/, 'index 00000000'),
    'a section twice': patchText + patchText.slice(patchText.lastIndexOf('diff --git ')),
    'a section less': patchText.slice(0, patchText.lastIndexOf('diff --git ')),
    'text in front': `hello\n${patchText}`,
    'the end cut off': patchText.slice(0, -1),
    'other order': patchText
      .split(/(?=^diff --git )/m)
      .reverse()
      .join(''),
  };
  for (const [what, twist] of Object.entries(twisted)) {
    expect(twist, what).not.toBe(patchText);
    expect(parsePatch(raw, twist), what).toMatchObject({ kind: 'refused' });
  }
});

test('no list and no text causes a parser error', () => {
  const sha = fc.constantFrom('0'.repeat(40), 'a'.repeat(40), 'b'.repeat(40));
  const mode = fc.constantFrom('000000', '100644', '120000');
  const record = fc
    .tuple(mode, mode, sha, sha, fc.constantFrom('A', 'M', 'D', 'T'), fc.constantFrom('a', 'b/c', '', '../x'))
    .map(
      ([from, to, before, after, status, name]) => `:${from} ${to} ${before} ${after} ${status}\0${name}\0`,
    );
  const raw = fc.oneof(
    fc.string(),
    fc.array(record, { maxLength: 3 }).map((records) => records.join('')),
  );
  const piece = fc.constantFrom(
    'diff --git a/a b/a\n',
    '--- a/a\n',
    '+++ b/a\n',
    '@@ -1 +1 @@\n',
    '+x\n',
    '-x\n',
    ' x\n',
    '\\ No\n',
    'GIT binary patch\n',
    'index ',
  );
  const patchText = fc.oneof(
    fc.string(),
    fc.array(piece).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(raw, patchText, (list, some) => {
      expect(['patch', 'refused']).toContain(parsePatch(list, some).kind);
    }),
    { numRuns: 500 },
  );
});
