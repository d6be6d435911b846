import { afterEach, expect, test } from 'vitest';
import { openModel } from '../../src/adapters/models/index.ts';
import type { Dialogue } from '../../src/core/brief/index.ts';
import { brief } from '../../src/runs/brief/index.ts';
import { json, message, openRig, type Provider, startProvider } from '../adapters/gateway/rig.ts';
import { contextOf } from '../world/run-context.ts';
import { planningWorld, RUN } from './planning-world.ts';

let provider: Provider;
afterEach(() => provider.close());

const BRIEF = {
  goal: 'Quoted fields are read.',
  definitionOfDone: ['A comma inside quotes belongs to the field.'],
  plan: ['Write a test.'],
  files: ['src/csv.js'],
  assumptions: [],
  questions: [],
};

/** A planner that asks for a file first, and writes `tokens` each time, for ten dollars a million. */
async function planner(tokens: number, afterFiles?: string) {
  provider = await startProvider((body, response) => {
    const [tool] = body.tools as { name: string }[];
    const seen = JSON.stringify(body).includes('<<<FILE');
    const input = seen ? { ...BRIEF, goal: 'It has seen the file.' } : { ...BRIEF, read: ['src/csv.js'] };
    if (seen && afterFiles !== undefined)
      return json(response, 200, {
        ...message(1_000, tokens),
        content: [{ type: 'text', text: afterFiles }],
      });
    const content = [{ type: 'tool_use', id: 't1', name: tool?.name, input }];
    return json(response, 200, { ...message(1_000, tokens), content, stop_reason: 'tool_use' });
  });
  const rig = await openRig(provider.url);
  const { world } = await planningWorld({
    planner: () => null,
    settings: {
      approval: 'plan',
      debate: 'never',
      coders: [{ agent: 'builtin', model: 'anthropic/m' }],
      budget: { run: 20 },
    },
    models: { gateway: rig.gateway, model: openModel() },
  });
  const plan = async () => {
    await brief(world, await contextOf(world, RUN));
    return (await world.store.run(RUN))?.brief;
  };
  return { rig, world, plan };
}

/** A run whose plan people had changed so many times. */
const revised = (times: number): Dialogue => ({
  lastReply: times,
  repliesUsed: times - 1,
  inquiries: Array.from({ length: times }, (_, i) => ({
    ...{ number: i + 1, kind: 'approval', askedAt: 0, until: 9 },
    settled: { kind: 'revised', text: `Change ${i}.`, by: null, at: i },
  })),
});

test('each plan that people ask for has money of its own, within the budget of the run', async () => {
  // Two turns of 80 cents each: more than a dollar, and less than the fifth of $20.
  const { rig, world, plan } = await planner(80_000);
  await using _ = rig;
  expect((await plan())?.goal).toBe('It has seen the file.');
  for (let times = 1; times <= 4; times += 1) {
    await world.store.updateRun(RUN, { dialogue: revised(times) }, 1);
    expect((await plan())?.goal).toBe('It has seen the file.');
  }
  expect(provider.seen).toHaveLength(10);
  expect((await rig.ledger.usage(RUN)).usd).toBeLessThan(20);
});

test('where the money does not suffice to show the planner files, its first answer is the plan', async () => {
  const { rig, plan } = await planner(399_900);
  await using _ = rig;
  expect((await plan())?.goal).toBe(BRIEF.goal);
  expect(provider.seen).toHaveLength(1);
});

test('where the planner says nothing of use about the files, its first answer is the plan', async () => {
  const { rig, plan } = await planner(100, 'I cannot.');
  await using _ = rig;
  expect((await plan())?.goal).toBe(BRIEF.goal);
});

test('a plan that cannot be paid says what one may cost', async () => {
  const { rig, world, plan } = await planner(399_000);
  await using _ = rig;
  await plan();
  // As if an earlier process had spent it.
  await rig.ledger.bookCall(
    { runId: RUN, spender: 'brief-2', repository: 'local-/', dayFrom: 0, underWayFrom: 0 },
    () => ({ ...(rig.ledger.rows[0] as (typeof rig.ledger.rows)[number]), spender: 'brief-2', usd: 3.999 }),
  );
  await world.store.updateRun(RUN, { dialogue: revised(1) }, 1);
  await expect(plan()).rejects.toMatchObject({
    code: 'BUDGET_TOO_SMALL',
    message: expect.stringMatching(
      /of \$4\.00 spent.* One plan may cost \$4\.00: 20% of `budget\.run`, but at least \$1\.00\.$/,
    ),
  });
});
