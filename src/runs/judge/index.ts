import type { Evidence } from '../../core/evidence/index.ts';
import {
  type Competitor,
  factsOf,
  type Judgement,
  judgeModels,
  strengthsOf,
} from '../../core/judging/index.ts';
import { shiftedCalibration } from '../../core/learning/index.ts';
import type { Alias, Brief, Candidate, RunId, Task } from '../../core/model/index.ts';
import {
  type Decision,
  decide,
  type Ranked,
  type RankingOptions,
  rank,
  rankingOptionsOf,
  undecidedBefore,
  wantsJudges,
} from '../../core/ranking/index.ts';
import { rememberAnswers } from '../ask-model.ts';
import { type ModelPorts, readPatch, repositoryKeyOf, taskOf, type World } from '../context.ts';
import { type RunContext, unlessDamaged } from '../stage.ts';
import { judgePool } from './panel.ts';

export { askBothSides } from './comparison.ts';
export { JUDGE_ANSWER_MS, type JudgeModel, type JudgeModelParts, openJudgeModel } from './judge-model.ts';
export { type JudgeOptions, judgePool } from './panel.ts';

export type JudgePorts = ModelPorts & Pick<World, 'clock'>;

/**
 * Decides the run: from executed evidence and, where that leaves several candidates undecided, by the strategies in the
 * settings. Does not depend on the order of the evidence.
 */
export async function judge(world: JudgePorts, { run, signal }: RunContext): Promise<Decision> {
  const { id: runId, evidence = [], brief } = run;
  const task = taskOf(run);
  await world.store.markStage(runId, 'judge', 'start', world.clock.now());
  const order = { ...rankingOptionsOf(task.settings), calibration: calibrationOf(task) };
  const near = undecidedBefore('judges', evidence, order);
  const asked = wantsJudges(order) && near.length > 1;
  const matter = { task, evidence, undecided: near, ...(brief ? { brief } : {}) };
  const judgement = asked ? await askJudges(world, runId, matter, signal) : undefined;
  const askPerson = task.settings.evaluator.includes('human');
  const { ranking, decision } = decideRanking(evidence, order, judgement, { askPerson });
  await world.store.updateRun(
    runId,
    { ranking, decision, ...(judgement ? { judgement } : {}) },
    world.clock.now(),
  );
  await world.store.markStage(runId, 'judge', 'end', world.clock.now());
  await world.store.transition(runId, 'judged', decision.because, world.clock.now());
  return decision;
}

/** Judges that are not confident do not rank one candidate above another. */
export function decideRanking(
  evidence: readonly Evidence[],
  order: RankingOptions,
  judgement: Judgement | undefined,
  { askPerson, given = false }: { readonly askPerson: boolean; readonly given?: boolean },
): { readonly ranking: readonly Ranked[]; readonly decision: Decision } {
  const sure = judgement?.kind === 'judged' && judgement.confidence !== 'toss-up';
  const strengths = sure ? { strengths: strengthsOf(judgement) } : {};
  const ranking = rank(evidence, { ...order, ...strengths });
  const { calibration } = order;
  const options = { askPerson, given, judgement, ...(calibration ? { calibration } : {}) };
  return { ranking, decision: decide(ranking, evidence, options) };
}

/** How sure to be in this repository, as of the run's admission. */
const calibrationOf = ({ learned }: Task) => shiftedCalibration(learned?.confidence);

interface JudgingInput {
  readonly task: Task;
  readonly brief?: Brief;
  readonly evidence: readonly Evidence[];
  /** Candidates for judges to choose between, best first. */
  readonly undecided: readonly Alias[];
}

/**
 * Has blind judges compare undecided survivors and stores their answers, so that none is paid for twice. Undefined if
 * fewer than two patches are readable.
 */
async function askJudges(
  world: JudgePorts,
  runId: RunId,
  matter: JudgingInput,
  signal: AbortSignal,
): Promise<Judgement | undefined> {
  const { task, evidence, undecided } = matter;
  const { settings } = task;
  const candidates = await world.store.candidates(runId);
  const competitors: Competitor[] = [];
  for (const alias of undecided) {
    const candidate = candidates.find((one) => one.alias === alias);
    const found = evidence.find((one) => one.alias === alias);
    if (!candidate || !found) continue;
    const author = candidate.contestant;
    // A patch damaged since its examination cannot be shown: judges choose among the others.
    const competitor = await unlessDamaged(competitorOf(world.artifacts, { ...candidate, author }, found));
    if (competitor) competitors.push(competitor);
  }
  if (competitors.length < 2) return undefined;
  return judgePool(
    {
      ...world,
      instructions: world.prompts.judge,
      models: judgeModels(settings, world.defaults.models),
      payer: {
        runId,
        repository: repositoryKeyOf(task.origin),
        runCapUsd: settings.budget.run,
        ...(settings.budget.tokens === undefined ? {} : { capTokens: settings.budget.tokens }),
      },
      remember: rememberAnswers(world, runId),
      knockout: settings.evaluator.includes('tournament'),
      signal,
    },
    { task: taskDescription(matter), competitors, authors: candidates.map(({ contestant }) => contestant) },
  );
}

/** A candidate in the form shown to judges. */
export async function competitorOf(
  artifacts: World['artifacts'],
  { alias, patch, author }: Pick<Candidate, 'alias' | 'patch'> & Pick<Competitor, 'author'>,
  evidence: Evidence,
): Promise<Competitor> {
  const parsed = patch && (await readPatch(artifacts, patch));
  const files = parsed?.kind === 'patch' ? parsed.patch.files : [];
  return { alias, files, facts: factsOf(evidence), author };
}

/** The original text, then the brief. */
function taskDescription({ task, brief }: JudgingInput): string {
  const done = brief ? ['', brief.goal, ...brief.definitionOfDone.map((one) => `- ${one}`)] : [];
  return [task.title, '', task.body, ...done].join('\n');
}
