import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextRound, type RoundFacts } from '../../../src/core/ranking/index.ts';
import { ALL_ON, anyFacts, facts, found, reordered, runner } from './round-facts.ts';

/** The facts after the round that follows these, in which everybody failed again; null where none follows. */
function played(now: RoundFacts): RoundFacts | null {
  const next = nextRound(now);
  if (next.kind === 'enough') return null;
  const kind = next.kind === 'synthesise' ? 'synthesis' : next.kind;
  const given = { repair: next.kind === 'repair' ? next.aliases : [], 'one-more': [], synthesis: ['A', 'B'] };
  const made = Array.from({ length: next.kind === 'repair' ? next.aliases.length : 1 }, (_, i) =>
    String.fromCharCode(65 + now.candidates.length + i),
  );
  return {
    ...now,
    candidates: [...now.candidates, ...made.map((alias) => runner(alias, 0, { kind, of: given[kind] }))],
    evidence: [...now.evidence, ...made.map((alias) => found(alias, { lost: 'builds' }))],
  };
}

const off = (...names: readonly ('repair' | 'oneMore')[]) => ({
  ...ALL_ON,
  adaptive: { ...ALL_ON.adaptive, ...Object.fromEntries(names.map((name) => [name, false])) },
});

describe('when a candidate passes without breaking a test', () => {
  test('there is no repair and no further contestant', () => {
    expect(nextRound(facts([found('A'), found('B', { lost: 'builds' })]))).toEqual({
      kind: 'enough',
      because: 'No two candidates each fix what the other misses.',
    });
    expect(nextRound(facts([found('A'), found('B')], { settings: { ...ALL_ON, synthesis: false } }))).toEqual(
      { kind: 'enough', because: '2 candidates pass without breaking a test.' },
    );
  });
});

describe('repairs', () => {
  test('are made by the two candidates that got furthest, fewest regressions first', () => {
    expect(
      nextRound(
        facts([
          found('A', { breaks: ['x', 'y'] }),
          found('B', { lost: 'untampered' }),
          found('C', { breaks: ['x'] }),
          found('D', { lost: 'builds' }),
        ]),
      ),
    ).toEqual({
      kind: 'repair',
      aliases: ['C', 'A'],
      because:
        'No candidate passes without breaking a test; C and A are the closest and get another attempt.',
    });
    expect(
      nextRound(facts([found('A', { lost: 'parses' }), found('B', { lost: 'tests-run' })])),
    ).toMatchObject({
      aliases: ['B', 'A'],
    });
  });

  test('need a patch that may be applied', () => {
    const left = [found('A', { lost: 'collected', patch: '' }), found('B', { lost: 'safe' })];
    expect(nextRound(facts(left, { settings: off('oneMore') }))).toEqual({
      kind: 'enough',
      because: 'No candidate left a patch that could be fixed.',
    });
  });

  test('do not repeat for the same patch', () => {
    const same = { lost: 'builds', patch: 'f'.repeat(64) } as const;
    expect(nextRound(facts([found('A', same), found('B', same)]))).toMatchObject({
      kind: 'repair',
      aliases: ['A'],
      because: expect.stringContaining('A is the closest'),
    });
  });

  test('happen once', () => {
    const evidence = [found('A', { breaks: ['x'] }), found('B', { breaks: ['x'] })];
    const candidates = [runner('A'), runner('B', 0.1, { kind: 'repair', of: ['A'] })];
    expect(nextRound(facts(evidence, { candidates, settings: off('oneMore') }))).toEqual({
      kind: 'enough',
      because: 'No candidate passes, and repairs were already tried.',
    });
  });

  test('are as many as the known rest of the budget pays for', () => {
    const evidence = [found('A', { breaks: ['x'] }), found('B', { breaks: ['x', 'y'] })];
    const candidates = [runner('A', 0.4), runner('B', 0.1)];
    const next = (left: number | null) =>
      nextRound(facts(evidence, { candidates, remainingUsd: left, settings: off('oneMore') }));
    expect(next(0.8)).toMatchObject({ kind: 'repair', aliases: ['A', 'B'] });
    expect(next(0.79)).toMatchObject({ kind: 'repair', aliases: ['A'] });
    expect(next(0.39)).toEqual({
      kind: 'enough',
      because: 'No candidate passes. The remaining budget is too small for another candidate.',
    });
    expect(next(null)).toEqual({
      kind: 'enough',
      because: 'No candidate passes. The remaining budget is unknown.',
    });
  });
});

describe('one more contestant', () => {
  const different = [
    found('A', { breaks: ['x'] }),
    found('B', { breaks: ['y'] }),
    found('C', { lost: 'builds' }),
  ];

  test('competes when all fail for different reasons', () => {
    expect(nextRound(facts(different, { settings: off('repair') }))).toEqual({
      kind: 'one-more',
      because: 'All 3 candidates fail for different reasons, so another contestant starts.',
    });
  });

  test('does not compete when two fail the same gate or break the same test', () => {
    const because = 'No candidate passes, and several fail for the same reason.';
    const next = (...more: Parameters<typeof found>) =>
      nextRound(facts([...different, found(...more)], { settings: off('repair') }));
    expect(next('D', { lost: 'builds' })).toEqual({ kind: 'enough', because });
    expect(next('D', { breaks: ['x', 'z'] })).toEqual({ kind: 'enough', because });
    expect(next('D', { lost: 'scope' }).kind).toBe('one-more');
  });

  test('competes after repairs, which do not count as separate reasons', () => {
    expect(nextRound(facts(different)).kind).toBe('repair');
    const evidence = [...different, found('D', { breaks: ['x'] })];
    const candidates = [...'ABC'].map((alias) => runner(alias));
    const once = (of: string) =>
      nextRound(
        facts(evidence, { candidates: [...candidates, runner('D', 0.1, { kind: 'repair', of: [of] })] }),
      );
    expect(once('A').kind).toBe('one-more');
    expect(once('B').kind).toBe('enough');
  });

  test('does not compete after a single failure, and competes once', () => {
    expect(nextRound(facts([found('A', { breaks: ['x'] })], { settings: off('repair') })).kind).toBe(
      'enough',
    );
    const candidates = [runner('A'), runner('B'), runner('C', 0.1, { kind: 'one-more', of: [] })];
    expect(nextRound(facts(different, { candidates, settings: off('repair') }))).toEqual({
      kind: 'enough',
      because: 'No candidate passes, and one more contestant was already tried.',
    });
  });
});

describe('a synthesis', () => {
  test('merges two candidates of which each passes a test that the other fails', () => {
    expect(nextRound(facts([found('A', { neutral: ['n'] }), found('B', { neutral: ['m', 'o'] })]))).toEqual({
      kind: 'synthesise',
      from: ['A', 'B'],
      because: 'A and B each pass tests that the other fails, so a coder merges them.',
    });
    expect(
      nextRound(facts([found('A', { peers: { B: ['p'] } }), found('B', { peers: { A: ['q'] } })])).kind,
    ).toBe('synthesise');
    expect(
      nextRound(
        facts([
          found('A', { peers: { C: ['p'] } }),
          found('B', { peers: { C: ['q'] } }),
          found('C', { breaks: ['x'] }),
        ]),
      ).kind,
    ).toBe('synthesise');
  });

  test.each([
    [
      'one fails what the other passes, and nothing else',
      found('A', { neutral: ['n'] }),
      found('B', { neutral: [] }),
    ],
    ['both fail the same', found('A', { neutral: ['n'] }), found('B', { neutral: ['n'] })],
    [
      'one of them breaks a base test',
      found('A', { neutral: ['n'] }),
      found('B', { neutral: ['m'], breaks: ['x'] }),
    ],
    [
      'a third one tells them apart in one way only',
      found('A', { peers: { C: ['p'] } }),
      found('B', { peers: { C: ['p', 'q'] } }),
    ],
  ])('is not made when %s', (_, a, b) => {
    expect(nextRound(facts([a, b])).kind).toBe('enough');
  });

  test('is not made if a third candidate passes everything, if it is off, or a second time', () => {
    const pair = [found('A', { neutral: ['n'] }), found('B', { neutral: ['m'] })];
    expect(nextRound(facts([...pair, found('C', { neutral: [] })])).kind).toBe('enough');
    expect(nextRound(facts([...pair, found('C')])).kind).toBe('synthesise');
    expect(nextRound(facts(pair, { settings: { ...ALL_ON, synthesis: false } })).kind).toBe('enough');
    const candidates = [runner('A'), runner('B'), runner('C', 0.1, { kind: 'synthesis', of: ['A', 'B'] })];
    const evidence = [...pair, found('C', { neutral: ['o'] })];
    expect(nextRound(facts(evidence, { candidates }))).toEqual({
      kind: 'enough',
      because: 'A synthesis was already tried.',
    });
    expect(nextRound(facts(pair, { remainingUsd: 0.05 })).kind).toBe('enough');
  });

  test('counts only known results', () => {
    const cut = found('A', { neutral: ['n'] });
    const independentTests = { passed: 1, total: 4, failing: [{ id: 'n', origin: 'issue' as const }] };
    expect(nextRound(facts([{ ...cut, independentTests }, found('B', { neutral: ['m'] })])).kind).toBe(
      'enough',
    );
  });

  test('merges the pair with the largest gain', () => {
    expect(
      nextRound(
        facts([
          found('A', { neutral: ['n'] }),
          found('B', { neutral: ['m'] }),
          found('C', { neutral: ['o', 'p', 'q'] }),
        ]),
      ),
    ).toMatchObject({ from: ['A', 'C'] });
  });
});

describe('for any evidence', () => {
  test('the order of candidates and evidence does not matter', () => {
    fc.assert(
      fc.property(
        anyFacts.chain((given) => fc.tuple(fc.constant(given), reordered(given))),
        ([given, other]) => {
          expect(nextRound(other)).toEqual(nextRound(given));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('a round requires the setting, the budget, and something new', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const next = nextRound(given);
        expect(next.because).toMatch(/\.$/);
        if (next.kind === 'enough') return;
        const { adaptive, synthesis } = given.settings;
        const kind = next.kind === 'synthesise' ? 'synthesis' : next.kind;
        expect({ repair: adaptive.repair, 'one-more': adaptive.oneMore, synthesis }[kind]).toBe(true);
        expect(given.candidates.some(({ contestant }) => contestant.round?.kind === kind)).toBe(false);
        const count = next.kind === 'repair' ? next.aliases.length : 1;
        const dearest = Math.max(...given.candidates.map(({ usage }) => usage.usd));
        expect(given.remainingUsd).toBeGreaterThan(0);
        expect(given.remainingUsd).toBeGreaterThanOrEqual(count * dearest - 1e-6);
        const clean = given.evidence.some((one) => one.survivor && one.baseTests?.regressions.length === 0);
        expect(clean).toBe(next.kind === 'synthesise');
      }),
      { numRuns: 2_000 },
    );
  });

  test('rounds come to an end, at the latest after one of each kind', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        let now: RoundFacts | null = given;
        let rounds = -1;
        for (; now; rounds += 1) now = played(now);
        expect(rounds).toBeLessThanOrEqual(3);
      }),
    );
  });

  test('the alphabet is not exceeded', () => {
    const evidence = Array.from({ length: 25 }, (_, i) =>
      found(String.fromCharCode(65 + i), { breaks: [`t${i}`], patch: String(i) }),
    );
    expect(nextRound(facts(evidence, { remainingUsd: 1_000 }))).toMatchObject({
      kind: 'repair',
      aliases: ['A'],
    });
    expect(nextRound(facts([...evidence, found('Z', { breaks: ['z'] })], { remainingUsd: 1_000 })).kind).toBe(
      'enough',
    );
  });
});
