import { expect, test } from 'vitest';
import { Settings } from '../../src/core/settings/index.ts';
import { requirePersonas } from '../../src/runs/contestants.ts';
import type { World } from '../../src/runs/index.ts';
import { partial } from '../world/partial.ts';

const persona = { spec: 'spec', code: 'code' };
const world = partial<World>({
  prompts: { personas: new Map(['product', 'qa', 'security'].map((name) => [name, persona])) },
});

const named = (agents: readonly string[]) => () =>
  requirePersonas(world, Settings.parse({ critics: { agents } }).critics.agents);

test('settings can name the existing critics', () => {
  expect(() => requirePersonas(world, Settings.parse({}).critics.agents)).not.toThrow();
  expect(named(['security'])).not.toThrow();
});

test('an unknown critic is a fault of the settings, with a suggestion', () => {
  expect(named(['qa', 'secuirty'])).toThrow(
    expect.objectContaining({
      code: 'SETTINGS_INVALID',
      message:
        'There is no persona "secuirty" for a critic; known: product, qa, security. Did you mean security?',
    }),
  );
  expect(named(['lawyer'])).toThrow(/known: product, qa, security\.$/);
});
