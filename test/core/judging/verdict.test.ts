import { describe, expect, test } from 'vitest';
import { blindPatch, checkVerdict, identitiesOf, Verdict } from '../../../src/core/judging/index.ts';
import { adding, changing } from './sample.ts';

const first = blindPatch(
  [
    changing('src/claude/run.ts', [
      ' function run(input) {',
      '-return parse(input);',
      '+return parse(input) || 0;',
      '+// done',
      '+}',
    ]),
  ],
  identitiesOf([]),
);
const second = blindPatch([adding('src/run.ts', 'return Number(input);')], identitiesOf([]));
const shown = {
  first,
  second,
  nonce: 'abcdef0123456789abcdef0123456789',
  instructions:
    'You compare two candidate patches for the same task. You are one of several judges; be careful with them.',
};
const shownPath = first.lines[0]?.file as string;

const citation = {
  candidate: 'second',
  file: 'src/run.ts',
  line: 10,
  quote: 'return Number(input);',
} as const;
const verdict = (changed: Partial<Verdict> = {}): Verdict => ({
  citations: [citation],
  because: 'The second reads any number.',
  better: 'second',
  ...changed,
});
const cited = (changed: Partial<Verdict['citations'][number]>) =>
  checkVerdict(verdict({ citations: [{ ...citation, ...changed }] }), shown);

describe('a citation', () => {
  test('of a changed line that was shown makes the verdict count, with the true path and line', () => {
    const onFirst = {
      candidate: 'first',
      file: shownPath,
      line: 11,
      quote: 'return parse(input) || 0;',
    } as const;
    expect(shownPath).not.toContain('claude');
    expect(cited(onFirst)).toMatchObject({
      kind: 'verdict',
      verdict: { citations: [{ file: 'src/claude/run.ts', line: 10 }] },
    });
    // A removed line is a change too.
    expect(cited({ ...onFirst, line: 10, quote: 'return parse(input);' }).kind).toBe('verdict');
  });

  test.each([
    ['with the sign and number of the line', { quote: '+ 10: return Number(input);' }],
    ['with other blanks', { quote: '  return   Number(input);' }],
    ['of a part of the line', { quote: 'Number(input)' }],
    ['with a prefix of diffs', { file: 'b/src/run.ts' }],
    ['two lines off', { line: 12 }],
    ['of several lines, by its first', { quote: 'return Number(input);\n}' }],
  ])('%s counts', (_, changed) => {
    expect(cited(changed).kind).toBe('verdict');
  });

  test.each([
    ['of a line that is not there', { quote: 'return BigInt(input);' }],
    ['of the other candidate’s line', { candidate: 'first' as const }],
    ['of a line far away', { line: 13 }],
    ['of another file', { file: 'src/other.ts' }],
    ['of the base', { line: 9, quote: 'function run(input) {' }],
    ['of a comment', { candidate: 'first' as const, file: shownPath, line: 11, quote: '[comment]' }],
    ['of a bracket', { candidate: 'first' as const, file: shownPath, line: 12, quote: '}' }],
  ])('%s does not', (_, changed) => {
    expect(cited(changed)).toEqual({
      kind: 'unusable',
      answered: true,
      why: 'It cited no changed line that it was shown.',
    });
  });

  test('is required for a tie, too', () => {
    expect(checkVerdict(verdict({ better: 'tie', citations: [] }), shown).kind).toBe('unusable');
  });
});

describe('a verdict is discarded', () => {
  test('that repeats the delimiter, wherever', () => {
    const failures = [{ candidate: 'first' as const, input: shown.nonce, expected: 'x', got: 'y' }];
    expect(checkVerdict(verdict({ because: `As ${shown.nonce} says.` }), shown)).toMatchObject({
      why: 'It repeated the delimiter of its question.',
    });
    expect(checkVerdict(verdict({ failures }), shown).kind).toBe('unusable');
  });

  test('that repeats its instructions', () => {
    expect(checkVerdict(verdict({ because: `I was told: ${shown.instructions}` }), shown)).toMatchObject({
      why: 'It repeated its instructions.',
    });
    expect(checkVerdict(verdict({ because: 'I compare two candidate patches.' }), shown).kind).toBe(
      'verdict',
    );
  });
});

test('only the requested form is accepted as an answer', () => {
  const odd: unknown[] = [
    null,
    'first',
    [],
    {},
    { better: 'first' },
    { ...verdict(), better: 'A' },
    { ...verdict(), better: ['first', 'second'] },
    { ...verdict(), better: Number.NaN },
    { ...verdict(), because: '' },
    { ...verdict(), because: 'x'.repeat(2_000) },
    { ...verdict(), citations: Array.from({ length: 9 }, () => citation) },
    { ...verdict(), citations: [{ ...citation, line: Number.NaN }] },
    { ...verdict(), citations: [{ ...citation, line: -1 }] },
    { ...verdict(), citations: [{ ...citation, candidate: 'third' }] },
  ];
  for (const one of odd) expect(Verdict.safeParse(one).success).toBe(false);
  expect(Verdict.safeParse({ ...verdict(), score: 10 }).data).toEqual(verdict());
});
