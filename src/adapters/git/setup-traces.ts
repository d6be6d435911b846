import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sha } from '../../core/model/index.ts';
import { type RawEntry, rawEntries, type SetupTraces } from './collect.ts';
import { gitFault } from './faults.ts';
import type { Git } from './git.ts';
import { rawDiff } from './patch-text.ts';

const NOTHING = '0'.repeat(40);

/**
 * The candidate's tree with each base file that looks as setup left it put back to what the base has: an installer
 * that rewrites a lock file is no part of anyone's patch.
 */
export async function withoutSetup(
  git: Git,
  cwd: string,
  from: { readonly base: Sha; readonly tree: Sha; readonly traces: SetupTraces; readonly scratch: string },
): Promise<Sha> {
  const bySetup = new Map(rawEntries(from.traces.raw).map((entry) => [keyOf(entry), entry]));
  if (bySetup.size === 0) return from.tree;
  const raw = await rawDiff(git, cwd, from);
  const untouched = rawEntries(raw).filter((entry) => {
    const setup = bySetup.get(keyOf(entry));
    return setup !== undefined && setup.newMode === entry.newMode && setup.newOid === entry.newOid;
  });
  if (untouched.length === 0) return from.tree;

  const env = { GIT_INDEX_FILE: join(from.scratch, 'index') };
  const step = async (args: readonly string[], input?: Buffer): Promise<string> => {
    const onKilled = () => rm(join(from.scratch, 'index.lock'), { force: true });
    const done = await git({ cwd, args, env, onKilled, ...(input ? { input } : {}) });
    if (done.exitCode !== 0) throw gitFault('Leaving out what setup changed', done);
    return done.stdout.trim();
  };
  await step(['read-tree', from.tree]);
  await step(['update-index', '-z', '--index-info'], Buffer.concat(untouched.map(asInBase)));
  return step(['write-tree']);
}

const keyOf = (entry: RawEntry): string => entry.path.toString('latin1');

function asInBase(entry: RawEntry): Buffer {
  const mode = entry.oldOid === NOTHING ? '0' : entry.oldMode;
  return Buffer.concat([Buffer.from(`${mode} ${entry.oldOid}\t`), entry.path, Buffer.from([0])]);
}
