import { asFault, type Surroundings, type Task } from '../../core/model/index.ts';
import type { ReportPlan, ServicePlan, WorkspacePackage } from '../../core/settings/index.ts';
import type { BaseCheckout, Clock, ExecSpec, RepositorySource, WorkArea } from '../../ports/index.ts';
import type { World } from '../context.ts';

/** What executing takes of the world: neither GitHub nor a database is near it. */
export type CheckPorts = Pick<World, 'artifacts' | 'workspaces' | 'sandbox' | 'parallelChecks'> & {
  readonly clock: Pick<Clock, 'elapsed'>;
};

/** What executing takes of a task. */
type CheckedTask = Pick<Task, 'runId' | 'base' | 'settings'>;

/** One place where commands of a run are executed: a fresh overlay over `base`. */
export interface CheckRunner {
  readonly world: CheckPorts;
  readonly task: CheckedTask;
  readonly source: RepositorySource;
  readonly base: BaseCheckout;
  /** Paths of all files of the base commit. */
  readonly baseFiles: readonly string[];
  readonly plan: ReportPlan;
  /** Packages of the workspace, and who depends on whom; empty where there is none. */
  readonly packages: readonly WorkspacePackage[];
  /** Services that run beside each command of the tests; null for none. */
  readonly services: ServicePlan | null;
  /** What the plan leaves out, in sentences for people. */
  readonly notes: readonly string[];
  /** What was executed once on a tree is not executed on an equal one. */
  readonly remember: Remember;
  /** The task's own words, where they are known: a name that stands in them is nobody's private one. */
  readonly asked?: string;
  /** Test files of the base that the brief says must change; absent where there is no brief. */
  readonly declared?: readonly string[];
  /** Host folders that every command sees, read-only, below /opt. */
  readonly binds?: ExecSpec['binds'];
  /** What commands see of the machine and its user; absent: the usual. */
  readonly surroundings?: Surroundings;
  readonly signal: AbortSignal;
}

/**
 * Fresh areas in which the same work is tried while its commands are ended by signals, and as many for sandboxes that are
 * killed; our default. Commands that signals end in all of them end so by themselves.
 */
const MAX_AREA_ATTEMPTS = 5;

/** An area whose work can be done again in another one. */
export interface CheckArea extends WorkArea {
  readonly repeatable?: boolean;
}

/** A signal that Runoff did not send ended a command: the command itself, the machine, or a person may have. */
export class EndedBySignal extends Error {}

/**
 * Opens a fresh area and does the work in it; the area stays. Where the sandbox was killed, or a signal ended a command in
 * it, the work is done again in another area. In the last of them the end of a command by a signal is its result; a
 * sandbox that is killed there as well rejects with PROGRAM_KILLED.
 */
export async function inRetriedArea<T>(
  runner: Pick<CheckRunner, 'world' | 'base'>,
  id: string,
  work: (area: WorkArea) => Promise<T>,
): Promise<{ readonly area: WorkArea; readonly result: T }> {
  const left = { signals: MAX_AREA_ATTEMPTS - 1, kills: MAX_AREA_ATTEMPTS - 1 };
  for (;;) {
    const area = await runner.world.workspaces.open(runner.base, id);
    const check: CheckArea = { ...area, repeatable: left.signals > 0 };
    try {
      return { area, result: await work(check) };
    } catch (thrown) {
      await runner.world.workspaces.remove(area);
      if (thrown instanceof EndedBySignal) left.signals -= 1;
      else if (asFault(thrown).code !== 'PROGRAM_KILLED' || left.kills === 0) throw thrown;
      else left.kills -= 1;
    }
  }
}

/** The same with an area that is removed, whatever happens. */
export async function inArea<T>(
  runner: Pick<CheckRunner, 'world' | 'base'>,
  id: string,
  work: (area: WorkArea) => Promise<T>,
): Promise<T> {
  const { area, result } = await inRetriedArea(runner, id, work);
  await runner.world.workspaces.remove(area);
  return result;
}

/**
 * Does work once for each key, and gives the same answer to whoever asks again, also while the work is under way. Answers
 * are plain JSON, so that they can be kept where a resumed run finds them. A key says all that the answer depends on, so it
 * can be long: whoever stores it hashes it. Work that fails is forgotten.
 */
export type Remember = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Remembers in memory, for as long as it is held itself, what `beyond` may have kept for longer. */
export function rememberInMemory(beyond: Remember = (_, work) => work()): Remember {
  const known = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = known.get(key);
    // Whoever chose the key chose the type with it.
    if (before) return before as Promise<T>;
    const answer = beyond(key, work);
    known.set(key, answer);
    answer.catch(() => known.delete(key));
    return answer;
  };
}
