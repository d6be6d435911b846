import { createHash } from 'node:crypto';
import { chownSync, mkdirSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildLost, restarting } from '../../../core/model/index.ts';
import type { ExecResult, ExecSpec, Sandbox } from '../../../ports/index.ts';
import { folder, openCopies, openToOwner, writeBelow } from '../areas.ts';
import { type Dialler, type EgressProxy, openEgress, publicInternet, withHosts } from '../egress/index.ts';
import { readHardLimits } from '../kernel-tables.ts';
import { NEVER_STARTED, probedSandbox } from '../probed.ts';
import { type Owner, openProcessTable, startedAt } from '../processes.ts';
import { ownFolder } from '../scratch.ts';
import type { Ended } from '../supervise.ts';
import {
  CONTAINER_LABEL,
  type ControlSocket,
  containerName,
  type EngineName,
  entryOrder,
  openControlSocket,
  removeLeftovers,
} from './engine.ts';
import { type ContainerSetup, prepareContainerFiles } from './flags.ts';
import { findSetup } from './probe.ts';
import { clientName, runContainer } from './run.ts';

export interface ContainerOptions {
  /** Default: podman if it works, else docker. */
  readonly engine?: EngineName;
  /**
   * Image of the containers, already on this machine, with glibc, a shell, git, and what the tests of repositories
   * need.
   */
  readonly image: string;
  /** Folder created by `prepareToolchain`, visible as /opt/toolchain. */
  readonly toolchain: string;
  /** The unprivileged user of all commands if Runoff is root; null if Runoff itself is unprivileged. */
  readonly owner: Owner | null;
  /**
   * Folder for the sandbox's own files; created if it does not exist. `owner` must be able to reach it; no one else may
   * write to it.
   */
  readonly scratch: string;
  /** Tests only: where `egress` names lead. Default: the public internet. */
  readonly dialler?: Dialler;
  /** Where the engine stores its data (HOME, DOCKER_HOST, …). Default: this process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The sandbox with one container per command, by rootless podman, podman as root, or docker. Linux. */
export function openContainer(options: ContainerOptions): Sandbox {
  const { owner, scratch, toolchain, image, dialler = publicInternet } = options;
  const table = openProcessTable(() => performance.now());
  const copies = openCopies(scratch, owner);
  const app = `${process.pid}-${startedAt(process.pid) ?? '0'}`;
  const place = createHash('sha256').update(scratch).digest('hex').slice(0, 16);

  const runOnce = async (spec: ExecSpec, setup: ContainerSetup): Promise<Ended | ChildLost> => {
    if (spec.signal?.aborted) return { kind: 'ended', result: NEVER_STARTED };
    openToOwner(spec);
    const givenBytes = await copies.ensure(spec.area);
    writeBelow(spec.area.home, spec.files ?? {}, owner);
    const own = ownFolder(folder(scratch, 'containers'), 'container');
    mkdirSync(own, { mode: 0o711 });
    if (owner !== null) chownSync(own, owner.uid, owner.gid);
    let egress: EgressProxy | null = null;
    let control: ControlSocket | null = null;
    try {
      egress = await openEgress(spec, folder(scratch, 'egress'), owner, dialler);
      control = await openControlSocket(own, entryOrder(spec, egress !== null));
      const end = await runContainer({
        spec,
        setup,
        image,
        name: containerName(app),
        labels: [`${CONTAINER_LABEL}=${place}`],
        toolchain,
        files: prepareContainerFiles(scratch, setup, spec.surroundings),
        controlSocket: control.socket,
        egress: egress?.socket ?? null,
        ceilings: readHardLimits(),
        control,
        owner,
        table,
        givenBytes,
      });
      return end.kind === 'ended' ? { ...end, result: withHosts(end.result, egress) } : end;
    } finally {
      await control?.close();
      await egress?.close();
      rmSync(own, { recursive: true, force: true });
    }
  };

  /** A client of the engine that was killed before the command began is started again. */
  const execAs = async (spec: ExecSpec, setup: ContainerSetup): Promise<ExecResult> =>
    (await restarting<Ended | ChildLost>(clientName({ setup }), sleep, () => runOnce(spec, setup))).result;

  return probedSandbox(
    'container',
    () => findSetup({ ...options, exec: execAs, sweep: (engine) => removeLeftovers(engine, place) }),
    (spec, { setup }) => execAs(spec, setup),
  );
}
