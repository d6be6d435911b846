import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { RunRecord } from '../../src/ports/index.ts';
import { VOTES, waiting } from '../core/reports/sample.ts';
import type { WebWorld } from '../web/web-world.ts';
import { inChromium, visiting } from './chromium.ts';
import { servedRun } from './served-run.ts';

const view = waiting();
const path = `/runs/${view.id}`;

/** Longer than between two looks at the database, and than a page waits between two loads. Milliseconds. */
const SEEN_MS = 4_500;

/** Somebody else votes for C, and B, and C; everything else stays as it was. */
async function votes(world: WebWorld, count: 1 | 2 | 3): Promise<void> {
  await change(world, `${count} votes`, {});
  Object.assign(world.store, {
    votes: async () => VOTES.slice(0, count).map((vote) => ({ ...vote, at: 1 })),
  });
}

/** Nobody can pick any more. */
const close = (world: WebWorld): Promise<void> => change(world, 'closed', { state: 'closed' });

async function change(world: WebWorld, version: string, to: Partial<RunRecord>): Promise<void> {
  const run = (await world.store.run(view.id)) ?? expect.fail();
  const { id, origin } = run;
  Object.assign(world.store, {
    run: async () => ({ ...run, ...to }),
    runMarks: async () => [{ id, origin, version, steps: {} }],
  });
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent');
const opened = (page: Page) => page.locator('details[open] > summary').allInnerTexts();

inChromium('the page of a run that is open', (browser) => {
  const visit = (story: (page: Page, world: WebWorld, go: () => Promise<number>) => Promise<void>) =>
    (async () => {
      await using run = await servedRun(view, {});
      await visiting(browser(), run.site, {}, ({ page, go }) => story(page, run.world, () => go(path)));
    })();

  test('shows what has changed before its stream began, and what others vote', () =>
    visit(async (page, world, go) => {
      const voted = Promise.withResolvers<void>();
      await page.route('**/events*', (route) => voted.promise.then(() => route.continue()));
      await go();
      expect(await button(page, 'Vote C').count()).toBe(1);
      await votes(world, 1);
      voted.resolve();
      await button(page, 'Vote C (1)').waitFor();
      await votes(world, 3);
      await button(page, 'Vote C (2)').waitFor();
    }));

  test('shows what has changed, and that the run is over, while it was loaded again', () =>
    visit(async (page, world, go) => {
      await go();
      const [asked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await page.route(`**${path}`, async (route) => {
        const response = await route.fetch();
        asked.resolve();
        await ended.promise;
        await route.fulfill({ response });
      });
      await votes(world, 1);
      await asked.promise;
      await close(world);
      await delay(SEEN_MS);
      ended.resolve();
      await button(page, 'Vote C').or(button(page, 'Vote C (1)')).waitFor({ state: 'detached' });
    }));

  test('keeps the focus and what is open where they are', () =>
    visit(async (page, world, go) => {
      await go();
      await page.locator('summary', { hasText: 'Cancel the run' }).click();
      await button(page, 'Vote C').focus();
      await votes(world, 1);
      await button(page, 'Vote C (1)').waitFor();
      expect(await focused(page)).toBe('Vote C (1)');
      expect(await opened(page)).toEqual(['Cancel the run…']);
    }));

  test('gives neither to a button or form that does something else, in the place of one that is gone', () =>
    visit(async (page, world, go) => {
      await go();
      await page.locator('summary', { hasText: 'Reject all candidates' }).click();
      await button(page, 'Pick B').focus();
      await close(world);
      await button(page, 'Pick B').waitFor({ state: 'detached' });
      expect(await opened(page)).toEqual([]);
      expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
    }));
});
