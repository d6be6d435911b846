import { Semaphore } from 'async-mutex';
import type { TestRun } from '../../core/evidence/index.ts';
import { asFault, Fault, type FaultCode, type Surroundings, type Task } from '../../core/model/index.ts';
import type { ReportPlan, ServicePlan, TypeCheck, WorkspacePackage } from '../../core/settings/index.ts';
import type { BaseCheckout, Clock, ExecSpec, RepositorySource, WorkArea } from '../../ports/index.ts';
import type { PatchReader, Remember, World } from '../context.ts';
import { throwIfCancelled } from '../stage.ts';

/** Dependencies of executing checks; they include neither GitHub nor a database. */
export type CheckPorts = Pick<
  World,
  'artifacts' | 'registries' | 'workspaces' | 'sandbox' | 'parallelChecks'
> & {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>;
};

/** The parts of a task that executing checks requires. */
type CheckedTask = Pick<Task, 'runId' | 'base' | 'settings'>;

/** Runs a run's commands, each in a fresh overlay over `base`. */
export interface CheckRunner {
  readonly world: CheckPorts;
  readonly task: CheckedTask;
  readonly source: RepositorySource;
  readonly base: BaseCheckout;
  /** Paths of all files of the base commit. */
  readonly baseFiles: readonly string[];
  /** Those of them that are tests, belong to tests or configure their runners; absent: none is watched. */
  readonly testFiles?: readonly string[];
  /** A candidate's patch, to be applied to that commit. */
  readonly readPatch: PatchReader;
  readonly plan: ReportPlan;
  /** In order; empty for none. */
  readonly types: readonly TypeCheck[];
  /** Packages of the workspace and their dependencies on each other; empty if it has none. */
  readonly packages: readonly WorkspacePackage[];
  /** Services started for each test command, and the variables of CI; null: neither. */
  readonly services: ServicePlan | null;
  /** What the plan leaves out, in sentences for people. */
  readonly notes: readonly string[];
  /** Reuses results for identical trees. */
  readonly remember: Remember;
  /**
   * Whether a result may be remembered: a run of tests, or null for a build or type check that was stopped or failed.
   * Absent: all may.
   */
  readonly keeps?: (run: TestRun | null) => boolean;
  /** The task's text, if known: names in it are not a candidate's private ones. */
  readonly asked?: string;
  /** Those of the base, whose names a run gives to tests whose names change, and its linters'; absent on the base. */
  readonly baseTests?: Pick<TestRun, 'tests' | 'flaky' | 'brokenRules'>;
  /** Base test files that must change according to the brief; absent if there is no brief. */
  readonly declared?: readonly string[];
  /** Host folders mounted read-only below /opt for every command. */
  readonly binds?: ExecSpec['binds'];
  /** Machine and user as commands see them; absent: the usual ones. */
  readonly surroundings?: Surroundings;
  /** Maximum seconds of a test command; absent: `timeout.check`. */
  readonly testSeconds?: number;
  /** Pieces of work at a time, if commands are limited by slots; absent: as many as commands. */
  readonly lanes?: number;
  /**
   * Where commands are limited by slots: runs a command in a slot for which no other command waits. Rejects instead
   * with AbortError once `over`, also a command that has waited for its slot.
   */
  readonly spare?: (over: AbortSignal) => CheckPorts['sandbox'];
  /** Tests run with locked assertion libraries, as far as their language and runner allow. */
  readonly locksAssertions?: true;
  /** A candidate's build or set-up may have run on the files of its areas. */
  readonly codeRan?: boolean;
  readonly signal: AbortSignal;
}

/**
 * How much more work than commands is under way where commands have slots. Our default: what surrounds a command (its
 * area, the database, the disk) needs hardly any processor, so the command of another piece of work runs meanwhile.
 */
const LANES_PER_SLOT = 2;

/**
 * The same runner with at most `parallelChecks` commands at a time, and more work at a time. Time limits of a command
 * start with it, not while it waits. No command starts another one, so whoever has a slot never waits for a second one.
 */
export function withCommandSlots(runner: CheckRunner): CheckRunner {
  const { world } = runner;
  const most = Math.max(1, world.parallelChecks);
  const slots = new Semaphore(most);
  const sandboxAt = (priority: number, over?: AbortSignal): CheckPorts['sandbox'] => ({
    probe: () => world.sandbox.probe(),
    exec(spec) {
      const work = async () => {
        if (over) throwIfCancelled(over);
        return world.sandbox.exec(spec);
      };
      return slots.runExclusive(work, 1, priority);
    },
  });
  return {
    ...runner,
    lanes: LANES_PER_SLOT * most,
    spare: (over) => sandboxAt(-1, over),
    world: { ...world, sandbox: sandboxAt(0) },
  };
}

/** Pieces of work at a time. */
export const lanesOf = ({ lanes, world }: Pick<CheckRunner, 'lanes' | 'world'>): number =>
  lanes ?? world.parallelChecks;

/**
 * Pieces of work at a time where each asks whether there is time for it: no more than commands. All others would be
 * allowed before the first ones have taken any.
 */
export const askingLanesOf = ({ world }: Pick<CheckRunner, 'world'>): number => world.parallelChecks;

/** The same runner without these services, and without what was noted about them. */
export function withoutServices(runner: CheckRunner, refused: readonly string[] = []): CheckRunner {
  let on = runner;
  for (const name of refused) {
    const services = on.services?.without(name) ?? null;
    const noted = new Set(on.services?.notes);
    const notes = [...on.notes.filter((note) => !noted.has(note)), ...(services?.notes ?? [])];
    on = { ...on, services, notes };
  }
  return on;
}

/**
 * Milliseconds before work is repeated in another fresh area while its commands are ended by signals, and likewise
 * while sandboxes or Runoff's own programs are killed: five attempts in all. Our default. Commands that end by a signal
 * in all of them do so by themselves.
 */
const AREA_WAITS_MS: readonly number[] = [100, 500, 2_000, 4_000];

/**
 * Milliseconds before a build or set-up is repeated whose output shows that a program inside was killed. Our default.
 * Once only: a candidate can print these words.
 */
const SHOWN_KILL_WAIT_MS = 2_000;

/** Faults after which work is repeated in another area before they count as an outage. */
const REPEATED: ReadonlySet<FaultCode> = new Set(['PROGRAM_KILLED', 'RESOURCES_EXHAUSTED']);

/** An area whose work can be repeated in another one. */
export interface CheckArea extends WorkArea {
  readonly repeatable?: boolean;
  /** The same for work whose output shows a kill. */
  readonly repeatableIfShown?: boolean;
}

/** A command failed, and its output shows that a program inside was killed. */
export class KillShown extends Error {}

/** The area of a built tree, whose files are the topmost layer of the areas in which its tests run. */
export interface BuiltArea extends WorkArea {
  /** It was set up with packages of its own, so those of the base commit do not lie below it. */
  readonly ownPackages?: boolean;
}

/** A command was ended by a signal that Runoff did not send: by itself, the machine, or a person. */
export class EndedBySignal extends Error {}

/**
 * Opens a fresh area and does the work in it; the area is kept. The work is repeated in another area if the sandbox or
 * one of Runoff's own programs is killed, if a command is ended by a signal (at most `signalRepeats` times, default
 * all), and once if the output of a build or set-up shows a kill. In the last area a signal counts as the command's
 * result; a sandbox or program killed there rejects with PROGRAM_KILLED or RESOURCES_EXHAUSTED.
 */
export async function inRetriedArea<T>(
  runner: AreaRunner,
  id: string,
  work: (area: WorkArea) => Promise<T>,
  { signalRepeats = AREA_WAITS_MS.length }: { readonly signalRepeats?: number } = {},
): Promise<{ readonly area: WorkArea; readonly result: T }> {
  const waits = {
    signals: AREA_WAITS_MS.slice(0, signalRepeats),
    kills: [...AREA_WAITS_MS],
    shown: [SHOWN_KILL_WAIT_MS],
  };
  for (;;) {
    const area = await runner.world.workspaces.open(runner.base, id);
    const check: CheckArea = {
      ...area,
      repeatable: waits.signals.length > 0,
      repeatableIfShown: waits.shown.length > 0,
    };
    try {
      return { area, result: await work(check) };
    } catch (thrown) {
      await runner.world.workspaces.remove(area);
      const wait = waitsAfter(thrown, waits)?.shift();
      if (wait === undefined) throw asLasting(thrown);
      await runner.world.clock.sleep(wait, runner.signal);
    }
  }
}

interface AreaWaits {
  readonly signals: number[];
  readonly kills: number[];
  readonly shown: number[];
}

/** The waits left before work is repeated after this; null if it is not repeated. */
function waitsAfter(thrown: unknown, { signals, kills, shown }: AreaWaits): number[] | null {
  if (thrown instanceof EndedBySignal) return signals;
  if (thrown instanceof KillShown) return shown;
  return isRepeated(thrown) ? kills : null;
}

/** An outage that lasted through all attempts. Work that contains this work is not repeated because of it. */
class LastingFault extends Fault {}

const isRepeated = (thrown: unknown): boolean =>
  !(thrown instanceof LastingFault) && REPEATED.has(asFault(thrown).code);

function asLasting(thrown: unknown): unknown {
  if (!isRepeated(thrown)) return thrown;
  const { code, message } = asFault(thrown);
  return new LastingFault(code, message, { cause: thrown });
}

type AreaRunner = Pick<CheckRunner, 'world' | 'base' | 'signal'>;

/** Like `inRetriedArea`, but always removes the area afterwards. */
export async function inArea<T>(
  runner: AreaRunner,
  id: string,
  work: (area: WorkArea) => Promise<T>,
): Promise<T> {
  const { area, result } = await inRetriedArea(runner, id, work);
  await runner.world.workspaces.remove(area);
  return result;
}

/**
 * Caches in memory for its own lifetime, on top of the longer-lived cache `beyond`. Concurrent calls share one execution,
 * also of work whose result is not kept.
 */
export function rememberInMemory(beyond: Remember = (_, work) => work()): Remember {
  const known = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>, keeps?: (result: T) => boolean): Promise<T> => {
    const before = known.get(key);
    // The caller that chose the key determines the type.
    if (before) return before as Promise<T>;
    const answer = beyond(key, work, keeps);
    known.set(key, answer);
    const forget = (): boolean => known.delete(key);
    answer.then((result) => keeps?.(result) === false && forget(), forget);
    return answer;
  };
}
