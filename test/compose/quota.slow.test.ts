import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bytesOf } from '../../src/adapters/git/index.ts';
import { ownFolders } from '../../src/compose/data-folder.ts';
import { enforceQuota, watchDiskSpace, watchQuota } from '../../src/compose/disk-space.ts';
import { healthOf } from '../../src/compose/doctor.ts';
import type { Origin } from '../../src/core/model/index.ts';
import type { BaseCheckout, RunRecord } from '../../src/ports/index.ts';
import { type GitWorld, openGitWorld } from '../adapters/git/world.ts';
import { githubOrigin } from '../world/origin.ts';
import { silent } from '../world/silent-log.ts';

const MB = 1e6;
const DAY = 24 * 60 * 60_000;

describe('a data folder with MAX_DISK', () => {
  let git: GitWorld;
  let runs: Pick<RunRecord, 'id' | 'origin' | 'state' | 'stages'>[];
  /** Whether a process works on the local runs. */
  let isThere: boolean;
  beforeEach(() => {
    git = openGitWorld();
    runs = [];
    isThere = true;
  });
  afterEach(() => git.close());

  const prunable = () => ({
    clock: { now: Date.now, elapsed: () => performance.now(), sleep: async () => {} },
    log: silent,
    engine: { activeExecutors: async (names: readonly string[]) => new Set(isThere ? names : []) },
    store: {
      idsIn: async () => runs.map(({ id }) => id),
      runsIn: async () => runs as RunRecord[],
      run: async () => null,
    },
    workspaces: git.workspaces,
  });
  const used = () => bytesOf(ownFolders(git.dataDir));
  const quota = (most: number) => ({ dir: git.dataDir, most });

  /** The checkout of a repository of some megabytes that was used last so long ago. */
  async function checkout(ago: number): Promise<BaseCheckout> {
    const { path, sha } = git.repository({ big: randomBytes(2 * MB) });
    const base = await git.workspaces.prepare({ kind: 'local', path }, sha);
    const then = new Date(Date.now() - ago);
    const key = base.repositoryKey;
    const folders = [`mirrors/${key}.git`, `objects/${key}.git`, `bases/${key}/${sha}`];
    for (const folder of folders.map((name) => join(git.dataDir, name))) {
      if (existsSync(folder)) utimesSync(folder, then, then);
    }
    return base;
  }
  const activeSince = (ago: number, origin: Origin) => ({
    id: 'r1',
    origin,
    state: 'coded' as const,
    stages: [{ stage: 'examine' as const, startedAt: Date.now() - ago }],
  });
  const kept = () => readdirSync(join(git.dataDir, 'bases')).sort();

  test('loses the least recently used data, and no more than necessary', async () => {
    const old = await checkout(5 * DAY);
    const young = await checkout(2 * DAY);
    const most = (await used()) - MB;
    expect(await enforceQuota(prunable(), quota(0))).toBeNull();
    expect(kept()).toEqual([old.repositoryKey, young.repositoryKey].sort());
    expect(await enforceQuota(prunable(), quota(most))).toBeNull();
    expect(kept()).toEqual([young.repositoryKey]);
    expect(await used()).toBeLessThan(most);
  });

  test('keeps what an active run prepared, and holds new runs with a reason in status and /healthz until there is space', async () => {
    await checkout(DAY / 2);
    runs = [activeSince(DAY, githubOrigin())];
    const diskSpace = await watchDiskSpace(git.dataDir, 0, silent);
    const health = async () => {
      const sandbox = { probe: async () => ({ kind: 'ready' }) };
      const world = { store: { runs: async () => [] }, sandbox, diskSpace } as never;
      return (await healthOf({ world, close: async () => {} })).detail.disk;
    };
    const first = watchQuota(prunable(), quota(MB), diskSpace);
    await vi.waitFor(() => expect(diskSpace.shortage()).not.toBeNull(), 20_000);
    await first.close();
    expect(diskSpace.shortage()).toMatch(
      /^The data folder of this machine has reached MAX_DISK \(\d MB of 1 MB\)/,
    );
    expect(await health()).toBe(diskSpace.shortage());
    expect(kept()).toHaveLength(1);

    runs = [];
    const second = watchQuota(prunable(), quota(MB), diskSpace);
    await vi.waitFor(() => expect(diskSpace.shortage()).toBeNull(), 20_000);
    await second.close();
    expect(await health()).toBe('ok');
    expect(kept()).toEqual([]);
    await diskSpace.close();
  });

  test('keeps of a local run that was killed only what it cannot make again, and the run goes on', async () => {
    const { path } = git.repository({ 'a.txt': 'a\n' });
    writeFileSync(join(path, 'a.txt'), 'edited\n');
    const { sha } = await git.workspaces.keepChanges(path, Date.now());
    const ofRun = await git.workspaces.prepare({ kind: 'local', path }, sha);
    const other = await checkout(DAY / 2);
    const then = new Date(Date.now() - DAY / 2);
    for (const folder of [`mirrors/${ofRun.repositoryKey}.git`, `bases/${ofRun.repositoryKey}/${sha}`])
      utimesSync(join(git.dataDir, folder), then, then);
    runs = [activeSince(DAY, { kind: 'local', path })];

    expect(await enforceQuota(prunable(), quota(MB))).toMatch(/has reached MAX_DISK/);
    expect(kept()).toEqual([ofRun.repositoryKey, other.repositoryKey].sort());
    isThere = false;
    expect(await enforceQuota(prunable(), quota(MB))).toBeNull();
    expect(kept()).toEqual([]);
    const again = await git.workspaces.prepare({ kind: 'local', path }, sha);
    expect(readFileSync(join(again.lower, 'a.txt'), 'utf8')).toBe('edited\n');
  });
});
