import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Alias } from '../../src/core/model/index.ts';
import type { Flows } from '../../src/ports/index.ts';
import { code } from '../../src/runs/code/index.ts';
import type { World } from '../../src/runs/index.ts';
import { maxWorkMs, stagesOf, UNLIMITED, workTimeOf } from '../../src/runs/stage.ts';

import { LIMITS, openGitWorld } from '../adapters/git/world.ts';
import { found } from '../core/ranking/round-facts.ts';
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
      { runId: RUN, time: workTimeOf(maxWorkMs(world)) },
      stagesOf(world, context, RUN, UNLIMITED),
      async () => 0,
    );
    return null;
  },
});

async function onRepository({ store }: World, path: string, sha: string): Promise<void> {
  const run = await store.run(RUN);
  if (!run?.task) throw new Error('The run is admitted.');
  await store.updateRun(
    RUN,
    { task: { ...run.task, origin: { kind: 'local', path }, base: { ref: 'main', sha } } },
    0,
  );
}

/** Takes all space but for some bytes, as another program would. */
function fill(dataDir: string, left: number): void {
  const { bavail, bsize } = statfsSync(dataDir);
  writeFileSync(join(dataDir, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - left)));
}

// A file system that can be filled takes a mount, and so root.
test.runIf(process.getuid?.() === 0)(
  'a coder that fills the data folder fails alone, in words; its space is free again, and the run goes on with the others',
  async () => {
    tried({
      id: 'disk-full-coding',
      part: 'Disks are full',
      what: 'A coder fills the data folder to the last byte.',
      held: 'Its candidate fails, and its note gives the reason. Its space is free again, and the next candidate of the run is coded.',
    });
    const { git, dataDir, workspaces } = openSmallDisk();
    const { path, sha } = git.repository({ 'a.txt': 'one\n', '.gitignore': 'cache\n' });
    const failed = Promise.withResolvers<void>();
    const script: Script = {
      settings: { candidates: 2 },
      found: (alias) => found(alias, undefined),
      coders: {
        async A({ area }) {
          const line = 'head -c 2000000 /dev/urandom > new; cat /dev/zero > cache';
          const result = await git.run(area, line, { limits: { ...LIMITS, diskBytes: 2 ** 40 } });
          expect(result).toMatchObject({ exitCode: null, stopped: 'disk' });
          return result;
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
    await onRepository(world, path, sha);

    await played(memoryEngine(), onlyCoding(world, script));

    const candidates = await world.store.candidates(RUN);
    const one = (alias: Alias) => candidates.find((candidate) => candidate.alias === alias);
    expect(one('A')).toMatchObject({
      state: 'failed',
      note: 'stopped: it exceeded its disk limit',
    });
    expect(one('B')).toMatchObject({ state: 'coded', note: 'done' });
    expect((await world.store.run(RUN))?.state).toBe('coded');
    expect(readdirSync(join(dataDir, 'areas'))).toEqual([]);
  },
);

/** When another program fills the disk, and what stands where the candidate's patch would be lost. */
const MOMENTS = ['while the coder works', 'when its patch is collected'] as const;

test.runIf(process.getuid?.() === 0).each(MOMENTS)(
  'somebody else fills the disk for 40 seconds %s: the candidate says so, waits, and is coded as without',
  async (moment) => {
    tried({
      id: 'disk-full-by-others',
      part: 'Disks are full',
      what: 'Another program fills the disk for 40 s, while the coder works and while its patch is collected.',
      held: 'The candidate waits, its note gives the reason, and it is coded as without.',
    });
    const { git, dataDir, workspaces } = openSmallDisk();
    const { path, sha } = git.repository({ 'a.txt': 'one\n' });
    const script: Script = {
      settings: { candidates: 1 },
      found: (alias) => found(alias, undefined),
      coders: {
        async A({ area }) {
          const first = stage.starts.length === 1;
          if (first && moment === MOMENTS[0]) fill(dataDir, 20_000);
          const result = await git.run(
            area,
            'head -c 300000 /dev/urandom > new; sleep 0.1; test $(stat -c %s new) = 300000',
          );
          if (first && moment === MOMENTS[1]) fill(dataDir, 20_000);
          return result;
        },
      },
    };
    const stage = await codingWorld(script);
    const waits: number[] = [];
    const notes: string[] = [];
    const world: World = {
      ...stage.world,
      workspaces,
      clock: {
        ...stage.world.clock,
        async sleep(ms) {
          // The writer of the coder's steps waits, too: half a second, and five at the end.
          if (ms === 500 || ms === 5_000) return;
          waits.push(ms);
          notes.push((await stage.world.store.candidates(RUN))[0]?.note ?? '');
          // As long as the waits say that passed.
          if (waits.reduce((sum, one) => sum + one, 0) > 40_000) rmSync(join(dataDir, 'filler'));
        },
      },
    };
    await onRepository(world, path, sha);

    await played(memoryEngine(), onlyCoding(world, script));

    expect(await world.store.candidates(RUN)).toMatchObject([{ state: 'coded', note: 'done' }]);
    expect(waits).toEqual([2_000, 10_000, 30_000]);
    expect(notes.slice(moment === MOMENTS[0] ? 0 : 1)).not.toContain('');
    expect(notes.at(-1)).toMatch(/^retries in 30 s: .*(?:disk of this machine was full|no space)/i);
    expect(stage.starts.length).toBe(moment === MOMENTS[0] ? 4 : 1);
    expect(readdirSync(join(dataDir, 'areas'))).toEqual([]);
  },
);
