import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Debate } from '../../src/core/debate/index.ts';
import {
  BODY_LIMIT,
  checkText,
  comparison,
  type Diffs,
  type DiffView,
  explanation,
  findMarker,
  MAX_REPORT_COMMENTS,
  outcomeComment,
  pickComment,
  pullRequest,
  type ReportComments,
  type RunView,
  statusComment,
} from '../../src/core/reports/index.ts';
import { CORPUS, debateOf, poisoned } from '../core/reports/hostile.ts';
import { candidate, evidence, shownPatch } from '../core/reports/sample.ts';
import { scan } from '../core/reports/scanner.ts';

const MAX_BYTES = 262_144;
const ALIASES = [...'ABCDEFGHIJKL'];

/** Twelve candidates, each with every list as long as it can be. */
function crowd(text: string): RunView {
  const view = poisoned(text);
  const names = Array.from({ length: 40 }, (_, n) => `${n}${text}`);
  const others = (alias: string) => ALIASES.filter((one) => one !== alias);
  return {
    ...view,
    candidates: ALIASES.map((alias) =>
      candidate(alias, { note: text, contestant: { agent: text, model: text, prompt: text } }),
    ),
    evidence: ALIASES.map((alias) =>
      evidence(
        alias,
        {
          baseTests: {
            passed: 1,
            failed: 40,
            total: 41,
            regressions: names,
            fixed: names,
            source: 'report',
            exitCode: 1,
            ms: 1,
          },
          peerTests: others(alias).map((author) => ({ author, passed: 0, total: 40, failing: names })),
        },
        alias === 'B' ? null : { gate: 'untampered', passed: false, because: text, hunk: text.repeat(40) },
      ),
    ),
    ranking: ALIASES.map((alias, index) => ({
      alias,
      place: index + 1,
      survivor: true,
      regressions: 0,
      fixed: 0,
      votes: 1,
      signals: { tests: null, behaviour: null, agreement: null },
      support: 0.5,
      metrics: { tests: 0, simplicity: 0, speed: 0, total: 0 },
      because: text,
    })),
    review: (view.review ?? []).map((one) => ({
      ...one,
      critics: Array.from({ length: 4 }, () => one.critics).flat(),
    })),
    debate: swollenDebate(text),
    brief: {
      goal: text,
      definitionOfDone: names.slice(0, 12),
      plan: names.slice(0, 12),
      files: names.slice(0, 30),
      assumptions: names.slice(0, 12),
      questions: names
        .slice(0, 5)
        .map((name) => ({ text: name, options: [name], severity: 'minor' as const, assume: name })),
    },
  };
}

/** As many rounds and issues as a debate can have. */
function swollenDebate(text: string): Debate {
  const debate = debateOf(text);
  const many = <T>(list: readonly T[], times: number) => Array.from({ length: times }, () => list).flat();
  return {
    ...debate,
    spec: many([`${text}\n`], 400).join(''),
    rounds: many(
      debate.rounds.map((round) => ({ ...round, critiques: many(round.critiques, 3) })),
      10,
    ),
    ledger: many(debate.ledger, 100),
  };
}

const diffsOf = (view: RunView, texts: readonly string[]): Diffs =>
  Object.fromEntries(
    view.candidates.map(({ alias }, index): [string, DiffView] => [
      alias,
      {
        patch: shownPatch(texts[index % texts.length] ?? '', [
          { path: 'a', change: 'modified', additions: 1, deletions: 0, binary: false },
        ]),
        compareUrl: `https://github.test/acme/lists/compare/x...${alias}`,
      },
    ]),
  );

function checkedParts(parts: ReportComments): void {
  expect(parts.length).toBeLessThanOrEqual(MAX_REPORT_COMMENTS);
  parts.forEach(({ marker, body }, index) => {
    checked(body);
    expect(findMarker(marker)?.number).toBe(index === 0 ? undefined : index + 1);
  });
}

function checked(body: string, most = BODY_LIMIT): void {
  expect(body.length).toBeLessThanOrEqual(most);
  expect(new TextEncoder().encode(body).length).toBeLessThanOrEqual(MAX_BYTES);
  expect(body.isWellFormed()).toBe(true);
  const { outside, unclosed } = scan(body);
  expect(unclosed).toBe(false);
  const count = (line: string): number => outside.filter((one) => one === line).length;
  expect(count('<details>')).toBe(count('</details>'));
}

const line = fc.oneof(
  fc.constantFrom(...CORPUS),
  fc.string({ maxLength: 80 }),
  fc.constant('\u{e0041}'.repeat(50)),
);
const diff = fc
  .record({
    lines: fc.array(line, { minLength: 1, maxLength: 8 }),
    times: fc.constantFrom(1, 10, 500, 4_000),
  })
  .map(({ lines, times }) => `${lines.map((one) => `+${one}`).join('\n')}\n`.repeat(times));

test("no comment ever exceeds GitHub's limit or is cut within markup", () => {
  fc.assert(
    fc.property(
      fc.constantFrom('x', '漢'.repeat(400), '<|$@`'.repeat(100), '\u{e0041}'.repeat(400), '😀'.repeat(400)),
      fc.array(diff, { minLength: 1, maxLength: 4 }),
      (text, texts) => {
        const view = crowd(text);
        const diffs = diffsOf(view, texts);
        const none = { kind: 'none', decidedBy: 'gates', because: text } as const;
        checkedParts(comparison(view, diffs));
        checkedParts(outcomeComment({ ...view, decision: none }, diffs));
        checkedParts(pickComment({ ...view, state: 'awaiting_pick' }, diffs));
        checked(explanation(view, diffs, 'C', 991).body, 60_000);
        checked(checkText(view).summary, 65_000);
        expect([...checkText(view).title].length).toBeLessThanOrEqual(100);
        checked(pullRequest(view, 'B', diffs).body);
        checked(statusComment(view).body);
      },
    ),
    { numRuns: 25 },
  );
});

test.each([
  ['ten diffs of a megabyte', `+${'a line of code\n+'.repeat(70_000)}`],
  ['one line of five megabytes', `+${'x'.repeat(5_000_000)}`],
  ['nothing but emoji', `+${'😀'.repeat(50)}\n`.repeat(5_000)],
  ['backticks by the thousand', `+${'`'.repeat(9_000)}\n`.repeat(50)],
  ['characters that grow when they are named', `+${'\u{e0041}'.repeat(1_900)}\n`.repeat(500)],
  ['exactly one character too many', `+${'x'.repeat(99)}\n`.repeat(640)],
])('%s', (_name, text) => {
  const view = crowd('x');
  const parts = comparison(view, diffsOf(view, [text]));
  checkedParts(parts);
  const body = parts.map((part) => part.body).join('');
  for (const alias of ALIASES.filter((one) => one !== 'B')) {
    expect(body).toContain(`[compare](https://github.test/acme/lists/compare/x...${alias})`);
  }
});

test('long names leave room for the verdict, the table and the links to every diff', () => {
  const view = crowd('\u{e0041}'.repeat(400));
  const parts = comparison(view, diffsOf(view, [`+${'line\n+'.repeat(20_000)}`]));
  checkedParts(parts);
  const [{ body }] = parts;
  expect(body).toContain('### **B** is the pick — likely');
  expect(body).toContain('| **B** |');
});
