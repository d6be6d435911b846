import { readdir, rm, stat, statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChaosEnvironment } from './chaos-environment.ts';
import { type Descendant, descendants, otherChildren, ownProcess, send, supervisors } from './descendants.ts';
import { chosen, type PlannedFault } from './plan.ts';
import type { AppProcess } from './process.ts';

/** Who is at work in a round. They come and go, so each is asked for when it is needed. */
export interface RoundProcesses {
  readonly environment: ChaosEnvironment;
  app(): AppProcess;
  worker(): AppProcess | null;
  /** Ends it with kill -9 and starts it anew. */
  restartApp(): Promise<void>;
  restartWorker(): Promise<void>;
}

/** What was done, for people; null when there was nothing to do it to. */
type Done = string | null;

/** Milliseconds for which a victim is waited for, and between two looks: git and its like live for some ten. */
const LOOK_FOR_MS = 4_000;
const LOOK_EVERY_MS = 4;

/** Folder of the artifact store. */
const ARTIFACTS = 'artifacts';

/** Whether what was damaged may be gone for ever, as a patch or the text of an issue: a run may end without it. */
export const mayBeGone = ({ kind }: PlannedFault, done: Done): boolean =>
  kind === 'damage' && (done?.includes(` ${ARTIFACTS}/`) ?? false);

const programs = (processes: RoundProcesses): readonly number[] =>
  [processes.app(), processes.worker()].flatMap((one) => (one ? [one.pid] : []));

/** Which one is chosen is a matter of the moment as well as of the draw: what there is, is not the plan's. */
async function whenThere(
  processes: RoundProcesses,
  which: (all: readonly Descendant[]) => readonly Descendant[],
  { draws: [first, second] }: PlannedFault,
): Promise<Descendant | null> {
  const until = performance.now() + LOOK_FOR_MS;
  while (performance.now() < until) {
    // By name first: there are many of the one kind, and few of the other.
    const there = which(descendants(programs(processes)));
    const name = chosen([...new Set(there.map((one) => one.name))].toSorted(), first);
    const found = chosen(
      there.filter((one) => one.name === name),
      second,
    );
    if (found) return found;
    await delay(LOOK_EVERY_MS);
  }
  return null;
}

async function killOne(
  processes: RoundProcesses,
  which: (all: readonly Descendant[]) => readonly Descendant[],
  fault: PlannedFault,
): Promise<Done> {
  const found = await whenThere(processes, which, fault);
  return found && send(found, 'SIGKILL') ? `${found.name} (${found.command})` : null;
}

/** The database's processes descend from its first, which a file in the round's own folder names. */
async function databaseProcesses({ environment }: RoundProcesses): Promise<readonly Descendant[]> {
  const pid = await environment.postmaster();
  const first = pid === null ? null : ownProcess(pid, environment.home);
  return first ? [first, ...descendants([first.pid])] : [];
}

async function killDatabase(
  processes: RoundProcesses,
  { draws: [first, second] }: PlannedFault,
): Promise<Done> {
  const [server, ...others] = await databaseProcesses(processes);
  const found = first < 400 ? server : chosen(others, second);
  if (!found || !send(found, 'SIGKILL')) return null;
  return found === server ? 'the whole server' : found.command;
}

async function freeze(
  processes: RoundProcesses,
  { draws: [first, second], ms }: PlannedFault,
): Promise<Done> {
  const candidates: readonly (readonly Descendant[])[] = [
    programs(processes).flatMap((pid) => ownProcess(pid) ?? []),
    await databaseProcesses(processes),
    descendants(programs(processes)),
  ];
  const group = chosen(
    candidates.filter((all) => all.length > 0),
    first,
  );
  const found = chosen(group ?? [], second);
  if (!found || !send(found, 'SIGSTOP')) return null;
  await delay(ms);
  send(found, 'SIGCONT');
  return `${found.name} for ${ms} ms`;
}

const SILENCES = [
  'both ways',
  'to the server',
  'from the server',
  'refused',
  'reset',
  'slow',
  'cut',
] as const;

async function silence(
  processes: RoundProcesses,
  { draws: [first, second], ms }: PlannedFault,
): Promise<Done> {
  const { proxies } = processes.environment;
  const how = chosen(SILENCES, first);
  const which = chosen([[0], [1], [0, 1]], second) ?? [0];
  const those = which.flatMap((at) => proxies[at] ?? []);
  if (those.length === 0) return null;
  for (const proxy of those) {
    if (how === 'both ways') proxy.let('swallow', 'swallow');
    else if (how === 'to the server') proxy.let('swallow', 'pass');
    else if (how === 'from the server') proxy.let('pass', 'swallow');
    else if (how === 'slow') proxy.delay(Math.ceil(ms / 20));
    else if (how === 'cut') proxy.cutInMessage();
    else {
      if (how === 'refused') proxy.refuse();
      proxy.reset();
    }
  }
  await delay(ms);
  for (const proxy of those) proxy.heal();
  return `${how} for ${ms} ms`;
}

/** Mirrors, checkouts, what set-up wrote and candidates' trees are made again. Of artifacts, only some can be. */
const DAMAGEABLE = ['mirrors', 'bases', 'layers', 'objects', ARTIFACTS] as const;

async function damage(
  processes: RoundProcesses,
  { draws: [first, second, third] }: PlannedFault,
): Promise<Done> {
  const worker = processes.worker();
  const data = join(processes.environment.home, worker && third < 500 ? 'one' : 'data');
  const folder = chosen(DAMAGEABLE, first) ?? 'mirrors';
  // Several machines share one artifact store.
  const above = folder === ARTIFACTS && worker ? processes.environment.home : data;
  const names = await readdir(join(above, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  const files = names
    .filter((one) => one.isFile() && !one.name.endsWith('.lock'))
    .map((one) => join(one.parentPath, one.name));
  const file = chosen(files.toSorted(), second);
  if (file === undefined) return null;
  const { size } = await stat(file);
  if (third % 2 === 0) await truncate(file, Math.floor(size / 2));
  else await rm(file, { force: true });
  return `${third % 2 === 0 ? 'truncated' : 'removed'} ${file.slice(above.length + 1)}`;
}

async function fillDisk(processes: RoundProcesses, { ms }: PlannedFault): Promise<Done> {
  const data = join(processes.environment.home, 'data');
  const { bavail, bsize } = await statfs(data);
  const file = join(data, 'filler');
  const chunk = Buffer.alloc(2 ** 20);
  try {
    for (let left = bavail * bsize; left > 0; left -= chunk.length)
      await writeFile(file, chunk, { flag: 'a' });
  } catch {
    // Full sooner than was counted: others write as well.
  }
  await delay(ms);
  await rm(file, { force: true });
  return `${Math.round((bavail * bsize) / 2 ** 20)} MB for ${ms} ms`;
}

/** Does one fault, and waits until it is over. */
export async function strike(processes: RoundProcesses, fault: PlannedFault): Promise<Done> {
  switch (fault.kind) {
    case 'app':
      await processes.restartApp();
      return 'the App';
    case 'worker':
      if (!processes.worker()) return null;
      await processes.restartWorker();
      return 'the worker';
    case 'postgres':
      return killDatabase(processes, fault);
    case 'supervisor':
      return killOne(processes, supervisors, fault);
    case 'child':
      return killOne(processes, otherChildren, fault);
    case 'freeze':
      return freeze(processes, fault);
    case 'silence':
      return silence(processes, fault);
    case 'damage':
      return damage(processes, fault);
    case 'disk':
      return fillDisk(processes, fault);
  }
}
