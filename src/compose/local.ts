import { constants, lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { openContests } from '../adapters/arena/index.ts';
import { openArtifacts } from '../adapters/artifacts/index.ts';
import { memoryLedger, openGateway } from '../adapters/gateway/index.ts';
import { lockFile, openTemplates, openWorkspaces } from '../adapters/git/index.ts';
import { openModel } from '../adapters/models/index.ts';
import { discardFolder, ownFolder } from '../adapters/sandbox/index.ts';
import { systemClock, systemRandom } from '../adapters/system/index.ts';
import { Fault } from '../core/model/index.ts';
import { toolsText, visibleLine } from '../core/reports/index.ts';
import { ceilingsOf, missingServicesNote, type Operator, shownSetup } from '../core/settings/index.ts';
import type { Gateway, Sandbox } from '../ports/index.ts';
import { type PrepareTools, type SelectTools, type Survey, surveyRepository } from '../runs/index.ts';
import type { DoctorFinding, Mining, Selecting, SelectingHow } from '../shell.ts';
import { openAppGitHub, providersOf } from './connections.ts';
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
    toolchains: toolchainsOf(operator, sandbox, log),
    parallelChecks: availableParallelism(),
    ceilings: ceilingsOf(operator),
    clock: systemClock,
    log,
    defaults: { models: [], providers: [] },
    ...registriesOf(operator, log),
    newRunId: () => systemRandom.runId(),
  };
}

/**
 * Opens the dependencies of `runoff arena mine`: those of `runoff prepare`, the folders of contests, and GitHub if an App
 * is configured.
 */
export async function openMining(operator: Operator): Promise<Mining> {
  const { contests, templates } = dataPaths(operator.data);
  const tools = await openPreparing(operator);
  return {
    tools: {
      ...tools,
      templates: openTemplates({ dir: templates, dataDir: operator.data }),
      ...(operator.app ? { github: openAppGitHub(operator, tools.log) } : {}),
      githubUrl: operator.github.gitUrl,
    },
    contests: openContests({ dir: contests, dataDir: operator.data, lock: lockFile }),
    variants: promptsOf(operator).coder,
  };
}

/**
 * Opens the dependencies of `runoff select`: a sandbox, and a folder for this process alone, which is removed at the
 * end. Nothing is shared with runs.
 */
export async function openSelecting(
  operator: Operator,
  { atOnce, models }: SelectingHow,
): Promise<Selecting> {
  const owner = ownerOf(operator);
  await openDataFolder(operator.data, owner);
  const sandbox = await openSandbox(operator);
  const asked = models ? openSelectModels(operator, models) : null;
  const dir = ownFolder(dataPaths(operator.data).scratch, 'select');
  await mkdir(dir, { recursive: true, mode: 0o711 });
  const log = openLog(operator);
  return {
    tools: {
      artifacts: openArtifacts(join(dir, 'artifacts')),
      workspaces: openWorkspaces({ dataDir: dir, sandbox, owner, log }),
      sandbox,
      toolchains: toolchainsOf(operator, sandbox, log),
      parallelChecks: atOnce,
      clock: systemClock,
      newRunId: () => systemRandom.runId(),
      ...asked?.tools,
    },
    async close() {
      await asked?.close();
      await discardFolder(dir);
    },
  };
}

/** A gateway of this process alone, whose spending is not stored. */
export const gatewayWithoutDatabase = (operator: Operator): Gateway =>
  openGateway({
    dir: dataPaths(operator.data).sockets,
    providers: providersOf(operator),
    prices: operator.modelPrices,
    dayCaps: { repositoryUsd: operator.max.budgetRepositoryDay, everythingUsd: operator.max.budgetDay },
    ledger: memoryLedger(),
    clock: systemClock,
    log: openLog(operator),
  });

/** Models as judges and writers of tests, through a gateway of this process. Its spending is not stored in a database. */
function openSelectModels(
  operator: Operator,
  { judge, write, usd: budgetUsd }: NonNullable<SelectingHow['models']>,
): { readonly tools: Pick<SelectTools, 'judging' | 'writing'>; close(): Promise<void> } {
  const gateway = gatewayWithoutDatabase(operator);
  const models = operator.multiAgent.models.length > 0 ? operator.multiAgent.models : gateway.defaultModels();
  if (models.length === 0) {
    const flags = [...(judge ? ['`--judges`'] : []), ...(write ? ['`--writers`'] : [])].join(' and ');
    throw new Fault(
      'MODEL_KEY_MISSING',
      `${flags}: no model can be asked, because no key of a provider is set.`,
    );
  }
  const parts = { gateway, model: openModel(), random: systemRandom, models, budgetUsd };
  const instructions = promptsOf(operator);
  return {
    tools: {
      ...(judge ? { judging: { ...parts, clock: systemClock, instructions: instructions.judge } } : {}),
      ...(write ? { writing: { ...parts, instructions } } : {}),
    },
    close: () => gateway.close(),
  };
}

/**
 * Determines how a local repository would be set up, built and tested here. None of its code is executed. Faults as its
 * admission would.
 */
export async function repositoryFindings(
  operator: Operator,
  sandbox: Sandbox,
  path: string,
): Promise<readonly DoctorFinding[]> {
  const owner = ownerOf(operator);
  const log = openLog(operator);
  const workspaces = openWorkspaces({ dataDir: operator.data, sandbox, owner, log });
  const { top } = await workspaces.describe(path);
  const survey = await surveyRepository(
    {
      workspaces,
      toolchains: toolchainsOf(operator, sandbox, log),
      ...registriesOf(operator, log),
      ceilings: ceilingsOf(operator),
      defaults: { models: [], providers: [] },
    },
    { kind: 'local', path: top },
  );
  return [commandsFinding(survey), ...toolFindings(survey)];
}

function commandsFinding({ commands, from, services }: Survey): DoctorFinding {
  const shown = Object.entries(commands).map(
    ([name, command]) =>
      `${name} \`${visibleLine(shownSetup(command), 120)}\` (${from[name as keyof typeof from] ?? ''})`,
  );
  const name = 'repository';
  if (commands.test === undefined)
    return {
      name,
      state: 'warning',
      detail: [...shown, 'no test command was found'].join(', '),
      remedy: 'Set `checks.test` in .github/auto-dev.yml, for example `test: npm test`.',
    };
  if (services.length > 0)
    return {
      name,
      state: 'warning',
      detail: `${shown.join(', ')}. ${missingServicesNote(services)}`,
      remedy: '`runoff prepare` shows which tests.',
    };
  return { name, state: 'ok', detail: shown.join(', ') };
}

/** The start of the remedy in a sentence about a missing tool. */
const REMEDY = ' Install it on this machine';

function toolFindings({ tools, missing }: Survey): readonly DoctorFinding[] {
  const name = 'tools';
  const missingTools = missing.map((sentence): DoctorFinding => {
    const at = sentence.indexOf(REMEDY);
    return at < 0
      ? { name, state: 'warning', detail: sentence }
      : { name, state: 'warning', detail: sentence.slice(0, at), remedy: sentence.slice(at + 1) };
  });
  return tools.length === 0
    ? missingTools
    : [{ name, state: 'ok', detail: toolsText(tools) }, ...missingTools];
}

/**
 * Creates a file that is not committed, and its parent folders, below a folder whose content is untrusted. No part of
 * `path` may be a link: `git clone` creates links to any place, and writing through a dangling link creates its target.
 * Returns null on success, else why nothing was written, as a clause. Rejects with other errors of the file system.
 */
export async function createBelow(top: string, path: string, text: string): Promise<string | null> {
  const parts = dirname(path).split('/');
  for (const [at] of parts.entries()) {
    const folder = join(top, ...parts.slice(0, at + 1));
    const made = await mkdir(folder).then(() => true, unlessThere);
    if (!made && !(await lstat(folder)).isDirectory())
      return `${folder} is not a folder but a link or a file`;
  }
  const file = join(top, path);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666).catch(unlessThere);
  if (!handle) return 'it exists already and is not committed';
  try {
    await handle.writeFile(text);
  } catch (thrown) {
    await rm(file, { force: true });
    throw thrown;
  } finally {
    await handle.close();
  }
  return null;
}

/**
 * Replaces the text of a regular file below such a folder atomically, if it is still `before`; follows no link. Returns
 * null on success, else why nothing was written, as a clause.
 */
export async function replaceBelow(
  top: string,
  path: string,
  { before, text }: { readonly before: string; readonly text: string },
): Promise<string | null> {
  const folders = dirname(path).split('/');
  for (const [at] of folders.entries()) {
    const folder = join(top, ...folders.slice(0, at + 1));
    if (!(await lstat(folder)).isDirectory()) return `${folder} is not a folder but a link or a file`;
  }
  const file = join(top, path);
  if (!(await lstat(file)).isFile()) return 'it is not a file';
  if ((await readFile(file, 'utf8')) !== before) return 'it is not as it was committed';
  const fresh = `${path}.${process.pid}.tmp`;
  const why = await createBelow(top, fresh, text);
  if (why === null) await rename(join(top, fresh), file);
  return why;
}

function unlessThere(thrown: NodeJS.ErrnoException): false {
  if (thrown.code === 'EEXIST') return false;
  throw thrown;
}
