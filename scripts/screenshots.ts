// Writes docs/images: the page of the demo's run as people see it. Needs Chromium (apt-get install chromium).
// `npm run screenshots` takes about a minute.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isOver } from '../src/core/model/index.ts';
import { MAINTAINER, openDemoEnvironment, REPOSITORY } from '../src/demo/environment.ts';
import { ISSUE } from '../src/demo/sample/index.ts';
import { LABEL } from '../src/runs/index.ts';
import { launchChromium, signInAt } from '../test/browser/launch.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs', 'images');
/** Ends below a whole line of the page. */
const DESKTOP = { width: 1100, height: 876 };
const PICTURES = [
  { name: 'run-page-light', viewport: DESKTOP, colorScheme: 'light' },
  { name: 'run-page-dark', viewport: DESKTOP, colorScheme: 'dark' },
  { name: 'run-page-phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
] as const;

const environment = await openDemoEnvironment({
  paceMs: 0,
  onStep: (text) => process.stderr.write(`starting ${text} …\n`),
});
try {
  const { github, world, app } = environment;
  const maintainer = github.as(MAINTAINER);
  await maintainer.addLabel(REPOSITORY, await maintainer.openIssue(REPOSITORY, ISSUE), LABEL);
  let [run] = await world.store.runs(1);
  while (!run || !isOver(run.state)) {
    await world.clock.sleep(200);
    [run] = await world.store.runs(1);
  }
  await world.engine.settled(run.id);
  const address = `${app.url}/runs/${run.id}`;
  const browser = await launchChromium();
  await mkdir(FOLDER, { recursive: true });
  try {
    for (const { name, ...look } of PICTURES) {
      const page = await browser.newPage(look);
      await signInAt(page, address, MAINTAINER);
      await page.screenshot({ path: join(FOLDER, `${name}.png`) });
      await page.close();
      process.stderr.write(`wrote docs/images/${name}.png\n`);
    }
  } finally {
    await browser.close();
  }
} finally {
  await environment.close();
}
