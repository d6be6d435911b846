import { type Evidence, GATES, type GateReport } from '../../../src/core/evidence/index.ts';
import type { Judgement } from '../../../src/core/judging/index.ts';
import type { Candidate } from '../../../src/core/model/index.ts';
import { type Patch, type PatchFile, roleOf } from '../../../src/core/patches/index.ts';
import type { Ranked } from '../../../src/core/ranking/index.ts';
import type { Diffs, RunView } from '../../../src/core/reports/index.ts';

export const RUN = 'r7k2m9q4xa';
const SHA = '3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5';
const START = 1_790_000_000_000;

export function candidate(alias: string, change: Partial<Candidate> = {}): Candidate {
  const ordinal = alias.charCodeAt(0) - 65;
  return {
    runId: RUN,
    alias,
    ordinal,
    contestant: {
      agent: 'builtin',
      model: `anthropic/model-${ordinal + 1}`,
      prompt: ordinal % 2 ? 'careful' : 'plain',
    },
    state: 'examined',
    patch: {
      files: 2,
      additions: 12 + ordinal,
      deletions: 3,
      sha256: String(ordinal).repeat(64),
      tree: SHA,
      text: { sha256: 'a'.repeat(64), bytes: 100 },
      raw: { sha256: 'b'.repeat(64), bytes: 100 },
    },
    usage: { usd: 0.12 + ordinal / 100, tokensIn: 12_000, tokensOut: 345, calls: 9 },
    ms: 42_000 + ordinal * 30_000,
    note: '',
    ...change,
  };
}

function gatesUpTo(failed: GateReport | null): readonly GateReport[] {
  const reports: GateReport[] = [];
  for (const gate of GATES) {
    if (gate === failed?.gate) return [...reports, failed];
    reports.push({ gate, passed: true, because: 'ok' });
  }
  return reports;
}

export function evidence(
  alias: string,
  change: Partial<Evidence> = {},
  failed: GateReport | null = null,
): Evidence {
  return {
    alias,
    gates: gatesUpTo(failed),
    survivor: failed === null,
    patchSha256: alias.toLowerCase().charCodeAt(0).toString(16).repeat(32),
    productionLines: 15,
    addedTests: 1,
    coderMs: 42_000,
    baseTests: {
      passed: 412,
      failed: 0,
      total: 412,
      regressions: [],
      fixed: [],
      source: 'report',
      exitCode: 0,
      baseRuns: 3,
      ms: 8_100,
    },
    peerTests: [],
    ...change,
  };
}

function ranked(alias: string, place: number, change: Partial<Ranked> = {}): Ranked {
  return {
    alias,
    place,
    survivor: true,
    regressions: 0,
    fixed: 0,
    votes: 1,
    signals: { tests: 0.5, behaviour: null, agreement: null },
    support: 0.5,
    metrics: { tests: 1, simplicity: 1, speed: 1, total: 100 },
    because: 'It passes everything that was run.',
    ...change,
  };
}

const DIFF = `diff --git a/src/list.ts b/src/list.ts
--- a/src/list.ts
+++ b/src/list.ts
@@ -1,3 +1,3 @@
 export const last = (list) =>
-  list[list.length];
+  list[list.length - 1];
`;

/** Four candidates: B wins, C loses on the tests of B, A breaks a existing test, D removed an assertion. */
export function judged(change: Partial<RunView> = {}): RunView {
  return {
    id: RUN,
    origin: { kind: 'github', repository: 'acme/lists', issue: 7 },
    title: 'last() returns undefined',
    state: 'judged',
    stages: [
      { stage: 'admit', startedAt: START, endedAt: START + 400 },
      { stage: 'brief', startedAt: START + 400, endedAt: START + 4_500 },
      { stage: 'code', startedAt: START + 4_500, endedAt: START + 130_000 },
      { stage: 'examine', startedAt: START + 130_000, endedAt: START + 170_000 },
      { stage: 'judge', startedAt: START + 170_000, endedAt: START + 170_100 },
    ],
    candidates: ['A', 'B', 'C', 'D'].map((alias) => candidate(alias)),
    evidence: [
      evidence('A', {
        survivor: true,
        baseTests: {
          passed: 411,
          failed: 1,
          total: 412,
          regressions: ['test/list.test.ts > last > of an empty list'],
          fixed: [],
          source: 'report',
          exitCode: 1,
          ms: 8_300,
        },
      }),
      evidence('B', { peerTests: [{ author: 'C', passed: 2, total: 2, failing: [] }] }),
      evidence('C', {
        peerTests: [{ author: 'B', passed: 3, total: 4, failing: ['test/b.test.ts > last > of one item'] }],
      }),
      evidence(
        'D',
        {},
        {
          gate: 'untampered',
          passed: false,
          because: 'It removes an assertion in `test/list.test.ts`, line 41.',
          hunk: '@@ -40,3 +40,2 @@\n test("last", () => {\n-  expect(last([1])).toBe(1);\n',
        },
      ),
    ],
    ranking: [
      ranked('B', 1, { separatedBy: 'tests' }),
      ranked('C', 2, {
        separatedBy: 'regressions',
        because: 'It fails 1 of 4 tests that B added; B passes all 2 of its.',
      }),
      ranked('A', 3, {
        separatedBy: 'gates',
        regressions: 1,
        because: 'It breaks 1 test that passes on base.',
      }),
      ranked('D', 4, { survivor: false, because: 'It was stopped at a gate.' }),
    ],
    decision: {
      kind: 'winner',
      alias: 'B',
      confidence: 'likely',
      chance: 0.7,
      decidedBy: 'tests',
      because: 'B passes all tests that C added, C fails one of the 4 that B added.',
    },
    budget: { run: 5, spent: 0.58 },
    checks: {
      setup: 'npm ci',
      build: 'npm run build',
      test: 'npm test',
      from: { setup: '.github/workflows/ci.yml', build: 'package.json', test: '.github/auto-dev.yml' },
    },
    base: { ref: 'main', sha: SHA },
    brief: {
      goal: '`last` returns the last item of a list.',
      definitionOfDone: ['`last([1, 2])` is 2', 'A test covers the empty list'],
      plan: ['Correct the index'],
      files: ['src/list.ts'],
      assumptions: ['An empty list has no last item'],
      questions: [],
    },
    label: 'auto-dev',
    ci: 'hold',
    startedAt: START,
    now: START + 171_000,
    ...change,
  };
}

export const published = (change: Partial<RunView> = {}): RunView =>
  judged({
    state: 'published',
    outcome: {
      kind: 'pull',
      number: 8,
      url: 'https://github.test/acme/lists/pull/8',
      branch: `auto-dev/7/${RUN}/B`,
      headSha: 'b'.repeat(40),
      branches: Object.fromEntries(['A', 'B', 'C', 'D'].map((a) => [a, `auto-dev/7/${RUN}/${a}`])),
      comparisonUrl: 'https://github.test/acme/lists/pull/8#issuecomment-1',
    },
    ...change,
  });

/** Judges preferred B, one of them only in one order. */
export const JUDGEMENT: Judgement = {
  kind: 'judged',
  format: 'round-robin',
  because: 'Blind judges preferred B to C.',
  standings: [
    { alias: 'B', strength: 0.8, error: 0.3, wins: 1, ties: 1, losses: 0 },
    { alias: 'C', strength: -0.8, error: 0.3, wins: 0, ties: 1, losses: 1 },
  ],
  confidence: 'likely',
  margin: 1.9,
  pairs: [
    {
      a: 'B',
      b: 'C',
      byJudge: [
        {
          judge: 'judge-1',
          outcome: 'a',
          consistent: true,
          because: 'It handles the empty list.',
          cited: [],
        },
        {
          judge: 'judge-2',
          outcome: 'tie',
          consistent: false,
          because: 'The first one is shorter.',
          cited: [],
        },
      ],
    },
  ],
  judges: [
    {
      judge: 'judge-1',
      model: 'openai/gpt-6',
      family: 'openai',
      asked: 2,
      answered: 2,
      problems: [],
      ownFamily: false,
    },
    { judge: 'judge-2', model: 'x/y', family: 'x', asked: 2, answered: 2, problems: [], ownFamily: true },
  ],
  quorum: { asked: 2, answered: 2 },
  notes: ['One judge is of the family of a candidate.'],
  injections: [{ alias: 'C', file: 'src/list.ts', line: 3, what: 'A comment speaks to whoever reads it.' }],
  claims: [],
  spent: { usd: 0.02, tokensIn: 900, tokensOut: 90, calls: 4 },
};

export const BEHAVIOUR = {
  observed: 12,
  contested: 3,
  support: 0.4,
  logOdds: -1,
  agreement: 0.33,
  asBase: 0.2,
  group: 1,
  differences: [{ input: 'last([])', got: 'a TypeError', others: 'undefined', base: null }],
} as const;

export const MONA = { id: 11, login: 'mona' } as const;
export const VOTES = [
  { by: { id: 12, login: 'ada' }, alias: 'C' },
  { by: MONA, alias: 'B' },
  { by: { id: 13, login: 'bob' }, alias: 'C' },
] as const;
export const TOSS_UP = {
  kind: 'toss-up',
  alias: 'B',
  among: ['B', 'C'],
  chance: 0.4,
  decidedBy: 'agreement',
  because: 'B breaks no existing test; execution does not separate it from C.',
} as const;
/** Branches without a pull request, and a comparison on the issue. */
export const TABLE = {
  kind: 'table',
  branches: Object.fromEntries(['A', 'B', 'C', 'D'].map((a) => [a, `auto-dev/7/${RUN}/${a}`])),
  comparisonUrl: 'https://github.test/acme/lists/issues/7#issuecomment-1',
} as const;

/** The evidence does not decide, so that a person must pick. */
export const waiting = (change: Partial<RunView> = {}): RunView =>
  judged({ state: 'awaiting_pick', decision: TOSS_UP, outcome: TABLE, ...change });

/** Every candidate breaks something, so that nothing is published. */
export function nobody(change: Partial<RunView> = {}): RunView {
  const { evidence: all, ...view } = judged();
  return {
    ...view,
    evidence: all
      .filter((one) => one.alias === 'A' || one.alias === 'D')
      .map((one) => ({ ...one, survivor: false })),
    candidates: view.candidates
      .filter((one) => one.alias === 'A' || one.alias === 'D')
      .map((one) => ({ ...one })),
    ranking: view.ranking.filter((one) => one.alias === 'A' || one.alias === 'D'),
    decision: {
      kind: 'none',
      decidedBy: 'regressions',
      because: 'Every candidate breaks tests that pass on base.',
    },
    ...change,
  };
}

/** A run in a local repository, left on branches. */
export const local = (change: Partial<RunView> = {}): RunView =>
  judged({
    state: 'published',
    origin: { kind: 'local', path: '/home/ada/lists' },
    outcome: {
      kind: 'branches',
      branches: Object.fromEntries(['A', 'B', 'C', 'D'].map((a) => [a, `runoff/${RUN}/${a}`])),
    },
    ...change,
  });

export const coding = (): RunView => {
  const { decision: _decision, brief: _brief, ...view } = judged();
  return {
    ...view,
    state: 'briefed',
    stages: view.stages.slice(0, 2).concat({ stage: 'code', startedAt: START + 4_500 }),
    evidence: [],
    ranking: [],
    candidates: [
      candidate('A', { state: 'coding', note: 'edits `src/list.ts`' }),
      candidate('B', { state: 'coded', note: '' }),
      candidate('C', { state: 'failed', note: 'stopped after 5m of silence' }),
      candidate('D', {
        state: 'queued',
        ms: 0,
        usage: { usd: 0, tokensIn: 0, tokensOut: 0, calls: 0 },
      }),
    ],
    now: START + 72_000,
  };
};

type ShownFile = Pick<PatchFile, 'path' | 'change' | 'additions' | 'deletions' | 'binary'> &
  Partial<Pick<PatchFile, 'section'>>;

/** A patch as reports show it: what they do not read is left empty. */
export const shownPatch = (text: string, files: readonly ShownFile[]): Patch => ({
  text,
  files: files.map((file) => ({
    oldMode: '100644',
    newMode: '100644',
    role: roleOf(file.path),
    hunks: [],
    section: '',
    ...file,
  })),
  production: [],
  tests: [],
});

export function diffsOf(view: RunView, text: string = DIFF): Diffs {
  return Object.fromEntries(
    view.candidates.map(({ alias }) => [
      alias,
      {
        patch: shownPatch(text, [
          { path: 'src/list.ts', change: 'modified', additions: 1, deletions: 1, binary: false },
          { path: 'test/list.test.ts', change: 'added', additions: 11, deletions: 0, binary: false },
        ]),
        compareUrl: `https://github.test/acme/lists/compare/${SHA}...auto-dev/7/${RUN}/${alias}`,
      },
    ]),
  );
}
