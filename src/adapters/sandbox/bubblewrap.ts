import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildLost, Fault, restarting } from '../../core/model/index.ts';
import type { ExecResult, ExecSpec, Sandbox } from '../../ports/index.ts';
import { openCopies } from './copies.ts';
import { type Delegation, findControlGroups, type GroupHost } from './delegation.ts';
import { type Dialler, openEgress, publicInternet } from './egress.ts';
import { prepareEtc } from './etc.ts';
import { writeBelow } from './homefiles.ts';
import { launch, type Variant } from './launch.ts';
import type { Owner } from './owner.ts';
import { findVariant } from './probe.ts';
import { openProcessTable } from './processes.ts';
import { NEVER_STARTED, provenSandbox } from './proven.ts';
import { readCeilings } from './rlimits.ts';
import { LAUNCHER, type Ran, run } from './run.ts';
import { seccompFilter } from './seccomp.ts';
import type { Architecture } from './syscalls.ts';
import { makeViews } from './views.ts';

export interface BubblewrapOptions {
  /** Folder made by `prepareToolchain`, seen as /opt/runoff. */
  readonly toolchain: string;
  /** The ordinary user all sandboxes run as when Runoff is root; null when Runoff itself is an ordinary user. */
  readonly owner: Owner | null;
  /** Folder for the sandbox's own files; made when absent. `owner` must be able to reach it, nobody else writes it. */
  readonly scratch: string;
  /** Tests only: where `egress` names lead. Default: the public internet. */
  readonly dialler?: Dialler;
  /** Tests only: false to do without overlay mounts as if the kernel refused them. Default: the probe finds out. */
  readonly overlay?: boolean;
  /** Weaker steps may stand in for what this host forbids; `probe` names those taken. Default false: they are refused. */
  readonly allowWeaker?: boolean;
  /** Tests only: where control groups are looked for. Default: this process's own. */
  readonly groupHost?: GroupHost;
}

/** The sandbox on bubblewrap, with a user namespace and an overlay mount of our own around it. Linux, x64 and arm64. */
export function openBubblewrap(options: BubblewrapOptions): Sandbox {
  const { owner, scratch, toolchain, dialler = publicInternet } = options;
  const table = openProcessTable(() => performance.now());
  const copies = openCopies(scratch, owner);

  // Once, when the first command is tried: this process changes its control group by it.
  let delegated: Promise<Delegation> | null = null;
  const delegation = async (): Promise<Delegation> => {
    delegated ??= findControlGroups(options.groupHost);
    return await delegated;
  };

  /** One run of a command on a host that is known to manage `variant`. */
  const runOnce = async (spec: ExecSpec, variant: Variant): Promise<Ran | ChildLost> => {
    if (spec.signal?.aborted) return { kind: 'ended', result: NEVER_STARTED };
    openToOwner(spec);
    writeBelow(spec.area.home, spec.files ?? {}, owner);
    const found = variant.group ? await delegation() : null;
    const egress = spec.egress?.length
      ? await openEgress(spec.egress, folder(scratch, 'egress'), owner, dialler)
      : null;
    try {
      const givenBytes = variant.overlay ? 0 : await copies.ensure(spec.area);
      const etc = prepareEtc(scratch);
      const empty = folder(scratch, 'empty');
      const started = launch({
        spec,
        variant,
        toolchain,
        etc,
        views: variant.overlay ? makeViews({ spec, etc, toolchain, empty, owner }) : [],
        egress: egress?.socket ?? null,
        ceilings: readCeilings(),
      });
      const filter = seccompFilter(process.arch as Architecture);
      const group = found?.kind === 'ready' ? found.groups.open(spec.limits) : null;
      return await run({ spec, launch: started, filter, owner, table, givenBytes, group });
    } finally {
      await egress?.close();
    }
  };

  /** As long as the command has not begun, a launcher that was killed is started again. */
  const execAs = async (spec: ExecSpec, variant: Variant): Promise<ExecResult> =>
    (await restarting<Ran | ChildLost>(LAUNCHER, sleep, () => runOnce(spec, variant))).result;

  return provenSandbox(
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

export function folder(scratch: string, name: string): string {
  const path = join(scratch, name);
  mkdirSync(path, { recursive: true, mode: 0o755 });
  return path;
}

/** A command may close its own folders (chmod 0) to make the next command's set-up fail; their owner opens them again. */
export function openToOwner({ area }: ExecSpec): void {
  for (const path of [area.upper, area.home]) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined)
      throw new Fault('SANDBOX_UNAVAILABLE', `The area's folder ${path} does not exist.`);
    if ((found.mode & 0o700) !== 0o700) chmodSync(path, found.mode | 0o700);
  }
}
