import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BaseCheckout, ExecResult, Sandbox, Workspaces } from '../../ports/index.ts';
import type { Areas } from './areas.ts';
import type { Bases } from './bases.ts';
import type { Collector, SetupTraces } from './collect.ts';
import { abortError } from './faults.ts';
import { exists, keyOf, type Layout, makeWhole } from './layout.ts';
import { removeTree } from './tools.ts';
import { shareWork } from './turns.ts';

type Install = Workspaces['install'];
type Setup = Parameters<Install>[1];
type Installed = Awaited<ReturnType<Install>>;

/** Characters of output that are kept of a setup that failed. */
const TAIL = 4_000;

export interface SetupLayers {
  install: Install;
  /** What setup changed in a base with a layer; null for one without. */
  traces(base: BaseCheckout): Promise<SetupTraces | null>;
}

export interface SetupParts {
  readonly layout: Layout;
  readonly areas: Areas;
  readonly bases: Bases;
  readonly collector: Collector;
  readonly sandbox: Sandbox;
}

export function openSetup(parts: SetupParts): SetupLayers {
  const { layout, areas, sandbox } = parts;
  const once = shareWork<Installed>();

  const layerOf = (base: BaseCheckout, command: string): string =>
    join(layout.base(base.repositoryKey, base.sha), 'layers', keyOf(command));

  async function run(
    base: BaseCheckout,
    setup: Setup,
    layer: string,
    signal: AbortSignal | undefined,
  ): Promise<Installed> {
    const area = await areas.open(base, `setup-${randomBytes(8).toString('hex')}`);
    try {
      const result = await sandbox.exec({
        area,
        argv: ['sh', '-c', setup.command],
        limits: setup.limits,
        ...(setup.egress.length > 0 ? { egress: setup.egress } : {}),
        ...(signal ? { signal } : {}),
      });
      if (result.stopped === 'cancelled') throw abortError();
      const why = failure(setup.command, result);
      if (why !== null) return { kind: 'failed', why, tail: tailOf(result) };
      const traces = await parts.collector.traces(base, area, await parts.bases.facts(base), signal);
      await makeWhole(
        layer,
        async (folder) => {
          await mkdir(folder, { recursive: true });
          await writeFile(join(folder, 'brought'), traces.brought);
          await writeFile(join(folder, 'raw'), traces.raw);
          // Hooks that setup installs would run on every commit of a coder.
          await removeTree(join(area.upper, '.git'));
          await rename(area.upper, join(folder, 'files'));
        },
        removeTree,
      );
      return withLayer(base, layer);
    } finally {
      await areas.remove(area.id);
    }
  }

  return {
    async install(base, setup, signal) {
      const layer = layerOf(base, setup.command);
      const find = async () =>
        (await exists(layer)) ? withLayer(base, layer) : run(base, setup, layer, signal);
      return once(layer, find, signal);
    },

    async traces(base) {
      const [top] = base.layers;
      if (top === undefined) return null;
      const folder = join(top, '..');
      return { brought: await readFile(join(folder, 'brought')), raw: await readFile(join(folder, 'raw')) };
    },
  };
}

const withLayer = (base: BaseCheckout, layer: string): Installed => ({
  kind: 'ready',
  base: { ...base, layers: [join(layer, 'files')] },
});

function failure(command: string, result: ExecResult): string | null {
  const name = `\`${command.split('\n')[0]?.slice(0, 120)}\``;
  if (result.stopped !== null)
    return `${name} was stopped after ${Math.round(result.ms / 1000)} s (${result.stopped}).`;
  if (result.exitCode === null) return `${name} was ended by a signal.`;
  return result.exitCode === 0 ? null : `${name} ended with exit code ${result.exitCode}.`;
}

const tailOf = (result: ExecResult): string => `${result.stdout}\n${result.stderr}`.trim().slice(-TAIL);
