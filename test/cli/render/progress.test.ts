import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayWidth, nextTryText, progressLine, renderProgress } from '../../../src/cli/render/index.ts';
import type { Question } from '../../../src/core/model/index.ts';
import type { RunView } from '../../../src/core/reports/index.ts';
import { hostile, poisoned } from '../../core/reports/hostile.ts';
import { candidate, coding, published } from '../../core/reports/sample.ts';

const ESC = '\u001b';
const COLOURS = new RegExp(`${ESC}\\[(?:0|1|2|31|32)m`, 'g');

function waiting(): RunView {
  const view = coding();
  const question: Question = {
    text: 'Which rounding do the prices of the shop need, seen from whoever pays?',
    options: ['half up', 'half even'],
    severity: 'blocking',
    assume: 'half up',
  };
  const inquiry = {
    number: 1,
    kind: 'answer',
    question,
    askedAt: view.now,
    until: view.now + 259_200_000,
  } as const;
  return {
    ...view,
    state: 'awaiting_answer',
    candidates: [],
    dialogue: { inquiries: [inquiry], lastReply: 0, repliesUsed: 0 },
  };
}

/** While packages are installed on the base commit, beside the planner. */
function installing(): RunView {
  const view = coding();
  const step = { name: 'set-up', command: 'npm ci\u001b[2J', since: view.now - 72_000 } as const;
  return { ...view, state: 'admitted', candidates: [], checks: { setup: 'npm ci', step } };
}

/** After each candidate's own tests, while candidates are compared. */
function comparing(done: number, now = coding().now): RunView {
  const view = coding();
  const step = { name: 'peer-tests', done, of: 6, leftMs: 190_000, since: view.now - 60_000 } as const;
  return { ...view, state: 'coded', candidates: [], checks: { step }, now };
}

describe('the live display', () => {
  test('names what the examination does, how much of it is done, and how long it may still take', () => {
    expect(renderProgress(comparing(2), 140, false)).toEqual([
      "Runoff r7k2m9q4xa  1m 12s  $0.58 of $5.00  stage 4 of 6: running the candidates' new tests on each other, 2 of 6 done, at most 2m 10s left",
    ]);
    expect(progressLine(comparing(1), comparing(2))).toEqual([
      " 1m 12s  stage 4 of 6: running the candidates' new tests on each other, 2 of 6 done, at most 2m 10s left",
    ]);
    expect(progressLine(comparing(2), comparing(2, coding().now + 1_000))).toEqual([]);
    expect(renderProgress(comparing(2, coding().now + 600_000), 140, false).join()).toContain(
      '2 of 6 done, time limit reached',
    );
  });

  test('names the note of a coder once, not in the states that follow', () => {
    const [first] = coding().candidates;
    if (!first) throw new Error('The sample has candidates.');
    const as = (state: 'coded' | 'examining' | 'failed', note: string) => ({
      ...coding(),
      candidates: [{ ...first, state, note }],
    });
    const lines = [
      ...progressLine(coding(), as('coded', 'done')),
      ...progressLine(as('coded', 'done'), as('examining', 'done')),
      ...progressLine(as('examining', 'done'), as('failed', 'out of time')),
    ];
    expect(lines.map((line) => line.replace(/ \(.*$/, ''))).toEqual([
      ' 1m 12s  A: coded, done',
      ' 1m 12s  A: examining',
      ' 1m 12s  A: failed, out of time',
    ]);
  });

  test('names the review of the winner', () => {
    const reviewing = {
      ...coding(),
      state: 'judged',
      checks: { step: { name: 'review', since: coding().now - 72_000 } },
    } as const;
    expect(renderProgress(reviewing, 120, false)[0]).toContain('critics are reviewing the winner, 1m 12s');
  });

  test('names what is done with the base commit, and for how long', () => {
    expect(renderProgress(installing(), 120, false)).toEqual([
      'Runoff r7k2m9q4xa  1m 12s  $0.58 of $5.00  stage 2 of 6: installing packages: npm ci, 1m 12s',
    ]);
    const { checks: _checks, ...before } = installing();
    expect(progressLine(before, installing())).toEqual([
      ' 1m 12s  stage 2 of 6: installing packages: npm ci',
    ]);
    expect(progressLine(installing(), { ...installing(), now: installing().now + 1_000 })).toEqual([]);
    expect(progressLine(installing(), before)).toEqual([
      ' 1m 12s  stage 2 of 6: admitted, writing the brief',
    ]);
  });

  test('has a header and a line for each candidate', () => {
    expect(renderProgress(coding(), 120, false).join('\n')).toMatchInlineSnapshot(`
      "Runoff r7k2m9q4xa  1m 12s  $0.58 of $5.00  stage 3 of 6: running the coders
      A  builtin × anthropic/model-1 (plain)    coding        42 s   12.3k tok     $0.12  edits \`src/list.ts\`
      B  builtin × anthropic/model-2 (careful)  coded       1m 12s   12.3k tok     $0.13
      C  builtin × anthropic/model-3 (plain)    failed      1m 42s   12.3k tok     $0.14  stopped after 5m of silence
      D  builtin × anthropic/model-4 (careful)  waiting          –       0 tok     $0.00"
    `);
  });

  test('on 80 columns names the model and keeps the note', () => {
    expect(renderProgress(coding(), 80, false).join('\n')).toMatchInlineSnapshot(`
      "Runoff r7k2m9q4xa  1m 12s  $0.58 of $5.00  stage 3 of 6: running the coders
      A  model-1 (plain)    coding        42 s   12.3k tok     $0.12  edits \`src/list…
      B  model-2 (careful)  coded       1m 12s   12.3k tok     $0.13
      C  model-3 (plain)    failed      1m 42s   12.3k tok     $0.14  stopped after 5…
      D  model-4 (careful)  waiting          –       0 tok     $0.00"
    `);
  });

  test('on very few columns keeps alias, state and time', () => {
    expect(renderProgress(coding(), 24, false).join('\n')).toMatchInlineSnapshot(`
      "Runoff r7k2m9q4xa  1m 1…
      A  coding        42 s  …
      B  coded       1m 12s  …
      C  failed      1m 42s  …
      D  waiting          –  …"
    `);
  });

  test('says when the run is over', () => {
    expect(renderProgress(published(), 80, false)[0]).toContain('published');
  });

  test('while it waits says for what, and which command answers', () => {
    const view = waiting();
    expect(renderProgress(view, 60, false).join('\n')).toMatchInlineSnapshot(`
      "Runoff r7k2m9q4xa  1m 12s  $0.58 of $5.00  stage 2 of 6: wa…
      Waiting for an answer (72h 00m left): Which rounding do the
      prices of the shop need, seen from whoever pays?
        1. half up
        2. half even
        → runoff answer r7k2m9q4xa 1
        → runoff answer r7k2m9q4xa "in your own words""
    `);
    expect(progressLine(coding(), view)).toEqual(
      expect.arrayContaining([expect.stringContaining('runoff answer')]),
    );
    expect(progressLine(view, view)).toEqual([]);
    const plan = { ...view, state: 'awaiting_approval' } as const;
    const inquiries = [{ number: 1, kind: 'approval', askedAt: 0, until: view.now + 60_000 }] as const;
    const lines = renderProgress(
      { ...plan, dialogue: { inquiries, lastReply: 0, repliesUsed: 0 } },
      100,
      false,
    );
    expect(lines.slice(-2).map((line) => line.trim())).toEqual([
      '→ runoff approve r7k2m9q4xa',
      '→ runoff revise r7k2m9q4xa "what should be different"',
    ]);
  });

  test('is coloured only when asked', () => {
    expect(renderProgress(coding(), 80, false).join('')).not.toContain('\u001b');
    const coloured = renderProgress(coding(), 80, true).map((line) => line.replace(COLOURS, ''));
    expect(coloured).toEqual(renderProgress(coding(), 80, false));
  });

  test('never exceeds the width and contains no control sequences, whatever the names and notes', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 160 }), (text, width) => {
        const view = { ...poisoned(text), state: 'briefed' } as const;
        const lines = renderProgress(view, width, true).map((line) => line.replace(COLOURS, ''));
        expect(lines).toHaveLength(5);
        for (const line of lines) {
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('plain lines', () => {
  test('begin with what is known', () => {
    expect(progressLine(null, coding()).join('\n')).toMatchInlineSnapshot(`
      " 1m 12s  stage 3 of 6: running the coders
       1m 12s  A: coding, edits \`src/list.ts\` (12.3k tok, $0.12)
       1m 12s  B: coded (12.3k tok, $0.13)
       1m 12s  C: failed, stopped after 5m of silence (12.3k tok, $0.14)
       1m 12s  D: waiting"
    `);
  });

  test('tell only what changed', () => {
    const before = coding();
    const now = before.now + 8_000;
    const after = {
      ...before,
      now,
      candidates: before.candidates.map((one) =>
        one.alias === 'D' ? candidate('D', { state: 'coding', note: 'reads the tests' }) : one,
      ),
    };
    expect(progressLine(before, after)).toEqual([' 1m 20s  D: coding, reads the tests (12.3k tok, $0.15)']);
    expect(progressLine(after, { ...after, now: now + 1_000 })).toEqual([]);
  });

  test('tell of each new stage and of the end', () => {
    const view = coding();
    expect(progressLine(view, { ...view, state: 'coded' })).toEqual([
      ' 1m 12s  stage 4 of 6: building and testing every candidate',
    ]);
    expect(progressLine(view, { ...view, state: 'failed' })).toEqual([' 1m 12s  failed']);
  });

  test('contain no control sequences', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const line of progressLine(null, poisoned(text)))
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });
});

test('a try that was stopped is told with its limit and the line that explains it, and then the next one', () => {
  const text = (stopped: 'disk' | null, output: string) =>
    nextTryText(
      { recipe: { commands: { setup: 'npm ci' }, from: {} }, step: 'set-up', output, stopped },
      { commands: { setup: 'npm ci --ignore-scripts' }, from: {} },
    );
  expect(text('disk', '')).toBe(
    'Set-up failed (stopped at its disk limit). Trying set-up `npm ci --ignore-scripts`.',
  );
  expect(text('disk', 'error: no space')).toContain('(stopped at its disk limit: error: no space).');
  expect(text(null, 'npm error code E500\nnpm error no such file')).toContain('(npm error no such file).');
});
