import { baseFacts, type TestRun } from '../../core/evidence/index.ts';
import { familyOf, type Judgement, notJudged } from '../../core/judging/index.ts';
import { type Alias, byCodeUnits, Fault, inParallel } from '../../core/model/index.ts';
import {
  type Decision,
  mayWriteTests,
  type RankingOptions,
  rankingOptionsOf,
  type SelectAnswer,
  type SelectCandidate,
  type SelectRequest,
  type Signal,
  selectStored,
  statementOf,
  undecidedBefore,
  wantsJudges,
} from '../../core/ranking/index.ts';
import { type ActivityStep, commandFailure, howEnded } from '../../core/reports/index.ts';
import { Settings } from '../../core/settings/index.ts';
import type { BaseCheckout } from '../../ports/index.ts';
import { toolsAt, withTools } from '../base/index.ts';
import { readTextAt, type World } from '../context.ts';
import {
  type CandidateEntry,
  type CheckPorts,
  type CheckRunner,
  checkRunnerOn,
  collectText,
  gatherEvidence,
  type TestWriting,
  testBase,
} from '../examine/index.ts';
import { decideRanking } from '../judge/index.ts';
import { type ExecutedPool, selectionAnswer } from './select-answer.ts';
import { type Judging, judgeStored, type Writing, writingFor } from './select-models.ts';

/** Dependencies of choosing among given patches: no GitHub, no database, and models only if they are asked for. */
export interface SelectTools extends CheckPorts, Pick<World, 'toolchains'> {
  newRunId(): string;
  /** Absent: no judge is asked. */
  readonly judging?: Judging;
  /** Absent: no model writes tests. */
  readonly writing?: Writing;
}

export interface SelectOptions {
  readonly alwaysPick: boolean;
  /** Signals to ignore, to measure what each contributes. */
  readonly without?: readonly Signal[];
  /** Includes everything that the decision is derived from. */
  readonly explain?: boolean;
  /** Called as each part of the execution begins or proceeds. */
  readonly onStep?: (step: ActivityStep) => void;
}

/**
 * Answers one request of `runoff select`. `tools` are opened by the first request that executes code of a repository.
 * The candidates' order and names do not matter.
 */
export async function select(
  request: SelectRequest,
  tools: () => Promise<SelectTools>,
  options: SelectOptions,
  signal: AbortSignal,
): Promise<SelectAnswer> {
  const path = request.repoDir ?? null;
  if (path === null) return selectStored(request, options);
  return execute(await tools(), request, { options, signal, path });
}

const settingsOf = ({ evaluator, weights }: SelectRequest): Settings =>
  Settings.parse({ ...(evaluator ? { evaluator } : {}), ...(weights ? { weights } : {}) });

/** Whether judges or writers of tests could be asked for a request: it is executed, and its evaluator names them. */
export function mayAskModels(request: SelectRequest): boolean {
  const order = rankingOptionsOf(settingsOf(request));
  return (request.repoDir ?? null) !== null && (wantsJudges(order) || mayWriteTests(order));
}

interface SelectContext {
  readonly options: SelectOptions;
  readonly signal: AbortSignal;
  readonly path: string;
}

async function execute(
  tools: SelectTools,
  request: SelectRequest,
  context: SelectContext,
): Promise<SelectAnswer> {
  const { runner, bare } = await openBench(tools, request, context);
  const settings = settingsOf(request);
  const order = { ...rankingOptionsOf(settings), without: context.options.without ?? [] };
  const writing = tools.writing && writingFor(tools.writing, request, { runner, settings, order });
  const { onStep } = context.options;
  const onBase = await testBase(runner, onStep);
  requireStarted(onBase, request);
  const found = await executePool(runner, request.candidates, {
    bare,
    onBase,
    ...(writing ? { writing } : {}),
    ...(onStep ? { onStep } : {}),
  });
  const { evidence, entries } = found;
  const near = undecidedBefore('judges', evidence, order);
  const judgement =
    tools.judging && wantsJudges(order) && near.length > 1
      ? await judgeStored(tools.judging, tools.artifacts, {
          runId: runner.task.runId,
          task: statementOf(request),
          entries,
          evidence,
          undecided: near,
          knockout: settings.evaluator.includes('tournament'),
          signal: context.signal,
        })
      : unaskedJudges(request, order, tools.judging);
  const askPerson = settings.evaluator.includes('human');
  return selectionAnswer(request, found, { order, judgement, askPerson, ...context.options });
}

/** A test command that does not start says nothing about any candidate, though its caller relies on it. */
function requireStarted(onBase: TestRun, { testCommand }: SelectRequest): void {
  const { silence, exitCode, lines } = baseFacts(onBase);
  if (silence !== 'not-started') return;
  const how = { step: 'tests', command: testCommand ?? '', how: howEnded({ exitCode }), lines } as const;
  throw new Fault(
    'TESTS_NOT_STARTED',
    commandFailure({ ...how, remedy: 'So no candidate could be tested.' }),
  );
}

/**
 * Executes candidates over a prepared base. `bare`: the base without borrowed files, which are outside the repository, so
 * that no patch can refer to them.
 */
async function executePool(
  runner: CheckRunner,
  candidates: readonly SelectCandidate[],
  {
    bare,
    onBase,
    writing,
    onStep,
  }: {
    readonly bare: BaseCheckout;
    readonly onBase: TestRun;
    readonly writing?: TestWriting;
  } & Pick<SelectOptions, 'onStep'>,
): Promise<ExecutedPool> {
  // Sorted by content, so that neither order nor names determine the aliases.
  const named = candidates
    .toSorted((a, b) => byCodeUnits(a.patch ?? '', b.patch ?? '') || byCodeUnits(a.id, b.id))
    .map((candidate, ordinal) => ({ candidate, alias: aliasOf(ordinal), ordinal }));
  const entries: CandidateEntry[] = [];
  await inParallel(runner.world.parallelChecks, named, async ({ candidate, alias, ordinal }) => {
    entries.push(await entryOf({ ...runner, base: bare }, candidate, { alias, ordinal }));
  });
  const { evidence, independentTests } = await gatherEvidence(runner, entries, onBase, {
    ...(writing ? { writing } : {}),
    ...(onStep ? { onStep } : {}),
  });
  return {
    evidence,
    entries,
    ids: new Map(named.map(({ alias, candidate }) => [alias, candidate.id])),
    ...(independentTests ? { independentTests } : {}),
  };
}

/**
 * The decision by execution on patches over a prepared base, and the id of each alias. No model is asked. The order and
 * ids of the patches do not matter.
 */
export async function decidePatches(
  runner: CheckRunner,
  candidates: readonly SelectCandidate[],
): Promise<{ readonly decision: Decision; readonly ids: ReadonlyMap<Alias, string> }> {
  const onBase = await testBase(runner);
  const { evidence, ids } = await executePool(runner, candidates, { bare: runner.base, onBase });
  const order = rankingOptionsOf(Settings.parse({}));
  return { decision: decideRanking(evidence, order, undefined, { askPerson: false }).decision, ids };
}

/** If a request names judges, explains why none was asked. */
const unaskedJudges = (
  { evaluator, weights }: SelectRequest,
  order: RankingOptions,
  judging: Judging | undefined,
): Judgement | undefined =>
  (evaluator || weights) && wantsJudges(order) && !judging
    ? notJudged('No judge was asked; --judges allows it.')
    : undefined;

/** `P001`, `P002`, …: in no sentence by chance, so that it can be replaced there by the caller's id. */
const aliasOf = (ordinal: number): string => `P${String(ordinal + 1).padStart(3, '0')}`;

async function openBench(
  tools: SelectTools,
  request: SelectRequest,
  { path, signal }: SelectContext,
): Promise<{ readonly runner: CheckRunner; readonly bare: BaseCheckout }> {
  const { top } = await tools.workspaces.describe(path);
  const source = { kind: 'local', path: top } as const;
  const sha = await tools.workspaces.resolve(source, 'HEAD');
  if (!sha) throw new Fault('REPOSITORY_EMPTY', `${path} has no commit yet.`);
  const bare = await tools.workspaces.prepare(source, sha);
  const read = (file: string) => readTextAt(tools, source, sha, file);
  const provided = await toolsAt(tools, { source, sha, read }, signal);
  const lent = await tools.workspaces.lend(bare, { top, anyVersion: true }, signal);
  const base = withTools(lent.kind === 'lent' ? lent.base : bare, provided);
  const checks = request.testCommand ? { test: request.testCommand } : {};
  const task = {
    runId: tools.newRunId(),
    base: { ref: 'HEAD', sha },
    // The caller chose the patches: only tests are protected.
    settings: Settings.parse({ checks, protect: [] }),
  };
  const runner = await checkRunnerOn(tools, { task, source, base, asked: statementOf(request), signal });
  return { runner, bare };
}

async function entryOf(
  runner: CheckRunner,
  candidate: SelectCandidate,
  as: Pick<CandidateEntry, 'alias' | 'ordinal'>,
): Promise<CandidateEntry> {
  const collected = await collectText(runner, as.alias, candidate.patch ?? '');
  const family = candidate.family ? { family: familyOf(candidate.family) } : {};
  return { ...as, runId: runner.task.runId, ms: 0, ...family, ...collected };
}
