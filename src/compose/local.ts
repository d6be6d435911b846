import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { openArtifacts } from '../adapters/artifacts/index.ts';
import { memoryLedger, openGateway } from '../adapters/gateway/index.ts';
import { openWorkspaces } from '../adapters/git/index.ts';
import { openModel } from '../adapters/models/index.ts';
import { discardFolder, ownFolder } from '../adapters/sandbox/index.ts';
import { systemClock, systemRandom } from '../adapters/system/index.ts';
import { Fault } from '../core/model/index.ts';
import { ceilingsOf, type Operator } from '../core/settings/index.ts';
import type { PrepareTools, SelectTools } from '../runs/index.ts';
import type { Selecting, SelectingHow } from '../shell.ts';
import { providersOf } from './connections.ts';
import { dataPaths, openDataFolder, promptsOf, recipesOf } from './data-folder.ts';
import { openLog } from './instrumentation.ts';
import { openSandbox, ownerOf, registriesOf, toolchainsOf } from './sandbox.ts';

/**
 * Opens the dependencies of `runoff prepare`: the data folder of runs, so that they find the packages it installs. No
 * database.
 */
export async function openPreparing(operator: Operator): Promise<PrepareTools> {
  const owner = ownerOf(operator);
  await openDataFolder(operator.data, owner);
  const sandbox = await openSandbox(operator);
  const log = openLog(operator);
  return {
    artifacts: openArtifacts(dataPaths(operator.data).artifacts),
    workspaces: openWorkspaces({ dataDir: operator.data, sandbox, owner, log }),
    recipes: recipesOf(operator),
    sandbox,
    toolchains: toolchainsOf(operator, sandbox),
    parallelChecks: availableParallelism(),
    ceilings: ceilingsOf(operator),
    clock: systemClock,
    log,
    defaults: { models: [] },
    ...registriesOf(operator, log),
    newRunId: () => systemRandom.runId(),
  };
}

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
  return {
    tools: {
      artifacts: openArtifacts(join(dir, 'artifacts')),
      workspaces: openWorkspaces({ dataDir: dir, sandbox, owner, log }),
      sandbox,
      toolchains: toolchainsOf(operator, sandbox),
      parallelChecks: atOnce,
      clock: systemClock,
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
