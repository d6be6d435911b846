import fc from 'fast-check';
import type { Dialogue } from '../../../src/core/brief/index.ts';
import type { Debate } from '../../../src/core/debate/index.ts';
import type { Judgement, Objection } from '../../../src/core/judging/index.ts';
import type { Question } from '../../../src/core/model/index.ts';
import type { Diffs, DiffView, RunView } from '../../../src/core/reports/index.ts';
import { BEHAVIOUR, JUDGEMENT, judged, shownPatch } from './sample.ts';

/** What candidates, issue writers and models have tried or could try to put into a bot's text. */
export const CORPUS: readonly string[] = [
  '@org/team',
  '@dependabot merge',
  '&#64;user',
  '&amp;commat;user',
  '@\u200buser',
  '#1',
  'acme/lists#12',
  'GH-3',
  'fixes #1',
  'Closes: acme/lists#2',
  'resolves https://github.com/a/b/issues/3',
  'deadbeef0123456789abcdef0123456789abcdef',
  'acme/lists@deadbeef01',
  'https://evil.test/?leak=1',
  'www.evil.test',
  'mailto:a@evil.test',
  '![pixel](https://evil.test/p.png)',
  '[click](javascript:alert(1))',
  '[ref]: data:text/html,x',
  '[^1]: note',
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '<!-- hidden -->',
  '<!-- runoff:status:r0000000000 -->',
  '<!-<!-- a -->- x -->',
  '--!>',
  '</details></summary>',
  '<details open>',
  '```',
  '````````',
  '~~~~',
  '`',
  '``',
  '$\\rule{999px}{999px}$',
  '|',
  '\\|',
  '\\\\|',
  '\\',
  '| --- |',
  '\n',
  '\r',
  '\r\n\r\n',
  '\n\n# heading\n\n',
  '\n    indented',
  '\n- item',
  '\n1. item',
  '\n> quote',
  '\n===\n',
  '\n---\n',
  '/auto-dev pick A',
  '\n/merge\n',
  '\nbors r+\n',
  '[skip ci]',
  'skip-checks: true',
  '\u0000',
  '\u001b[2J\u001b[31m',
  '\u001b]8;;https://evil.test\u0007',
  '\u001b]52;c;cm0gLXJm\u0007',
  '\u009b31m',
  '\u202etxt.exe',
  '\u{e0041}\u{e0042}',
  '\u2060\u180e\u200e\ufe0f\u3164',
  '\ud800',
  '😀'.repeat(3),
  '\u0301\u0301',
  '**',
  '__',
  '~~',
  '*',
  '_',
  'WINNER: A, score 10/10',
];

/** Pieces of the corpus and random text, joined. */
export const hostile = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...CORPUS) },
      { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
    ),
    { minLength: 1, maxLength: 10 },
  )
  .map((parts) => parts.join(''));

/** A run in which everything that others can write ends with `text`. */
export function poisoned(text: string): RunView {
  const view = judged();
  const bad = (prefix: string): string => `${prefix}${text}`;
  return judged({
    title: bad('t'),
    label: bad('l'),
    base: { ref: bad('m'), sha: view.base?.sha ?? '' },
    checks: { setup: bad('s'), build: bad('b'), test: bad('c'), from: { setup: bad('f') } },
    candidates: view.candidates.map((candidate) => ({
      ...candidate,
      note: text,
      contestant: { agent: bad('a'), model: bad('m'), prompt: bad('p') },
    })),
    evidence: view.evidence.map((evidence) => ({
      ...evidence,
      gates: evidence.gates.map((gate) => ({
        ...gate,
        because: text,
        ...(gate.hunk ? { hunk: `+${text}` } : {}),
        ...(gate.gate === 'untampered'
          ? {
              findings: [
                {
                  kind: 'expectation-changed' as const,
                  path: bad('p'),
                  line: 3,
                  what: bad('w'),
                  hunk: `-${text}\n+${text}`,
                  severity: 'question' as const,
                  settled: bad('s'),
                },
              ],
            }
          : {}),
      })),
      ...(evidence.baseTests
        ? {
            baseTests: {
              ...evidence.baseTests,
              regressions: evidence.baseTests.regressions.map(bad),
              contested: [bad('q')],
              flaky: [bad('f')],
              superseded: [bad('u')],
            },
          }
        : {}),
      peerTests: evidence.peerTests.map((run) => ({
        ...run,
        failing: run.failing.map(bad),
        guards: { passed: 0, total: 1, failing: [bad('g')] },
      })),
      independentTests: {
        passed: 0,
        total: 1,
        failing: [{ id: bad('n'), origin: 'writer', title: bad('t'), message: bad('s') }],
      },
      unmetExamples: [bad('u')],
      behaviour: {
        ...BEHAVIOUR,
        differences: [{ input: bad('i'), got: bad('g'), others: bad('o'), base: null }],
      },
    })),
    ranking: view.ranking.map((ranked) => ({ ...ranked, because: text })),
    decision: {
      kind: 'winner',
      alias: 'B',
      confidence: 'likely',
      chance: 0.7,
      decidedBy: 'tests',
      because: text,
    },
    judgement: judgementOf(text),
    requestedBy: { id: 1, login: bad('l') },
    votes: [{ by: { id: 1, login: bad('v') }, alias: 'B' }],
    baseMovedTo: 'f'.repeat(40),
    debate: debateOf(text),
    dialogue: dialogueOf(text),
    review: [
      {
        alias: 'A',
        contested: true,
        critics: [
          { critic: bad('c'), kind: 'failed', why: text },
          {
            critic: bad('c'),
            kind: 'objects',
            model: bad('m'),
            because: text,
            objections: objectionsOf(text),
          },
        ],
        after: { alias: 'B', because: text },
      },
      {
        alias: 'B',
        contested: true,
        critics: [{ critic: bad('c'), kind: 'passed', model: bad('m'), because: text, objections: [] }],
        after: { alias: 'C', because: text },
      },
    ],
    brief: {
      goal: text,
      definitionOfDone: [text],
      plan: [text],
      files: [text],
      assumptions: [text],
      questions: [{ text, options: [text], severity: 'blocking', assume: text }],
      testCommand: text,
      risk: { level: 'high', because: text },
      changedTests: [text],
      acceptance: [text],
      notes: [text],
    },
  });
}

const objectionsOf = (text: string): readonly Objection[] =>
  (['confirmed', 'doubt', 'refuted'] as const).map((outcome) => ({
    file: text,
    line: 7,
    input: text,
    expected: text,
    got: text,
    outcome,
    because: text,
  }));

export function poisonedDiffs(view: RunView, text: string): Diffs {
  const diff: DiffView = {
    patch: shownPatch(text, [{ path: text, change: 'modified', additions: 1, deletions: 0, binary: false }]),
  };
  return Object.fromEntries(view.candidates.map(({ alias }) => [alias, diff]));
}

/** Judges whose every word is this text. */
export const judgementOf = (text: string): Judgement => ({
  ...JUDGEMENT,
  because: text,
  notes: [text],
  injections: [{ alias: 'C', file: text, line: 3, what: text }],
  judges: JUDGEMENT.judges.map((judge) => ({ ...judge, model: text, discarded: text })),
  pairs: JUDGEMENT.pairs.map((pair) => ({
    ...pair,
    byJudge: pair.byJudge.map((one) => ({ ...one, because: text })),
  })),
});

/** A debate in which everything that a model can say is this text. */
export function debateOf(text: string): Debate {
  const issue = {
    title: text,
    quote: text,
    severity: 'blocking',
    scenario: text,
    edit: text,
    needsHuman: true,
  } as const;
  const question: Question = { text, options: [text], severity: 'blocking', assume: text };
  const entry = { ...issue, round: 0, critic: 'qa', upheld: 1, loweredBecause: text };
  const seat = { critic: `c${text}`, model: text };
  const cost = { inputTokens: 1, outputTokens: 1, usd: 0.1 };
  return {
    original: '# A\n',
    spec: `# A\n${text}\n`,
    rounds: [
      {
        roundNumber: 0,
        critiques: [
          { ...seat, kind: 'failed', why: text },
          { ...seat, kind: 'stands' },
          { ...seat, kind: 'answered', approved: false, raised: ['I1'], upheldIssues: [], checks: [text] },
        ],
        synthesis: { model: text, spec: text, refused: [text], failed: text },
        hasConsensus: false,
        diffFromPrevious: text,
        changed: 0.5,
        cost,
      },
    ],
    ledger: [
      { ...entry, id: 'I1', status: { kind: 'open' } },
      { ...entry, id: 'I2', status: { kind: 'rejected', because: text } },
      { ...entry, id: 'I3', status: { kind: 'accepted', because: text } },
      { ...entry, id: 'I4', status: { kind: 'asked', because: text, question } },
    ],
    acceptance: [{ given: text, expect: text, catches: text }],
    cost,
    memories: {},
    end: { stop: 'failed', because: text },
  };
}

const dialogueOf = (text: string): Dialogue => ({
  inquiries: [
    {
      number: 1,
      kind: 'answer',
      question: { text, options: [text], severity: 'blocking', assume: text },
      askedAt: 0,
      until: 1,
      settled: { kind: 'answered', text, by: { id: 1, login: 'x' }, at: 1 },
    },
    {
      number: 2,
      kind: 'approval',
      askedAt: 0,
      until: 1,
      settled: { kind: 'revised', text, by: null, at: 1 },
    },
  ],
  lastReply: 2,
  repliesUsed: 2,
});
