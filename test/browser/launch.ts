import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The machine's Chromium; undefined if it has none. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

export function launchChromium(): Promise<Browser> {
  if (CHROMIUM === undefined)
    throw new Error('There is no /usr/bin/chromium. Install it: apt-get install chromium');
  return chromium.launch({
    executablePath: CHROMIUM,
    // As root, Chromium's own sandbox does not start. It loads pages of this machine only.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}

/** Opens a page of Runoff, signs in on the local GitHub's page, and returns to it. */
export async function signInAt(page: Page, address: string, login: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('main').getByRole('link', { name: 'Sign in with GitHub' }).click();
  await page.getByRole('button', { name: login, exact: true }).click();
  await page.waitForURL(address);
}
