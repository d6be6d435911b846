import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ResolvedContest,
  readContest,
  recordLine,
  SAMPLES_FILE,
  VOTES_FILE,
} from '../../src/core/arena/index.ts';
import { Field } from '../core/arena/contest-records.ts';

/** The texts of `contest.yml`; two prompts and one model. */
export const contestFile = (tasks: string, more = ''): string => `version: 1
name: spring
prompts:
  brief: Answer in one line.
  careful: Think first, then answer.
contestants:
  prompts: [brief, careful]
  models: [openai/scripted]
tasks:
${tasks}
${more}`;

/** A field whose contest is that of a file. */
export function fieldFrom(text: string): Field {
  const read = readContest(text);
  if (read.kind === 'invalid') throw new Error(read.problems.join('\n'));
  const { prompts, tasks, contestants, ...contest } = read.contest;
  if ('file' in tasks) throw new Error('the tasks stand in the contest itself');
  const resolved: ResolvedContest = {
    ...contest,
    contestants: contestants.map((one) => ({ ...one, instructions: String(prompts[one.prompt]) })),
    tasks: tasks.map((task) => {
      if (task.kind === 'text') return task;
      if (!('commit' in task.base)) throw new Error('only texts and commits');
      return { ...task, start: task.base.commit, hidden: null };
    }),
  };
  return new Field(resolved);
}

/** Writes a contest with its answers and votes. */
export async function writeContest(folder: string, text: string, { samples, votes }: Field): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'contest.yml'), text);
  await writeFile(join(folder, SAMPLES_FILE), samples.map(recordLine).join(''));
  await writeFile(join(folder, VOTES_FILE), votes.map(recordLine).join(''));
}
