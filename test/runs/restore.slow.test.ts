import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/adapters/system/index.ts';
import type { RunRecord, Sandbox } from '../../src/ports/index.ts';
import { restoreTree } from '../../src/runs/base/restore.ts';
import { storePatch } from '../../src/runs/context.ts';
import { sweepEnded } from '../../src/runs/index.ts';
import { type GitWorld, openGitWorld } from '../adapters/git/world.ts';
import { patchOf } from '../contracts/workspaces.suite.ts';
import { memoryArtifacts } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

const { signal } = new AbortController();

describe('a candidate that another machine coded', () => {
  let machines: GitWorld;
  beforeEach(() => {
    machines = openGitWorld();
  });
  afterEach(() => machines.close());

  /** Two machines that share repository and artifacts, and a patch that the first one collected. */
  async function collectedElsewhere() {
    const { path, sha } = machines.repository({ 'a.txt': 'a\n', 'gone.bin': 'x\0y', 'run.sh': 'true\n' });
    const source = { kind: 'local', path } as const;
    const artifacts = memoryArtifacts();
    const there = machines.workspaces;
    const base = await there.prepare(source, sha);
    const area = await there.open(base, 'r1-A');
    const work =
      'printf "b\\r\\n" > "with space.txt"; printf "\\0\\1" > new.bin; rm gone.bin; chmod +x run.sh; echo b >> a.txt';
    await machines.run(area, work);
    const patch = await storePatch(artifacts, patchOf(await there.collect(base, area)));
    const workspaces = machines.another({ dataDir: `${machines.root}/other` });
    const here = { workspaces, sandbox: machines.sandbox, artifacts, log: silent };
    return { here, base: await workspaces.prepare(source, sha), patch };
  }

  test('is rebuilt from its patch as the same tree, and can be committed', async () => {
    const { here, base, patch } = await collectedElsewhere();
    expect(await here.workspaces.holds(base, patch.tree)).toBe(false);
    await restoreTree(here, base, { runId: 'r1', alias: 'A', patch }, signal);
    expect(await here.workspaces.holds(base, patch.tree)).toBe(true);
    const author = { name: 'Runoff', email: 'runoff@example.org' };
    const spec = { base: base.sha, tree: patch.tree, message: 'A', author, at: 1_700_000_000 };
    expect(await here.workspaces.commit(base, spec)).toMatch(/^[0-9a-f]{40}$/);
  });

  test('is rebuilt after the end of its run, too, while areas of ended runs are deleted', async () => {
    const { here, base, patch } = await collectedElsewhere();
    const runId = 'r0000000001';
    const ended = { run: async () => partial<RunRecord>({ id: runId, state: 'awaiting_pick' }) };
    const sweep = () => sweepEnded({ workspaces: here.workspaces, store: ended, clock: systemClock });
    const own = await here.workspaces.open(base, `${runId}-B`);
    const sandbox: Sandbox = {
      ...here.sandbox,
      async exec(spec) {
        await sweep();
        return here.sandbox.exec(spec);
      },
    };
    expect(await restoreTree({ ...here, sandbox }, base, { runId, alias: 'A', patch }, signal)).toBe('there');
    expect(existsSync(own.upper)).toBe(false);
    const kept = { before: Date.now() + 60_000, keep: (area: string) => area.startsWith(`${runId}-`) };
    await here.workspaces.prune(kept);
    expect(await here.workspaces.holds(base, patch.tree)).toBe(true);
  });

  test('whose patch gives another tree is a fault, and nothing is published', async () => {
    const { here, base, patch } = await collectedElsewhere();
    const lie = { ...patch, tree: 'c'.repeat(40) };
    await expect(
      restoreTree(here, base, { runId: 'r1', alias: 'A', patch: lie }, signal),
    ).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringMatching(/candidate A .* leads to [0-9a-f]{40} instead of c{40}/),
    });
  });

  test('counts as damage of the checkout if that has lost a file, and not against the candidate', async () => {
    const { here, base, patch } = await collectedElsewhere();
    rmSync(join(base.lower, 'a.txt'));
    await expect(restoreTree(here, base, { runId: 'r1', alias: 'A', patch }, signal)).rejects.toMatchObject({
      code: 'STORED_DATA_DAMAGED',
    });
  });
});
