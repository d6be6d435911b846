import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunView } from '../../src/core/reports/index.ts';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { ASKING_SCRIPTS, askingSettings, QUESTION } from '../world/asking-planner.ts';
import { type DemoApp, openDemoApp } from '../world/demo-app.ts';
import { everyPage, inChromium, PHONE, type Site, signIn, type Visitor, visiting, WIDE } from './chromium.ts';
import { accessFaults, injected, overflow } from './inspect.ts';

/** For a stage of a run on a busy machine. */
const PATIENCE_MS = 240_000;

inChromium('in a browser', (browser) => {
  let opened: Awaited<ReturnType<typeof openDemoApp>>;
  let demo: DemoApp;
  let site: Site;
  /** A run that waits for an answer. */
  let waiting: RunView;
  beforeAll(async () => {
    opened = await openDemoApp({
      private: true,
      settings: askingSettings({ evaluator: ['human'] }),
      scripts: ASKING_SCRIPTS,
      collaborators: { bob: 'push', rita: 'pull', mallory: 'pull' },
    });
    ({ demo } = opened);
    const { github, app } = demo.environment;
    await github.setRole(REPOSITORY, 'mallory', null);
    site = { origin: app.url, github: github.url };
    waiting = await demo.run(await demo.label(), ({ state }) => state === 'awaiting_answer');
  });
  afterAll(() => opened?.close());

  const visit = <T>(login: string, path: string, story: (visitor: Visitor) => Promise<T>, options = {}) =>
    visiting(browser(), site, options, async (visitor) => {
      await signIn(visitor, site, login, path);
      return story(visitor);
    });

  describe('a maintainer', () => {
    test('follows a run from its label to a draft pull request, and answers, approves and picks on its page', () =>
      visit(MAINTAINER, '/runs', async (visitor) => {
        const { page, go } = visitor;
        const issue = await demo.label();
        const { id } = await demo.run(issue, () => true);
        await go('/runs');
        await page.locator(`a[href="/runs/${id}"]`).first().click();
        await page.waitForURL(`${site.origin}/runs/${id}`);

        await appears(page, page.getByRole('radio', { name: QUESTION.options[0] ?? '' }));
        await page.getByRole('radio', { name: QUESTION.options[0] ?? '' }).check();
        await page.getByRole('button', { name: 'Answer' }).click();

        const approval = page.locator('summary', { hasText: 'Approve the plan' });
        await appears(page, approval);
        await approval.click();
        await page.getByRole('button', { name: 'Approve the plan' }).click();

        const pick = page.getByRole('button', { name: 'Pick A', exact: true });
        // The page follows its run while it is open.
        await pick.waitFor({ timeout: PATIENCE_MS });
        await pick.click();
        const view = await demo.run(issue, ({ state }) => state === 'published');
        expect(view).toMatchObject({ state: 'published', outcome: { kind: 'pull' } });
        const [pull, ...more] = await demo.environment.github.as(MAINTAINER).pulls(REPOSITORY);
        expect(more).toEqual([]);
        expect(pull).toMatchObject({ draft: true, head: { ref: `auto-dev/${issue}/${id}/A` } });
        const link = page.locator(`main a[href="${site.github}/alice/tally/pull/${pull?.number}"]`).first();
        await appears(page, link);
        await opened.check();

        const seen = await everyPage(visitor, `/runs/${id}`, async (path) => {
          expect(await injected(page, [site.github]), path).toEqual([]);
          expect(await accessFaults(page), path).toEqual([]);
        });
        expect(seen).toEqual(
          expect.arrayContaining(['/runs', `/runs/${id}/debate`, `/runs/${id}/cost`, `/runs/${id}/audit`]),
        );
      }));

    test('works without scripts: the list, the page, a form and what it says then', () =>
      visit(
        MAINTAINER,
        '/runs',
        async ({ page }) => {
          await page.locator(`a[href="/runs/${waiting.id}"]`).first().click();
          await page.getByRole('textbox', { name: /own words/ }).fill('Refuse it, and name the line.');
          await page.getByRole('button', { name: 'Answer' }).click();
          await appears(page, page.locator('summary', { hasText: 'Approve the plan' }));
          await page.getByRole('link', { name: 'Brief and debate' }).click();
          expect(await page.innerText('main')).toContain('Refuse it, and name the line.');
        },
        { javaScriptEnabled: false },
      ));
  });

  describe('a writer', () => {
    const name = `${REPOSITORY.owner}/${REPOSITORY.name}`;

    test.each([
      ['by mouse, on a wide screen', WIDE],
      ['without scripts, on a phone', { ...PHONE, javaScriptEnabled: false }],
    ])('makes a token, uses it in a program, and revokes it: %s', (how, options) =>
      visit(
        'bob',
        '/tokens',
        async ({ page }) => {
          const { origin } = site;
          const scripts = !('javaScriptEnabled' in options);
          const runs = async (token: string): Promise<number> =>
            (
              await fetch(`${origin}/api/repos/${name}/runs`, {
                headers: { authorization: `Bearer ${token}` },
              })
            ).status;
          await page.locator('summary', { hasText: 'Make a token' }).click();
          await page.getByLabel('Name, after what uses it').fill(how);
          await page.getByLabel(name).check();
          await page.getByLabel('Days until it expires').fill('7');
          expect(await faultsOf(page, scripts)).toEqual([]);
          await page.getByRole('button', { name: 'Make the token' }).click();
          const token = await page.locator('#token').innerText();
          expect(token).toMatch(/^runoff_pat_[0-9a-f]{72}$/);
          expect(await runs(token)).toBe(200);

          await page.getByRole('link', { name: 'All your tokens' }).click();
          const row = page.locator('tr', { hasText: how });
          expect(await page.content()).not.toContain(token);
          expect(await faultsOf(page, scripts)).toEqual([]);
          await row.getByRole('button', { name: /^Revoke/ }).click();
          await row.getByText('revoked').first().waitFor();
          expect(await runs(token)).toBe(401);
        },
        options,
      ),
    );

    test('starts a run on an issue that has none, and comes to its page', () =>
      visit('bob', '/runs', async ({ page }) => {
        const { github } = demo.environment;
        const issue = await github
          .as('bob')
          .openIssue(REPOSITORY, { title: 'Name the payer', body: 'Please.' });
        await page.getByRole('link', { name: 'Start a run on an issue' }).click();
        await page.getByLabel('Number of the issue').fill(String(issue));
        expect(await page.getByLabel('Repository').inputValue()).toBe(name);
        expect(await faultsOf(page)).toEqual([]);
        await page.getByRole('button', { name: 'Start' }).click();
        await page.waitForURL(/\/runs\/r[0-9a-z]+$/);
        expect(await page.innerText('h1')).toBe('Name the payer');
        const { id } = await demo.run(issue, ({ state }) => state !== 'queued');
        expect(page.url()).toBe(`${site.origin}/runs/${id}`);
        await github.as('bob').comment(REPOSITORY, issue, '/auto-dev cancel');
        expect((await demo.run(issue)).state).toBe('cancelled');
      }));
  });

  describe('a run is shown', () => {
    test('to readers without forms, and to nobody else: for them it is as one that does not exist', async () => {
      await visit('rita', `/runs/${waiting.id}`, async ({ page }) => {
        expect(await page.innerText('h1')).toBe(waiting.title);
        expect(await page.locator('main form[method="post"]').count()).toBe(0);
      });
      await visit('mallory', '/runs', async ({ page, go }) => {
        expect(await page.locator('main a[href^="/runs/r"]').count()).toBe(0);
        const texts: string[] = [];
        for (const id of [waiting.id, 'r000000000']) {
          for (const path of ['', '/tests', '/debate', '/cost', '/audit', '/candidates/A']) {
            expect(await go(`/runs/${id}${path}`)).toBe(404);
            texts.push(await page.content());
          }
        }
        expect(new Set(texts).size).toBe(1);
      });
    });

    test('no longer once the person has signed out, or the session has ended, and again after signing in', () =>
      visit('bob', `/runs/${waiting.id}`, async (visitor) => {
        const { page, go } = visitor;
        const kept = await page.context().cookies(site.origin);
        expect(kept.filter(({ name }) => name.includes('session'))).toMatchObject([
          { httpOnly: true, sameSite: 'Lax', path: '/', domain: '127.0.0.1' },
        ]);
        await page.getByRole('button', { name: 'Sign out', exact: true }).click();
        await page.waitForURL(`${site.origin}/`);
        expect(await go(`/runs/${waiting.id}`)).toBe(401);
        // The cookie of the session that was ended, as a thief would have it.
        await page.context().addCookies(kept);
        expect(await go(`/runs/${waiting.id}`)).toBe(401);
        expect(await page.content()).not.toContain(waiting.title);

        await signIn(visitor, site, 'bob', `/runs/${waiting.id}`);
        expect(await page.innerText('h1')).toBe(waiting.title);
        await demo.environment.world.store.deleteEndedSessions(Date.now() + 30 * 86_400_000);
        expect(await go(`/runs/${waiting.id}`)).toBe(401);
        expect(await accessFaults(page)).toEqual([]);
        expect(await overflow(page)).toBe(0);
      }));
  });
});

/** What keeps people from using the page; only its width where the page runs no scripts. */
const faultsOf = async (page: Page, scripts = true): Promise<readonly string[]> => [
  ...((await overflow(page)) > 0 ? ['too wide'] : []),
  ...(scripts ? await accessFaults(page) : []),
];

/** Loads a page until it shows something: pages are complete without scripts. */
async function appears(page: Page, what: Locator): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  while ((await what.count()) === 0) {
    if (Date.now() > until) expect.fail(`The page does not show ${what}: ${await page.innerText('main')}`);
    await page.reload();
  }
}
