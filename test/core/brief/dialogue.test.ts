import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Dialogue,
  durationText,
  type Inquiry,
  type InquiryContext,
  MAX_QUESTIONS_ASKED,
  matchReply,
  type NewReply,
  NO_DIALOGUE,
  nextInquiry,
  openInquiry,
  type Reply,
  settleInquiry,
  withAssumed,
  withInquiry,
} from '../../../src/core/brief/index.ts';
import type { Question } from '../../../src/core/model/index.ts';

const HOUR = 3_600_000;
const mona = { id: 5, login: 'mona' };
const question = (text: string, over: Partial<Question> = {}): Question => ({
  text,
  options: ['half up', 'half even'],
  severity: 'blocking',
  assume: `${text} as before`,
  ...over,
});
const wanted = (over: Partial<InquiryContext> = {}): InquiryContext => ({
  questions: [question('Which rounding?')],
  approval: 'never',
  mayAsk: true,
  now: 1_000,
  withinMs: 72 * HOUR,
  ...over,
});
const reply = (number: number, over: Partial<Reply> = {}): Reply => ({
  number,
  kind: 'answer',
  text: 'down',
  by: mona,
  at: 2_000,
  ...over,
});
const ask = (dialogue: Dialogue, over: Partial<InquiryContext> = {}): Dialogue => {
  const inquiry = nextInquiry(dialogue, wanted(over));
  if (!inquiry) throw new Error('Nothing to ask.');
  return withInquiry(dialogue, inquiry, []);
};
const heard = (dialogue: Dialogue, ...said: Reply[]): Dialogue =>
  settleInquiry(dialogue, said, 3_000, 'stop').dialogue;

describe('the next question', () => {
  test('is the first blocking question, with a deadline', () => {
    const questions = [question('Minor?', { severity: 'minor' }), question('A?'), question('B?')];
    expect(nextInquiry(NO_DIALOGUE, wanted({ questions }))).toEqual({
      number: 1,
      kind: 'answer',
      question: questions[1],
      askedAt: 1_000,
      until: 1_000 + 72 * HOUR,
    });
  });

  test('is asked once, whatever its spacing when it is repeated', () => {
    const questions = [question('Which  rounding?'), question('B?')];
    const first = ask(NO_DIALOGUE, { questions });
    expect(nextInquiry(first, wanted({ questions }))).toBeNull();
    const answered = heard(first, reply(1));
    const again = [question('which rounding? '), question('B?')];
    expect(nextInquiry(answered, wanted({ questions: again }))).toMatchObject({
      number: 2,
      question: again[1],
    });
    expect(nextInquiry(answered, wanted({ questions: again.slice(0, 1) }))).toBeNull();
  });

  test('respects the limit, and is never asked if nobody may be asked', () => {
    let dialogue = NO_DIALOGUE;
    for (let n = 1; n <= MAX_QUESTIONS_ASKED; n++) {
      dialogue = heard(ask(dialogue, { questions: [question(`Q${n}?`)] }), reply(n));
    }
    expect(nextInquiry(dialogue, wanted({ questions: [question('One more?')] }))).toBeNull();
    expect(nextInquiry(NO_DIALOGUE, wanted({ mayAsk: false }))).toBeNull();
  });

  test('is the approval of the plan, after the questions and after each new plan', () => {
    const over = { approval: 'plan', questions: [] } as const;
    const planned = heard(ask(NO_DIALOGUE), reply(1));
    const first = ask(planned, over);
    expect(openInquiry(first)).toMatchObject({ number: 2, kind: 'approval' });
    const revised = heard(first, reply(2, { kind: 'revise', text: 'Keep the API.' }));
    expect(nextInquiry(revised, wanted(over))).toMatchObject({ number: 3, kind: 'approval' });
    const approved = heard(ask(revised, over), reply(3, { kind: 'approve', text: '' }));
    expect(nextInquiry(approved, wanted(over))).toBeNull();
    expect(nextInquiry(approved, wanted({ approval: 'never', questions: [] }))).toBeNull();
    const late = heard(ask(approved, { questions: [question('Late?')] }), reply(4));
    expect(nextInquiry(late, wanted(over))).toMatchObject({ number: 5, kind: 'approval' });
  });
});

describe('a reply', () => {
  const open = ask(NO_DIALOGUE);
  const approval = ask(NO_DIALOGUE, { questions: [], approval: 'plan' });

  test.each<[string, Dialogue, Partial<Reply>, object]>([
    ['an option', open, { option: 2, text: '' }, { kind: 'answered', text: 'half even' }],
    ['own words', open, { text: ' down ' }, { kind: 'answered', text: 'down' }],
    ['a revision of a question', open, { kind: 'revise' }, { kind: 'answered', text: 'down' }],
    ['a yes to the plan', approval, { kind: 'approve', text: '' }, { kind: 'approved' }],
    ['a wish for another', approval, { kind: 'revise' }, { kind: 'revised', text: 'down' }],
  ])('%s settles a question', (_what, dialogue, over, settled) => {
    const after = settleInquiry(dialogue, [reply(1, over)], 3_000, 'stop');
    expect(after.dialogue.inquiries.at(-1)?.settled).toEqual({ by: mona, at: 2_000, ...settled });
    expect(after.dialogue.lastReply).toBe(1);
    expect(after.next.kind).toBe('approved' in settled || over.kind === 'approve' ? 'go' : 'replan');
  });

  test.each<[string, Dialogue, Partial<Reply>]>([
    ['an option that there is not', open, { option: 3, text: '' }],
    ['nothing', open, { text: '  ' }],
    ['an approval of a question', open, { kind: 'approve', text: '' }],
    ['an answer to a plan', approval, {}],
    ['an option of a plan', approval, { option: 1, text: '' }],
    ['an empty wish', approval, { kind: 'revise', text: ' ' }],
  ])('%s does not settle a question', (_what, dialogue, over) => {
    const after = settleInquiry(dialogue, [reply(1, over)], 3_000, 'stop');
    expect(openInquiry(after.dialogue)).not.toBeNull();
    expect(after.dialogue.lastReply).toBe(1);
    expect(after.next).toEqual({ kind: 'waits', ms: 72 * HOUR - 2_000 });
    expect(
      settleInquiry(after.dialogue, [reply(1, over), reply(2, { kind: 'revise' })], 3_000, 'stop').next,
    ).toEqual({
      kind: 'replan',
    });
  });

  test('with a number is a text answer if there are no options', () => {
    const free = ask(NO_DIALOGUE, { questions: [question('How many?', { options: [] })] });
    const after = settleInquiry(free, [reply(1, { option: 42, text: '' })], 3_000, 'stop');
    expect(after.dialogue.inquiries[0]?.settled).toMatchObject({ kind: 'answered', text: '42' });
  });

  test('after the first one does not count for the next question', () => {
    const said = [reply(1, { option: 1, text: '' }), reply(2, { option: 2, text: '' })];
    const after = settleInquiry(open, said, 3_000, 'stop').dialogue;
    expect(after.inquiries[0]?.settled).toMatchObject({ text: 'half up' });
    const next = nextInquiry(after, wanted({ questions: [question('B?')] })) as Inquiry;
    const asking = withInquiry(after, next, said);
    expect(settleInquiry(asking, said, 3_000, 'stop').next.kind).toBe('waits');
  });

  test('that is missing at the deadline leads to the assumption or the end of the run; a plan always ends it', () => {
    const until = open.inquiries[0]?.until ?? 0;
    expect(settleInquiry(open, [], until - 1, 'assume').next).toEqual({ kind: 'waits', ms: 1 });
    expect(settleInquiry(open, [], until, 'assume')).toMatchObject({
      dialogue: {
        inquiries: [{ settled: { kind: 'assumed', text: 'Which rounding? as before', at: until } }],
      },
      next: { kind: 'go' },
    });
    expect(settleInquiry(open, [], until, 'stop')).toMatchObject({
      dialogue: { inquiries: [{ settled: { kind: 'expired' } }] },
      next: { kind: 'stop', because: 'nobody answered within 72 h' },
    });
    expect(settleInquiry(approval, [], until, 'assume').next).toEqual({
      kind: 'stop',
      because: 'nobody approved the plan within 72 h',
    });
    expect(settleInquiry(open, [reply(1)], until, 'stop').next).toEqual({ kind: 'replan' });
  });

  test('that does not fit gets a reason', () => {
    expect(matchReply(open.inquiries[0] as Inquiry, reply(1, { option: 9 }))).toEqual({
      kind: 'unfit',
      why: 'There is no option 9: the options are 1 to 2.',
    });
  });
});

describe('the assumptions of a brief', () => {
  const brief = {
    assumptions: ['It is a library.'],
    questions: [question('Which rounding?'), question('B?')],
  };

  test('include unanswered and unasked questions', () => {
    const open = ask(NO_DIALOGUE);
    const { dialogue } = settleInquiry(open, [], Number.MAX_SAFE_INTEGER, 'assume');
    const full = withAssumed(brief, dialogue);
    expect(full.assumptions).toEqual([
      'It is a library.',
      'Which rounding? Assumed: Which rounding? as before',
      'B? Assumed: B? as before',
    ]);
    expect(full.questions).toEqual([]);
    expect(withAssumed(full, dialogue)).toBe(full);
  });

  test('include non-blocking questions last, and no answered ones', () => {
    const answered = heard(ask(NO_DIALOGUE), reply(1));
    const questions = [
      question('Which rounding?'),
      question('Minor?', { severity: 'minor' }),
      question('Major?', { severity: 'major' }),
      question('Blocking?'),
      question('Blocking?'),
    ];
    expect(withAssumed({ ...brief, questions }, answered)).toEqual({
      assumptions: [
        'It is a library.',
        'Blocking? Assumed: Blocking? as before',
        'Major? Assumed: Major? as before',
        'Minor? Assumed: Minor? as before',
      ],
      questions: [],
    });
  });

  test("are limited, with the planner's last ones dropped", () => {
    const many = { ...brief, assumptions: Array.from({ length: 20 }, (_, n) => `Assumption ${n}.`) };
    const full = withAssumed(many, NO_DIALOGUE);
    expect(full.assumptions).toHaveLength(20);
    expect(full.assumptions.slice(17)).toEqual([
      'Assumption 17.',
      'Which rounding? Assumed: Which rounding? as before',
      'B? Assumed: B? as before',
    ]);
    expect(withAssumed(full, NO_DIALOGUE)).toBe(full);
  });

  test('omit a long question to stay short', () => {
    const long = { ...brief, questions: [question('Q'.repeat(400), { assume: 'a'.repeat(400) })] };
    expect(withAssumed(long, NO_DIALOGUE).assumptions[1]).toBe(`Assumed: ${'a'.repeat(400)}`);
  });
});

describe('for any replies', () => {
  const anyReply: fc.Arbitrary<NewReply> = fc.record(
    {
      kind: fc.constantFrom('answer', 'approve', 'revise'),
      option: fc.integer({ min: 1, max: 5 }),
      text: fc.string(),
      by: fc.constantFrom(mona, null),
      at: fc.nat(),
    },
    { requiredKeys: ['kind', 'text', 'by', 'at'] },
  );
  const otherwise = fc.constantFrom<('stop' | 'assume')[]>('stop', 'assume');
  const start = fc.constantFrom(ask(NO_DIALOGUE), ask(NO_DIALOGUE, { questions: [], approval: 'plan' }));

  test('the decision is the same after a crash, and in any batches', () => {
    fc.assert(
      fc.property(
        start,
        fc.array(anyReply, { maxLength: 6 }),
        fc.nat(100 * HOUR),
        otherwise,
        (open, said, now, how) => {
          const replies = said.map((one, at): Reply => ({ ...one, number: at + 1 }));
          const once = settleInquiry(open, replies, now, how);
          const again = settleInquiry(once.dialogue, replies, now, how);
          expect(again).toEqual(once);
          let stepwise = { dialogue: open, next: once.next };
          for (let n = 1; n <= replies.length && openInquiry(stepwise.dialogue); n++) {
            stepwise = settleInquiry(stepwise.dialogue, replies.slice(0, n), now, how);
          }
          if (said.length > 0 && now < (open.inquiries[0]?.until ?? 0))
            expect(stepwise.dialogue).toEqual(once.dialogue);
          expect(openInquiry(once.dialogue) === null).toBe(once.next.kind !== 'waits');
        },
      ),
    );
  });
});

test.each([
  [72 * HOUR, '72 h'],
  [90 * 60_000, '90 min'],
  [45_000, '45 s'],
  [1, '1 s'],
])('%i ms is %s', (ms, words) => {
  expect(durationText(ms)).toBe(words);
});
