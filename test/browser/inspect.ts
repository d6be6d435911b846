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
