import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openContests } from '../../src/adapters/arena/index.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import { readRecords, VOTES_FILE, VoteRecord } from '../../src/core/arena/index.ts';
import type { Workspaces } from '../../src/ports/index.ts';
import type { World } from '../../src/runs/index.ts';
import type { Viewer } from '../../src/web/index.ts';
import { contestFile, fieldFrom, writeContest } from '../cli/contest-folder.ts';
import { CORPUS } from '../core/reports/hostile.ts';
import { webWorld } from '../web/web-world.ts';
import { partial } from '../world/partial.ts';
import { inChromium, type Site, type Visitor, visiting } from './chromium.ts';
import { accessFaults, injected, overflow } from './inspect.ts';

const kim: Viewer = { kind: 'github', id: 6, login: 'kim', operator: true };
const TASKS = ['q1', 'q2', 'q3', 'q4']
  .map((id) => `  - { id: ${id}, kind: text, prompt: "What is ${id}?" }`)
  .join('\n');
const WIDE = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
const PAGES = ['/arena', '/arena/spring', '/arena/spring/vote', '/arena/spring/report'];

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'arena-browser-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A contest with long answers, which end with this text; some pairs are decided, so that the report has a rating. */
async function spring(text: string, decided = 0): Promise<void> {
  const field = fieldFrom(contestFile(TASKS));
  for (const { id: task } of field.contest.tasks) {
    for (const [at, { id }] of field.contest.contestants.entries()) {
      const lines = Array.from({ length: 30 }, (_, line) => `Line ${line} of ${task}, in way ${at}.`);
      field.answer(id, task, `${lines.join('\n')}\n${'long'.repeat(200)}\n${text}`);
    }
  }
  for (let pair = 0; pair < decided; pair++) {
    const [one, other] = field.samples.slice(2 * pair, 2 * pair + 2);
    if (one && other) field.vote(one, other, pair === 0 ? 'left' : 'tie', 'ada');
  }
  await writeContest(join(dir, 'spring'), contestFile(TASKS), field);
}

/** The pages of that contest as kim sees them, who is an operator. */
async function served(): Promise<{ readonly site: Site } & AsyncDisposable> {
  const contests = openContests({ dir, dataDir: join(dir, 'data'), lock: async () => async () => {} });
  const world = webWorld({
    world: partial<World>({
      clock: systemClock,
      workspaces: partial<Workspaces>({ origin: async () => null }),
    }),
    arena: { contests, variants: new Map(), githubUrl: 'https://github.test', localVoter: () => 'sam' },
  });
  const { promise: listening, resolve } = Promise.withResolvers<number>();
  const fetched = async ({ url, method, headers, body }: Request) => {
    const { pathname, search } = new URL(url);
    const sent = method === 'GET' ? {} : { body: await new Response(body).text() };
    return world.get(`${pathname}${search}`, kim, { method, headers, ...sent });
  };
  const server = serve({ fetch: fetched, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port));
  const site: Site = { origin: `http://127.0.0.1:${await listening}`, github: 'https://github.test' };
  return {
    site,
    async [Symbol.asyncDispose]() {
      world.close();
      const { promise, resolve: closed } = Promise.withResolvers<void>();
      server.close(() => closed());
      if ('closeAllConnections' in server) server.closeAllConnections();
      await promise;
    },
  };
}

const verdicts = async () =>
  readRecords(await readFile(join(dir, 'spring', VOTES_FILE), 'utf8'), VOTES_FILE, VoteRecord)
    .records.filter(({ by }) => by.kind === 'person' && by.name === 'kim')
    .map((one) => (one.kind === 'vote' ? one.verdict : 'undo'));

/** Presses a key, and waits for what the next page says. */
async function press(page: Page, key: string, shown: string): Promise<void> {
  await page.keyboard.press(key);
  await page.getByText(shown).first().waitFor();
}

const headings = (page: Page) => page.locator('.answers h2').allTextContents();

inChromium('a contest', (browser) => {
  const visit = async <T>(options: object, look: (visitor: Visitor) => Promise<T>): Promise<T> => {
    await using here = await served();
    return await visiting(browser(), here.site, options, look);
  };

  test('is voted on with single keys, one page after the other', async () => {
    await spring('The end.');
    await visit(WIDE, async ({ page, go }) => {
      expect(await go('/arena/spring/vote')).toBe(200);
      expect(await headings(page)).toEqual(['Answer A', 'Answer B']);
      await page.keyboard.press('2');
      expect(await page.evaluate('document.activeElement.id')).toBe('answer-b');
      await press(page, 'a', 'You preferred A.');
      await press(page, 'b', 'You preferred B.');
      await press(page, 'u', 'Pair 2 of 4.');
      await press(page, 't', 'You called it a tie.');
      await press(page, 's', 'You skipped that pair.');
      await press(page, '=', 'You have voted on every pair.');
      expect(await verdicts()).toEqual(['left', 'right', 'undo', 'tie', 'skip', 'tie']);
      await page.getByRole('link', { name: 'See the report' }).click();
      await page.getByText('Rating by people').first().waitFor();
    });
  });

  test('leaves keys alone that mean something else, or that somebody turned off', async () => {
    await spring('The end.');
    await visit(WIDE, async ({ page, go }) => {
      await go('/arena/spring/vote');
      await page.keyboard.press('Control+a');
      await page.getByRole('checkbox').uncheck();
      await page.keyboard.press('b');
      await page.reload();
      await page.keyboard.press('b');
      // The press of a button comes after all that the keys may have sent.
      await page.getByRole('button', { name: 'Tie' }).click();
      await page.getByText('You called it a tie.').waitFor();
      expect(await verdicts()).toEqual(['tie']);
    });
  });

  test('is voted on without scripts', async () => {
    await spring('The end.');
    await visit({ ...WIDE, javaScriptEnabled: false }, async ({ page, go }) => {
      await go('/arena');
      await page.getByRole('link', { name: 'spring' }).click();
      await page.getByRole('link', { name: 'Vote on pairs' }).click();
      await page.getByRole('button', { name: 'A is better' }).click();
      await page.getByText('You preferred A.').waitFor();
      await page.getByRole('button', { name: 'Undo your last vote' }).click();
      await page.getByText('Pair 1 of 4.').waitFor();
      expect(await verdicts()).toEqual(['left', 'undo']);
      expect(await page.getByRole('checkbox').count()).toBe(0);
    });
  });

  describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
    test.each([
      ['a wide window', WIDE],
      ['a phone', PHONE],
    ])('is readable and usable in %s', async (_, size) => {
      await spring('The end.', 3);
      await visit({ ...size, colorScheme }, async ({ page, go }) => {
        const found: string[] = [];
        for (const path of PAGES) {
          expect(await go(path)).toBe(200);
          const by = await overflow(page);
          if (by > 0) found.push(`${path} is ${by} pixels too wide`);
          for (const fault of await accessFaults(page)) found.push(`${path}: ${fault}`);
        }
        expect(found).toEqual([]);
      });
    });
  });

  test('shows hostile answers as text', async () => {
    await spring(`<img src=x onerror=alert(1)></pre><script>alert(1)</script>${CORPUS.join(' ')}`);
    await visit(WIDE, async ({ page, go }) => {
      await go('/arena/spring/vote');
      expect(await injected(page, [])).toEqual([]);
      await press(page, 'a', 'You preferred A.');
      expect(await verdicts()).toEqual(['left']);
    });
  });
});
