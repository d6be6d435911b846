import { resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import {
  type ContestRecords,
  capContest,
  changedAfterVotes,
  openPairs,
  type Standing,
  standingOf,
  VERDICTS,
  voterKey,
} from '../core/arena/index.ts';
import { counted, Fault, type Usd } from '../core/model/index.ts';
import { money } from '../core/reports/index.ts';
import { schemaProblem } from '../core/settings/index.ts';
import type { ContestFolder } from '../ports/index.ts';
import { judgeContest, keepAnswers, loadContest, payerOf, Voting } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { type ContestFlags, contestCommand, contestPath, dirWords, examples } from './arena.ts';
import { voteByKeys } from './ballot.ts';
import { checkingOptions, names, parseDollars, whole } from './options.ts';
import { ballotJson, jsonText, painter, shown } from './render/index.ts';

interface VoteFlags extends ContestFlags {
  readonly as?: string;
  readonly judge?: readonly string[] | true;
  readonly pairs?: number;
  readonly budget?: Usd;
  readonly record?: string;
}

/** Our defaults: about 200 answers of two judges; and a page of pairs for another program. */
const JUDGED_PAIRS = 50;
const LISTED_PAIRS = 20;

/** `runoff arena vote`. */
export function addVote(arena: Command, shell: Shell, done: (code: number) => void): void {
  contestCommand(arena, 'vote')
    .description('compare answers in blind pairs, one key for each vote; or let blind judges vote')
    .option('--as <name>', 'name under which your votes are stored (default: your user name)')
    .option(
      '--judge [models]',
      'let models vote instead, comma-separated as provider/model (default: those of the contest)',
      names,
    )
    .option('--pairs <count>', 'maximum number of pairs for judges (default: 50), or to list', whole(1))
    .option('--budget <usd>', "US dollars for judges in this call (default: the contest's)", parseDollars)
    .option('--record <file>', 'store votes from a file with JSON lines (`-`: standard input)')
    .addHelpText(
      'after',
      examples(
        'runoff arena vote first',
        'runoff arena vote first --judge openai/gpt-6-sol --pairs 20',
        'runoff arena vote first --json > pairs.json',
        'runoff arena vote first --record votes.jsonl --as kim',
      ),
    )
    .action(async (name: string, flags: VoteFlags, command: Command) => {
      if (flags.judge !== undefined && flags.record !== undefined)
        command.error('error: use either --judge or --record, not both');
      done(await vote(shell, name, flags));
    });
}

interface OpenContest {
  readonly shell: Shell;
  readonly folder: ContestFolder;
  readonly loaded: ContestRecords;
  readonly standing: Standing;
  readonly flags: VoteFlags;
}

async function vote(shell: Shell, name: string, flags: VoteFlags): Promise<number> {
  const isListing = flags.json === true && flags.judge === undefined && flags.record === undefined;
  const { contests, variants } = await shell.openContests();
  const path = contestPath(shell, contests, name, flags);
  // A contest that is not there must not be created by a lock.
  const reader = await contests.open(path, 'read');
  const folder = isListing ? reader : await contests.open(path, 'write');
  try {
    const loaded = await loadContest(folder, {
      variants,
    });
    const changed = changedAfterVotes(loaded.digest, loaded.votes, loaded.samples);
    if (changed !== null) throw new Fault('CONTEST_CHANGED', changed);
    const open = { shell, folder, loaded, flags, standing: standingOf(loaded) };
    const called = [name, ...dirWords(flags)].join(' ');
    const nothing = nothingToCompare(open, called);
    if (nothing !== null) throw new Fault('CONTEST_INCOMPLETE', nothing);
    if (isListing) return listPairs(open);
    if (flags.record !== undefined) return await recordVotes(open, flags.record);
    return flags.judge === undefined ? await voteHere(open, called) : await letJudgesVote(open, called);
  } finally {
    await folder.close();
  }
}

/** Why there is no pair, as sentences; null if there is one. */
function nothingToCompare({ loaded, standing }: OpenContest, name: string): string | null {
  if (standing.pairs.some(({ alike }) => !alike)) return null;
  if (standing.pairs.length > 0)
    return `All ${counted(standing.pairs.length, 'pair')} of answers are identical: they count as ties, and there is nothing to vote on.`;
  if (loaded.contest.contestants.length === 1)
    return 'The contest has one contestant: there is nobody to compare it with.';
  if (standing.samples.length === 0)
    return `There are no answers to compare yet. Make them with: runoff arena gen ${shown(name)}`;
  return `No task has usable answers of two contestants yet. Make those that are missing with: runoff arena gen ${shown(name)}`;
}

const personOf = (shell: Shell, { as }: VoteFlags) =>
  ({ kind: 'person', name: as?.trim() || shell.userName() }) as const;
const CLOCK = { now: () => Date.now() };

/** A person at a terminal. */
async function voteHere({ shell, folder, loaded, flags }: OpenContest, name: string): Promise<number> {
  const { screen, typing } = shell;
  if (typing === null) {
    screen.err(
      'Voting needs a terminal for input and output. Without one, `--json` lists pairs, `--record FILE` stores votes on them, and `--judge MODEL` lets a model vote.\n',
    );
    return EXIT.usage;
  }
  const voting = new Voting({ folder, clock: CLOCK }, loaded, personOf(shell, flags));
  const { results } = loaded.contest.votes;
  const stop = new AbortController();
  const release = shell.onInterrupt(() => stop.abort());
  const before = voting.progress().done;
  const ended = await voteByKeys(
    {
      question: () => voting.question(),
      progress: () => {
        const { done, open } = voting.progress();
        return `Pair ${done + 1} of ${done + open}.`;
      },
      cast: (verdict) => voting.cast(verdict, results === 'before'),
      undo: () => voting.undo(),
    },
    { terminal: typing, paint: painter(screen.colour), results, signal: stop.signal },
  ).finally(release);
  const { done, open } = voting.progress();
  screen.err(
    `${counted(Math.max(0, done - before), 'vote')} stored; ${done} in all, ${counted(open, 'pair')} left.\n`,
  );
  screen.err(
    ended === 'quit' && open > 0
      ? `Go on with: runoff arena vote ${shown(name)}\n`
      : `See the result with: runoff arena report ${shown(name)}\n`,
  );
  return EXIT.done;
}

function listPairs({ shell, loaded, standing, flags }: OpenContest): number {
  const by = personOf(shell, flags);
  const open = openPairs(standing, standing.people, voterKey(by));
  const limit = flags.pairs ?? LISTED_PAIRS;
  shell.screen.out(`${jsonText(ballotJson(loaded, standing, { voter: by, open, limit }))}\n`);
  return EXIT.done;
}

/** One vote from another system. */
const RecordedVote = z.strictObject({
  /** Ids of samples, as `--json` lists them. */
  left: z.string(),
  right: z.string(),
  verdict: z.enum(VERDICTS),
  /** The person's name; default: `--as`. */
  by: z.string().min(1).max(200).optional(),
  /** Whether executed results were shown; default: as the contest says. */
  resultsShown: z.boolean().optional(),
});

async function recordVotes({ shell, folder, loaded, flags }: OpenContest, file: string): Promise<number> {
  const { screen } = shell;
  const votings = new Map<string, Voting>();
  const votingOf = (name: string): Voting => {
    const known = votings.get(name);
    if (known) return known;
    const opened = new Voting({ folder, clock: CLOCK }, loaded, { kind: 'person', name });
    votings.set(name, opened);
    return opened;
  };
  const problems: string[] = [];
  let stored = 0;
  let line = 0;
  for await (const text of await voteLines(shell, file)) {
    line += 1;
    if (text.trim() === '') continue;
    const read = readVote(text);
    const why =
      typeof read === 'string'
        ? read
        : await votingOf(read.by ?? personOf(shell, flags).name).record({
            ...read,
            resultsShown: read.resultsShown ?? loaded.contest.votes.results === 'before',
          });
    if (why === null) stored += 1;
    else problems.push(`${file}:${line}: ${why}`);
  }
  if (flags.json) screen.out(`${jsonText({ stored, problems })}\n`);
  screen.err(`${[`${counted(stored, 'vote')} stored.`, ...problems].join('\n')}\n`);
  return problems.length > 0 ? EXIT.failed : EXIT.done;
}

async function voteLines(shell: Shell, file: string): Promise<AsyncIterable<string> | readonly string[]> {
  if (file === '-') return shell.lines();
  try {
    return (await shell.readText(resolve(shell.cwd, file))).split('\n');
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `there is no file ${file}` : message;
    throw new Fault('SPEC_MISSING', `Cannot read the votes: ${why}.`, { cause: thrown });
  }
}

function readVote(text: string): z.infer<typeof RecordedVote> | string {
  try {
    const parsed = RecordedVote.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    return `${issue?.path.join('.') || 'The vote'}: ${issue ? schemaProblem(issue) : 'is invalid'}.`;
  } catch {
    return 'This line is not valid JSON.';
  }
}

async function letJudgesVote({ shell, folder, loaded, flags }: OpenContest, name: string): Promise<number> {
  const { screen } = shell;
  const { contest } = loaded;
  const models = Array.isArray(flags.judge) ? flags.judge : contest.judges;
  if (models.length === 0)
    throw new Fault(
      'COMMAND_LINE_INVALID',
      'No judge is named. Name models with `--judge provider/model`, or list them under `judges` in contest.yml.',
    );
  const stop = new AbortController();
  const release = shell.onInterrupt(() => stop.abort());
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    await checkingOptions(Array.isArray(flags.judge) ? ['MODEL_UNKNOWN'] : [], () => {
      for (const model of models) world.gateway.route(model);
    });
    const { contest: capped, lowered } = capContest(contest, world.ceilings);
    for (const text of lowered) screen.err(`${text}\n`);
    const { runId, capUsd } = await payerOf(world, folder, { ...loaded, contest: capped });
    const end = await judgeContest({
      ...world,
      folder,
      records: loaded,
      models,
      pairs: flags.pairs ?? JUDGED_PAIRS,
      capUsd: Math.min(flags.budget ?? capped.budget, capped.budget),
      instructions: world.prompts.judge,
      payer: { runId, repository: 'arena', runCapUsd: capUsd },
      remember: keepAnswers(world, runId),
      signal: stop.signal,
      tell: ({ done, of, usd }) => screen.err(`${done} of ${counted(of, 'answer')}, ${money(usd)}\n`),
    });
    if (flags.json) screen.out(`${jsonText(end)}\n`);
    screen.err(judgesText(end, name));
    return end.missing > 0 ? EXIT.failed : EXIT.done;
  } catch (thrown) {
    if (!stop.signal.aborted) throw thrown;
    screen.err('\nStopped. Run the same command to go on; finished answers are not paid for again.\n');
    return EXIT.stopped;
  } finally {
    release();
    await close();
  }
}

function judgesText(
  { pairs, stored, unusable, missing, why, revealing, usd }: Awaited<ReturnType<typeof judgeContest>>,
  name: string,
): string {
  return [
    `${counted(stored, 'new answer')} on ${counted(pairs, 'pair')}, ${money(usd)} spent.`,
    ...(unusable > 0
      ? [`${counted(unusable, 'answer')} cannot be used and ${unusable === 1 ? 'is' : 'are'} not counted.`]
      : []),
    ...(revealing > 0 ? [`${counted(revealing, 'pair')} not shown: an answer names who wrote it.`] : []),
    ...(missing > 0
      ? [
          `${counted(missing, 'answer')} did not come (${shown(why ?? '')}). Run the same command to ask again.`,
        ]
      : []),
    `See the result with: runoff arena report ${shown(name)}`,
    '',
  ].join('\n');
}
