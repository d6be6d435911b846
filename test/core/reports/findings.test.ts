import { expect, test } from 'vitest';
import { finalReport, runJson } from '../../../src/cli/render/index.ts';
import type { TamperingFinding } from '../../../src/core/evidence/index.ts';
import {
  comparison,
  explanation,
  lookAtNotes,
  lookAtText,
  outcomeComment,
  pullRequest,
  type RunView,
  testNotes,
} from '../../../src/core/reports/index.ts';
import { diffsOf, judged, published } from './sample.ts';

const CHANGED: TamperingFinding = {
  kind: 'expectation-changed',
  path: 'test/list.test.ts',
  line: 41,
  what: 'an expected value was changed',
  hunk: ' test("last", () => {\n-  expect(last([])).toBe(null);\n+  expect(last([])).toBe(undefined);',
  severity: 'question',
  original: 'passes',
  settled: 'The code passes the 3 original tests of this file.',
};
const NOTED: TamperingFinding = {
  ...CHANGED,
  line: 50,
  severity: 'note',
  settled: 'A of another model family makes the same change.',
};

/** The run of the sample, with these findings in the candidate B, which wins, and in C. */
const asking = (findings: readonly TamperingFinding[], change: Partial<RunView> = {}): RunView => {
  const view = published(change);
  return {
    ...view,
    evidence: view.evidence.map((one) => ({
      ...one,
      gates: one.gates.map((gate) =>
        gate.gate === 'untampered' && 'BC'.includes(one.alias) ? { ...gate, findings } : gate,
      ),
    })),
  };
};
const notes = (view: RunView): readonly string[] => lookAtNotes(view).map(lookAtText);
const SENTENCE =
  'test/list.test.ts:41: an expected value was changed (The code passes the 3 original tests of this file)';

test('the comparison and the pull request say what to look at in the winner, and show its lines', () => {
  const view = asking([CHANGED, NOTED]);
  const diffs = diffsOf(view);
  const body = comparison(view, diffs)[0].body;
  expect(body).toContain(`**Please look at** B: ${SENTENCE}.`);
  expect(body.match(/Please look at/g)).toHaveLength(1);
  expect(body).toContain('<summary>The lines to look at</summary>\n\n**B** test/list.test.ts:41');
  expect(body).toContain('+  expect(last([])).toBe(undefined);');
  expect(body).not.toContain('test/list.test.ts:50');
  expect(pullRequest(view, 'B', diffs).body).toContain(`\n- ${SENTENCE}.`);
  expect(notes(view)).toEqual([`B: ${SENTENCE}.`]);
});

test('a person who must choose learns it of every candidate in question', () => {
  const decision = {
    kind: 'toss-up',
    alias: 'B',
    among: ['B', 'C'],
    decidedBy: 'tie',
    because: 'Nothing separates B and C.',
    chance: 0.4,
  } as const;
  const view = { ...asking([CHANGED]), decision };
  const inC = { ...CHANGED, line: 43 };
  const gates = [{ gate: 'untampered', passed: true, because: '', findings: [inC] }] as const;
  const evidence = view.evidence.map((one) => (one.alias === 'C' ? { ...one, gates } : one));
  expect(notes({ ...view, evidence })).toEqual([`B: ${SENTENCE}.`, `C: ${SENTENCE.replace('41', '43')}.`]);
});

test('what is true of several candidates is said once, with all their letters', () => {
  const decision = { kind: 'none', decidedBy: 'regressions', because: 'All break tests.' } as const;
  const twice = asking([CHANGED], { decision, outcome: { kind: 'table', branches: {} } });
  const regressions = ['test/list.test.ts > last > of none'];
  const evidence = twice.evidence.map((one) =>
    'BC'.includes(one.alias) && one.baseTests
      ? { ...one, peerTests: [], baseTests: { ...one.baseTests, regressions } }
      : one,
  );
  const ranking = twice.ranking.map((one) =>
    one.alias === 'C' ? { ...one, because: 'Its source changes are the same as those of B.' } : one,
  );
  const view = { ...twice, evidence, ranking };
  const [{ body }] = outcomeComment(view, {});
  expect(body).toContain(`**Please look at** B and C: ${SENTENCE}.`);
  expect(body.split(SENTENCE)).toHaveLength(3);
  expect(body).toContain('<summary>The lines to look at</summary>\n\n**B** and **C** test/list.test.ts:41');
  expect(body).toContain(
    '- **B** (likewise **C**): It breaks 1 existing test: `test/list.test.ts > last > of none`.',
  );
  expect(body).toContain(
    '**C**: Its source changes are the same as those of B. Its results are those of B.\n\n',
  );
  const shown = finalReport(view, { width: 120, colour: false }).join('\n');
  expect(shown).toContain(`Please look at B and C: `);
  expect(shown.split('last > of none')).toHaveLength(2);
});

test('without lines there is nothing to unfold, and too many lines are counted', () => {
  const { hunk: _none, ...bare } = CHANGED;
  const bodyOf = (findings: readonly TamperingFinding[]) => {
    const view = asking(findings);
    return comparison(view, diffsOf(view))[0].body;
  };
  expect(bodyOf([bare])).toContain(`**Please look at** B: ${SENTENCE}.`);
  expect(bodyOf([bare])).not.toContain('The lines to look at');
  const long = Array.from({ length: 9 }, (_, i) => ({
    ...CHANGED,
    line: i + 1,
    hunk: '+  x();\n'.repeat(150),
  }));
  expect(bodyOf(long)).toMatch(/\(\d more places, omitted for length\)\n\n<\/details>/);
});

test('many places are counted, and a run without questions says nothing', () => {
  const many = Array.from({ length: 5 }, (_, i) => ({ ...CHANGED, line: 41 + i }));
  expect(notes(asking(many))[0]).toMatch(/test\.ts:43: .*; and 2 more\.$/);
  expect(notes(asking([NOTED]))).toEqual([]);
  expect(comparison(judged(), diffsOf(judged()))[0].body).not.toContain('Please look at');
});

test('the explanation and the JSON have all findings, notes as well', () => {
  const view = asking([CHANGED, NOTED]);
  const { body } = explanation(view, diffsOf(view), 'B', 1);
  expect(body).toContain('#### Changes of tests, and code that may detect them');
  expect(body).toContain(`**to look at** ${SENTENCE}`);
  expect(body).toContain('test/list.test.ts:50: an expected value was changed (A of another model family');
  const { candidates } = runJson(view).run;
  expect(candidates.find(({ alias }) => alias === 'B')?.findings).toEqual([CHANGED, NOTED]);
  expect(candidates.find(({ alias }) => alias === 'A')?.findings).toEqual([]);
});

test('base tests that the brief gives up are named', () => {
  const view = judged();
  const evidence = view.evidence.map((one) =>
    one.alias === 'B' && one.baseTests
      ? { ...one, baseTests: { ...one.baseTests, superseded: ['test/list.test.ts > last > of none'] } }
      : one,
  );
  expect(notes({ ...view, evidence })).toEqual([
    'B: 1 existing test fails that the brief says must change, and its new version passes: test/list.test.ts > last > of none.',
  ]);
  expect(testNotes({ ...view, evidence })).toContainEqual(
    '1 existing test broken as the brief says is no regression: test/list.test.ts > last > of none.',
  );
  expect(explanation({ ...view, evidence }, diffsOf(view), 'B', 1).body).toContain(
    '- Broken as the brief says, and no regression: `test/list.test.ts > last > of none`',
  );
});
