import { expect, test } from 'vitest';
import { systemRandom } from '../../src/adapters/system/index.ts';
import type { World } from '../../src/runs/index.ts';
import { openWeb } from '../../src/web/index.ts';
import { commandWorld, shown } from '../commands/command-world.ts';
import { RUN } from '../commands/dialogue-world.ts';
import { partial } from '../world/partial.ts';
import { CSRF, mona } from './web-world.ts';

test.each([
  ['retry', { candidate: 'all' }],
  ['debate', { on: 'debate' }],
])('%s starts another run, and the page says which one', async (action, entered) => {
  const s = commandWorld();
  await shown(s, 'choice');
  await s.store.transition(RUN, 'closed', 'nobody picked', s.now());
  const world = partial<World>(
    { ...s.world, random: { ...s.world.random, ...systemRandom, runId: s.world.random.runId } },
    ['diskSpace'],
  );
  const web = openWeb({ world, commands: s.intake, identify: async () => ({ viewer: mona, csrf: CSRF }) });
  const body = new URLSearchParams({ csrf: CSRF, key: 'a'.repeat(32), ...entered });
  const sent = await web.fetch(
    new Request(`http://runoff.test/runs/${RUN}/${action}`, { method: 'POST', body }),
  );
  expect(sent.status).toBe(303);
  await s.intake.idle();
  const [started = ''] = s.engine.started;
  const at = sent.headers.get('location') ?? '';
  expect(at).toContain(action === 'debate' ? `${RUN}/debate?outcome=` : `${RUN}?outcome=`);
  const page = await (await web.fetch(new Request(`http://runoff.test${at}`))).text();
  expect(page).toMatch(/class="notice done">Started a run\. <a href="\/runs\//);
  expect(page).toContain(`<a href="/runs/${started}">The page of that run</a>`);
});
