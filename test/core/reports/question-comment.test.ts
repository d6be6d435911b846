import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Inquiry, Settlement } from '../../../src/core/brief/index.ts';
import {
  BODY_LIMIT,
  checkboxEdit,
  findMarker,
  questionComment,
  type RunView,
  statusComment,
} from '../../../src/core/reports/index.ts';
import { coding, RUN } from './sample.ts';

const HOUR = 3_600_000;
const view: RunView = { ...coding(), state: 'awaiting_answer', candidates: [] };
const times = { number: 1, askedAt: view.now - HOUR, until: view.now + 71 * HOUR };
const inquiry: Inquiry = {
  ...times,
  kind: 'answer',
  question: {
    text: 'Which rounding do @acme/billing prices need?',
    options: ['half up', 'half even'],
    severity: 'blocking',
    assume: 'half up, as `round()` does',
  },
};
const approval: Inquiry = { ...times, kind: 'approval' };
const waiting = (open: Inquiry): RunView => ({
  ...view,
  state: open.kind === 'answer' ? 'awaiting_answer' : 'awaiting_approval',
  dialogue: { inquiries: [open], lastReply: 0, repliesUsed: 0 },
});

describe('a question', () => {
  test('is shown while it is open', () => {
    expect(questionComment(view, inquiry, 'assume').body).toMatchInlineSnapshot(`
      "<!-- runoff:question:r7k2m9q4xa:1 -->

      **Which rounding do @&#8203;acme/billing prices need?**

      - [ ] 1. half up
      - [ ] 2. half even

      If nobody answers by 2026-09-24 13:14 UTC, the run continues with this assumption: half up, as \`round()\` does

      Tick one box, or comment \`/auto-dev answer 1\` or \`/auto-dev answer TEXT\`. Only people with write access can reply.
      "
    `);
    expect(questionComment(view, approval, 'assume').body).toMatchInlineSnapshot(`
      "<!-- runoff:question:r7k2m9q4xa:1 -->

      **Approve this plan so that the coders can start?**

      - [ ] Approve the plan

      If nobody approves the plan by 2026-09-24 13:14 UTC, the run stops.

      The plan is in the status comment. Tick the box, or comment \`/auto-dev approve\`. To ask for a different plan, comment \`/auto-dev revise TEXT\`; to let critics debate it first, \`/auto-dev debate\`. Only people with write access can reply.
      "
    `);
  });

  test('without options has no checkboxes', () => {
    const free: Inquiry = { ...inquiry, question: { ...inquiry.question, options: [] } };
    const { body } = questionComment(view, free, 'stop');
    expect(body).not.toContain('[ ]');
    expect(body).toContain('`/auto-dev answer TEXT`');
  });

  test('shows a rejected reply in a separate line that a tick does not change', () => {
    const unrecognizedCommand = {
      text: '/auto-dev aprove',
      why: 'There is no such command.',
      meant: 'approve',
    } as const;
    const { body } = questionComment(view, approval, 'stop', unrecognizedCommand);
    expect(body.trim().split('\n').at(-1)).toMatchInlineSnapshot(
      `"Not accepted: \`/auto-dev aprove\`. There is no such command. Try \`/auto-dev approve\`, which approves the plan so that the coders can start."`,
    );
    expect(checkboxEdit(body, body.replace('[ ]', '[x]'))).toEqual({ kind: 'ticked', box: 1 });
    const settled = { ...approval, settled: { kind: 'expired', at: 1 } } as const;
    expect(questionComment(view, settled, 'stop', unrecognizedCommand)).toEqual(
      questionComment(view, settled, 'stop'),
    );
  });

  test('is shown when it is settled', () => {
    const by = { id: 5, login: 'mona' };
    const ends: readonly Settlement[] = [
      { kind: 'answered', text: 'half even', by, at: 1 },
      { kind: 'answered', text: 'half even', by: null, at: 1 },
      { kind: 'approved', by, at: 1 },
      { kind: 'revised', text: 'Smaller steps.', by, at: 1 },
      { kind: 'assumed', text: 'half up', at: 1 },
      { kind: 'expired', at: 1 },
    ];
    const last = (one: Inquiry, over: Partial<RunView> = {}) =>
      questionComment({ ...view, ...over }, one, 'stop')
        .body.trim()
        .split('\n')
        .at(-1);
    expect(ends.map((settled) => last({ ...inquiry, settled })).join('\n')).toMatchInlineSnapshot(`
      "\`mona\` answered: half even
      Somebody at the command line answered: half even
      \`mona\` approved the plan.
      \`mona\` asked for a different plan: Smaller steps.
      Nobody answered in time. The run continued with this assumption: half up
      Nobody answered in time, so the run stopped."
    `);
    expect(last(inquiry, { state: 'cancelled' })).toBe('The run ended before anyone answered.');
  });

  test('is found again by run and number', () => {
    const { body } = questionComment(view, { ...inquiry, number: 3 }, 'stop');
    expect(findMarker(body)).toEqual({ kind: 'question', run: RUN, number: 3 });
  });

  test('always fits into a comment', () => {
    const long = '@'.repeat(5_000);
    const by = { id: 5, login: 'mona' };
    const { body } = questionComment(
      view,
      { ...inquiry, settled: { kind: 'answered', text: long, by, at: 1 } },
      'stop',
    );
    expect(body.length).toBeLessThan(BODY_LIMIT);
  });
});

describe('the status comment', () => {
  test('says what the run waits for, and how to answer', () => {
    const line = (open: Inquiry) => statusComment(waiting(open)).body.match(/^\*\*Waiting.*$/m)?.[0];
    expect(`${line(inquiry)}\n${line(approval)}`).toMatchInlineSnapshot(`
      "**Waiting for an answer** (71h 00m left): Which rounding do @&#8203;acme/billing prices need? Tick a box in the comment with the question, or comment \`/auto-dev answer 1\`.
      **Waiting for plan approval** (71h 00m left): comment \`/auto-dev approve\`, \`/auto-dev debate\` or \`/auto-dev revise TEXT\`."
    `);
    expect(statusComment(waiting(approval)).body).toContain('waiting for plan approval');
  });

  test('says why the run no longer waits', () => {
    const expired = { ...approval, settled: { kind: 'expired', at: 1 } } as const;
    const { body } = statusComment({ ...waiting(expired), state: 'cancelled' });
    expect(body).toContain('It stopped because nobody approved the plan within 72 h.');
  });
});

describe('a tick', () => {
  const { body } = questionComment(view, inquiry, 'stop');
  const box = (text: string, at: number, mark = 'x') => text.replace(`- [ ] ${at}.`, `- [${mark}] ${at}.`);

  test.each([
    ['nothing', body, { kind: 'untouched' }],
    ['other ends of lines', body.replaceAll('\n', '\r\n').trimEnd(), { kind: 'untouched' }],
    ['one box', box(body, 2), { kind: 'ticked', box: 2 }],
    ['one box by a capital', box(body, 1, 'X').trimEnd(), { kind: 'ticked', box: 1 }],
    ['two boxes', box(box(body, 1), 2), { kind: 'other' }],
    ['a box and a word', box(body, 1).replace('half even', 'half odd'), { kind: 'other' }],
    ['a line more', `${box(body, 1)}\nmore`, { kind: 'other' }],
    ['a box that is none', box(body, 1, '/'), { kind: 'other' }],
    ['a box that is gone', body.replace('- [ ] 1.', '- 1.'), { kind: 'other' }],
    ['all of it', '', { kind: 'other' }],
  ])('%s', (_what, edited, tick) => {
    expect(checkboxEdit(body, edited)).toEqual(tick);
  });

  test('is not recognised in other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(body.length), (text, at) => {
        const tick = checkboxEdit(body, `${body.slice(0, at)}${text}${body.slice(at)}`);
        expect(tick.kind === 'ticked').toBe(false);
      }),
    );
  });
});
