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
