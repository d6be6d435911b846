import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import {
  CONTEST_FILE,
  type ContestRecords,
  contestTemplate,
  isContestName,
  readContest,
} from '../core/arena/index.ts';
import { counted, Fault } from '../core/model/index.ts';
import type { ContestFolder, Contests, Offer } from '../ports/index.ts';
import { type Generated, generateSamples, loadContest } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { jsonOption, names, whole } from './options.ts';
import { generatedText, generateLine, jsonText, shellWord, shown } from './render/index.ts';

/** Names a contest: in the data folder, or a folder of its own. */
export interface ContestFlags {
  readonly dir?: string;
  readonly json?: boolean;
}

interface InitFlags extends ContestFlags {
  readonly models?: readonly string[];
}

interface GenFlags extends ContestFlags {
  readonly repo: string;
  readonly rounds?: number;
  readonly seed?: number;
  readonly newVersion?: boolean;
  readonly trustChecks?: boolean;
}

/** `runoff arena`: contests of prompts, models and agents. */
export function addArena(program: Command, shell: Shell, done: (code: number) => void): Command {
  const arena = program
    .command('arena')
    .description('compare prompts, models and agents on tasks of your own (see docs/arena.md)');
  contestCommand(arena, 'init')
    .description('write a new contest: a folder with contest.yml')
    .option('--models <names>', 'models as provider/model, comma-separated', names)
    .addHelpText(
      'after',
      examples(
        'runoff arena init first',
        'runoff arena init first --models openai/gpt-6-sol,anthropic/claude-sonnet-5',
        'runoff arena init first --dir evals/first',
      ),
    )
    .action(async (name: string, flags: InitFlags) => done(await initContest(shell, name, flags)));
  contestCommand(arena, 'gen')
    .description('ask every contestant for every task; what exists is not asked again')
    .addOption(repositoryOption())
    .option('--rounds <count>', 'rounds, instead of those in contest.yml', whole(1, 100))
    .option(
      '--seed <number>',
      'seed of samples made now, instead of the one in contest.yml',
      whole(0, 2 ** 31 - 1),
    )
    .option('--new-version', 'go on after a change although votes on an earlier version no longer count')
    .option('--trust-checks', 'agree to run the commands of tasks even if the sandbox is weaker')
    .addHelpText(
      'after',
      examples(
        'runoff arena gen first',
        'runoff arena gen first --rounds 3',
        'runoff arena gen first --dir evals/first --json',
      ),
    )
    .action(async (name: string, flags: GenFlags) => done(await generateContest(shell, name, flags)));
  return arena;
}

/** A command on one contest. */
export const contestCommand = (arena: Command, name: string): Command =>
  arena
    .command(name)
    .argument('<name>', 'name of the contest')
    .option('--dir <folder>', 'its folder (default: below `arena` in the data folder)')
    .addOption(jsonOption());

/** A contest may come from somebody else, who does not decide which repository of this machine contestants see. */
export const repositoryOption = (): Option =>
  new Option(
    '--repo <folder>',
    'the repository that tasks may start from, besides the one around the contest',
  ).default('.');

/** For the end of a command's help. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;

/** The folder of a contest. */
export const contestPath = (
  shell: Pick<Shell, 'cwd'>,
  contests: Contests,
  name: string,
  { dir }: ContestFlags,
): string => {
  if (dir !== undefined) return resolve(shell.cwd, dir);
  if (!isContestName(name))
    throw new Fault(
      'CONTEST_UNKNOWN',
      `${JSON.stringify(name)} is no name of a contest: use letters, digits, dots and hyphens.`,
    );
  return contests.folderOf(name);
};

async function initContest(shell: Shell, name: string, flags: InitFlags): Promise<number> {
  const { contests } = await shell.openContests();
  const path = contestPath(shell, contests, name, flags);
  const models = flags.models ?? (await discoveredModels(shell));
  const text = contestTemplate(name, models);
  const read = readContest(text);
  if (read.kind === 'invalid') throw new Fault('CONTEST_INVALID', read.problems.join('\n'));
  const folder = await contests.open(path, 'write');
  try {
    if ((await folder.create(CONTEST_FILE, text)) === 'exists')
      throw new Fault('CONTEST_INVALID', `There is a contest in ${path} already; it was not changed.`);
    await folder.create('.gitignore', '.lock\n');
    // Lines of both sides are kept: records have ids, and their order does not matter.
    await folder.create('.gitattributes', '*.jsonl merge=union\n');
  } finally {
    await folder.close();
  }
  const next = ['runoff arena gen', name, ...dirWords(flags)].join(' ');
  if (flags.json) shell.screen.out(`${jsonText({ contest: name, folder: path, models, next })}\n`);
  else
    shell.screen.out(
      `Wrote ${resolve(path, CONTEST_FILE)} with ${counted(models.length, 'model')}.\nEdit its prompts and tasks, then: ${next}\n`,
    );
  return EXIT.done;
}

async function modelOffers(shell: Shell): Promise<readonly Offer[]> {
  const { tools, close } = await shell.openArena(false);
  try {
    return await tools.gateway.offers();
  } finally {
    await close();
  }
}

/** The models of every provider that answers; chosen at a terminal, if there is one. */
async function discoveredModels(shell: Shell): Promise<readonly string[]> {
  const offers = await modelOffers(shell);
  for (const offer of offers)
    if (offer.kind === 'failed')
      shell.screen.err(
        `${shown(offer.provider)} did not list its models: ${shown(offer.why)}\n→ Name them with --models ${shown(offer.provider)}/…, or in contest.yml.\n`,
      );
  const found = offers.flatMap((offer) =>
    offer.kind === 'models'
      ? offer.models.map(({ id, price }) => ({ value: `${offer.provider}/${id}`, price }))
      : [],
  );
  if (found.length === 0)
    throw new Fault(
      'MODEL_KEY_MISSING',
      'No provider lists a model: none has a key, or none answers. Name models with `--models provider/model`.',
    );
  if (shell.choose === null)
    throw new Fault(
      'MODEL_UNKNOWN',
      `Without a terminal, name the models with \`--models\`: ${found.length} are known, such as ${found
        .slice(0, 3)
        .map(({ value }) => value)
        .join(', ')}.`,
    );
  const chosen = await shell.choose(
    'Which models compete? Type to search, Tab to select, Enter to finish.',
    found.map(({ value, price }) => ({
      value,
      label: shown(value, 120),
      hint: price ? `$${price.input} in, $${price.output} out per million tokens` : 'price unknown',
    })),
  );
  if (chosen === null || chosen.length === 0)
    throw new Fault('MODEL_UNKNOWN', 'No model was chosen, so no contest was written.');
  return chosen;
}

async function generateContest(shell: Shell, name: string, flags: GenFlags): Promise<number> {
  const stop = new AbortController();
  const release = shell.onInterrupt(() => stop.abort());
  const { contests, variants } = await shell.openContests();
  const path = contestPath(shell, contests, name, flags);
  // A name that nobody wrote must not leave a folder behind.
  await (await contests.open(path, 'read')).close();
  const folder = await contests.open(path, 'write', { repository: resolve(shell.cwd, flags.repo) });
  try {
    const loaded = await loadContest(folder, {
      variants,
      ...(flags.rounds === undefined ? {} : { rounds: flags.rounds }),
      ...(flags.seed === undefined ? {} : { seed: flags.seed }),
    });
    const made = await generateLoaded(shell, { folder, loaded, flags, signal: stop.signal });
    if (flags.json)
      shell.screen.out(`${jsonText({ contest: name, folder: path, version: loaded.digest, ...made })}\n`);
    else
      shell.screen.out(
        generatedText(made, { name: [name, ...dirWords(flags)].join(' '), next: nextAfter(loaded) }),
      );
    return made.unasked.length > 0 ? EXIT.failed : EXIT.done;
  } catch (thrown) {
    if (!stop.signal.aborted) throw thrown;
    shell.screen.err('\nStopped. Run the same command to go on; what is finished is not paid for again.\n');
    return EXIT.stopped;
  } finally {
    release();
    await folder.close();
  }
}

/** Where every task is verified by execution, there is a result without any vote. */
const nextAfter = ({ contest }: ContestRecords): 'report' | 'vote' =>
  contest.tasks.every(({ kind }) => kind === 'repo') ? 'report' : 'vote';

/** The words of a command that lead to the same folder. */
export const dirWords = ({ dir }: ContestFlags): readonly string[] =>
  dir === undefined ? [] : ['--dir', shellWord(dir)];

async function generateLoaded(
  shell: Shell,
  {
    folder,
    loaded,
    flags,
    signal,
  }: {
    readonly folder: ContestFolder;
    readonly loaded: ContestRecords;
    readonly flags: GenFlags;
    readonly signal: AbortSignal;
  },
): Promise<Generated> {
  const { tasks, budget } = loaded.contest;
  const { tools, close } = await shell.openArena(tasks.some(({ kind }) => kind === 'repo'));
  try {
    return await generateSamples(tools, folder, loaded, {
      version: shell.version,
      trust: flags.trustChecks ?? false,
      newVersion: flags.newVersion ?? false,
      tell: (event) => shell.screen.err(`${generateLine(event, budget)}\n`),
      signal,
    });
  } finally {
    await close();
  }
}
