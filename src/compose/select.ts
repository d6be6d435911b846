import { createHash } from 'node:crypto';
import { chown, mkdir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openArtifacts } from '../adapters/artifacts/index.ts';
import { memoryLedger, openGateway } from '../adapters/gateway/index.ts';
import { openWorkspaces } from '../adapters/git/index.ts';
import { openModel } from '../adapters/models/index.ts';
import { copyFault, discardFolder, ownFolder, runCommand } from '../adapters/sandbox/index.ts';
import { systemClock, systemRandom } from '../adapters/system/index.ts';
import { Fault } from '../core/model/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type { BaseCheckout } from '../ports/index.ts';
import type { SelectTools } from '../runs/index.ts';
import type { Selecting, SelectingHow } from '../shell.ts';
import { providersOf } from './connections.ts';
import { dataPaths, openDataFolder, promptsOf } from './data-folder.ts';
import { openLog } from './instrumentation.ts';
import { openSandbox, ownerOf, toolchainsOf } from './sandbox.ts';

/** Folders of installed packages that are in a work tree but not part of the repository. */
const INSTALLED = ['node_modules', '.venv', 'venv', 'vendor'] as const;

/**
 * Opens the dependencies of `runoff select`: a sandbox, and a folder for this process alone, which is removed at the
 * end. Nothing is shared with runs.
 */
export async function openSelecting(
  operator: Operator,
  { atOnce, judgesUsd }: SelectingHow,
): Promise<Selecting> {
  const owner = ownerOf(operator);
  await openDataFolder(operator.data, owner);
  const sandbox = await openSandbox(operator);
  const judges = judgesUsd === undefined ? null : openJudges(operator, judgesUsd);
  const dir = ownFolder(dataPaths(operator.data).scratch, 'select');
  await mkdir(dir, { recursive: true, mode: 0o711 });
  const log = openLog(operator);
  const lend = openLending(join(dir, 'lent'), owner);
  return {
    tools: {
      artifacts: openArtifacts(join(dir, 'artifacts')),
      workspaces: openWorkspaces({ dataDir: dir, sandbox, owner, log }),
      sandbox,
      toolchains: toolchainsOf(operator, sandbox),
      parallelChecks: atOnce,
      clock: systemClock,
      lend,
      newRunId: () => systemRandom.runId(),
      ...(judges ? { judging: judges.judging } : {}),
    },
    async close() {
      await judges?.close();
      await discardFolder(dir);
    },
  };
}

/** Models as judges, through a gateway of this process. Its spending is not stored in a database. */
function openJudges(
  operator: Operator,
  budgetUsd: number,
): { readonly judging: NonNullable<SelectTools['judging']>; close(): Promise<void> } {
  const gateway = openGateway({
    dir: dataPaths(operator.data).sockets,
    providers: providersOf(operator),
    prices: operator.modelPrices,
    dayCaps: { repositoryUsd: operator.max.budgetRepositoryDay, everythingUsd: operator.max.budgetDay },
    ledger: memoryLedger(),
    clock: systemClock,
    log: openLog(operator),
  });
  const models = operator.multiAgent.models.length > 0 ? operator.multiAgent.models : gateway.defaultModels();
  if (models.length === 0)
    throw new Fault('MODEL_KEY_MISSING', '`--judges` needs a model, and no key of a provider is set.');
  return {
    judging: {
      gateway,
      model: openModel(),
      clock: systemClock,
      random: systemRandom,
      models,
      instructions: promptsOf(operator).judge,
      budgetUsd,
    },
    close: () => gateway.close(),
  };
}

type Lend = (base: BaseCheckout, top: string) => Promise<BaseCheckout>;

/**
 * Copies each folder of packages once for all requests, so that sandboxes can read it and nothing can write to the
 * original.
 */
function openLending(dir: string, owner: { readonly uid: number; readonly gid: number } | null): Lend {
  const copies = new Map<string, Promise<string>>();
  const copyOf = (from: string, name: string): Promise<string> => {
    const key = `${name}\0${from}`;
    const made = copies.get(key) ?? copyFolder(dir, { from, name, key, owner });
    copies.set(key, made);
    return made;
  };
  return async (base, top) => {
    const layers: string[] = [];
    for (const name of INSTALLED) {
      // Folders that are part of the repository are in the checkout already.
      if (await isFolder(join(base.lower, name))) continue;
      const path = join(top, name);
      if (!(await isFolder(path))) continue;
      // A link may lead to the packages of another work tree, but an unpacked archive can also contain one to `~/.ssh`.
      const real = await realpath(path);
      if (basename(real) === name) layers.push(await copyOf(real, name));
    }
    return { ...base, layers: [...layers, ...base.layers] };
  };
}

interface Copy {
  readonly from: string;
  readonly name: string;
  readonly key: string;
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

async function copyFolder(dir: string, { from, name, key, owner }: Copy): Promise<string> {
  const layer = join(dir, createHash('sha256').update(key).digest('hex').slice(0, 24));
  await mkdir(layer, { recursive: true, mode: 0o755 });
  const to = join(layer, name);
  // A killed attempt may have left an incomplete copy, into which `cp` would copy the folder again.
  const script = 'set -e; rm -rf -- "$2"; cp -R -P --reflink=auto -- "$1" "$2"; chmod -R u+rwX,go+rX -- "$2"';
  const copied = await runCommand(['sh', '-c', script, 'sh', from, to], null);
  if (copied.code !== 0) throw copyFault(from, copied.stderr);
  if (owner) {
    const given = await runCommand(['chown', '-R', '-h', `${owner.uid}:${owner.gid}`, '--', layer], null);
    if (given.code !== 0) throw copyFault(from, given.stderr);
  }
  if (owner) await chown(dir, owner.uid, owner.gid);
  return layer;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
