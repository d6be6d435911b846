import { expect, test } from 'vitest';
import { AGENTS, coders } from '../../../src/adapters/coders/index.ts';

const known = coders({
  agentsFolder: '/nowhere',
  commands: {
    aider: { argv: ['/opt/aider/bin/aider'], speaks: 'command', protocols: ['anthropic'], env: {} },
  },
});

test('settings can name our own coder, every agent of the catalogue, any program, and the operator’s own', () => {
  const names = ['builtin', ...AGENTS.map(({ name }) => name), 'command', 'acp', 'aider'];
  expect([...known.keys()].sort()).toEqual(names.sort());
  for (const [name, coder] of known) expect(coder.name).toBe(name);
});

test.each(AGENTS.map(({ name }) => name))(
  '%s has its own path in sandboxes, and is not installed here',
  async (name) => {
    const coder = known.get(name);
    expect(await coder?.version()).toBeNull();
    const trial = coder?.trial();
    expect(trial?.binds).toContainEqual({ from: `/nowhere/${name}`, to: `/opt/agents/${name}` });
    expect(trial?.argv.join(' ')).toContain(`/opt/agents/${name}/node_modules/`);
  },
);
