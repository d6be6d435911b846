import { Hono } from 'hono';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { WebEnv } from '../../src/web/context.ts';
import type { InstallationFacts, Viewer, WebAppOptions } from '../../src/web/index.ts';
import { MODELS, run as outcomesOf } from '../core/learning/sample.ts';
import { CORPUS } from '../core/reports/hostile.ts';
import { mona, type WebWorld, webWorld } from '../web/web-world.ts';
import { githubOrigin } from '../world/origin.ts';
import { everyPage, inChromium, PHONE, type Visitor, visiting, WIDE } from './chromium.ts';
import { accessFaults, hiddenCharacters, injected, keyboardFaults, overflow, SCRIPTS } from './inspect.ts';
import { servedTo } from './served-run.ts';

const AT = Date.UTC(2026, 0, 2, 3, 4);
const MINUTE_MS = 60_000;
const operator: Viewer = { kind: 'github', id: 5, login: 'mona', operator: true };

/** What people, repositories and machines of an installation are called. */
interface Names {
  readonly title: string;
  readonly owner: string;
  readonly name: string;
  readonly login: string;
  readonly model: string;
  readonly host: string;
}
const PLAIN: Names = {
  title: 'Rounding of shares is wrong when an amount cannot be divided evenly',
  owner: 'acme',
  name: 'expenses-of-several-people',
  login: 'mona',
  model: MODELS.gpt,
  host: 'worker-north.example.com',
};

const factsOf = ({ host, name }: Names): Omit<InstallationFacts, 'census'> => ({
  queue: ['r000000051', 'r000000050'],
  executors: ['app', 'worker-north', 'worker-south'].map((id, at) => ({
    ...{ id, role: at === 0 ? 'app' : 'worker', host, version: '0.1.0' },
    ...{ coders: 4, examinations: 2, startedAt: AT, silentMs: at === 2 ? null : 3_000 },
  })),
  spentToday: 1.5,
  capDay: 20,
  capRepositoryDay: 8,
  failed: [
    {
      ...{ id: 'r000000003', origin: githubOrigin({ name }), state: 'failed', usd: 0 },
      ...{ title: 'A title', createdAt: AT, updatedAt: AT },
      trouble: { code: 'BASE_BROKEN', message: 'npm test failed', advice: 'Mend it.' },
    },
  ],
  disk: { free: 12_340_000_000, size: 50_000_000_000 },
  shortage: 'No further run starts: 0.5 GB are free.',
  unclaimed: ['No process codes.'],
  version: '0.1.0',
});

/** An installation with more runs than a page of the list has, outcomes of them, and an operator. */
async function installationOf(names: Names, extra: Pick<WebAppOptions, 'signIn'> = {}): Promise<WebWorld> {
  const world = webWorld({
    ...extra,
    installation: async () => ({ ...factsOf(names), census: await world.store.census() }),
  });
  const { owner, name, title, login } = names;
  for (let nth = 1; nth <= 52; nth += 1) {
    const origin = githubOrigin({
      ...(nth % 2 === 0 ? {} : { owner, name, repositoryId: 43 }),
      issue: nth,
      requestedBy: { id: 5, login: nth === 7 ? 'lea' : login },
    });
    const id = `r${String(nth).padStart(9, '0')}`;
    await world.store.createRun({
      id,
      origin,
      title: `${title} (${nth})`,
      request: {},
      at: AT + nth * MINUTE_MS,
    });
    if (nth % 3 === 0) await world.store.transition(id, 'cancelled', 'mona', AT + nth * MINUTE_MS);
    if (nth > 20) continue;
    const models = [MODELS.claude, MODELS.gemini, names.model];
    const own = outcomesOf(nth, models, names.model).map((one) => ({
      ...one,
      repositoryName: `${owner}/${name}`,
    }));
    await world.store.keepOutcomes(id, own, 1);
  }
  world.now = AT + 60 * MINUTE_MS;
  world.rights.set('42 5', 'read');
  world.rights.set('43 5', 'write');
  return world;
}

/** Looks at one page of each kind but those of a run; resolves with what was found, by page. */
async function look(
  browser: Browser,
  names: Names,
  options: BrowserContextOptions,
  faults: (visitor: Visitor, path: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  await using served = await servedTo(operator, await installationOf(names));
  return await visiting(browser, served.site, options, async (visitor) => {
    const found: string[] = [];
    const add = async (path: string): Promise<void> => {
      for (const fault of await faults(visitor, path)) found.push(`${path}: ${fault}`);
    };
    const paths = await everyPage(visitor, '/runs', add, (path) => !path.startsWith('/runs/'));
    expect(paths).toEqual(expect.arrayContaining(['/leaderboard', '/installation']));
    for (const [path, status] of [
      ['/runs?q=no+such+run', 200],
      ['/leaderboard?kind=docs', 200],
      ['/runs/r999999999', 404],
    ] as const) {
      expect(await visitor.go(path)).toBe(status);
      await add(path);
    }
    return found;
  });
}

const fits = async ({ page }: Visitor): Promise<readonly string[]> => {
  const by = await overflow(page);
  return by > 0 ? [`${by} pixels too wide`] : [];
};

inChromium('the pages of an installation', (browser) => {
  describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
    test.each([
      ['on a wide screen', WIDE],
      ['on a phone, where nothing but tables is scrolled sideways', PHONE],
    ])('have nothing that keeps people from reading or using them %s', async (_, size) => {
      const found = await look(browser(), PLAIN, { ...size, colorScheme }, async (visitor) => [
        ...(await fits(visitor)),
        ...(await accessFaults(visitor.page)),
      ]);
      expect(found).toEqual([]);
    });

    test('and the one that strangers see', async () => {
      await using served = await servedTo(null, await installationOf(PLAIN, { signIn: new Hono<WebEnv>() }));
      const found = await visiting(browser(), served.site, { ...PHONE, colorScheme }, async (visitor) => {
        expect(await visitor.go('/')).toBe(200);
        expect(
          await visitor.page
            .getByRole('main')
            .getByRole('link', { name: /Sign in/ })
            .count(),
        ).toBe(1);
        const front = [...(await fits(visitor)), ...(await accessFaults(visitor.page))];
        expect(await visitor.go('/runs?q=a')).toBe(401);
        expect(await visitor.page.content()).not.toContain('Rounding');
        return [...front, ...(await fits(visitor)), ...(await accessFaults(visitor.page))];
      });
      expect(found).toEqual([]);
    });
  });

  test('are used by keyboard: each link and field takes the focus, visibly, and the list is filtered', async () => {
    expect(await look(browser(), PLAIN, WIDE, ({ page }) => keyboardFaults(page))).toEqual([]);
    await using served = await servedTo(mona, await installationOf(PLAIN));
    await visiting(browser(), served.site, WIDE, async ({ page, go }) => {
      await go('/runs');
      const { keyboard } = page;
      const until = async (label: string): Promise<void> => {
        const focused = `document.activeElement.labels?.[0]?.firstChild?.textContent?.trim()`;
        for (let tabs = 0; (await page.evaluate(focused)) !== label; tabs += 1) {
          if (tabs > 30) expect.fail(`The keyboard does not reach ${label}.`);
          await keyboard.press('Tab');
        }
      };
      await until('Repository');
      await keyboard.type(`${PLAIN.owner}/${PLAIN.name}`);
      await until('Requested by');
      await keyboard.type('lea');
      await keyboard.press('Enter');
      await page.waitForURL(/by=lea/);
      expect(await page.locator('table.runs tbody a').allInnerTexts()).toEqual([`${PLAIN.title} (7)`]);
    });
  });

  test.each([true, false])(
    'list runs by state, person, repository and text, scripts: %s',
    async (javaScriptEnabled) => {
      await using served = await servedTo(mona, await installationOf(PLAIN));
      await visiting(browser(), served.site, { ...WIDE, javaScriptEnabled }, async ({ page, go }) => {
        const rows = () => page.locator('table.runs tbody tr').count();
        await go('/runs');
        expect(await rows()).toBe(50);
        await page.getByRole('link', { name: 'Older runs' }).click();
        expect(await rows()).toBe(2);

        await go('/runs');
        await page.getByLabel('State').selectOption('cancelled');
        await page.getByRole('button', { name: 'Filter' }).click();
        expect(await rows()).toBe(17);
        // What was chosen stays, so that it can be narrowed down.
        await page.getByLabel('Title').fill('(33)');
        await page.getByRole('button', { name: 'Filter' }).click();
        expect(await page.locator('table.runs tbody a').allInnerTexts()).toEqual([`${PLAIN.title} (33)`]);
        await page.getByLabel('Requested by').fill('lea');
        await page.getByRole('button', { name: 'Filter' }).click();
        await page.getByRole('link', { name: 'Show all runs' }).click();
        expect(await rows()).toBe(50);
        // A repository of others is as one that does not exist.
        for (const name of ['acme/secret', 'acme/nothing']) {
          await page.getByLabel('Repository').fill(name);
          await page.getByRole('button', { name: 'Filter' }).click();
          expect(await page.getByRole('main').innerText()).toContain('No run matches.');
        }
      });
    },
  );

  test('the list that is open shows a new run, and what became of one', async () => {
    await using served = await servedTo(mona, await installationOf(PLAIN));
    const { store } = served.world;
    await visiting(browser(), served.site, WIDE, async ({ page, go }) => {
      await go('/runs');
      const state = page.locator('tr', { hasText: '(52)' }).locator('.state');
      const fresh = page.getByRole('link', { name: 'A run that has just begun' });
      expect(await state.innerText()).toBe('queued');
      // The first look at the database is what later ones are compared with.
      for (let at = 1; (await state.innerText()) === 'queued' || (await fresh.count()) === 0; at += 1) {
        if (at > 40) expect.fail('The list does not follow its runs.');
        const id = `r9${String(at).padStart(8, '0')}`;
        const title = 'A run that has just begun';
        const origin = githubOrigin();
        if (at === 4) await store.transition('r000000052', 'cancelled', 'mona', served.world.now);
        if (at > 4 && (await fresh.count()) === 0)
          await store.createRun({ id, origin, title, request: {}, at: served.world.now });
        await page.waitForTimeout(1_500);
      }
      expect(await state.innerText()).toBe('cancelled');
    });
  });

  test('the list that is open shows what has changed while its connection was broken', async () => {
    await using served = await servedTo(mona, await installationOf(PLAIN));
    const { world } = served;
    await visiting(browser(), served.site, WIDE, async ({ page, go }) => {
      const connected = page.waitForResponse('**/events');
      await go('/runs');
      await connected;
      await world.store.transition('r000000052', 'cancelled', 'mona', world.now);
      // As when the server stops; browsers connect again by themselves.
      world.close();
      await page.locator('tr', { hasText: '(52)' }).getByText('cancelled').waitFor();
    });
  });

  test('show hostile texts as text: no script runs, nothing is loaded from elsewhere, no element is added', async () => {
    const text = [...SCRIPTS, ...CORPUS].join(' ');
    const hostile: Names = {
      title: text,
      owner: text,
      name: text,
      login: text,
      model: `a/${text}`,
      host: text,
    };
    for (const options of [WIDE, PHONE]) {
      const found = await look(browser(), hostile, options, async (visitor) => [
        ...(await injected(visitor.page, ['https://github.test'])),
        ...(await hiddenCharacters(visitor.page)),
        ...(await fits(visitor)),
      ]);
      expect(found).toEqual([]);
    }
  });
});
