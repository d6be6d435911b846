import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/core/commands/index.ts';
import { mallory, RUN } from './pretend.ts';
import { openPull } from './repository.ts';
import { ada, atWork, boxes, scene, shown, tick } from './scene.ts';

const run = async (s: ReturnType<typeof scene>, id = RUN) => (await s.store.run(id)) ?? expect.fail();
const picksOf = async (s: ReturnType<typeof scene>) =>
  (await s.store.picks(RUN)).map(({ alias, by }) => `${by?.login} ${alias}`);

test('what each command says where no run was', async () => {
  const s = scene();
  openPull(s.repository, 12);
  const said: string[] = [];
  for (const { example } of Object.values(COMMANDS)) {
    for (const on of [7, 12]) {
      if (example === COMMANDS.help.example) continue;
      const { outcome, reply } = await s.say(example, { on });
      said.push(`#${on} ${example.split(' ')[1]}: ${outcome}. ${reply ?? 'No word.'}`);
      for (const living of await s.store.unfinished())
        await s.store.transition(living.id, 'cancelled', 'test', 1);
    }
  }
  expect(said).toMatchInlineSnapshot(`
    [
      "#7 run: done. No word.",
      "#12 run: refused. A run starts from an issue. On a pull request, \`/auto-dev review\` answers what reviewers wrote and \`/auto-dev fix\` mends what fails.",
      "#7 status: done. **Run \`r0000000001\`: cancelled**, –.",
      "#12 status: done. No run is known here. To start one, comment \`/auto-dev run\` on an issue, or set the label \`auto-dev\` there.",
      "#7 cancel: refused. No run is at work here.",
      "#12 cancel: refused. No run is at work here.",
      "#7 retry: refused. There is no run here that could be repeated. \`/auto-dev run\` starts one.",
      "#12 retry: refused. There is no run here that could be repeated. \`/auto-dev run\` starts one.",
      "#7 pick: refused. There is no result of a run here yet. \`/auto-dev status\` tells where it stands.",
      "#12 pick: refused. There is no result of a run here yet. \`/auto-dev status\` tells where it stands.",
      "#7 vote: refused. There is no result of a run here yet. \`/auto-dev status\` tells where it stands.",
      "#12 vote: refused. There is no result of a run here yet. \`/auto-dev status\` tells where it stands.",
      "#7 explain: refused. There is no result of a run here yet. \`/auto-dev status\` tells where it stands.",
      "#12 explain: refused. There is no result of a run here yet. \`/auto-dev status\` tells where it stands.",
      "#7 answer: refused. No run is at work here that could be answered.",
      "#12 answer: refused. No run is at work here that could be answered.",
      "#7 approve: refused. No run is at work here that could be answered.",
      "#12 approve: refused. No run is at work here that could be answered.",
      "#7 revise: refused. No run is at work here that could be answered.",
      "#12 revise: refused. No run is at work here that could be answered.",
      "#7 ci: refused. There is no result of a run here yet. \`/auto-dev status\` tells where it stands.",
      "#12 ci: refused. There is no result of a run here yet. \`/auto-dev status\` tells where it stands.",
      "#7 budget: refused. No run is at work here whose budget could be changed.",
      "#12 budget: refused. No run is at work here whose budget could be changed.",
      "#7 review: refused. \`/auto-dev review\` is for pull requests. On an issue, \`/auto-dev run\` starts a run.",
      "#12 review: done. No word.",
      "#7 fix: refused. \`/auto-dev fix\` is for pull requests. On an issue, \`/auto-dev run\` starts a run.",
      "#12 fix: done. No word.",
    ]
  `);
});
