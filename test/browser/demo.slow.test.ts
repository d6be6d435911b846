import type { ChildProcess } from 'node:child_process';
import { expect, test } from 'vitest';
import { MAINTAINER } from '../../src/demo/environment.ts';
import { ISSUE } from '../../src/demo/sample/index.ts';
import { atTerminal } from '../world/terminal.ts';
import { inChromium, signIn, visiting } from './chromium.ts';

/** The addresses that the demo prints once only its servers run. */
const printed = (child: ChildProcess): Promise<Readonly<Record<'page' | 'issue', string>>> =>
  new Promise((resolve, reject) => {
    let text = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const [page, issue] = ['page', 'issue'].map(
        (name) => new RegExp(`^ {2}${name} +(http://\\S+)`, 'm').exec(text)?.[1],
      );
      if (page && issue && text.includes('/healthz')) resolve({ page, issue });
    });
    child.once('exit', () => reject(new Error(`The demo ended: ${text}`)));
  });

inChromium('`npm run demo -- --keep`', (browser) => {
  test('prints the address of the page of its run, which shows what became of it; Ctrl-C ends it', () =>
    atTerminal({ firstTime: true }, async (me) => {
      const { child, ended } = me.start('demo', '--keep');
      const { page: address, issue } = await printed(child);
      const { origin, pathname } = new URL(address);
      const site = { origin, github: new URL(issue).origin };
      await visiting(browser(), site, {}, async (visitor) => {
        await signIn(visitor, site, MAINTAINER, pathname);
        expect(await visitor.page.innerText('h1')).toBe(ISSUE.title);
        const main = await visitor.page.innerText('main');
        expect(main).toMatch(/draft pull request/i);
        await visitor.page.getByRole('link', { name: 'Tests', exact: true }).click();
        expect(await visitor.page.locator('table.matrix tbody tr').count()).toBeGreaterThan(2);
      });
      child.kill('SIGINT');
      expect((await ended).code).toBe(0);
    }));
});
