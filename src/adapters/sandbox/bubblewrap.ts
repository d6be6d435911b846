import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildLost, restarting } from '../../core/model/index.ts';
import type { ExecResult, ExecSpec, Sandbox } from '../../ports/index.ts';
import { folder, openCopies, openToOwner, writeBelow } from './areas.ts';
import { type BoxEnd, startBox } from './box.ts';
import { type ControlGroup, type Delegation, findControlGroups, type GroupHost } from './control-groups.ts';
import { type Dialler, openEgress, publicInternet, withHosts } from './egress/index.ts';
import { makeViews, prepareEtc } from './filesystem.ts';
import { readHardLimits } from './kernel-tables.ts';
import { type Launch, planLaunch, type Variant } from './launch.ts';
import { LAUNCHER, launchEnd } from './launch-end.ts';
import { openPipeMaker, orDiscard, type PipeMaker } from './output-pipes.ts';
import { findVariant } from './probe.ts';
import { NEVER_STARTED, probedSandbox } from './probed.ts';
import { type Owner, openProcessTable, type ProcessTable } from './processes.ts';
import { seccompFilter } from './seccomp.ts';
import { type Ended, type Supervised, supervise } from './supervise.ts';
import type { Architecture } from './syscalls.ts';
import { credentialsInUsr } from './tools/index.ts';
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
  /** Tests only: what commands find empty. Default: what may hold a credential in /usr. */
  readonly hidden?: readonly string[];
  /** Tests only: where to look for control groups. Default: those of this process. */
  readonly groupHost?: GroupHost;
}

/** The sandbox with bubblewrap, inside a user namespace and an overlay mount that we create. Linux, x64 and arm64. */
export function openBubblewrap(options: BubblewrapOptions): Sandbox {
  const { owner, scratch, toolchain, dialler = publicInternet } = options;
  const table = openProcessTable(() => performance.now());
  const copies = openCopies(scratch, owner);
  const pipes = openPipeMaker();

  // Found once, at the first command: they seldom change.
  let found: Promise<readonly string[]> | null = null;
  const hidden = async (): Promise<readonly string[]> => {
    found ??= options.hidden ? Promise.resolve(options.hidden) : credentialsInUsr(owner);
    return await found;
  };

  // Done once, at the first command: it moves this process to another control group.
  let delegated: Promise<Delegation> | null = null;
  const delegation = async (): Promise<Delegation> => {
    delegated ??= findControlGroups(options.groupHost);
    return await delegated;
  };

  /** Runs a command once, on a host that is known to support `variant`. */
  const runOnce = async (spec: ExecSpec, variant: Variant): Promise<Ended | ChildLost> => {
    if (spec.signal?.aborted) return { kind: 'ended', result: NEVER_STARTED };
    openToOwner(spec);
    // Before any file is written: a copy of a layer would replace it.
    const givenBytes = variant.overlay ? 0 : await copies.ensure(spec.area);
    writeBelow(spec.area.home, spec.files ?? {}, owner);
    const groups = variant.group ? await delegation() : null;
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
        hidden: await hidden(),
      });
      const filter = seccompFilter(process.arch as Architecture);
      const group = groups?.kind === 'ready' ? groups.groups.open(spec.limits) : null;
      const end = await runLaunch({ spec, launch: started, filter, owner, table, givenBytes, group, pipes });
      return end.kind === 'ended' ? { ...end, result: withHosts(end.result, egress) } : end;
    } finally {
      await egress?.close();
    }
  };

  /** A launcher that was killed before the command began is started again. */
  const execAs = async (spec: ExecSpec, variant: Variant): Promise<ExecResult> =>
    (await restarting<Ended | ChildLost>(LAUNCHER, sleep, () => runOnce(spec, variant))).result;

  return probedSandbox(
    'bubblewrap',
    () =>
      findVariant({
        owner,
        scratch,
        overlay: options.overlay ?? true,
        allowWeaker: options.allowWeaker ?? false,
        delegation,
        hidden,
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
  readonly pipes: PipeMaker;
}

/**
 * Runs a launch to its end within its limits. Returns `lost` if its launcher was killed before the command began, so
 * that it can be retried. Rejects with PROGRAM_KILLED if it was killed later, because it is unknown how far the command
 * got.
 */
async function runLaunch(input: RunInput): Promise<Ended | ChildLost> {
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
): Ended | ChildLost {
  const reason = stopped ?? (outOfMemory ? 'memory' : null);
  const how = reason === null ? launchEnd(end, rest.stderr) : { exitCode: null };
  return 'kind' in how ? how : { kind: 'ended', result: { ...how, stopped: reason, ...rest } };
}

async function superviseBox(input: RunInput): Promise<Supervised<BoxEnd>> {
  const { spec, launch, filter, owner, table, givenBytes, group } = input;
  const disk = await measureDiskBefore(spec, givenBytes);
  const output = await input.pipes.open();
  const box = orDiscard(output, () =>
    startBox(launch, spec, { filter, groupFd: group?.fd ?? null, output }, owner),
  );
  const memoryBytes = group === null ? spec.limits.memoryBytes : null;
  return await supervise(
    {
      ...box,
      kill() {
        try {
          box.kill();
        } finally {
          group?.kill();
        }
      },
      async watch(over) {
        const init = await box.init;
        if (init === null) return null;
        // The system call filter lets no program hide.
        const { onComputing, limits } = spec;
        const { diskBytes } = limits;
        const watched = { ...disk, init, memoryBytes, diskBytes, mayHide: false, onComputing };
        return await watchLimits(watched, table, owner, over);
      },
      lastLook: () => checkDiskAtEnd(disk, owner),
    },
    spec,
  );
}
