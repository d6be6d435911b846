import { type Command, parseCommand, replyOf } from '../core/commands/index.ts';
import { type Alias, asFault, isOver, OUTAGES, openBoundedMap, type RunId } from '../core/model/index.ts';
import { branchMerge } from '../core/reports/index.ts';
import type { CommandOutcome, CommandRecord } from '../ports/index.ts';
import { cancelRun, loadRun, pickLocally, reply, tryKeepOutcomes, type World } from '../runs/index.ts';
import { type PageCommand, type PageIntake, pageCommandId, pickOutdated, refusedOnPage } from './pages.ts';

/** Commands from pages, and what became of them. */
export interface PageCommands {
  onPage(given: PageCommand): Promise<PageIntake>;
  /** A recorded command, after waiting at most this long for its outcome, which may be absent; null if unknown. */
  outcome(
    command: string,
    withinMs: number,
  ): Promise<Pick<CommandRecord, 'outcome' | 'page' | 'runId' | 'text'> | null>;
}

/** The ports needed for commands to local runs. */
type LocalPorts = Pick<World, 'announcer' | 'artifacts' | 'clock' | 'engine' | 'log' | 'store'>;

/** Outcomes that are kept for pages to show. Default: more than anybody sends before the page is shown. */
const MAX_OUTCOMES = 200;

interface AppliedCommand extends Pick<PageCommand, 'about' | 'text'> {
  readonly outcome: Promise<CommandOutcome>;
}

/**
 * Commands to local runs from the pages of this machine's own user: what `runoff pick`, `cancel`, `answer`, `approve`
 * and `revise` do, and a debate of a plan that waits for approval. Each is applied before the request is answered.
 * The engine must have been launched.
 */
export function openLocalCommands(world: LocalPorts): PageCommands {
  const applied = openBoundedMap<AppliedCommand>(MAX_OUTCOMES);
  return {
    async onPage(given) {
      const id = pageCommandId(given);
      const before = applied.get(id);
      if (before && before.text !== given.text)
        return refusedOnPage('A different command was already sent with this key. Load the page again.');
      if (!before) {
        const { text, about } = given;
        const outcome = applyLocally(world, id, given);
        applied.set(id, { text, about, outcome });
        // An outage, after which the form can be sent again: what it has done is kept under its id.
        outcome.catch(() => applied.delete(id));
      }
      await applied.get(id)?.outcome;
      return { kind: 'recorded', command: id };
    },
    async outcome(id) {
      const found = applied.get(id);
      if (!found) return null;
      const { text, about, outcome } = found;
      return { text, outcome: await outcome, ...('run' in about ? { page: about } : {}) };
    },
  };
}

const refusedLocally = (why: string): CommandOutcome => ({ kind: 'refused', why });
const doneLocally = (note: string): CommandOutcome => ({ kind: 'done', note });

async function applyLocally(world: LocalPorts, id: string, given: PageCommand): Promise<CommandOutcome> {
  const command = parseCommand(given.text);
  if (!command || !('run' in given.about)) return refusedLocally('This is not a command to a run.');
  if (command.name === 'unknown') return refusedLocally(command.why);
  const { run } = given.about;
  try {
    const { origin } = await loadRun(world, run);
    if (origin.kind !== 'local') return refusedLocally('This run can only be changed on GitHub.');
    return await applyTo(world, run, { id, command, about: given.about });
  } catch (thrown) {
    const { code, message, advice } = asFault(thrown);
    if (OUTAGES.has(code) || code === 'INTERNAL') throw thrown;
    return refusedLocally(`${message} ${advice}`);
  }
}

interface LocalCommand {
  readonly id: string;
  readonly command: Command;
  readonly about: Extract<PageCommand['about'], { readonly run: RunId }>;
}

async function applyTo(
  world: LocalPorts,
  run: RunId,
  { id, command, about }: LocalCommand,
): Promise<CommandOutcome> {
  switch (command.name) {
    case 'pick': {
      const outdated = pickOutdated(about, await world.store.picks(run));
      return outdated === null ? pickHere(world, run, command.alias, id) : refusedLocally(outdated);
    }
    case 'cancel':
      if (await cancelRun(world, run, 'it was cancelled on its page'))
        return doneLocally('the run is cancelled');
      return isOver((await loadRun(world, run)).state)
        ? doneLocally('the run had already ended')
        : refusedLocally(
            'The run could not be cancelled: its result is already stored. Load the page again to see it.',
          );
    case 'answer':
    case 'approve':
    case 'debate':
    case 'revise': {
      const given = replyOf(command, null, world.clock.now());
      if (!given) return refusedLocally('This is no reply to a run.');
      const result = await reply(world, run, id, given, about.inquiry);
      return result.kind === 'taken' ? doneLocally('the run continues with it') : refusedLocally(result.why);
    }
    default:
      return refusedLocally(
        `For a local run, \`${command.name}\` is a command of the terminal: see \`runoff --help\`.`,
      );
  }
}

async function pickHere(
  world: LocalPorts,
  run: RunId,
  alias: Alias | null,
  key: string,
): Promise<CommandOutcome> {
  const { branch, base } = await pickLocally(world, run, alias, key);
  await tryKeepOutcomes(world, run);
  if (alias === null) return doneLocally('All candidates are rejected; their branches remain.');
  return doneLocally(
    branch === null
      ? `Candidate ${alias} is picked. It has no branch; its diff is on this page.`
      : `Candidate ${alias} is picked. To ${base?.uncommitted ? 'apply it to your uncommitted changes' : 'merge it'}, run \`${branchMerge({ base }, branch)}\` in the repository.`,
  );
}
