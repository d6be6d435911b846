import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  SelectAnswer,
  type SelectCandidate,
  SelectRequest,
  selectStored,
  statementOf,
  unknownKeysOf,
} from '../../../src/core/ranking/index.ts';

const change = (path: string, ...lines: readonly string[]): string => {
  const left = lines.filter((line) => !line.startsWith('+')).length;
  const right = lines.filter((line) => !line.startsWith('-')).length;
  return `--- a/${path}\n+++ b/${path}\n@@ -10,${left} +10,${right} @@\n${lines.map((line) => `${line}\n`).join('')}`;
};
const trims = change('src/parse.ts', ' const text = read();', '-return text;', '+return text.trim();');
const trimsToo = change(
  'src/parse.ts',
  ' const text = read();',
  '-return text;',
  '+return clean(text.trim());',
);
const noted = change(
  'src/parse.ts',
  ' const text = read();',
  '-return text;',
  '+return text.trim(); // no blanks',
);
const elsewhere = change('src/print.ts', ' print(text);', '+flush(stream);');

const select = (candidates: readonly SelectCandidate[], alwaysPick = false) =>
  selectStored({ id: 'r', candidates: [...candidates] }, { alwaysPick });

test('the candidate that agrees best with the others is picked, with this reason', () => {
  const answer = select([
    { id: 'a', patch: elsewhere },
    { id: 'b', patch: trimsToo },
    { id: 'c', patch: trims },
    { id: 'd', patch: noted },
  ]);
  expect(answer).toMatchInlineSnapshot(`
    {
      "because": "c agrees most with the others: 0.59 against 0.40 for b. Nothing was executed.",
      "confidence": 0.298,
      "decidedBy": "agreement",
      "id": "r",
      "pick": "c",
      "ranking": [
        {
          "because": "Agreement with the 3 others 0.54: its changes are 46% similar to theirs, and it covers 67% of the files and places that they change; of its 1 file, 1 is also changed by others. Its source changes equal those of d.",
          "id": "c",
          "score": 0.585907692,
        },
        {
          "because": "Agreement with the 3 others 0.54: its changes are 46% similar to theirs, and it covers 67% of the files and places that they change; of its 1 file, 1 is also changed by others. Its source changes equal those of c.",
          "id": "d",
          "score": 0.585907692,
        },
        {
          "because": "Agreement with the 3 others 0.33: its changes are 22% similar to theirs, and it covers 50% of the files and places that they change; of its 1 file, 1 is also changed by others.",
          "id": "b",
          "score": 0.399612903,
        },
        {
          "because": "Agreement with the 3 others 0.03: its changes are 5% similar to theirs, and it covers 0% of the files and places that they change; of its 1 file, 0 are also changed by others.",
          "id": "a",
          "score": 0.126951872,
        },
      ],
    }
  `);
});

test('a patch that does not apply is last, one that breaks tests next to last, whatever their agreement', () => {
  const answer = select([
    { id: 'a', patch: trims, signals: { applied: false, p2p_ok: false } },
    { id: 'b', patch: trimsToo, signals: { applied: true, p2p_ok: false } },
    { id: 'c', patch: elsewhere, signals: { applied: true, p2p_ok: true } },
  ]);
  expect(answer).toMatchObject({ pick: 'c', decidedBy: 'signals' });
  expect(answer.ranking.map(({ id, score }) => [id, score > 0])).toEqual([
    ['c', true],
    ['b', false],
    ['a', false],
  ]);
  expect(answer.because).toContain('It breaks tests that pass on the base.');
});

test('unknown signals do not count against a candidate', () => {
  const bare = select([
    { id: 'a', patch: trims },
    { id: 'b', patch: elsewhere },
  ]);
  const unknown = select([
    { id: 'a', patch: trims, signals: null },
    { id: 'b', patch: elsewhere, signals: { applied: null } },
  ]);
  expect(unknown).toEqual(bare);
});

test.each<[string, readonly SelectCandidate[]]>([
  ['no candidate', []],
  ['only patches that do not apply', [{ id: 'a', patch: trims, signals: { applied: false } }]],
  ['only patches that break tests', [{ id: 'a', patch: trims, signals: { p2p_ok: false } }]],
  [
    'only empty patches',
    [
      { id: 'a', patch: '' },
      { id: 'b', patch: '' },
    ],
  ],
  ['only comments', [{ id: 'a', patch: change('src/a.ts', '+// fixed') }]],
])('there is no pick with %s, unless one is required', (_, candidates) => {
  expect(select(candidates)).toMatchObject({ pick: null, confidence: 0, decidedBy: 'none' });
  const forced = select(candidates, true);
  expect(forced.pick).toBe(candidates[0]?.id ?? null);
  expect(forced.confidence).toBe(0);
});

test('more agreement, and tests that are known to pass, raise the confidence', () => {
  const sure = (first: string, second: string, signals?: SelectCandidate['signals']) =>
    select([
      { id: 'a', patch: first, signals },
      { id: 'b', patch: second },
    ]).confidence;
  expect(sure(trims, trimsToo)).toBeGreaterThan(sure(trims, elsewhere));
  expect(sure(trims, noted)).toBeGreaterThan(sure(trims, trimsToo));
  expect(sure(trims, noted, { p2p_ok: true })).toBeGreaterThan(sure(trims, noted));
  expect(select([{ id: 'a', patch: trims }])).toMatchObject({
    decidedBy: 'only-candidate',
    confidence: 0.231,
  });
});

test('two patches between which nothing decides are tied, and neither is picked unless one must be', () => {
  const [other, another] = [change('src/a.ts', '+start'), change('src/b.ts', '-stop')];
  const pool = [
    { id: 'a', patch: other },
    { id: 'b', patch: another },
  ];
  expect(select(pool)).toMatchObject({ pick: null, decidedBy: 'tie', confidence: 0 });
  const answer = select(pool, true);
  const turned = select(
    [
      { id: 'a', patch: another },
      { id: 'b', patch: other },
    ],
    true,
  );
  expect(turned.pick).not.toBe(answer.pick);
});

const line = fc
  .tuple(fc.constantFrom(' ', '+', '-'), fc.constantFrom('a();', 'b(c);', '// d', '}', '"e"', 'return null;'))
  .map(([sign, text]) => sign + text);
const anyPatch = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('src/a.ts', 'src/b.py', 'test/a.test.ts', 'README.md'),
      fc.array(line, { maxLength: 8 }),
    )
    .map(([path, lines]) => change(path, ...lines)),
  fc.string({ unit: 'binary' }),
);
const anyCandidates = fc.uniqueArray(
  fc.record(
    {
      patch: anyPatch,
      signals: fc.record(
        { applied: fc.boolean(), p2p_ok: fc.constantFrom(true, false, null) },
        { requiredKeys: [] },
      ),
      family: fc.constantFrom('x', 'y'),
    },
    { requiredKeys: ['patch'] },
  ),
  { maxLength: 5, selector: ({ patch }) => patch },
);

test('order and ids never change the pick', () => {
  fc.assert(
    fc.property(anyCandidates, fc.array(fc.string()), fc.boolean(), (some, names, alwaysPick) => {
      const named = some.map((one, i) => ({ ...one, id: `${i}` }));
      const turned = named.map((one, i) => ({ ...one, id: `${names[i] ?? ''}${9 - i}` })).reverse();
      const patchOf = (candidates: readonly SelectCandidate[]) => {
        const { pick } = select(candidates, alwaysPick);
        return candidates.find(({ id }) => id === pick)?.patch ?? null;
      };
      expect(patchOf(turned)).toBe(patchOf(named));
    }),
    { numRuns: 200 },
  );
});

test('every answer has the right form and ranks every candidate once, in order of score', () => {
  fc.assert(
    fc.property(anyCandidates, (some) => {
      const answer = SelectAnswer.parse(select(some.map((one, i) => ({ ...one, id: `${i}` }))));
      expect(answer.ranking.map(({ id }) => id).sort()).toEqual(some.map((_, i) => `${i}`));
      const scores = answer.ranking.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      if (answer.pick !== null) expect(answer.pick).toBe(answer.ranking[0]?.id);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['junk', 'Its patch cannot be read as a diff.'],
  ['diff --git …', 'Its patch cannot be read as a diff.'],
  ['--- a/src/parse.ts\\n+++ b/src/parse.ts', 'Its patch cannot be read as a diff.'],
  ['--- a/src/parse.ts\n+++ b/src/parse.ts\n', 'Its patch cannot be read as a diff.'],
  [' \n', 'Its patch is empty.'],
])('%j is no change, which is what the answer says', (patch, because) => {
  const { pick, ranking, ...answer } = select([{ id: 'c', patch }]);
  expect([pick, ranking[0]?.because]).toEqual([null, because]);
  expect(answer.because).toContain(because);
});

test('a patch of comments, or of a file mode, is read', () => {
  const comment = change('src/parse.ts', ' const text = read();', '+// Blanks are kept.');
  const mode = 'diff --git a/src/parse.ts b/src/parse.ts\nold mode 100644\nnew mode 100755\n';
  for (const patch of [comment, mode])
    expect(select([{ id: 'c', patch }]).because).not.toContain('cannot be read');
});

test('keys that are ignored are known', () => {
  expect(unknownKeysOf({ id: 'r', candidates: [], evalautor: ['metrics'], n: 1 })).toEqual([
    'evalautor',
    'n',
  ]);
});

test('requests can have issues as text or object, and unknown keys', () => {
  const candidates = [{ id: 'a', patch: '', signals: { applied: true, seconds: 3 }, model: 'x' }];
  const asText = SelectRequest.parse({
    id: 1,
    n: 1,
    issue: 'It fails.',
    candidates,
    repoDir: '/r',
    testCommand: 'npm test',
  });
  const asObject = SelectRequest.parse({
    id: 'r',
    issue: { repo: 'o/r', statement: 'It fails.' },
    candidates,
  });
  expect([asText, asObject].map(statementOf)).toEqual(['It fails.', 'It fails.']);
  expect(statementOf(SelectRequest.parse({ id: 'r', candidates: [] }))).toBe('');
  expect(asText).toMatchObject({ repoDir: '/r', testCommand: 'npm test' });
});

test.each([
  ['no id', { candidates: [] }],
  ['no candidates', { id: 'r' }],
  ['a patch that is no text', { id: 'r', candidates: [{ id: 'a', patch: 3 }] }],
  [
    'two candidates of one id',
    {
      id: 'r',
      candidates: [
        { id: 'a', patch: '' },
        { id: 'a', patch: 'x' },
      ],
    },
  ],
  [
    'too many candidates',
    { id: 'r', candidates: Array.from({ length: 65 }, (_, i) => ({ id: `${i}`, patch: '' })) },
  ],
])('a request with %s is refused', (_, request) => {
  expect(SelectRequest.safeParse(request).success).toBe(false);
});
