import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds on a page that keeps people from using it, as `rule: element`. */
export async function accessFaults(page: Page): Promise<readonly string[]> {
  // Through the browser's debugger: as a script of the page, its own policy would stop it.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(document, { resultTypes: ['violations'] })`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} (${failureSummary})`),
    );
}

/** CSS pixels by which a page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Elements that text of others may never become, as their start tags. */
export const injected = (page: Page, hosts: readonly string[]): Promise<readonly string[]> =>
  page.evaluate<string[]>(`(${FIND_INJECTED})(${JSON.stringify(hosts)})`);

const FIND_INJECTED = `(hosts) => {
  const TAGS = 'base iframe object embed applet frame frameset img image video audio source math style animate set use foreignObject template marquee portal dialog'.split(' ');
  const isOwn = (address) => {
    const url = new URL(address, location.href);
    return ['http:', 'https:'].includes(url.protocol) && (url.origin === location.origin || hosts.includes(url.origin));
  };
  const isBad = (element) => {
    const names = element.getAttributeNames();
    if (TAGS.includes(element.localName)) return true;
    if (names.some((name) => name.startsWith('on') || name === 'style' || name === 'srcdoc')) return true;
    if (element.localName === 'script' && (element.textContent !== '' || !element.getAttribute('src')?.startsWith('/assets/'))) return true;
    if (element.localName === 'meta' && element.hasAttribute('http-equiv')) return true;
    return ['href', 'src', 'action', 'formaction', 'xlink:href', 'ping'].some(
      (name) => element.hasAttribute(name) && !isOwn(element.getAttribute(name)),
    );
  };
  return [...document.querySelectorAll('*')].filter(isBad).map((element) => element.cloneNode(false).outerHTML.slice(0, 200));
}`;

/** What only browsers make something of. */
export const SCRIPTS = [
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

/** Whether a page shows characters that nobody sees, or that reorder others. */
export async function hiddenCharacters(page: Page): Promise<readonly string[]> {
  return HIDDEN.test(await page.locator('main').innerText()) ? ['hidden characters'] : [];
}

/** Characters that reorder or hide what surrounds them. */
const HIDDEN = /[\u202a-\u202e\u2066-\u2069\u200b\u{e0041}]/u;

/** What keeps people from using the page that is open with a keyboard alone. */
export async function keyboardFaults(page: Page): Promise<readonly string[]> {
  await page.keyboard.press('Tab');
  const first = await page.evaluate<string>('document.activeElement.textContent.trim()');
  await page.keyboard.press('Enter');
  const skipped = await page.evaluate<boolean>('location.hash === "#content"');
  return [
    ...(await page.evaluate<string[]>(`(${UNREACHABLE})()`)),
    ...(first === 'Skip to the content' && skipped ? [] : [`the first stop is “${first}”`]),
  ];
}

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
