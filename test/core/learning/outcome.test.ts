import { describe, expect, test } from 'vitest';
import { creditOf, outcomesOf, workKindOf } from '../../../src/core/learning/index.ts';
import type { Decision } from '../../../src/core/ranking/index.ts';
import { candidate, evidence } from '../reports/sample.ts';
import { merged, outcome } from './sample.ts';

describe('credit of a candidate', () => {
  test.each([
    ['failed a gate', { survived: false, first: 'likely' as const }, 0],
    ['breaks a base test', { regressions: 1 }, 0],
    ['put first by Runoff alone: as much as its chance', { first: 'likely' as const, chance: 0.7 }, 0.7],
    ['behind a likely first', { chance: 0.7 }, 0],
    ['behind the first of a toss-up: unknown', { chance: 0.4 }, null],
    ['picked by a person against our first', { pick: 'this' as const }, 1],
    ['passed over by a person', { pick: 'other' as const, first: 'clear' as const }, 0],
    ['rejected with all others', { pick: 'none' as const, first: 'clear' as const }, 0],
    ['merged as it was', { shown: true, ...merged() }, 1],
    ['merged after a quarter was edited', { shown: true, ...merged({ edited: 0.25 }) }, 0.75],
    ['merged, edits not looked at yet', { shown: true, ...merged({ edited: null }) }, 1],
    ['merged and reverted', { shown: true, ...merged({ revertedAt: 5 }) }, 0],
    ['beside what was merged', merged(), 0],
    ['beside what was merged after a quarter was edited', merged({ edited: 0.25 }), 0],
    ['beside what was mostly rewritten: unknown', merged({ edited: 0.6 }), null],
    ['beside what was reverted: unknown', merged({ revertedAt: 5 }), null],
    ['beside what was reverted, and fails a gate', { survived: false, ...merged({ revertedAt: 5 }) }, 0],
    [
      'closed without a merge',
      { shown: true, ...merged(), pull: { state: 'closed' as const, edited: null, revertedAt: null } },
      0,
    ],
    [
      'beside what was closed: unknown',
      { pull: { state: 'closed' as const, edited: null, revertedAt: null } },
      null,
    ],
  ])('%s', (_, over, credit) => {
    expect(creditOf(outcome(over))).toBe(credit);
  });
});

describe('outcomes of a run', () => {
  const likely: Decision = {
    kind: 'winner',
    alias: 'A',
    confidence: 'likely',
    decidedBy: 'tests',
    because: 'A passes more.',
    chance: 0.8,
  };
  const judged = {
    id: 'r1',
    createdAt: 7,
    state: 'published' as const,
    repository: 'github-42',
    repositoryName: 'acme/shop',
    kind: 'bug' as const,
    candidates: ['A', 'B', 'C'].map((alias) => candidate(alias, { runId: 'r1' })),
    evidence: [evidence('A', { alike: ['A', 'C'] }), evidence('B'), evidence('C', { alike: ['A', 'C'] })],
    decision: likely,
    shipped: likely,
    picks: [],
    hasPull: true,
    languages: { A: 'js' as const },
    takenOver: new Set<string>(),
  };

  test('the same change shares the first place and the pull request', () => {
    expect(
      outcomesOf(judged).map(({ alias, change, first, shown }) => ({ alias, change, first, shown })),
    ).toEqual([
      { alias: 'A', change: 'A', first: 'likely', shown: true },
      { alias: 'B', change: 'B', first: null, shown: false },
      { alias: 'C', change: 'A', first: 'likely', shown: true },
    ]);
  });

  test('a pick against our first is a pick of the other change', () => {
    const picked = outcomesOf({ ...judged, picks: [{ alias: 'A' }, { alias: 'B' }] });
    expect(picked.map(({ pick, shown }) => ({ pick, shown }))).toEqual([
      { pick: 'other', shown: false },
      { pick: 'this', shown: true },
      { pick: 'other', shown: false },
    ]);
  });

  test('rejecting all leaves the pull request as it was', () => {
    const rejected = outcomesOf({ ...judged, picks: [{ alias: null }] });
    expect(rejected.map(({ pick, shown }) => `${pick} ${shown}`)).toEqual([
      'none true',
      'none false',
      'none true',
    ]);
  });

  test('cancelled candidates and those of an earlier run are not counted', () => {
    const candidates = judged.candidates.map((one) =>
      one.alias === 'B' ? { ...one, state: 'cancelled' as const } : one,
    );
    const counted = outcomesOf({ ...judged, candidates, takenOver: new Set(['C']) });
    expect(counted.map(({ alias }) => alias)).toEqual(['A']);
  });

  test('the program of a custom agent is named without its folder and arguments', () => {
    const contestant = {
      agent: 'command',
      model: 'x/y',
      prompt: 'plain',
      argv: ['/opt/secret/aider', '--key=1'] as [string, string],
    };
    const [one] = outcomesOf({ ...judged, candidates: [candidate('A', { contestant })] });
    expect(one?.agent).toBe('command:aider');
  });
});

describe('kind of work', () => {
  test.each([
    ['Rounding is off by one', 'bug'],
    ['fix(money): round half up', 'bug'],
    ['feat: export as CSV', 'feature'],
    ['Add a flag for quiet output', 'feature'],
    ['Refactor the parser', 'refactoring'],
    ['Fix typo in README', 'bug'],
    ['Improve the documentation of exports', 'docs'],
    ['Write tests for the parser', 'tests'],
    ['ci: cache packages', 'configuration'],
  ])('before there are patches: %s', (title, kind) => {
    expect(workKindOf([title], null)).toBe(kind);
  });

  test('patches of code overrule a title about documentation, and patches of docs any title', () => {
    expect(workKindOf(['docs: describe the export', 'Add a page'], 'code')).toBe('feature');
    expect(workKindOf(['Rounding is wrong'], 'docs')).toBe('docs');
  });

  test('a title that says nothing leaves it to the goal of the brief', () => {
    expect(workKindOf(['Money', 'Support amounts in yen.'], 'code')).toBe('feature');
  });
});
