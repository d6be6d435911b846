import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BaseCheckout, Sandbox } from '../../../src/ports/index.ts';
import { type GitWorld, LIMITS, openGitWorld } from './world.ts';

describe('runs that share a setup', () => {
  let world: GitWorld;
  beforeAll(() => {
    world = openGitWorld();
  });
  afterAll(() => world.close());

  const cancelled = { name: 'AbortError' };
  const setup = {
    command:
      'echo started; case $PACE in endless) while :; do sleep 1; done;; broken) exit 7;; esac; echo lib > lib',
    egress: [],
    limits: LIMITS,
  };

  /** Workspaces whose setups run at the given paces, one after the other; each waits for its word to go. */
  function paced(...paces: readonly ('endless' | 'quick' | 'broken')[]) {
    const runs = paces.map((pace) => ({
      pace,
      asked: Promise.withResolvers<void>(),
      go: Promise.withResolvers<void>(),
      running: Promise.withResolvers<void>(),
    }));
    let starts = 0;
    const sandbox: Sandbox = {
      probe: world.sandbox.probe,
      async exec(spec) {
        if (spec.argv[2] !== setup.command) return world.sandbox.exec(spec);
        const run = runs[starts++];
        if (!run) throw new Error('One setup more than expected was started.');
        run.asked.resolve();
        await run.go.promise;
        return world.sandbox.exec({ ...spec, env: { PACE: run.pace }, onLine: () => run.running.resolve() });
      },
    };
    const workspaces = world.another({ sandbox });
    const install = (base: BaseCheckout, signal?: AbortSignal) => workspaces.install(base, setup, signal);
    return { install, starts: () => starts, runs };
  }
  let bases = 0;
  async function aBase(): Promise<BaseCheckout> {
    const { path, sha } = world.repository({ 'a.txt': `${++bases}\n` });
    return world.workspaces.prepare({ kind: 'local', path }, sha);
  }
  const at = <T>(list: readonly T[], index: number): T => {
    const found = list[index];
    if (!found) throw new Error('no such run');
    return found;
  };
  const leftovers = () => readdirSync(join(world.dataDir, 'areas'));
  const layersOf = (base: BaseCheckout) => {
    const folder = join(world.dataDir, 'layers', base.repositoryKey);
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  test('continue it when the run that started it is cancelled', async () => {
    const base = await aBase();
    const { install, starts, runs } = paced('endless', 'quick');
    const [first, second] = [at(runs, 0), at(runs, 1)];
    const controller = new AbortController();
    const starter = install(base, controller.signal);
    const waiters = [install(base), install(base, new AbortController().signal)];
    first.go.resolve();
    second.go.resolve();
    await first.running.promise;
    controller.abort();
    await expect(starter).rejects.toMatchObject(cancelled);
    const [one, two] = await Promise.all(waiters);
    expect(one).toMatchObject({ kind: 'ready' });
    expect(two).toEqual(one);
    expect(starts()).toBe(2);
    expect(leftovers()).toEqual([]);
  });

  test('continue it when a waiting run is cancelled, which ends at once', async () => {
    const base = await aBase();
    const { install, starts, runs } = paced('quick');
    const only = at(runs, 0);
    const starter = install(base, new AbortController().signal);
    await only.asked.promise;
    const controller = new AbortController();
    const waiter = install(base, controller.signal);
    // One turn of the loop: until now it has asked, but does not wait yet.
    await new Promise(setImmediate);
    controller.abort();
    await expect(waiter).rejects.toMatchObject(cancelled);
    only.go.resolve();
    expect(await starter).toMatchObject({ kind: 'ready' });
    expect(starts()).toBe(1);
  });

  test('leave nothing when all are cancelled, and the next run starts over', async () => {
    const base = await aBase();
    const { install, starts, runs } = paced('endless', 'quick');
    const [first, second] = [at(runs, 0), at(runs, 1)];
    const controller = new AbortController();
    const both = [1, 2].map(() => expect(install(base, controller.signal)).rejects.toMatchObject(cancelled));
    first.go.resolve();
    await first.running.promise;
    controller.abort();
    await Promise.all(both);
    expect(starts()).toBe(1);
    expect(layersOf(base)).toEqual([]);
    expect(leftovers()).toEqual([]);
    second.go.resolve();
    expect(await install(base)).toMatchObject({ kind: 'ready' });
  });

  test('share its failure', async () => {
    const base = await aBase();
    const { install, starts, runs } = paced('broken');
    const both = [install(base), install(base, new AbortController().signal)];
    at(runs, 0).go.resolve();
    for (const each of await Promise.all(both)) expect(each).toMatchObject({ kind: 'failed' });
    expect(starts()).toBe(1);
  });
});
