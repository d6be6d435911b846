import { availableParallelism } from 'node:os';
import { openArtifacts } from '../adapters/artifacts/index.ts';
import { openWorkspaces } from '../adapters/git/index.ts';
import { systemClock, systemRandom } from '../adapters/system/index.ts';
import { ceilingsOf, type Operator } from '../core/settings/index.ts';
import type { PrepareTools } from '../runs/index.ts';
import { dataPaths, openDataFolder, recipesOf } from './data-folder.ts';
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
