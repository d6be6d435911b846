import type { Evidence } from '../../core/evidence/index.ts';
import {
  type Competitor,
  factsOf,
  type Judgement,
  judgeModels,
  strengthsOf,
} from '../../core/judging/index.ts';
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

export { type JudgeOptions, judgePool } from './panel.ts';

export type JudgePorts = ModelPorts & Pick<World, 'clock'>;

/**
 * The decision falls: from executed evidence, and where that leaves several undecided from what the settings name next.
 * The same for the same evidence in any order.
 */
export async function judge(world: JudgePorts, { run, signal }: RunContext): Promise<Decision> {
  const { id: runId, evidence = [], brief } = run;
  const task = taskOf(run);
  await world.store.markStage(runId, 'judge', 'start', world.clock.now());
  const order = rankingOptionsOf(task.settings);
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

/** Judges who are not sure themselves put nobody before another. */
export function decideRanking(
  evidence: readonly Evidence[],
  order: RankingOptions,
  judgement: Judgement | undefined,
  { askPerson }: { readonly askPerson: boolean },
): { readonly ranking: readonly Ranked[]; readonly decision: Decision } {
  const sure = judgement?.kind === 'judged' && judgement.confidence !== 'toss-up';
  const strengths = sure ? { strengths: strengthsOf(judgement) } : {};
  const ranking = rank(evidence, { ...order, ...strengths });
  return { ranking, decision: decide(ranking, evidence, { askPerson, judgement }) };
}

interface JudgingInput {
  readonly task: Task;
  readonly brief?: Brief;
  readonly evidence: readonly Evidence[];
  /** Those between whom judges are to choose, best first. */
  readonly undecided: readonly Alias[];
}

/**
 * Puts undecided survivors before blind judges; what they say is kept, so that nobody is paid twice for it. Undefined where
 * fewer than two have a patch that can be read.
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
    // A patch that was damaged since it was examined cannot be shown: judges choose among the others.
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

/** A candidate as judges are shown it. */
export async function competitorOf(
  artifacts: World['artifacts'],
  { alias, patch, author }: Pick<Candidate, 'alias' | 'patch'> & Pick<Competitor, 'author'>,
  evidence: Evidence,
): Promise<Competitor> {
  const parsed = patch && (await readPatch(artifacts, patch));
  const files = parsed?.kind === 'patch' ? parsed.patch.files : [];
  return { alias, files, facts: factsOf(evidence), author };
}

/** What was asked for: the issue in its own words, then what the brief made of it. */
function taskDescription({ task, brief }: JudgingInput): string {
  const done = brief ? ['', brief.goal, ...brief.definitionOfDone.map((one) => `- ${one}`)] : [];
  return [task.title, '', task.body, ...done].join('\n');
}
