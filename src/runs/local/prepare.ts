import type { TestRun } from '../../core/evidence/index.ts';
import { Fault, type LocalOrigin, type Sha } from '../../core/model/index.ts';
import type { BaseStep, CommandFiles } from '../../core/reports/index.ts';
import { type FoundTool, missingServices, type Settings } from '../../core/settings/index.ts';
import { checksAt, type Exposure, exposureOf, fromLocal } from '../admit/index.ts';
import { absentContentAt, prepareBase, toolsAt } from '../base/index.ts';
import { readTextAt, type World } from '../context.ts';
import { type CheckPorts, checkRunnerOn, testBase } from '../examine/index.ts';
import { retryOutages } from '../stage.ts';

/** What preparing takes of the world: no model, no GitHub, and no database. */
export interface PrepareTools
  extends Omit<CheckPorts, 'clock'>,
    Pick<World, 'ceilings' | 'clock' | 'defaults' | 'log' | 'registries' | 'toolchains'> {
  newRunId(): string;
}

export interface PrepareOptions {
  /** Agreed to run the commands where the sandbox is weaker, or with the hosts that the repository asks for. */
  readonly trust: boolean;
  /** Called before anything of the repository is executed. */
  readonly onSurvey: (survey: Survey) => void;
  /** Called as each step begins. */
  readonly onStep: (step: BaseStep) => void;
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

/** A survey, and what the commands gave. */
export interface Prepared extends Survey {
  readonly tests: TestRun;
  /** Milliseconds. */
  readonly ms: { readonly setup: number; readonly checks: number };
}

/** What surveying takes of the world. */
export type SurveyTools = Pick<World, 'ceilings' | 'defaults' | 'toolchains' | 'workspaces'>;

/** Reads how a local repository would be prepared. Nothing of the repository is executed. */
export async function surveyRepository(
  tools: SurveyTools,
  origin: LocalOrigin,
  signal?: AbortSignal,
): Promise<Survey & { readonly settings: Settings }> {
  const { base } = await fromLocal(tools, origin, {});
  const source = { kind: 'local', path: origin.path } as const;
  const { settings, from, services } = await checksAt(tools, source, base.sha);
  const { setup, build, test } = settings.checks;
  const read = (path: string) => readTextAt(tools, source, base.sha, path);
  const provided = await toolsAt(tools, { source, sha: base.sha, read, setup }, signal);
  return {
    settings,
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
  { trust, onSurvey, onStep, signal }: PrepareOptions,
): Promise<Prepared> {
  const { settings, ...survey } = await surveyRepository(tools, origin, signal);
  const exposure = await exposureOf(tools, settings);
  if (exposure !== null && !trust) throw untrusted(origin.path, exposure);
  onSurvey(survey);
  const source = { kind: 'local', path: origin.path } as const;
  const task = { runId: tools.newRunId(), origin, base: survey.commit, settings };
  const began = tools.clock.elapsed();
  const prepared = await retryOutages(
    tools,
    signal,
    () => prepareBase(tools, task, { source, signal, onStep }),
    undefined,
    BRIEF_WAITS_MS,
  );
  const installed = tools.clock.elapsed();
  const runner = await checkRunnerOn(tools, { task, source, base: prepared, signal });
  const tests = await testBase(runner, onStep);
  return {
    ...survey,
    tests,
    ms: { setup: installed - began, checks: tools.clock.elapsed() - installed },
  };
}

const untrusted = (path: string, { weaker, hosts }: Exposure): Fault =>
  new Fault(
    'CHECKS_UNTRUSTED',
    `The commands of ${path} would run with more than the full sandbox allows: ${[...weaker, ...(hosts.length > 0 ? [`they can reach ${hosts.join(', ')}`] : [])].join(' ')}`,
  );
