import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildLost, Fault, programKilled, restarting, signalIn } from '../../core/model/index.ts';
import type { ExecResult, ExecSpec, Sandbox } from '../../ports/index.ts';
import { folder, openCopies, openToOwner, writeBelow } from './areas.ts';
import { type BoxEnd, startBox } from './box.ts';
import { type ControlGroup, type Delegation, findControlGroups, type GroupHost } from './control-groups.ts';
import { type Dialler, openEgress, publicInternet, withHosts } from './egress/index.ts';
import { INSIDE, makeViews, prepareEtc } from './filesystem.ts';
import { type Launch, planLaunch, type Variant } from './launch.ts';
import { findVariant } from './probe.ts';
import { NEVER_STARTED, probedSandbox } from './probed.ts';
import { type Owner, openProcessTable, type ProcessTable, readHardLimits } from './processes.ts';
import { seccompFilter } from './seccomp.ts';
import { DEADLY_SIGNALS, type Supervised, supervise } from './supervise.ts';
import type { Architecture } from './syscalls.ts';
import { checkDiskAtEnd, measureDiskBefore, watchLimits } from './watchdog.ts';

export interface BubblewrapOptions {
  /** Folder created by `prepareToolchain`, visible as /opt/toolchain. */
  readonly toolchain: string;
  /** The unprivileged user of all sandboxes if Runoff is root; null if Runoff itself is unprivileged. */
  readonly owner: Owner | null;
  /**
   * Folder for the sandbox's own files; created if it does not exist. `owner` must be able to reach it; no one else may
   * write to it.
   */
  readonly scratch: string;
  /** Tests only: where `egress` names lead. Default: the public internet. */
  readonly dialler?: Dialler;
  /** Tests only: false disables overlay mounts, as if the kernel refused them. Default: the probe decides. */
  readonly overlay?: boolean;
  /**
   * Whether weaker protections may replace what this host does not allow; `probe` names those in use. Default: false.
   */
  readonly allowWeaker?: boolean;
  /** Tests only: where to look for control groups. Default: those of this process. */
  readonly groupHost?: GroupHost;
}

/** The sandbox with bubblewrap, inside a user namespace and an overlay mount that we create. Linux, x64 and arm64. */
export function openBubblewrap(options: BubblewrapOptions): Sandbox {
  const { owner, scratch, toolchain, dialler = publicInternet } = options;
  const table = openProcessTable(() => performance.now());
  const copies = openCopies(scratch, owner);

  // Done once, at the first command: it moves this process to another control group.
  let delegated: Promise<Delegation> | null = null;
  const delegation = async (): Promise<Delegation> => {
    delegated ??= findControlGroups(options.groupHost);
    return await delegated;
  };

  /** Runs a command once, on a host that is known to support `variant`. */
  const runOnce = async (spec: ExecSpec, variant: Variant): Promise<LaunchEnded | ChildLost> => {
    if (spec.signal?.aborted) return { kind: 'ended', result: NEVER_STARTED };
    openToOwner(spec);
    // Before any file is written: a copy of a layer would replace it.
    const givenBytes = variant.overlay ? 0 : await copies.ensure(spec.area);
    writeBelow(spec.area.home, spec.files ?? {}, owner);
    const found = variant.group ? await delegation() : null;
    const egress = await openEgress(spec, folder(scratch, 'egress'), owner, dialler);
    try {
      const etc = prepareEtc(scratch, spec.surroundings);
      const empty = folder(scratch, 'empty');
      const started = planLaunch({
        spec,
        variant,
        toolchain,
        etc,
        views: variant.overlay ? makeViews({ spec, etc, toolchain, empty, owner }) : [],
        egress: egress?.socket ?? null,
        ceilings: readHardLimits(),
      });
      const filter = seccompFilter(process.arch as Architecture);
      const group = found?.kind === 'ready' ? found.groups.open(spec.limits) : null;
      const end = await runLaunch({ spec, launch: started, filter, owner, table, givenBytes, group });
      return end.kind === 'ended' ? { ...end, result: withHosts(end.result, egress) } : end;
    } finally {
      await egress?.close();
    }
  };

  /** A launcher that was killed before the command began is started again. */
  const execAs = async (spec: ExecSpec, variant: Variant): Promise<ExecResult> =>
    (await restarting<LaunchEnded | ChildLost>(LAUNCHER, sleep, () => runOnce(spec, variant))).result;

  return probedSandbox(
    'bubblewrap',
    () =>
      findVariant({
        owner,
        scratch,
        overlay: options.overlay ?? true,
        allowWeaker: options.allowWeaker ?? false,
        delegation,
        exec: execAs,
      }),
    (spec, { variant }) => execAs(spec, variant),
  );
}

interface RunInput {
  readonly spec: ExecSpec;
  readonly launch: Launch;
  readonly filter: Buffer;
  readonly owner: Owner | null;
  readonly table: ProcessTable;
  /** Bytes in the area that the command did not write, if the area is a copy. */
  readonly givenBytes: number;
  /**
   * Enforces the limits of memory and processes; null: memory is watched instead. The caller creates it, and `run`
   * closes it.
   */
  readonly group: ControlGroup | null;
}

/** How a launch ended. */
interface LaunchEnded {
  readonly kind: 'ended';
  readonly result: ExecResult;
}

/**
 * Runs a launch to its end within its limits. Returns `lost` if its launcher was killed before the command began, so
 * that it can be retried. Rejects with PROGRAM_KILLED if it was killed later, because it is unknown how far the command
 * got.
 */
async function runLaunch(input: RunInput): Promise<LaunchEnded | ChildLost> {
  const { group } = input;
  if (group === null) return launchResult(await superviseBox(input), false);
  let followed: Supervised<BoxEnd>;
  try {
    followed = await superviseBox(input);
  } catch (thrown) {
    await group.close();
    throw thrown;
  }
  return launchResult(followed, (await group.close()).outOfMemory);
}

function launchResult(
  { end, stopped, ...rest }: Supervised<BoxEnd>,
  outOfMemory: boolean,
): LaunchEnded | ChildLost {
  const reason = stopped ?? (outOfMemory ? 'memory' : null);
  const failure = reason === null ? launcherLost(end, rest.stderr) : null;
  if (failure?.kind === 'lost' && end.begun) throw programKilled(LAUNCHER, failure);
  if (failure !== null) return failure;
  const code = reason === null ? launchExitCode(end, rest.stderr) : null;
  return { kind: 'ended', result: { exitCode: code, stopped: reason, ...rest } };
}

async function superviseBox(input: RunInput): Promise<Supervised<BoxEnd>> {
  const { spec, launch, filter, owner, table, givenBytes, group } = input;
  const disk = await measureDiskBefore(spec, givenBytes);
  const box = startBox(launch, spec, { filter, groupFd: group?.fd ?? null }, owner);
  const memoryBytes = group === null ? spec.limits.memoryBytes : null;
  return await supervise(
    {
      ...box,
      kill() {
        box.kill();
        group?.kill();
      },
      async watch(over) {
        const init = await box.init;
        if (init === null) return null;
        const watched = { ...disk, init, memoryBytes, diskBytes: spec.limits.diskBytes };
        return await watchLimits(watched, table, owner, over);
      },
      lastLook: () => checkDiskAtEnd(disk, owner),
    },
    spec,
  );
}

/** Messages of programs on a machine that is temporarily short of a resource. */
const SHORTAGE =
  /Resource temporarily unavailable|Cannot allocate memory|Too many open files|Text file busy|No child processes/;

/** Message of unshare (util-linux) if its child was killed, however early. */
const CHILD_KILLED =
  /^unshare: (?:child exit|waitpid|signal handler reset|sigprocmask unblock|child kill) failed/m;

/** Message of mount (util-linux) if a lower folder of an overlay does not exist. */
const LAYER_GONE = /^mount: [^\n]*special device overlay does not exist/m;
const LAYER_REPLACED = 'could not be set up: a folder that it stands on is gone, or is just being made again';

const NOT_STARTED = /^bwrap: execvp [^\n]*: ([^\n:]+)\n/;

/** Name of the launcher, if it is unknown which of its programs was killed. */
const LAUNCHER = 'The launcher of a sandbox (unshare, bwrap)';

/**
 * Whether a program of the launcher was killed, or could not be started for lack of a resource. The command itself is
 * not considered: its end is reported on a descriptor that it does not have, and if there is a report, all other
 * programs were alive.
 */
function launcherLost({ reported, code, entered, begun, refused }: BoxEnd, stderr: string): ChildLost | null {
  if (reported !== null) return null;
  if (refused !== null) return { kind: 'lost', how: `could not be started: ${refused}` };
  if (code === null) return { kind: 'lost', program: 'unshare, which starts a sandbox,', how: 'was killed' };
  const signal = signalIn(code);
  if (signal !== null) return { kind: 'lost', how: `was killed by signal ${signal}` };
  if (NOT_STARTED.test(stderr)) return null;
  // `unshare` is done by then; its message is about the end of its child.
  if (begun || (entered && /^unshare: /m.test(stderr)) || CHILD_KILLED.test(stderr)) {
    return { kind: 'lost', program: 'bwrap, which makes a sandbox,', how: 'was killed' };
  }
  if (LAYER_GONE.test(stderr)) return { kind: 'lost', program: 'The sandbox', how: LAYER_REPLACED };
  return SHORTAGE.test(stderr) ? { kind: 'lost', how: `could not start (${lastErrorLines(stderr)})` } : null;
}

const lastErrorLines = (stderr: string): string => stderr.trim().split('\n').slice(-3).join('; ');

function launchExitCode({ reported, code }: BoxEnd, stderr: string): number | null {
  if (reported !== null) return DEADLY_SIGNALS.includes(reported - 128) ? null : reported;
  const notStarted = NOT_STARTED.exec(stderr);
  if (notStarted !== null) return notStarted[1] === 'No such file or directory' ? 127 : 126;
  const why = lastErrorLines(stderr) || `the launcher ended with code ${code}`;
  throw new Fault('SANDBOX_UNAVAILABLE', `The sandbox could not be set up for ${INSIDE.repo}: ${why}`);
}
