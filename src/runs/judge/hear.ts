import type { Evidence } from '../../core/evidence/index.ts';
import {
  type Competitor,
  changedFiles,
  factsOf,
  type Judgement,
  judgeModels,
} from '../../core/judging/index.ts';
import type { Alias, Brief, Candidate, RunId, Task } from '../../core/model/index.ts';
import { parsePatch } from '../../core/patches/index.ts';
import { rememberAnswers } from '../remember-answers.ts';
import { repositoryOf } from '../task.ts';
import type { World } from '../world.ts';
import { judgePool } from './panel.ts';

export interface Matter {
  readonly task: Task;
  readonly brief?: Brief;
  readonly evidence: readonly Evidence[];
  /** Those between whom judges are to choose, best first. */
  readonly undecided: readonly Alias[];
}

/** Puts undecided survivors before blind judges; what they say is kept, so that nobody is paid twice for it. */
export async function hearJudges(
  world: World,
  runId: RunId,
  matter: Matter,
  signal: AbortSignal,
): Promise<Judgement> {
  const { task, evidence, undecided } = matter;
  const { settings } = task;
  const candidates = await world.store.candidates(runId);
  const competitors: Competitor[] = [];
  for (const alias of undecided) {
    const candidate = candidates.find((one) => one.alias === alias);
    const found = evidence.find((one) => one.alias === alias);
    if (!candidate || !found) continue;
    const author = candidate.contestant;
    competitors.push(await competitorOf(world.artifacts, { ...candidate, author }, found));
  }
  return judgePool(
    {
      ...world,
      instructions: world.prompts.judge,
      models: judgeModels(settings, world.defaults.models),
      payer: {
        runId,
        repository: repositoryOf(task.origin),
        runCapUsd: settings.budget.run,
        ...(settings.budget.tokens === undefined ? {} : { capTokens: settings.budget.tokens }),
      },
      remember: rememberAnswers(world, runId),
      knockout: settings.evaluator.includes('tournament'),
      signal,
    },
    { task: wordsOf(matter), competitors, authors: candidates.map(({ contestant }) => contestant) },
  );
}

/** A candidate as judges are shown it. */
export async function competitorOf(
  artifacts: World['artifacts'],
  { alias, patch, author }: Pick<Candidate, 'alias' | 'patch'> & Pick<Competitor, 'author'>,
  evidence: Evidence,
): Promise<Competitor> {
  const parsed = patch && parsePatch(await artifacts.get(patch.raw), await artifacts.get(patch.text));
  const files = parsed?.kind === 'patch' ? changedFiles(parsed.patch) : [];
  return { alias, files, facts: factsOf(evidence), author };
}

/** What was asked for: the issue in its own words, then what the brief made of it. */
function wordsOf({ task, brief }: Matter): string {
  const done = brief ? ['', brief.goal, ...brief.definitionOfDone.map((one) => `- ${one}`)] : [];
  return [task.title, '', task.body, ...done].join('\n');
}
