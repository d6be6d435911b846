import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Question } from '../../src/core/model/index.ts';
import { judged } from '../core/reports/sample.ts';
import type { WebWorld } from '../web/web-world.ts';
import { inChromium, visiting } from './chromium.ts';
import { servedRun } from './served-run.ts';

const question: Question = {
  text: 'How is half a cent rounded?',
  options: ['half up', 'half even'],
  severity: 'blocking',
  assume: 'half up',
};
const asking = judged({
  state: 'awaiting_answer',
  dialogue: {
    inquiries: [{ number: 1, kind: 'answer', question, askedAt: 1, until: 3_600_001 }],
    lastReply: 0,
    repliesUsed: 0,
  },
});

/** Changes the run, with the text of its question. */
async function ask(world: WebWorld, text: string): Promise<void> {
  const run = (await world.store.run(asking.id)) ?? expect.fail();
  const [inquiry] = run.dialogue?.inquiries ?? [];
  if (inquiry?.kind !== 'answer' || !run.dialogue) return expect.fail();
  const inquiries = [{ ...inquiry, question: { ...inquiry.question, text } }];
  const changed = { ...run, updatedAt: run.updatedAt + 1, dialogue: { ...run.dialogue, inquiries } };
  Object.assign(world.store, {
    run: async () => changed,
    runMarks: async () => [{ id: run.id, origin: run.origin, version: text, steps: {} }],
  });
}

/** Changes the run again and again until the page has loaded itself after a change. */
async function untilReloaded(page: Page, world: WebWorld, text: string): Promise<void> {
  let isLoaded = false;
  page.on('requestfinished', (request) => {
    isLoaded ||= request.resourceType() === 'fetch';
  });
  for (let at = 1; !isLoaded; at += 1) {
    if (at > 40) expect.fail('The page does not load itself.');
    await ask(world, `${text} (${at})`);
    await delay(1_500);
  }
}

inChromium('the page of a run that is open', (browser) => {
  test('keeps what somebody has chosen or written and not sent, and goes on when they take it back', async () => {
    await using run = await servedRun(asking, {});
    await visiting(browser(), run.site, {}, async ({ page, go }) => {
      await go(`/runs/${asking.id}`);
      const words = page.getByRole('textbox', { name: /own words/ });
      const legend = page.locator('legend');
      await words.fill('Refuse it.');
      await page.locator('h1').click();
      await untilReloaded(page, run.world, 'Changed while written');
      expect([await legend.innerText(), await words.inputValue()]).toEqual([question.text, 'Refuse it.']);

      await words.fill('');
      await page.locator('h1').click();
      // The first load may still be that of a change before.
      while (!(await legend.innerText()).includes('Changed while empty'))
        await untilReloaded(page, run.world, 'Changed while empty');

      const option = page.getByRole('radio', { name: 'half even' });
      await option.check();
      await page.locator('h1').click();
      await untilReloaded(page, run.world, 'Changed while chosen');
      expect(await option.isChecked()).toBe(true);
      expect(await legend.innerText()).toContain('Changed while empty');
    });
  });
});
