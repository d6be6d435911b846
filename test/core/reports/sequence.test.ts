import { expect, test } from 'vitest';
import { finalReport, progressLine, renderProgress, runJson } from '../../../src/cli/render/index.ts';
import {
  comparison,
  hiddenNames,
  type RunView,
  sequencePlan,
  sequenceResult,
  statusComment,
  withHiddenNames,
} from '../../../src/core/reports/index.ts';
import { coding, judged } from './sample.ts';

const FIELD = { first: 1, of: 3, firstUsd: 0.12, allUsd: 0.36 } as const;
const END = {
  started: 1,
  of: 3,
  because: 'A is clearly right: tests that its own model family did not write show it.',
  savedUsd: 0.24,
};
const RESULT =
  '1 of 3 contestants was started (`adaptive.field: sequential`). A is clearly right: tests that its own model family did not write show it. That saved about $0.24.';

test('while a sequential field is open, status comment, terminal and JSON say what it costs at least and at most', () => {
  const view: RunView = { ...coding(), sequence: FIELD };
  const plan =
    'Contestants start one after the other: 1 of 3 first, for about $0.12, and more only if needed; all 3 would cost about $0.36.';
  expect(sequencePlan(view)).toBe(plan);
  expect(statusComment(view).body).toContain('1 of 3 first, for about <span>$</span>0.12');
  expect(renderProgress(view, 200, false)).toContain(plan);
  expect(progressLine(null, view).join('\n')).toContain(plan);
  expect(progressLine(view, view).join('\n')).not.toContain(plan);
  expect(runJson(view).run.field).toEqual({ ...FIELD, end: null });
});

test('a plan of unknown price has no dollars', () => {
  const view: RunView = { ...coding(), sequence: { ...FIELD, firstUsd: null, allUsd: null } };
  expect(sequencePlan(view)).toBe(
    'Contestants start one after the other: 1 of 3 first, and more only if needed.',
  );
});

test('afterwards comparison, terminal and JSON say how many were started, why no more, and what that saved', () => {
  const view: RunView = { ...judged(), sequence: { ...FIELD, end: END } };
  expect(sequenceResult(view)).toBe(RESULT);
  expect(sequencePlan(view)).toBeNull();
  const bodies = comparison(view, {}).map(({ body }) => body);
  expect(
    bodies.join('\n').match(/1 of 3 contestants was started .* That saved about <span>\$<\/span>0\.24\./g),
  ).toHaveLength(2);
  expect(finalReport(view, { width: 400, colour: false }).join('\n')).toContain(RESULT);
  expect(runJson(view).run.field?.end).toEqual(END);
});

test('where all were started, it says no more than that', () => {
  const end = { ...END, started: 3, because: 'All contestants have run.', savedUsd: 0 };
  expect(sequenceResult({ sequence: { ...FIELD, end } })).toBe('All 3 contestants were started.');
});

test('a field of two that start at once is no plan to save', () => {
  const sequence = { ...FIELD, first: 2, of: 2 };
  expect(sequenceResult({ sequence: { ...sequence, end: { ...END, started: 2, of: 2 } } })).toBeNull();
  expect(sequencePlan({ ...coding(), sequence })).toBe(
    'Both contestants start at once, because no test could confirm a single one.',
  );
});

test('a field of one has no plan', () => {
  expect(sequencePlan({ ...coding(), sequence: { ...FIELD, of: 1 } })).toBeNull();
});

test('runs whose contestants start at once say nothing of it', () => {
  expect(runJson(judged()).run.field).toBeNull();
  expect(comparison(judged(), {})[0]?.body).not.toContain('sequential');
});

test('blind mode shows no price of a field that has only few contestants', () => {
  const view = withHiddenNames({ ...judged(), sequence: { ...FIELD, end: END } }, hiddenNames([]));
  expect(view.sequence).toEqual({
    ...FIELD,
    firstUsd: null,
    allUsd: null,
    end: { ...END, savedUsd: null },
  });
});
