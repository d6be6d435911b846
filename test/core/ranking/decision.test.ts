import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence, Unlocked } from '../../../src/core/evidence/index.ts';
import { decide, type RankingOptions, rank } from '../../../src/core/ranking/index.ts';
import {
  behaving,
  by,
  candidate,
  fixing,
  independentTests,
  peerTestsOf,
  pools,
  writtenTests,
} from './sample.ts';

const WEIGHTS = { tests: 50, simplicity: 30, speed: 20 };
const HOW: RankingOptions = { weights: WEIGHTS, strategies: ['evidence', 'judges'] };
const decision = (...evidence: readonly Evidence[]) => decide(rank(evidence, HOW), evidence);
const exitCodeOnly = (evidence: Evidence): Evidence => ({
  ...evidence,
  ...(evidence.baseTests ? { baseTests: { ...evidence.baseTests, source: 'exit-code' } } : {}),
});

test('of given patches, none of which can be used, no coder is blamed', () => {
  const pool = [candidate('A', { lost: 'collected' })];
  const ranking = rank(pool, HOW);
  expect(decide(ranking, pool).because).toBe('The coder left no patch. A: collected said no.');
  expect(decide(ranking, pool, { given: true }).because).toBe(
    'The candidate failed the gate `collected`: collected said no.',
  );
});

test('of coders without a patch, each is named with how it ended', () => {
  const ended = (alias: string, because: string): Evidence => {
    const one = candidate(alias, { lost: 'collected' });
    return { ...one, gates: one.gates.map((gate) => (gate.passed ? gate : { ...gate, because })) };
  };
  const idle = 'ended without changing a file';
  const pool = [ended('A', idle), ended('B', 'stopped at its time limit of 900 s'), ended('C', idle)];
  expect(decide(rank(pool, HOW), pool).because).toBe(
    'None of the 3 coders left a patch. A and C: ended without changing a file. B: stopped at its time limit of 900 s.',
  );
});

describe('candidates that behave the same', () => {
  const doing = (alias: string, group: number, asBase: number, agreement = 0.7) =>
    candidate(alias, {
      agreement,
      behaviour: { ...behaving(group === 1 ? 1 : 0.4), group, asBase },
    });
  const chanceOf = (...pool: readonly Evidence[]): number => {
    const made = decision(...pool);
    return made.kind === 'none' ? 0 : made.chance;
  };

  test('do not speak against each other where they change what the base does and another one does not', () => {
    const [pick, rival] = [doing('A', 1, 0.9), doing('C', 0, 1)];
    const alone = chanceOf(pick, rival);
    expect(chanceOf(pick, doing('B', 1, 0.9, 0.65), rival)).toBe(alone);
    expect(chanceOf(pick, doing('B', 2, 0.9, 0.65), rival)).toBeLessThan(alone);
  });

  test('like the base on every input show nothing of what they change, and that is said', () => {
    const made = decision(doing('A', 1, 1), doing('C', 0, 1));
    expect(made.kind !== 'none' && made.caps?.map(({ because }) => because)).toContain(
      'No test that somebody else wrote or confirms shows that the task is done, and A behaves like the base commit on all 40 inputs that were tried.',
    );
    const shown = decision(doing('A', 1, 0.9), doing('C', 0, 1));
    expect(JSON.stringify(shown)).not.toContain('inputs that were tried');
  });

  test('are rivals where no input shows a change, or no other behaviour is left', () => {
    const unseen = [doing('A', 1, 1), doing('C', 0, 0.9)];
    expect(chanceOf(...unseen, doing('B', 1, 1, 0.65))).toBeLessThan(chanceOf(...unseen));
    expect(chanceOf(doing('A', 1, 0.9), doing('B', 1, 0.9, 0.65))).toBeLessThan(
      chanceOf(doing('A', 1, 0.9), doing('B', 0, 1, 0.65)),
    );
  });
});

describe('nobody wins', () => {
  test('when no candidate passed every gate, with the most common cause', () => {
    expect(
      decision(
        candidate('A', { lost: 'builds' }),
        candidate('B', { lost: 'safe' }),
        candidate('C', { lost: 'builds' }),
      ),
    ).toEqual({
      kind: 'none',
      decidedBy: 'gates',
      because: 'None of the 3 candidates passed every gate; A and C failed `builds`. A: builds said no.',
    });
    expect(decision(candidate('A', { lost: 'content' })).because).toBe(
      'The candidate failed the gate `content`: content said no.',
    );
    expect(decision()).toEqual({
      kind: 'none',
      decidedBy: 'gates',
      because: 'There was no candidate to decide on.',
    });
  });

  test('when even the best survivor breaks a base test, and a person must decide', () => {
    expect(decision(candidate('A', { breaks: ['x', 'y'] }), candidate('B', { breaks: ['x'] }))).toEqual({
      kind: 'none',
      decidedBy: 'regressions',
      because: 'Every candidate that passed the gates breaks existing tests; B, ranked first, breaks 1.',
    });
  });
});

test('nobody is clear where the base tests say nothing, whatever else was found', () => {
  const silent = ({ baseTests, ...one }: Evidence, run: boolean): Evidence => ({
    ...one,
    ...(baseTests && run ? { baseTests: { ...baseTests, silent: true } } : {}),
  });
  fc.assert(
    fc.property(pools, fc.boolean(), ([pool], run) => {
      expect(decision(...pool.map((one) => silent(one, run)))).not.toMatchObject({ confidence: 'clear' });
    }),
  );
});

test('nobody is clear where candidates were not compared for lack of time', () => {
  const cut = { budgetMs: 1, leftOut: [{ what: 'peer-tests', count: 1, of: 2 }] } as const;
  fc.assert(
    fc.property(pools, ([pool]) => {
      expect(decision(...pool.map((one) => ({ ...one, cut })))).not.toMatchObject({ confidence: 'clear' });
    }),
  );
});

const passing = (alias: string, ...more: readonly Partial<Evidence>[]): Evidence =>
  candidate(alias, Object.assign({ independentTests: independentTests(2, 0) }, ...more));
const failing = (alias: string): Evidence => candidate(alias, { independentTests: independentTests(0, 2) });

describe('where candidates ran again', () => {
  const unlocked = (why: Unlocked) => {
    const one = candidate('A', { independentTests: independentTests(4, 0) });
    return {
      ...one,
      gates: one.gates.map((gate) => (gate.gate === 'steady' ? { ...gate, unlocked: why } : gate)),
    };
  };
  const rival = candidate('B', { independentTests: independentTests(1, 3) });

  test('and nothing shows that assertions were locked, none is clear', () => {
    expect(decision(unlocked('unrecorded'), rival)).toMatchObject({
      confidence: 'likely',
      caps: [{ because: expect.stringContaining('Nothing shows that assertion libraries were locked') }],
    });
  });

  test('and only a run without the lock has the same results, a person must choose', () => {
    expect(decision(unlocked('differs'), rival)).toMatchObject({ kind: 'toss-up', alias: 'A' });
  });

  test('and the tests of the base do not tolerate the lock, nobody loses by it', () => {
    expect(decision(unlocked('base'), rival)).toMatchObject({ confidence: 'clear' });
  });
});

describe('tests that a model wrote from the issue', () => {
  const written = (alias: string, ...of: Parameters<typeof writtenTests>) =>
    candidate(alias, { independentTests: writtenTests(...of) });

  test('decide between candidates that nothing else separates, but a single reading makes none clear', () => {
    const decided = decision(written('A', 3, []), written('B', 3, ['1', '2', '3']), written('C', 3, ['1']));
    expect(decided).toMatchObject({
      kind: 'winner',
      alias: 'A',
      confidence: 'likely',
      decidedBy: 'independent',
    });
    const [cap] = 'caps' in decided ? (decided.caps ?? []) : [];
    expect(cap?.because).toContain('a model may have misread the task');
  });

  test('do not make a pick clear if they favour two candidates and another signal decides between these', () => {
    const pool = [
      candidate('A', { independentTests: writtenTests(1, []), behaviour: behaving(1), family: 'claude' }),
      candidate('B', { independentTests: writtenTests(1, []), behaviour: behaving(0.01), family: 'gpt' }),
      candidate('C', { independentTests: writtenTests(1, ['1']), behaviour: behaving(1), family: 'gemini' }),
    ];
    expect(decision(...pool)).toMatchObject({ alias: 'A', decidedBy: 'behaviour' });
    expect(decision(...pool)).not.toMatchObject({ confidence: 'clear' });
  });

  test('make a pick clear that is likely without them', () => {
    const ahead = { behaviour: behaving(1), agreement: 0.9, independentTests: writtenTests(3, []) };
    const behind = { behaviour: behaving(0), agreement: 0.1, independentTests: writtenTests(3, ['1']) };
    const families = { family: 'claude' };
    const pool = [candidate('A', { ...ahead, ...families }), candidate('B', { ...behind, family: 'gpt' })];
    const unwritten = pool.map(({ independentTests: _none, ...one }) => one);
    expect(decision(...unwritten)).toMatchObject({ alias: 'A', confidence: 'likely' });
    expect(decision(...pool)).toMatchObject({ alias: 'A', confidence: 'clear' });
  });

  test('make the only candidate that breaks nothing clear if a model of another family wrote them', () => {
    const alone = (family: string | undefined, ...of: Parameters<typeof writtenTests>) =>
      decision(
        candidate('A', { independentTests: writtenTests(...of), ...(family ? { family } : {}) }),
        candidate('B', { breaks: ['x'] }),
      );
    expect(alone('claude', 1, [], 0, 'gpt')).toMatchObject({ alias: 'A', confidence: 'clear' });
    for (const family of ['gpt', undefined])
      expect(alone(family, 1, [], 0, 'gpt')).toMatchObject({
        alias: 'A',
        confidence: 'likely',
        caps: [{ because: expect.stringContaining('No test that another model family is known to have') }],
      });
  });

  test('make nothing clear where no other family wrote them, whoever else is there', () => {
    const own = (alias: string, ...of: Parameters<typeof writtenTests>) =>
      candidate(alias, { family: 'claude', independentTests: writtenTests(...of) });
    const broken = candidate('C', { family: 'gpt', breaks: ['x'] });
    // Two candidates with one change.
    const alike = ['A', 'B'];
    const twins = alike.map((alias) => ({ ...own(alias, 1, [], 0, 'claude'), alike }));
    expect(decision(...twins, broken)).not.toMatchObject({ confidence: 'clear' });
    const [first, second] = twins;
    const another = { ...second, family: 'gpt' } as Evidence;
    expect(decision(first as Evidence, another, broken)).toMatchObject({ confidence: 'clear' });
    // A field of one family, where behaviour decides.
    const field = [1, 0.3, 0.2].map((agreement, at) => ({
      ...own('ABC'[at] ?? '', 2, [], 0, 'claude'),
      behaviour: { ...behaving(agreement), id: `${at}` },
    }));
    expect(decision(...(field as Evidence[]))).not.toMatchObject({ confidence: 'clear' });
    // A test of its own that only a guard confirms.
    const guarded = [
      { ...own('A', 1, [], 1, 'claude'), provenTests: 1 },
      ...['B', 'C'].map((alias) =>
        candidate(alias, {
          family: 'gpt',
          breaks: ['x'],
          peerTests: [peerTestsOf('A', 'f')],
          independentTests: writtenTests(1, ['1'], 0, 'claude'),
        }),
      ),
    ];
    expect(decision(...guarded)).not.toMatchObject({ confidence: 'clear' });
  });

  test('confirm a test of its own, which makes it clear only if a model of another family wrote them', () => {
    const pool = (writer: string) => [
      candidate('A', {
        family: 'claude',
        agreement: 0.3,
        independentTests: writtenTests(2, [], 0, writer),
      }),
      candidate('B', {
        family: 'gpt',
        agreement: 0.7,
        independentTests: writtenTests(2, ['1'], 0, writer),
        peerTests: [peerTestsOf('A', 'fff')],
      }),
    ];
    expect(decision(...pool('gemini'))).toMatchObject({ alias: 'A', confidence: 'clear' });
    expect(decision(...pool('claude'))).toMatchObject({ alias: 'A', confidence: 'likely' });
  });

  test('make none clear that was tried on fewer of them than a rival', () => {
    const ahead = { behaviour: behaving(1), agreement: 0.9, family: 'claude' };
    const behind = { behaviour: behaving(0), agreement: 0.1, family: 'gpt' };
    const pool = (of: number) => [
      candidate('A', { ...ahead, independentTests: writtenTests(of, []) }),
      candidate('B', { ...behind, independentTests: writtenTests(2, ['1']) }),
    ];
    expect(decision(...pool(2))).toMatchObject({ alias: 'A', confidence: 'clear' });
    expect(decision(...pool(1))).toMatchObject({ alias: 'A', confidence: 'likely' });
  });

  test('show nothing if each of two candidates passes one that the other fails, but more of them make one likely', () => {
    const between = (fails: readonly string[], others: readonly string[]) =>
      decision(written('A', 4, fails), written('B', 4, others));
    expect(between(['1'], ['2'])).toMatchObject({ kind: 'toss-up' });
    expect(between(['1', '2'], ['3', '4'])).toMatchObject({ kind: 'toss-up' });
    // They exclude a third one, and what is left is decided by text.
    const three = [
      candidate('A', { agreement: 0.9, independentTests: writtenTests(2, ['1']) }),
      candidate('B', { agreement: 0.8, independentTests: writtenTests(2, ['2']) }),
      candidate('C', { agreement: 0.8, independentTests: writtenTests(2, ['1', '2']) }),
    ];
    expect(decision(...three)).toMatchObject({ kind: 'toss-up', alias: 'A', decidedBy: 'agreement' });
    expect(between(['1'], ['2', '3', '4'])).toMatchObject({ alias: 'A', confidence: 'likely' });
    expect(between(['2', '3', '4'], ['1'])).toMatchObject({ alias: 'B', confidence: 'likely' });
  });

  test('are no sign that the task is done if they pass on the base, too', () => {
    expect(decision(written('A', 1, []), written('B', 1, ['1']))).toMatchObject({ confidence: 'likely' });
    const decided = decision(written('A', 1, [], 1), written('B', 1, ['1']));
    expect(decided).toMatchObject({ kind: 'toss-up', alias: 'A' });
    expect(decided.because).toContain('do not show that the task is done, so a person must choose.');
  });

  test('leave the choice to a person where they contradict what is likely without them', () => {
    const ahead = { behaviour: behaving(1), agreement: 0.9, family: 'claude' };
    const behind = { behaviour: behaving(0), agreement: 0.1, family: 'gpt' };
    const [likely, preferred] = [candidate('A', ahead), candidate('B', behind)];
    expect(decision(likely, preferred)).toMatchObject({ alias: 'A', confidence: 'likely' });
    const decided = decision(
      { ...likely, independentTests: writtenTests(1, ['1']) },
      { ...preferred, independentTests: writtenTests(1, []) },
    );
    expect(decided).toMatchObject({ kind: 'toss-up', alias: 'B', decidedBy: 'independent' });
    expect(decided.because).toContain('Without tests that a model wrote, A would be likely right');
  });

  test('make no pick clear that would be equal to a rival without them', () => {
    const equal = { behaviour: behaving(0), agreement: 1, family: 'claude' };
    const pool = [candidate('A', equal), candidate('B', equal)].map((one) => fixing(one, 2));
    const asked = pool.map((one, i) => ({
      ...one,
      independentTests: writtenTests(3, i === 0 ? ['1', '2', '3'] : []),
    }));
    expect(decision(...pool)).toMatchObject({ kind: 'toss-up' });
    expect(decision(...asked)).toMatchObject({ alias: 'B', confidence: 'likely' });
  });

  test('make no pick clear that would not lead without them, where no candidate added tests', () => {
    const results = fc.array(fc.subarray(['1', '2', '3']), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(pools, results, ([pool], fails) => {
        const given = pool.map(({ independentTests: _none, ...one }) => ({ ...one, peerTests: [] }));
        const asked = given.map((one, i) => ({ ...one, independentTests: writtenTests(3, fails[i] ?? []) }));
        const decided = decision(...asked);
        if (decided.kind !== 'winner' || decided.confidence !== 'clear') return;
        const pick = asked.find(({ alias }) => alias === decided.alias);
        const others = asked.filter(
          ({ alias, survivor, baseTests }) =>
            alias !== decided.alias &&
            !(pick?.alike ?? []).includes(alias) &&
            survivor &&
            (baseTests?.regressions.length ?? 0) === 0 &&
            (baseTests?.fixed.length ?? 0) >= (pick?.baseTests?.fixed.length ?? 0),
        );
        const own = pick?.independentTests.failing.map(({ id }) => id) ?? [];
        const isSetApart = others.some(({ independentTests: { failing: theirs } }) =>
          theirs.some(({ id }) => !own.includes(id)),
        );
        if (isSetApart) expect(decision(...given)).toMatchObject({ alias: decided.alias });
      }),
      { numRuns: 1_000 },
    );
  });

  test('never make a pick clear that a rival disputes by one of them', () => {
    fc.assert(
      fc.property(pools, ([pool]) => {
        const [first, second, ...others] = pool;
        if (!first || !second) return;
        const split = [
          { ...first, independentTests: writtenTests(5, ['1']) },
          { ...second, independentTests: writtenTests(5, ['2', '3', '4', '5']) },
          ...others.map((one) => ({ ...one, independentTests: writtenTests(5, ['1', '2', '3', '4', '5']) })),
        ];
        const decided = decision(...split);
        const sound = (one: Evidence) => one.survivor && (one.baseTests?.regressions.length ?? 0) === 0;
        if (sound(first) && sound(second) && first.baseTests?.fixed.length === second.baseTests?.fixed.length)
          expect(decided).not.toMatchObject({ confidence: 'clear', alias: first.alias });
      }),
    );
  });
});

describe('a winner is clear', () => {
  test('when independent tests put it far ahead', () => {
    expect(decision(passing('A'), failing('B'), failing('C'))).toMatchObject({
      kind: 'winner',
      alias: 'A',
      confidence: 'clear',
      decidedBy: 'independent',
    });
  });

  test('but never without execution, nor by exit codes alone', () => {
    const alike = decision(candidate('A', { agreement: 1 }), candidate('B', { agreement: 0 }));
    expect(alike).not.toMatchObject({ confidence: 'clear' });
    expect(alike.decidedBy).toBe('agreement');
    expect(alike.because).toContain('(100% against 0%)');
    const close = decision(candidate('A', { agreement: 0.842 }), candidate('B', { agreement: 0.838 }));
    expect(close.because).toContain('A breaks no existing test');
    expect(close.because).toContain('is slightly more similar to what the others wrote than B (both 84%)');
    expect(decision(exitCodeOnly(passing('A')), exitCodeOnly(failing('B')))).toMatchObject({
      confidence: 'likely',
    });
  });
});

describe('it is a toss-up', () => {
  test('when nothing separates them, and a person is asked to choose between them', () => {
    expect(decision(candidate('A'), candidate('B'))).toMatchObject({
      kind: 'toss-up',
      alias: 'A',
      among: ['A', 'B'],
      decidedBy: 'tie',
      because:
        'A breaks no existing test (12 of 12 pass) and is tied with B: all executed measurements are equal.',
    });
  });

  test('when the settings leave the pick to a person, even with clear evidence', () => {
    const evidence = [passing('A'), failing('B')];
    expect(decide(rank(evidence, HOW), evidence, { askPerson: true })).toMatchObject({
      kind: 'toss-up',
      alias: 'A',
      because: expect.stringMatching(/Your settings leave the choice to you\.$/),
    });
  });

  test('without offering candidates that break a base test', () => {
    const made = decision(candidate('A'), candidate('B'), candidate('C', { breaks: ['x'] }));
    expect(made).toMatchObject({ among: ['A', 'B'] });
  });
});

test('candidates with the same change count as one, and unanimity is reported as no proof', () => {
  const alike = ['A', 'B'];
  const made = decision(candidate('A', { alike }), candidate('B', { alike }));
  expect(made.because).toBe(
    'A breaks no existing test (12 of 12 pass); all 2 that passed every gate made the same change, which is agreement, not proof.',
  );
  expect(made).not.toMatchObject({ confidence: 'clear' });
});

describe('whoever writes a test', () => {
  const hackPasses = [
    candidate('A', { family: 'gpt', addedTests: 1, provenTests: 1 }),
    candidate('B', { family: 'claude', peerTests: [by('A', 1, 1)] }),
  ];

  test('does not lose to a rival that passes it: nothing separates them', () => {
    expect(decision(...hackPasses)).toMatchObject({ kind: 'toss-up', decidedBy: 'tie' });
  });

  test('does not win by it either, where nobody confirms it', () => {
    const overSpecified = [
      candidate('A', { family: 'gpt', addedTests: 1, provenTests: 1 }),
      candidate('B', { family: 'claude', peerTests: [by('A', 0, 1)] }),
    ];
    const made = decision(...overSpecified);
    expect(made).toMatchObject({ kind: 'toss-up', decidedBy: 'tests', among: ['A', 'B'] });
    expect(made.because).toMatch(/would not lead without tests that only its own model family confirms/);
  });

  test('is believed a little where nobody else is left', () => {
    const [lone] = hackPasses as [Evidence];
    expect(decision(lone)).toMatchObject({ kind: 'winner', confidence: 'likely' });
    expect(decision(candidate('A'))).toMatchObject({ kind: 'toss-up' });
  });
});

test('colluding candidates that confirm each other are not clear against one whose test they fail', () => {
  for (const families of [
    ['gpt', 'gpt'],
    ['gpt', 'gemini'],
  ]) {
    const colluders = families.map((family, i) =>
      candidate('AB'[i] as string, {
        family,
        agreement: 0.9,
        addedTests: 2,
        provenTests: 2,
        peerTests: [by('AB'[1 - i] as string, 2, 2), by('C', 0, 1)],
      }),
    );
    const honest = candidate('C', {
      family: 'claude',
      agreement: 0.2,
      addedTests: 1,
      provenTests: 1,
      peerTests: [by('A', 0, 2), by('B', 0, 2)],
    });
    expect(decision(...colluders, honest)).not.toMatchObject({ confidence: 'clear' });
    // An independent test that the majority fails decides against it.
    const asked = colluders.map((one) => ({ ...one, independentTests: independentTests(0, 1) }));
    expect(decision(...asked, { ...honest, independentTests: independentTests(1, 0) })).toMatchObject({
      kind: 'winner',
      alias: 'C',
      decidedBy: 'independent',
    });
  }
});

describe('judges', () => {
  const pool = [
    candidate('A', { independentTests: independentTests(3, 0), agreement: 0.5 }),
    candidate('B', { independentTests: independentTests(3, 0), agreement: 0.45 }),
  ];
  const verdict = (confidence: 'clear' | 'likely' | 'toss-up') =>
    ({ kind: 'judged', confidence, because: 'The judges do not tell A and B apart.' }) as const;
  const judged = (evidence: readonly Evidence[], confidence: 'clear' | 'likely' | 'toss-up') => {
    const strengths = new Map([
      ['A', -1],
      ['B', 1],
    ]);
    const how = {
      ...HOW,
      strategies: ['judges'],
      ...(confidence === 'toss-up' ? {} : { strengths }),
    } as const;
    return decide(rank(evidence, how), evidence, { judgement: verdict(confidence) });
  };

  test('decide where they are named first and sure', () => {
    const unshown = pool.map(({ independentTests: _none, ...one }) => one);
    expect(judged(pool, 'clear')).toMatchObject({ kind: 'winner', alias: 'B', decidedBy: 'judges' });
    expect(judged(unshown, 'clear')).toMatchObject({ kind: 'winner', alias: 'B', chance: 0.6 });
    expect(judged(unshown, 'likely')).toMatchObject({ kind: 'winner', alias: 'B', chance: 0.5 });
  });

  test('leave it to what was executed if they are not sure, and the reason says so', () => {
    const made = judged(pool, 'toss-up');
    expect(made).toMatchObject({ alias: 'A', decidedBy: 'agreement' });
    expect(made.because).toMatch(/The judges gave no verdict: The judges do not tell A and B apart\.$/);
  });

  test('do not win against executed tests: a person chooses', () => {
    const failing = pool.map((one) =>
      one.alias === 'B' ? { ...one, independentTests: independentTests(0, 3) } : one,
    );
    const made = judged(failing, 'clear');
    expect(made).toMatchObject({ kind: 'toss-up', alias: 'B', among: ['B', 'A'] });
    expect(made.because).toBe(
      'B breaks no existing test (12 of 12 pass) and was preferred to A by blind judges; executed: 0 of 3 independent tests, A 3 of 3 independent tests. A passes executed tests that B fails, so a person must choose.',
    );
  });
});

test('a candidate that fixes base tests is ahead of one that does not, whatever is more alike', () => {
  const full = fixing(candidate('A', { agreement: 0.3 }), 6);
  const part = candidate('B', { agreement: 0.6, alike: ['B', 'C'] });
  const copy = candidate('C', { agreement: 0.6, alike: ['B', 'C'] });
  const made = decision(full, part, copy);
  expect(made).toMatchObject({ kind: 'winner', alias: 'A', decidedBy: 'fixed' });
  expect(made.because).toBe(
    'A breaks no existing test (12 of 12 pass) and makes 6 of the existing tests pass that fail on the base commit, B 0.',
  );
});

test('the same evidence in any order gives the same decision, and a candidate that failed a gate or breaks a test never wins', () => {
  fc.assert(
    fc.property(pools, ([pool, shuffled]) => {
      const made = decision(...pool);
      expect(decision(...shuffled)).toEqual(made);
      expect(made.because).toMatch(/\.$/);
      if (made.kind === 'none') return;
      expect(made.chance).toBeGreaterThanOrEqual(0);
      expect(made.chance).toBeLessThanOrEqual(1);
      const winning = pool.find((one) => one.alias === made.alias);
      expect(winning?.survivor).toBe(true);
      expect(winning?.baseTests?.regressions).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
});
