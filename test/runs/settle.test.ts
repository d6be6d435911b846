import { expect, test } from 'vitest';
import { readSettingsText } from '../../src/adapters/config/index.ts';
import type { RepositorySource } from '../../src/ports/index.ts';
import { settle } from '../../src/runs/admit/exposure.ts';
import type { RunRequest } from '../../src/runs/admit/index.ts';
import type { World } from '../../src/runs/index.ts';

/** A repository with these settings, on a machine that can do nothing: whoever is not refused before meets a fault. */
function begin(file: string, where: 'local' | 'remote', overrides: RunRequest['overrides']) {
  const world = {
    workspaces: { readFile: async () => file },
    reports: { readSettings: readSettingsText },
    defaults: { models: [] },
    ceilings: { networkAllow: [] },
    prompts: { personas: new Map() },
  } as unknown as World;
  const source = { kind: where } as RepositorySource;
  return settle(world, source, { base: '0'.repeat(40), rules: '0'.repeat(40) }, { overrides } as RunRequest);
}
const WANTS_APPROVAL = 'approval: plan\n';

test('a plan that nobody would approve is refused', async () => {
  expect(await begin(WANTS_APPROVAL, 'local', { ask: false })).toEqual({
    kind: 'refused',
    refusal: { kind: 'nobody-approves', file: '.github/auto-dev.yml' },
  });
});

test.each([
  ['at a terminal', WANTS_APPROVAL, 'local', {}],
  ['on GitHub', `${WANTS_APPROVAL}answer: { ask: false }\n`, 'remote', {}],
  ['where no approval is wanted', '', 'local', { ask: false }],
] as const)('%s it goes on', async (_where, file, where, overrides) => {
  await expect(begin(file, where, overrides)).rejects.toMatchObject({ code: 'SETTINGS_INVALID' });
});
