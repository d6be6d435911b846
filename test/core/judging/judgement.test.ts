import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AskedPair,
  allPairs,
  type Judge,
  type JudgeAnswer,
  type JudgingResults,
  judgementOf,
  judgingPlanOf,
  strengthsOf,
  winsTiesLosses,
} from '../../../src/core/judging/index.ts';
import { NO_USAGE } from '../../../src/core/model/index.ts';

const JUDGES: readonly Judge[] = [
  { judge: 'judge-1', model: 'x-ai/grok-5', family: 'grok' },
  { judge: 'judge-2', model: 'deepseek/v4', family: 'deepseek' },
  { judge: 'judge-3', model: 'mistral/large', family: 'mistral' },
];

const verdict = (better: 'first' | 'second' | 'tie'): JudgeAnswer => ({
  kind: 'verdict',
  verdict: {
    better,
    because: 'Because.',
    citations: [],
    failures: [{ candidate: 'first', input: '[]', expected: '0', got: 'NaN' }],
  },
});
const LOST: JudgeAnswer = { kind: 'unusable', answered: false, why: 'HTTP 529' };
const UNUSABLE: JudgeAnswer = {
  kind: 'unusable',
  answered: true,
  why: 'It cited no changed line that it was shown.',
};

/** `a`, `b`, `tie`: the same in both orders; `first`, `second`: the place; `lost`: no answer to one order. */
type Said = 'a' | 'b' | 'tie' | 'first' | 'second' | 'lost' | 'unusable';
const ANSWERS: Readonly<Record<Said, readonly [aFirst: JudgeAnswer, bFirst: JudgeAnswer]>> = {
  a: [verdict('first'), verdict('second')],
  b: [verdict('second'), verdict('first')],
  tie: [verdict('tie'), verdict('tie')],
  first: [verdict('first'), verdict('first')],
  second: [verdict('second'), verdict('second')],
  lost: [verdict('first'), LOST],
  unusable: [UNUSABLE, UNUSABLE],
};

function asked(judge: number, a: string, b: string, said: Said): AskedPair {
  const [aFirst, bFirst] = ANSWERS[said];
  return { pair: { a, b }, judge: `judge-${judge}`, isAuthorFamily: false, aFirst, bFirst };
}

const hearing = (field: readonly string[], answers: readonly AskedPair[]): JudgingResults => ({
  plan: judgingPlanOf(field, 3),
  judges: JUDGES,
  asked: answers,
  alike: [],
  injections: [],
  notes: [],
  spent: NO_USAGE,
});
const two = (...said: readonly Said[]) =>
  judgementOf(
    hearing(
      ['A', 'B'],
      said.map((one, i) => asked(i + 1, 'A', 'B', one)),
    ),
  );

describe('the confidence', () => {
  test.each([
    [['a', 'a', 'a'], 'clear'],
    [['a', 'a', 'tie'], 'likely'],
    [['a', 'a', 'lost'], 'likely'],
    [['a', 'a', 'first'], 'likely'],
    [['a', 'a', 'b'], 'toss-up'],
    [['a', 'lost', 'lost'], 'toss-up'],
    [['tie', 'tie', 'tie'], 'toss-up'],
  ] as const)('%j is %s', (said, confidence) => {
    expect(two(...said)).toMatchObject({ kind: 'judged', confidence });
  });

  test('judges of one family share one vote', () => {
    const kin = {
      ...hearing(
        ['A', 'B'],
        [1, 2, 3].map((n) => asked(n, 'A', 'B', 'a')),
      ),
      judges: JUDGES.map((judge) => ({ ...judge, family: 'grok' })),
    };
    const judgement = judgementOf(kin);
    expect(judgement.margin).toBeCloseTo(two('a', 'lost', 'lost').margin);
    expect(judgement.confidence).toBe('toss-up');
  });
});

test('one judge alone is never clear, however many pairs it saw', () => {
  const field = ['A', 'B', 'C', 'D', 'E', 'F'];
  const answers = allPairs(field).map(({ a, b }) => asked(1, a, b, a === 'A' ? 'a' : 'tie'));
  const judgement = judgementOf({
    ...hearing(field, answers),
    plan: judgingPlanOf(field, 1),
    judges: JUDGES.slice(0, 1),
  });
  expect(judgement.margin).toBeGreaterThan(1.3);
  expect(judgement).toMatchObject({ confidence: 'likely', quorum: { asked: 1, answered: 1 } });
});

describe('answers of judges', () => {
  test('do not count in one order alone, and the judge is missing from the quorum', () => {
    expect(two('lost', 'a', 'a')).toMatchObject({ quorum: { asked: 3, answered: 2 } });
  });

  test('that differ by order are a tie', () => {
    expect(two('first', 'a', 'a').pairs[0]?.byJudge[0]).toMatchObject({ outcome: 'tie', consistent: false });
    expect(two('second', 'a', 'a').pairs[0]?.byJudge[0]).toMatchObject({ outcome: 'tie', consistent: false });
  });

  test('do not count at all if more than two in five change with the order', () => {
    expect(two('a', 'first', 'second')).toMatchObject({
      kind: 'discarded',
      standings: [],
      quorum: { answered: 3 },
    });
    expect(two('a', 'a', 'first').kind).toBe('judged');
  });

  test('do not count from a judge that prefers a position', () => {
    const pairs = allPairs(['A', 'B', 'C']);
    const answers = pairs.flatMap(({ a, b }) => [
      asked(1, a, b, 'first'),
      asked(2, a, b, 'a'),
      asked(3, a, b, 'a'),
    ]);
    const judgement = judgementOf(hearing(['A', 'B', 'C'], answers));
    expect(judgement).toMatchObject({ kind: 'judged', quorum: { asked: 3, answered: 2 } });
    expect(judgement.judges[0]?.discarded).toBe(
      'It chose the first candidate in both orders in 3 of 3 pairs.',
    );
    expect(judgement.standings[0]).toMatchObject({ alias: 'A', wins: 4, losses: 0 });
  });

  test('do not count from a judge whose answers are mostly unusable', () => {
    const answers = [
      asked(1, 'A', 'B', 'unusable'),
      asked(1, 'A', 'C', 'unusable'),
      asked(1, 'B', 'C', 'b'),
      ...allPairs(['A', 'B', 'C']).map(({ a, b }) => asked(2, a, b, 'a')),
    ];
    const judgement = judgementOf(hearing(['A', 'B', 'C'], answers));
    expect(judgement.judges[0]?.discarded).toBe('4 of its 6 answers are unusable.');
    expect(judgement.pairs.flatMap(({ byJudge }) => byJudge.map(({ judge }) => judge))).toEqual([
      'judge-2',
      'judge-2',
      'judge-2',
    ]);
  });

  test('that are all missing are reported with a reason', () => {
    expect(two('unusable', 'unusable', 'unusable')).toMatchObject({
      kind: 'unanswered',
      because: 'No judge gave a usable answer. judge-1: 2 of its 2 answers are unusable.',
      quorum: { asked: 3, answered: 0 },
    });
  });

  test('that are all missing are so also if two other candidates look alike', () => {
    const answers = [asked(1, 'A', 'C', 'unusable'), asked(1, 'B', 'C', 'unusable')];
    const results = { ...hearing(['A', 'B', 'C'], answers), alike: [{ a: 'A', b: 'B' }] };
    expect(judgementOf(results)).toMatchObject({ kind: 'unanswered' });
  });
});

const SAID = ['a', 'b', 'tie', 'first', 'second', 'lost', 'unusable'] as const;
const FIELD = ['A', 'B', 'C', 'D'];
const answered = fc
  .array(fc.constantFrom(...SAID), { minLength: 18, maxLength: 18 })
  .map((said) =>
    allPairs(FIELD).flatMap(({ a, b }, i) =>
      [1, 2, 3].map((judge, j) => asked(judge, a, b, said[3 * i + j] as Said)),
    ),
  );

describe('for any answers of judges', () => {
  test('there is a storable judgement of plain numbers', () => {
    fc.assert(
      fc.property(answered, (answers) => {
        const judgement = judgementOf(hearing(FIELD, answers));
        expect(JSON.parse(JSON.stringify(judgement))).toEqual(judgement);
        expect(Number.isFinite(judgement.margin) && judgement.margin >= 0).toBe(true);
        expect(judgement.standings).toHaveLength(judgement.kind === 'judged' ? 4 : 0);
        expect(judgement.quorum.answered).toBeLessThanOrEqual(3);
        expect(strengthsOf(judgement).size).toBe(judgement.standings.length);
      }),
    );
  });

  test('the order of answers and candidates does not matter', () => {
    fc.assert(
      fc.property(answered, (answers) => {
        const once = judgementOf(hearing(FIELD, answers));
        const shuffled = judgementOf(hearing(FIELD, answers.toReversed()));
        expect(shuffled).toEqual(once);
        const reseeded = judgementOf(hearing(FIELD.toReversed(), answers));
        const sorted = (judgement: typeof once) =>
          judgement.standings.toSorted((x, y) => (x.alias < y.alias ? -1 : 1));
        expect(sorted(reseeded)).toEqual(sorted(once));
      }),
    );
  });

  test('one more won pair never costs a place', () => {
    fc.assert(
      fc.property(answered, (answers) => {
        const valid = answers.map((one): AskedPair => {
          const odd = one.aFirst.kind === 'unusable' || one.bFirst.kind === 'unusable';
          return odd ? asked(Number(one.judge.slice(-1)), one.pair.a, one.pair.b, 'tie') : one;
        });
        const turned = valid.findIndex(({ pair, aFirst, bFirst }) => {
          const lost =
            aFirst.kind === 'verdict' &&
            aFirst.verdict.better !== 'first' &&
            bFirst.kind === 'verdict' &&
            bFirst.verdict.better !== 'second';
          return pair.a === 'A' && lost;
        });
        fc.pre(turned >= 0);
        const { pair, judge } = valid[turned] as AskedPair;
        const better = valid.with(turned, asked(Number(judge.slice(-1)), pair.a, pair.b, 'a'));
        const [before, after] = [valid, better].map((all) => judgementOf(hearing(FIELD, all)));
        const counts = (judgement: typeof before) =>
          JSON.stringify(judgement?.judges.map((one) => one.discarded));
        // Where the change brings a judge in or out, other pairs change as well.
        fc.pre(before?.kind === 'judged' && after?.kind === 'judged' && counts(before) === counts(after));
        const place = (judgement: typeof before) =>
          judgement?.standings.findIndex(({ alias }) => alias === 'A') ?? 9;
        expect(place(after)).toBeLessThanOrEqual(place(before));
      }),
      { numRuns: 300 },
    );
  });
});

test('wins, ties and losses are added over all judges', () => {
  const judgement = two('a', 'a', 'tie');
  expect(judgement.standings.map(winsTiesLosses)).toEqual(['2-1-0', '0-1-2']);
});
