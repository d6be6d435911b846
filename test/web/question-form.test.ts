import { raw } from 'hono/html';
import { expect, test } from 'vitest';
import type { Inquiry } from '../../src/core/brief/index.ts';
import type { RunView } from '../../src/core/reports/index.ts';
import { actionForms } from '../../src/web/actions/forms.ts';
import { judged } from '../core/reports/sample.ts';

const HOSTILE = '"><img src=x onerror=alert(1)><script>x</script>\u202Egpj';

const forms = async (over: Partial<RunView>, right: 'read' | 'write' = 'write'): Promise<string> =>
  String(
    await actionForms({
      view: { ...judged(), ...over },
      right,
      picks: 0,
      csrf: raw('CSRF'),
      key: 'a'.repeat(32),
      on: 'overview',
    }),
  );

const asked = (inquiry: Partial<Inquiry>): Partial<RunView> => ({
  dialogue: {
    inquiries: [{ number: 2, askedAt: 1, until: 3_600_001, kind: 'approval', ...inquiry } as Inquiry],
    lastReply: 0,
    repliesUsed: 0,
  },
});

test('a question and its options are shown as text, and the form says which question it answers', async () => {
  const question = {
    text: HOSTILE,
    options: [HOSTILE, 'half even'],
    severity: 'blocking',
    assume: 'x',
  } as const;
  const page = await forms({
    state: 'awaiting_answer',
    ...asked({ kind: 'answer', question: { ...question, options: [...question.options] } }),
  });
  expect(page).not.toMatch(/<img|<script|\u202E/);
  expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(page).toContain('name="inquiry" value="2"');
  expect(page.match(/type="radio" name="option"/g)).toHaveLength(2);
});

test('an approval says what may be spent, behind a step of its own; readers get no form', async () => {
  const view = { state: 'awaiting_approval', ...asked({}) } as const;
  const page = await forms(view);
  expect(page).toMatch(/<details class="confirm"><summary>Approve the plan…<\/summary>.*\$\d+\.\d\d/s);
  expect(page).toContain('action="/runs/r7k2m9q4xa/revise"');
  expect(await forms(view, 'read')).not.toContain('<form');
});

test.each(['merged', 'closed', 'failed', 'cancelled', 'refused'] as const)(
  'a run that is %s offers no pick, vote, cancel or answer',
  async (state) => {
    const page = await forms({ state, ...asked({}) });
    for (const action of ['pick', 'vote', 'cancel', 'answer', 'approve', 'budget', 'ci'])
      expect(page).not.toContain(`/${action}"`);
  },
);

test('a plan that waits can be debated, also again; the button then uses the refined text', async () => {
  const waiting = { state: 'awaiting_approval', ...asked({}) } as const;
  const before = await forms(waiting);
  expect(before).toMatch(
    /<summary>Debate the plan…<\/summary>.*action="\/runs\/r7k2m9q4xa\/debate".*name="inquiry" value="2"/s,
  );
  expect(before).toContain('<summary>Approve the plan…');
  const debate: RunView['debate'] = {
    ...{ original: 'a', spec: 'b', rounds: [], ledger: [], acceptance: [], memories: {} },
    cost: { inputTokens: 0, outputTokens: 0, usd: 0 },
    end: { stop: 'consensus', because: 'All approve.' },
  };
  const after = await forms({ ...waiting, debate });
  expect(after).toContain('<summary>Use the refined text…');
  expect(after).toContain('<summary>Debate the plan again…');
  expect(await forms({ ...waiting, debate: { ...debate, spec: 'a' } })).toContain(
    '<summary>Approve the plan…',
  );
  const { dialogue } = asked({});
  const revised: Inquiry = {
    ...{ number: 1, kind: 'approval', askedAt: 1, until: 2 },
    settled: { kind: 'revised', text: 'Shorter.', by: null, at: 2 },
  };
  const inquiries = [revised, ...(dialogue?.inquiries ?? [])];
  expect(
    await forms({ ...waiting, debate, dialogue: { inquiries, lastReply: 1, repliesUsed: 1 } }),
  ).toContain('<summary>Approve the plan…');
});

test('the issue of a run that is over can be debated anew, and not while a run is at work', async () => {
  expect(await forms({ state: 'cancelled' })).toContain('<summary>Debate the issue…');
  expect(await forms({ state: 'coded' })).not.toContain('/debate"');
  expect(await forms({ state: 'cancelled' }, 'read')).not.toContain('/debate"');
});
