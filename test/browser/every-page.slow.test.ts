import type { Browser, BrowserContextOptions } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { RunView } from '../../src/core/reports/index.ts';
import { CORPUS, poisoned } from '../core/reports/hostile.ts';
import { poisonedParts } from '../web/poisoned-run.ts';
import { richParts, richRun } from '../web/rich-run.ts';
import { collected, type StoredParts } from '../web/stored-run.ts';
import { everyPage, inChromium, PHONE, type Visitor, visiting, WIDE } from './chromium.ts';
import { accessFaults, hiddenCharacters, injected, keyboardFaults, overflow, SCRIPTS } from './inspect.ts';
import { servedRun } from './served-run.ts';

interface Looked {
  readonly visitor: Visitor;
  readonly path: string;
}

/** Looks at one page of each kind of a run; resolves with what was found, by page. */
async function look(
  browser: Browser,
  [view, parts]: readonly [RunView, StoredParts],
  options: BrowserContextOptions,
  faults: (looked: Looked) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  await using run = await servedRun(view, parts);
  return await visiting(browser, run.site, options, async (visitor) => {
    const found: string[] = [];
    const root = `/runs/${view.id}`;
    const paths = await everyPage(
      visitor,
      root,
      async (path) => {
        for (const fault of await faults({ visitor, path })) found.push(`${path}: ${fault}`);
      },
      (path) => path.startsWith(root),
    );
    const wanted = ['tests', 'debate', 'judges', 'cost', 'audit', 'steps/B'].map((name) => `${root}/${name}`);
    expect(paths).toEqual(expect.arrayContaining(wanted));
    return found;
  });
}

/** The hostile collection as a run: every text, and diffs whose names and lines are such texts. */
function hostileRun(): readonly [RunView, StoredParts] {
  const text = [...SCRIPTS, ...CORPUS].join(' ');
  const line = SCRIPTS.join(' ');
  const files = {
    'src/list.ts': [`const a = 1;\n${line}\n`, SCRIPTS.join('\n')],
    'src/<img src=x onerror=alert(1)>.js': ['// </script>\n', SCRIPTS.join('\n')],
    'a"><script>alert(1)<script>.html': [null, SCRIPTS.join('\n')],
    'page.php': [SCRIPTS.join('\n'), null],
  } as const;
  const patch = collected(files);
  return [poisoned(text), { ...poisonedParts(text), patches: { A: patch, B: patch, C: patch } }];
}

inChromium('every page of a run', (browser) => {
  const rich = () => [richRun(), richParts()] as const;

  describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
    test('has nothing that keeps people from reading or using it', async () => {
      const options = { ...WIDE, colorScheme };
      expect(await look(browser(), rich(), options, ({ visitor }) => accessFaults(visitor.page))).toEqual([]);
    });

    test('fits a phone: nothing but tables and code is scrolled sideways', async () => {
      const options = { ...PHONE, colorScheme };
      const found = await look(browser(), rich(), options, async ({ visitor: { page } }) => {
        const by = await overflow(page);
        return [...(by > 0 ? [`${by} pixels too wide`] : []), ...(await accessFaults(page))];
      });
      expect(found).toEqual([]);
    });
  });

  test('is complete without scripts', async () => {
    const texts = async (javaScriptEnabled: boolean) => {
      const seen: string[] = [];
      await look(browser(), rich(), { ...WIDE, javaScriptEnabled }, async ({ visitor: { page }, path }) => {
        seen.push(`${path}\n${(await page.evaluate<string>(TEXT)).replace(/\s+/g, ' ')}`);
        return [];
      });
      return seen;
    };
    expect(await texts(false)).toEqual(await texts(true));
  });

  test('is reached by keyboard: each link and button takes the focus, visibly, in the order of the page', async () => {
    const found = await look(browser(), rich(), WIDE, ({ visitor }) => keyboardFaults(visitor.page));
    expect(found).toEqual([]);
  });

  test('shows hostile text as text: no script runs, nothing is loaded from elsewhere, no element is added', async () => {
    for (const options of [WIDE, PHONE]) {
      const found = await look(browser(), hostileRun(), options, async ({ visitor: { page } }) => {
        const faults = await injected(page, ['https://github.test']);
        return [...faults, ...(await hiddenCharacters(page))];
      });
      expect(found).toEqual([]);
    }
  });
});

/** The text of a page without what scripts are for: times as people say them, and whether the page is live. */
const TEXT = `(() => {
  for (const status of document.querySelectorAll('[data-live-status]')) status.remove();
  for (const time of document.querySelectorAll('time')) time.textContent = time.dateTime;
  return document.querySelector('main').innerText;
})()`;
