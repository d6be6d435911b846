import {
  type ArenaTask,
  BASES_FILE,
  BaseResult,
  CONTEST_FILE,
  type Contest,
  type ContestRecords,
  contestDigest,
  NO_AGENT,
  type ResolvedContest,
  type ResolvedContestant,
  type ResolvedTask,
  readContest,
  readRecords,
  readTasks,
  SAMPLES_FILE,
  Sample,
  VOTES_FILE,
  VoteRecord,
} from '../../core/arena/index.ts';
import { Fault } from '../../core/model/index.ts';
import { suggest } from '../../core/settings/index.ts';
import type { ContestFolder } from '../../ports/index.ts';

interface LoadOptions {
  /** Runoff's own prompt variants, which agents may name. */
  readonly variants: ReadonlyMap<string, string>;
  /** In place of what `contest.yml` says. */
  readonly seed?: number;
  readonly rounds?: number;
}

/**
 * Reads a contest. Nothing is executed, and no repository is needed. Faults: CONTEST_UNKNOWN without `contest.yml`;
 * CONTEST_INVALID with a line for each problem.
 */
export async function loadContest(folder: ContestFolder, options: LoadOptions): Promise<ContestRecords> {
  const text = await folder.text(CONTEST_FILE);
  if (text === null) throw new Fault('CONTEST_UNKNOWN', `There is no ${CONTEST_FILE} in ${folder.path}.`);
  const read = readContest(text);
  if (read.kind === 'invalid') throw invalid(read.problems);
  const { seed = read.contest.seed, rounds = read.contest.rounds } = options;
  const contest = await resolveContest(folder, { ...read.contest, seed, rounds }, options.variants);
  return {
    contest,
    digest: contestDigest(contest, folder.sha256),
    samples: await recordsOf(folder, SAMPLES_FILE, Sample),
    bases: await recordsOf(folder, BASES_FILE, BaseResult),
    votes: await recordsOf(folder, VOTES_FILE, VoteRecord),
  };
}

const invalid = (problems: readonly string[]): Fault => new Fault('CONTEST_INVALID', problems.join('\n'));

async function recordsOf<T extends { readonly id: string }>(
  folder: ContestFolder,
  file: string,
  schema: Parameters<typeof readRecords<T>>[2],
): Promise<readonly T[]> {
  const read = readRecords((await folder.records(file)) ?? '', file, schema);
  if (read.problems.length > 0) throw invalid(read.problems);
  return read.records;
}

async function resolveContest(
  folder: ContestFolder,
  { prompts, tasks, ...contest }: Contest,
  variants: ReadonlyMap<string, string>,
): Promise<ResolvedContest> {
  const texts = await promptTexts(folder, prompts);
  const problems: string[] = [];
  const contestants = contest.contestants.flatMap((one): readonly ResolvedContestant[] => {
    const instructions =
      texts.get(one.prompt) ?? (one.agent === NO_AGENT ? undefined : variants.get(one.prompt));
    if (instructions !== undefined) return [{ ...one, instructions }];
    problems.push(unknownPrompt(one.prompt, [...texts.keys(), ...variants.keys()]));
    return [];
  });
  if (problems.length > 0) throw invalid([...new Set(problems)]);
  const listed = 'file' in tasks ? await datasetOf(folder, tasks.file) : { tasks, below: '' };
  const resolved: ResolvedTask[] = [];
  for (const task of listed.tasks) resolved.push(await resolveTask(folder, task, listed.below, problems));
  if (problems.length > 0) throw invalid(problems);
  const dataset = 'file' in tasks ? [tasks.file] : [];
  const shown = await shownSecrets(folder, resolved, dataset);
  if (shown.length > 0) throw invalid(shown);
  return { ...contest, contestants, tasks: resolved };
}

/** Templates that hold what contestants must not see, one sentence each. */
async function shownSecrets(
  folder: ContestFolder,
  tasks: readonly ResolvedTask[],
  dataset: readonly string[],
): Promise<readonly string[]> {
  const repos = tasks.filter((task) => task.kind === 'repo');
  const secrets = repos.flatMap(({ hiddenTests, reference }) => [hiddenTests ?? [], reference ?? []].flat());
  const problems: string[] = [];
  for (const { id, base, hiddenTests } of repos) {
    if (!('template' in base)) continue;
    for (const secret of new Set([CONTEST_FILE, ...dataset, ...secrets]))
      if ((await folder.within(base.template, secret)) !== null)
        problems.push(
          `The template of the task \`${id}\` contains ${secret}, which contestants must not see: ${base.template}. Move one of them.`,
        );
    if (hiddenTests !== undefined && (await folder.within(hiddenTests, base.template)) !== null)
      problems.push(
        `The template of the task \`${id}\` is in its hidden tests, which contestants must not see: ${base.template}. Move one of them.`,
      );
  }
  return problems;
}

function unknownPrompt(name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  return `${CONTEST_FILE}: There is no prompt \`${name}\`. ${meant ? `Did you mean \`${meant}\`?` : `Known: ${known.join(', ')}.`}`;
}

async function promptTexts(
  folder: ContestFolder,
  prompts: Contest['prompts'],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const [name, prompt] of Object.entries(prompts)) {
    const text = typeof prompt === 'string' ? prompt : await folder.text(prompt.file);
    if (text === null)
      throw invalid([
        `${CONTEST_FILE}: The file of the prompt \`${name}\` does not exist: ${typeof prompt === 'string' ? '' : prompt.file}.`,
      ]);
    texts.set(name, text.trim());
  }
  return texts;
}

async function datasetOf(
  folder: ContestFolder,
  file: string,
): Promise<{ readonly tasks: readonly ArenaTask[]; readonly below: string }> {
  const text = await folder.text(file);
  if (text === null) throw invalid([`${CONTEST_FILE}: The dataset ${file} does not exist.`]);
  const { tasks, problems } = readTasks(text, file);
  if (problems.length > 0) throw invalid(problems);
  return { tasks, below: file.includes('/') ? file.slice(0, file.lastIndexOf('/') + 1) : '' };
}

/** With paths relative to the folder of the contest; adds what is missing to `problems`. */
async function resolveTask(
  folder: ContestFolder,
  task: ArenaTask,
  below: string,
  problems: string[],
): Promise<ResolvedTask> {
  if (task.kind === 'text') return task;
  const at = (path: string): string => (path.startsWith('/') ? path : below + path);
  const { base, hiddenTests, reference } = task;
  const template = 'template' in base ? await folder.fingerprint(at(base.template)) : null;
  const hidden = hiddenTests === undefined ? null : await folder.fingerprint(at(hiddenTests));
  if ('template' in base && template === null)
    problems.push(`The template of the task \`${task.id}\` is not a folder: ${at(base.template)}.`);
  if (hiddenTests !== undefined && hidden === null)
    problems.push(`The hidden tests of the task \`${task.id}\` are not a folder: ${at(hiddenTests)}.`);
  return {
    ...task,
    base: 'template' in base ? { template: at(base.template) } : { ...base, repository: at(base.repository) },
    ...(hiddenTests === undefined ? {} : { hiddenTests: at(hiddenTests) }),
    ...(reference === undefined ? {} : { reference: at(reference) }),
    start: 'template' in base ? (template ?? '') : base.commit,
    hidden,
  };
}
