import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { atTerminal, withXdgOpen } from '../world/terminal.ts';
import { inChromium } from './chromium.ts';

/** Milliseconds for a program and a browser to start; long, as other tests run at the same time. */
const PATIENCE_MS = 240_000;

inChromium('runoff ui --open', (browser) => {
  test('shows the pages in the browser that it opens, and again after a reload', () =>
    withXdgOpen('echo "$1" > "$SEEN/part" && mv "$SEEN/part" "$SEEN/file"', (tools) => {
      const env = { PATH: `${tools}:${process.env.PATH}`, SEEN: tools };
      return atTerminal({ env }, async (me) => {
        const { child, ended } = me.start('ui', '--open');
        const given = vi.waitFor(() => readFile(join(tools, 'file'), 'utf8'), { timeout: PATIENCE_MS });
        const file = await Promise.race([given, ended.then(({ err }) => expect.fail(err))]);
        const page = await browser().newPage();
        page.setDefaultTimeout(PATIENCE_MS);
        try {
          await page.goto(pathToFileURL(file.trim()).href);
          await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/runs$/);
          const heading = page.getByRole('heading', { level: 1 });
          expect(await heading.innerText()).toBe('Runs');
          expect((await page.reload())?.status()).toBe(200);
          expect(await heading.innerText()).toBe('Runs');
        } finally {
          await page.close();
          child.kill('SIGINT');
        }
        expect(await ended).toMatchObject({ code: 0 });
      });
    }));
});
