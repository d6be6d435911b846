import { afterAll, beforeAll, expect, test } from 'vitest';
import { INSTALL_MS, TEST_AGENTS } from '../setup/agents.ts';
import { type AgentBench, openAgentBench } from '../world/agents.ts';

const scripts = {
  'scripted-author': {
    turns: [
      {
        kind: 'do',
        text: 'I write.',
        action: { do: 'write', path: '/repo/greeting.txt', content: 'Hello\n' },
      },
      {
        kind: 'do',
        text: 'I look.',
        action: { do: 'shell', command: 'ls -l; date; echo "took 0.$(date +%N) s"; echo $GW_KEY' },
      },
      { kind: 'text', text: 'It is there.' },
    ],
  },
} as const;

const FILES = { 'README.md': '# A small project\n' };

let bench: AgentBench;
beforeAll(async () => {
  bench = await openAgentBench({ scripts, paceMs: 20 });
}, INSTALL_MS);
afterAll(() => bench.close());

const patchOf = ({ collected }: Awaited<ReturnType<AgentBench['work']>>) =>
  collected.kind === 'patch' ? collected.patch.text : collected.kind;

/** The quickest always; each of them takes ten seconds and more. */
const SAMPLE = process.env.RUNOFF_TEST_AGENTS === 'all' ? TEST_AGENTS : ['codex'];

test.each(SAMPLE)('%s pays for no answer again when it starts over', async (agent) => {
  const first = await bench.work({ agent, script: 'scripted-author', files: FILES });
  expect(first.requests.length).toBeGreaterThanOrEqual(3);
  const second = await bench.work({ agent, script: 'scripted-author', files: FILES, again: first.runId });
  expect(patchOf(second)).toBe(patchOf(first));
  expect(second.requests).toHaveLength(0);
  expect(second.usage).toEqual(first.usage);
});
