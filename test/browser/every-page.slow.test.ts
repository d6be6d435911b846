import type { Browser, BrowserContextOptions } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { RunView } from '../../src/core/reports/index.ts';
import { CORPUS, poisoned } from '../core/reports/hostile.ts';
import { poisonedParts } from '../web/poisoned-run.ts';
import { richParts, richRun } from '../web/rich-run.ts';
import { collected, type StoredParts } from '../web/stored-run.ts';
import { everyPage, inChromium, type Visitor, visiting } from './chromium.ts';
import { accessFaults, injected, overflow } from './inspect.ts';
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
      root,
    );
    const wanted = ['tests', 'debate', 'judges', 'cost', 'audit', 'steps/B'].map((name) => `${root}/${name}`);
    expect(paths).toEqual(expect.arrayContaining(wanted));
    return found;
  });
}

const WIDE = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };

/** What only browsers make something of. */
const SCRIPTS = [
  '"><img src=x onerror=alert(1)>',
  "' onmouseover=alert(1) autofocus onfocus=alert(1) x='",
  '</title></textarea></script><script>alert(1)</script>',
  '<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x></svg>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<base href=//evil.test/><link rel=stylesheet href=//evil.test/x.css>',
  '<meta http-equiv=refresh content="0;url=//evil.test">',
  '<form action=//evil.test><button formaction=javascript:alert(1)>Pick A</button></form>',
  '<a href=javascript:alert(1) ping=//evil.test>here</a>',
  '<style>@import "//evil.test/x.css";*{background:url(//evil.test/y)}</style>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '&lt;img src=x onerror=alert(1)&gt;&#x3c;script&#x3e;alert(1)',
  "{{constructor.constructor('alert(1)')()}}",
];

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
    const found = await look(browser(), rich(), WIDE, async ({ visitor: { page } }) => {
      await page.keyboard.press('Tab');
      const first = await page.evaluate<string>('document.activeElement.textContent.trim()');
      await page.keyboard.press('Enter');
      const skipped = await page.evaluate<boolean>('location.hash === "#content"');
      return page
        .evaluate<string[]>(`(${UNREACHABLE})()`)
        .then((unreachable) => [
          ...unreachable,
          ...(first === 'Skip to the content' && skipped ? [] : [`the first stop is “${first}”`]),
        ]);
    });
    expect(found).toEqual([]);
  });

  test('shows hostile text as text: no script runs, nothing is loaded from elsewhere, no element is added', async () => {
    for (const options of [WIDE, PHONE]) {
      const found = await look(browser(), hostileRun(), options, async ({ visitor: { page } }) => {
        const faults = await injected(page, ['https://github.test']);
        const shown = await page.locator('main').innerText();
        return [...faults, ...(HIDDEN.test(shown) ? ['hidden characters'] : [])];
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

/** Characters that reorder or hide what surrounds them. */
const HIDDEN = /[\u202a-\u202e\u2066-\u2069\u200b\u{e0041}]/u;

/** Links and controls that the keyboard does not reach, or whose focus nobody sees. */
const UNREACHABLE = `() => {
  const all = [...document.querySelectorAll('main a[href], main button, main input:not([type=hidden]), main select, main textarea, main summary')];
  const shown = all.filter((element) => element.checkVisibility());
  return shown.flatMap((element) => {
    element.focus({ focusVisible: true });
    if (document.activeElement !== element) return ['takes no focus: ' + element.outerHTML.slice(0, 120)];
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const isSeen = outlineStyle !== 'none' && outlineWidth !== '0px';
    return isSeen && element.tabIndex === 0 ? [] : ['focus is not seen: ' + element.outerHTML.slice(0, 120)];
  });
}`;
