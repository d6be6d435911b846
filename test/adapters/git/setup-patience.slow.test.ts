import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRegistryWorld, type RegistryWorld } from './registry-world.ts';
import { LIMITS } from './world.ts';

// Long enough for the computing of a command's start, which takes longer beside other work.
const PATIENCE = { silenceMs: 2_000, refusedMs: 500, computingMs: 10_000 };

describe('a set-up that prints nothing', () => {
  let world: RegistryWorld;
  beforeAll(async () => {
    world = await openRegistryWorld(({ url }, response) => {
      if (url === '/never') return;
      let left = 8;
      const trickle = setInterval(() => {
        response.write('package');
        if (--left > 0) return;
        clearInterval(trickle);
        response.end();
      }, 400);
    }, PATIENCE);
  });
  afterAll(() => world.close());

  async function setUp(command: string) {
    const { path, sha } = world.repository({ 'a.txt': command });
    const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
    const egress = [`registry.test:${world.port}`];
    const began = performance.now();
    const installed = await world.workspaces.install(base, { command, egress, limits: LIMITS });
    return { installed, ms: performance.now() - began };
  }

  test('goes on while its packages come, however slowly', async () => {
    const { installed, ms } = await setUp(world.get('slow'));
    expect(installed).toMatchObject({ kind: 'ready' });
    expect(ms).toBeGreaterThan(PATIENCE.silenceMs);
  });

  test.each([
    ['its host gives no answer', () => world.get('never')],
    ['it does nothing at all', () => 'sleep 50'],
  ])('is stopped when %s', async (_why, command) => {
    const { installed } = await setUp(command());
    const why = expect.stringMatching(/ was stopped after too long without output, after .* s\.$/);
    expect(installed).toMatchObject({ kind: 'failed', why, refusedHosts: [] });
  });

  test.each([
    ['soon after a host was refused', () => `${world.get('x', 'other.test')}; sleep 50`],
    ['also if packages came later', () => `${world.get('x', 'other.test')}; ${world.get('slow')}; sleep 50`],
  ])('ends %s', async (_when, command) => {
    const { installed, ms } = await setUp(command());
    const why = expect.stringMatching(/ was stopped after too long without output, after .* s\.$/);
    expect(installed).toMatchObject({ kind: 'failed', why, refusedHosts: [`other.test:${world.port}`] });
    expect(ms).toBeLessThan(20_000);
  });
});

describe('a set-up that compiles a native package', () => {
  let world: RegistryWorld;
  // A second is the pace at which computing is noticed.
  beforeAll(async () => {
    const patience = { silenceMs: 4_000, refusedMs: 2_500, computingMs: 15_000 };
    world = await openRegistryWorld((_, response) => response.end(), patience);
  });
  afterAll(() => world.close());

  const computing = (seconds: number) =>
    `node -e 'for (const until = Date.now() + ${seconds * 1000}; Date.now() < until; );'`;

  async function setUp(command: string) {
    const { path, sha } = world.repository({ 'a.txt': command });
    const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
    const egress = [`registry.test:${world.port}`];
    return await world.workspaces.install(base, { command, egress, limits: LIMITS });
  }

  test('goes on without a word, also after a host was refused', async () => {
    const refused = `${world.get('x', 'other.test')}; `;
    expect(await setUp(computing(8))).toMatchObject({ kind: 'ready' });
    expect(await setUp(`${refused}${computing(8)}; true`)).toMatchObject({ kind: 'ready' });
  });

  test('but not for ever', async () => {
    const why = expect.stringContaining('was stopped after too long without output');
    expect(await setUp(computing(120))).toMatchObject({ kind: 'failed', why });
  });
});
