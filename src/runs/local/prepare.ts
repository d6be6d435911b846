import { Fault, type LocalOrigin, type Sha } from '../../core/model/index.ts';
import type { BaseStep, CommandFiles } from '../../core/reports/index.ts';
import {
  type CommandName,
  type FailedTry,
  type FoundTool,
  missingServices,
  type Recipe,
  type Settings,
} from '../../core/settings/index.ts';
import { checksAt, detectedRecipe, type Exposure, exposureOf, fromLocal } from '../admit/index.ts';
import { absentContentAt, openBase, toolsAt } from '../base/index.ts';
import { readTextAt, type World } from '../context.ts';
import { type FoundRecipe, findRecipe, type RecipePorts } from '../recipe/index.ts';
import { retryOutages } from '../stage.ts';

/** What preparing takes of the world: no model, no GitHub, and no database. */
export interface PrepareTools extends RecipePorts, Pick<World, 'ceilings' | 'defaults' | 'log'> {
  newRunId(): string;
}

export interface PrepareOptions {
  /** Agreed to run the commands where the sandbox is weaker, or with the hosts that the repository asks for. */
  readonly trust: boolean;
  /** Called before anything of the repository is executed. */
  readonly onSurvey: (survey: Survey) => void;
  /** Called as each step begins. */
  readonly onStep: (step: BaseStep) => void;
  /** Told that commands failed and which are tried next. */
  readonly onNext: (failed: FailedTry, next: Recipe) => void;
  readonly signal: AbortSignal;
}

/** How a repository is set up, built and tested at one commit, and with which tools. */
export interface Survey {
  readonly commit: { readonly ref: string; readonly sha: Sha };
  readonly commands: { readonly setup?: string; readonly build?: string; readonly test?: string };
  /** The file that says each command. */
  readonly from: CommandFiles;
  /** Containers that the repository's CI starts beside the tests, such as `mysql`, and that the sandbox does not have. */
  readonly services: readonly string[];
  /** What it asks for and its commands find. */
  readonly tools: readonly FoundTool[];
  /** What it asks for and cannot have here, a sentence each. */
  readonly missing: readonly string[];
}

/** A survey, and what the commands gave that worked: those of the survey, or others that were tried. */
export interface Prepared extends Survey, Pick<FoundRecipe, 'how' | 'tests' | 'ms'> {
  /** Commands of the survey that failed, where another one or none is used. */
  readonly instead?: Recipe['commands'];
  /** That the settings allow for set-up. */
  readonly hosts: readonly string[];
  readonly named: readonly CommandName[];
}

/** What surveying takes of the world. */
export type SurveyTools = Pick<World, 'ceilings' | 'defaults' | 'toolchains' | 'workspaces'>;

/** Reads how a local repository would be prepared. Nothing of the repository is executed. */
export async function surveyRepository(
  tools: SurveyTools,
  origin: LocalOrigin,
  signal?: AbortSignal,
): Promise<Survey & { readonly settings: Settings; readonly named: readonly CommandName[] }> {
  const { base } = await fromLocal(tools, origin, {});
  const source = { kind: 'local', path: origin.path } as const;
  const { settings, from, named, services } = await checksAt(tools, source, base.sha);
  const { setup, build, test } = settings.checks;
  const read = (path: string) => readTextAt(tools, source, base.sha, path);
  const provided = await toolsAt(tools, { source, sha: base.sha, read, setup }, signal);
  return {
    settings,
    named,
    commit: base,
    commands: { ...(setup ? { setup } : {}), ...(build ? { build } : {}), ...(test ? { test } : {}) },
    from,
    services: missingServices(services, provided?.tools.services ?? []),
    tools: provided?.found ?? [],
    missing: [...(provided?.missing ?? []), ...(await absentContentAt(tools, source, base.sha))],
  };
}

/** Milliseconds between tries while a registry does not answer: somebody sits in front of it. Our default. */
const BRIEF_WAITS_MS = [2_000, 10_000];

/**
 * Sets up, builds and tests the base commit of a local repository as a run would do it before a coder starts. Installed
 * packages are kept, so that the next run finds them. Faults as such a run: BASE_BROKEN where set-up or build fails, and
 * REGISTRY_UNAVAILABLE where packages cannot be had after short waits, CHECKS_UNTRUSTED where nobody has agreed to commands
 * that the full sandbox does not hold.
 */
export async function prepareRepository(
  tools: PrepareTools,
  origin: LocalOrigin,
  { trust, onSurvey, onStep, onNext, signal }: PrepareOptions,
): Promise<Prepared> {
  const { settings, named, ...survey } = await surveyRepository(tools, origin, signal);
  const exposure = await exposureOf(tools, settings, named);
  if (exposure !== null && !trust) throw untrusted(origin.path, exposure);
  onSurvey(survey);
  const source = { kind: 'local', path: origin.path } as const;
  const task = { runId: tools.newRunId(), origin, base: survey.commit, settings };
  const began = tools.clock.elapsed();
  const bare = await openBase(tools, task, { source, signal, onStep });
  const opened = tools.clock.elapsed() - began;
  const detected = await detectedRecipe(tools, source, { task, checks: { from: survey.from, named } });
  const { recipe, how, tests, ms } = await retryOutages(
    tools,
    signal,
    () => findRecipe(tools, { task, bare, detected, signal, onStep, onNext }),
    undefined,
    BRIEF_WAITS_MS,
  );
  const { commands, from, instead } = recipe;
  return {
    ...survey,
    ...{ commands, from, named, how, tests },
    ...(instead ? { instead } : {}),
    hosts: settings.network.allow,
    ms: { ...ms, setup: opened + ms.setup },
  };
}

const untrusted = (path: string, { weaker, hosts }: Exposure): Fault =>
  new Fault(
    'CHECKS_UNTRUSTED',
    `The commands of ${path} would run with more than the full sandbox allows: ${[...weaker, ...(hosts.length > 0 ? [`they can reach ${hosts.join(', ')}`] : [])].join(' ')}`,
  );
