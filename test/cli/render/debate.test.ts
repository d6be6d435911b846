import { expect, test } from 'vitest';
import { debateJson, debateProgress, debateReport, roundLine } from '../../../src/cli/render/index.ts';
import type { Debate } from '../../../src/core/debate/index.ts';
import { visibleCode } from '../../../src/core/reports/index.ts';
import { debateOf } from '../../core/reports/hostile.ts';

const COST = { inputTokens: 1_200, outputTokens: 80, usd: 0.0032 };
const DEBATE: Debate = {
  original: '# Import\n\n- Commas are read.\n',
  spec: '# Import\n\n- Commas are read.\n- Line breaks are read.\n',
  rounds: [
    {
      roundNumber: 0,
      critiques: [
        {
          critic: 'qa',
          model: 'a/1',
          kind: 'answered',
          approved: false,
          raised: ['I1'],
          upheldIssues: [],
          checks: [],
        },
        { critic: 'security', model: 'b/1', kind: 'failed', why: 'The model gave no answer.' },
      ],
      synthesis: { model: 'a/1', spec: '', refused: ['I1: an edit that would break the form of the spec.'] },
      hasConsensus: false,
      diffFromPrevious: '',
      changed: 0.25,
      cost: COST,
    },
  ],
  ledger: [
    {
      id: 'I1',
      round: 0,
      critic: 'qa',
      title: 'Line breaks',
      quote: 'Commas are read.',
      severity: 'blocking',
      scenario: 'A note with a line break is refused.',
      edit: 'Line breaks are read.',
      needsHuman: false,
      upheld: 0,
      status: { kind: 'accepted', because: 'The task says so.' },
    },
  ],
  acceptance: [{ given: 'a,"b\nc"', expect: 'two fields', catches: 'reading line by line' }],
  cost: COST,
  memories: {},
  end: { stop: 'rounds', because: 'All 1 rounds are over.' },
};
const ended = { id: 'd0123456789', debate: DEBATE, paid: 0.001 };

test('the report is Markdown with rounds, issues, tests, the difference, the price and the spec', () => {
  expect(debateReport(ended, undefined)).toMatchInlineSnapshot(`
    "# Debate d0123456789: no consensus

    All 1 rounds are over.
    1 round, 1.2k tokens in, 80 out, $0.0032, of which $0.0010 in this call.

    ## Rounds

    1. qa does not approve (I1); security failed: The model gave no answer. ($0.0032)
       edit not applied: I1: an edit that would break the form of the spec.

    ## Issues

    - I1 (blocking, qa) accepted: Line breaks
      case: A note with a line break is refused.
      because: The task says so.

    ## Acceptance tests

    - Given a,"b c": two fields (catches: reading line by line)

    ## What changed

    \`\`\`diff
    @@ -2,2 +2,3 @@
     
     - Commas are read.
    +- Line breaks are read.
    \`\`\`

    ## The spec

    # Import

    - Commas are read.
    - Line breaks are read.
    "
  `);
});

test('the report names the file that the spec is written to', () => {
  expect(debateReport(ended, 'refined.md')).toMatch(/The spec is in refined\.md\.\n$/);
});

test('progress has a line for each request, and one for its result', () => {
  const seat = { critic: 'qa', model: 'a/1' };
  const memory = { lastSpec: null, approved: false, challenged: false };
  const critique = { issues: [], rechecked: [], approved: true };
  const heard = {
    kind: 'answered',
    critique,
    scope: { spec: '', sections: null },
    checks: ['x'],
    test: null,
    cost: COST,
    memory,
  } as const;
  expect([
    debateProgress({ kind: 'asked', round: 0, assignment: seat }),
    debateProgress({ kind: 'answered', round: 0, assignment: seat, turned: heard }),
    debateProgress({
      kind: 'answered',
      round: 1,
      assignment: seat,
      turned: { kind: 'stands', cost: COST, memory },
    }),
    debateProgress({ kind: 'synthesis', round: 0, model: 'a/1', open: 2 }),
    ...DEBATE.rounds.map(roundLine),
  ]).toMatchInlineSnapshot(`
    [
      "round 1  qa           reads (a/1)",
      "round 1  qa           approves, challenged, 0 issues, $0.0032",
      "round 2  qa           approved before, nothing changed",
      "round 1  synthesis    2 open issues (a/1)",
      "round 1  no consensus yet; 25% of the lines changed; 1.3k tokens, $0.0032
    ",
    ]
  `);
});

test("a model's text cannot control the terminal", () => {
  const hostile = debateOf('\u001b[2J\u001b]0;owned\u0007\u202eevil\r\n');
  const said = debateReport({ id: 'd0', debate: hostile, paid: 0 }, undefined);
  // Nothing is left in it that would have to be made visible.
  expect(visibleCode(said)).toBe(said);
});

test('JSON has the stored debate and what is left to a person', () => {
  expect(debateJson(ended)).toMatchObject({
    id: 'd0123456789',
    stop: 'rounds',
    hasConsensus: false,
    questions: [],
    cost: { paidNow: 0.001 },
  });
});
