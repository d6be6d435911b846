import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Alias } from '../../src/core/model/index.ts';
import { code } from '../../src/pipeline/code/index.ts';
import { guard } from '../../src/pipeline/guard.ts';
import type { World } from '../../src/pipeline/index.ts';
import { mostWorkMs, workTimeOf } from '../../src/pipeline/work-time.ts';
import type { Flows } from '../../src/ports/index.ts';
import { openGitWorld } from '../adapters/git/world.ts';
import { found } from '../core/adaptive/sample.ts';
import { memoryEngine } from '../world/memory-engine.ts';
import { tried } from '../world/tried.ts';
import { codingWorld, flowsOf, played, RUN, type Script } from './coding-world.ts';

/** A data folder of some megabytes; root only. */
function openSmallDisk() {
  const git = openGitWorld();
  const dataDir = join(git.root, 'small');
  mkdirSync(dataDir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=755', 'tmpfs', dataDir]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', dataDir]);
    git.close();
  });
  return { git, dataDir, workspaces: git.another({ dataDir }) };
}

/** The stage in which coders work, and nothing after it. */
const onlyCoding = (world: World, script: Script): Flows => ({
  ...flowsOf(world, script),
  async run(context) {
    await code(
      world,
      context,
      { runId: RUN, time: workTimeOf(mostWorkMs(world)) },
      (name, work) => context.step(name, (signal) => guard(world, name, signal, () => work(signal))),
      async () => null,
    );
    return null;
  },
});

// A file system that can be filled takes a mount, and so root.
test.runIf(process.getuid?.() === 0)(
  'a coder that fills the data folder fails alone, in words; its space is free again, and the run goes on with the others',
  async () => {
    tried({
      id: 'disk-full-coding',
      part: 'Disks are full',
      what: 'A coder fills the data folder to the last byte.',
      held: 'Its candidate fails, and its note says why. Its space is free again, and the next candidate of the run is coded.',
    });
    const { git, dataDir, workspaces } = openSmallDisk();
    const { path, sha } = git.repository({ 'a.txt': 'one\n', '.gitignore': 'cache\n' });
    const failed = Promise.withResolvers<void>();
    const script: Script = {
      settings: { candidates: 2 },
      found: (alias) => found(alias, undefined),
      coders: {
        async A({ area }) {
          const { stderr } = await git.run(area, 'head -c 2000000 /dev/urandom > new; cat /dev/zero > cache');
          expect(stderr).toMatch(/No space left/);
          return 'done';
        },
        async B({ area }) {
          await failed.promise;
          await git.run(area, 'echo two > a.txt');
          return 'done';
        },
      },
    };
    const stage = await codingWorld(script);
    const world: World = {
      ...stage.world,
      workspaces: {
        ...workspaces,
        async remove(area) {
          await workspaces.remove(area);
          if (area.id === `${RUN}-A`) failed.resolve();
        },
      },
    };
    const run = await world.store.run(RUN);
    if (!run?.task) throw new Error('The run is admitted.');
    const origin = { kind: 'local', path } as const;
    await world.store.updateRun(RUN, { task: { ...run.task, origin, base: { ref: 'main', sha } } }, 0);

    await played(memoryEngine(), onlyCoding(world, script));

    const candidates = await world.store.candidates(RUN);
    const one = (alias: Alias) => candidates.find((candidate) => candidate.alias === alias);
    expect(one('A')).toMatchObject({
      state: 'failed',
      note: expect.stringMatching(/^stopped by a fault: There was no space left/),
    });
    expect(one('B')).toMatchObject({ state: 'coded', note: 'done' });
    expect((await world.store.run(RUN))?.state).toBe('coded');
    expect(readdirSync(join(dataDir, 'areas'))).toEqual([]);
  },
);
