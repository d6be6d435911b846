import { parseCommand } from '../core/commands/index.ts';
import { asFault, isOver, OUTAGES } from '../core/model/index.ts';
import { findMarker } from '../core/reports/index.ts';
import type { CommandPlace, CommandRecord, Publisher, Reaction, ReactionTarget } from '../ports/index.ts';
import { findOwnComment, handleOf, idempotentWrite, requireGitHub, type World } from '../runs/index.ts';
import { applyCommand, type CommandPorts } from './apply-command.ts';
import {
  type AuthorLimits,
  type CommandResult,
  intentScope,
  MAX_COMMENT_TEXT,
  refuse,
  TOO_LONG,
} from './context.ts';

/**
 * Milliseconds after its arrival after which a command fails if its author's permission could not be read. Default:
 * longer than most outages.
 */
const MAX_UNAUTHORISED_AGE_MS = 60 * 60_000;

/**
 * Processes one stored command: authorizes (I4), applies, replies, and writes the audit. Never rejects. During an
 * outage of GitHub or the database the command stays without an outcome and is retried later; it never counts as
 * allowed.
 */
export const processCommand = (
  world: CommandPorts,
  limits: AuthorLimits,
  command: CommandRecord,
): Promise<void> => withFaultsReported(world, command, () => settle(world, limits, command));

/**
 * Whether a command may be applied, without applying it; without write access it is settled. Never rejects. The
 * permission is read again when the command is applied.
 */
export async function isAllowed(
  world: Pick<World, 'clock' | 'log' | 'store'>,
  limits: AuthorLimits,
  command: CommandRecord,
): Promise<boolean> {
  let allowed = false;
  await withFaultsReported(world, command, async () => {
    allowed = await isAuthorised(world, limits, command);
  });
  return allowed;
}

/** Whether a run is active in the command's thread. Never rejects; false if unknown. */
export async function isAtWork(
  { store, log }: Pick<World, 'log' | 'store'>,
  { place }: CommandRecord,
): Promise<boolean> {
  try {
    return (await store.runsAt(place.repositoryId, place.thread)).some(({ state }) => !isOver(state));
  } catch (thrown) {
    log.warn({ err: thrown }, 'whether a run is at work could not be read, so a cancel takes its turn');
    return false;
  }
}

async function withFaultsReported(
  world: Pick<World, 'clock' | 'log' | 'store'>,
  command: CommandRecord,
  work: () => Promise<void>,
): Promise<void> {
  // The next command of a queue starts within the log scope of the one before it.
  const about = { command: command.id, run: command.ticked, delivery: undefined };
  return world.log.within(about, () => guardedNow(world, command, work));
}

async function guardedNow(
  world: Pick<World, 'clock' | 'log' | 'store'>,
  command: CommandRecord,
  work: () => Promise<void>,
): Promise<void> {
  try {
    const stored = await world.store.command(command.id);
    if (!stored || stored.outcome) return;
    await work();
  } catch (thrown) {
    const waits =
      OUTAGES.has(asFault(thrown).code) && (isFresh(world, command) || (await isHalfDone(world, command)));
    world.log.warn({ waits, err: thrown }, 'a command could not be processed');
    if (!waits) await settleFailed(world, command, asFault(thrown).message);
  }
}

const isFresh = ({ clock }: Pick<World, 'clock'>, { at, receivedAt = at }: CommandRecord): boolean =>
  clock.now() - receivedAt <= MAX_UNAUTHORISED_AGE_MS;

/** Whether the command was authorised and may have written something. It is finished then, whatever its age (0237). */
const isHalfDone = async (world: Pick<World, 'store'>, command: CommandRecord): Promise<boolean> =>
  (await resultIntent(world, command).catch(() => null))?.state === 'planned';

/** The applied command counts, even if the reply failed. */
async function settleFailed(
  world: Pick<World, 'clock' | 'log' | 'store'>,
  command: CommandRecord,
  why: string,
): Promise<void> {
  try {
    const { outcome, runId } = (await storedResult(world, command)) ?? refuse(command, why);
    await world.store.settleCommand(command.id, outcome, world.clock.now(), runId);
  } catch (thrown) {
    world.log.error({ err: thrown }, 'the outcome of a command could not be stored');
  }
}

/**
 * A command that has begun is not authorized again: it was when it began, and would be left half done, or without its
 * reply (0237).
 */
async function isAuthorised(
  world: Pick<World, 'clock' | 'store'>,
  limits: AuthorLimits,
  command: CommandRecord,
): Promise<boolean> {
  if (await resultIntent(world, command)) return true;
  if (await limits.mayWrite(command.place, command.by)) return true;
  const outcome = { kind: 'ignored', why: 'the author has no write access to the repository' } as const;
  await world.store.settleCommand(command.id, outcome, world.clock.now(), command.page?.run);
  return false;
}

async function settle(world: CommandPorts, limits: AuthorLimits, command: CommandRecord): Promise<void> {
  const { place, by } = command;
  if (!(await isAuthorised(world, limits, command))) return;
  if (place.on === 'page') return settleFromPage(world, command);
  const publisher = await requireGitHub(world).publisher(handleOf(place));
  try {
    // Writes to GitHub are serialized, except that a cancel waits for none.
    if (parseCommand(command.text)?.name !== 'cancel') await acknowledge(world, publisher, command);
    const { outcome, reply, runId } = await resultOf(world, command);
    if (reply) await postReply(world, publisher, command, reply);
    await react(world, publisher, command, 'eyes');
    await react(world, publisher, command, outcome.kind === 'done' ? 'rocket' : 'confused');
    await world.store.settleCommand(command.id, outcome, world.clock.now(), runId);
    world.log.info({ by: by.id, run: runId, ...outcome }, 'a command has its outcome');
  } finally {
    await publisher.close();
  }
}

/** No comment waits for a reaction or a reply: the page shows the stored outcome. */
async function settleFromPage(world: CommandPorts, command: CommandRecord): Promise<void> {
  const { outcome, runId } = await resultOf(world, command);
  await world.store.settleCommand(command.id, outcome, world.clock.now(), runId);
  world.log.info({ by: command.by.id, run: runId, ...outcome }, 'a command from a page has its outcome');
}

/** Applies the command. The result is stored before it is shown, so that a crash does not apply the command twice. */
const resultOf = (world: CommandPorts, command: CommandRecord): Promise<CommandResult> =>
  idempotentWrite(world.store, intentScope(command), RESULT, {
    look: async () => null,
    write: () => applyOrExplain(world, command),
  });

async function acknowledge(
  world: Pick<World, 'log' | 'store'>,
  publisher: Publisher,
  command: CommandRecord,
): Promise<void> {
  await react(world, publisher, command, 'eyes').catch((thrown: unknown) => {
    // The next reaction sets it: the command itself has priority.
    world.log.warn(
      { err: thrown },
      'the reaction to a command could not be set; the command is processed, and the reaction set with its result',
    );
  });
}

/** Key of the intent that holds a command's result before the reply is written. */
const RESULT = 'result';

const resultIntent = ({ store }: Pick<World, 'store'>, command: CommandRecord) =>
  store.intent(intentScope(command), RESULT);

async function storedResult(
  world: Pick<World, 'store'>,
  command: CommandRecord,
): Promise<CommandResult | null> {
  const kept = await resultIntent(world, command);
  return kept?.state === 'done' ? (kept.result as CommandResult) : null;
}

/** Any fault except an outage becomes a reply. */
async function applyOrExplain(world: CommandPorts, command: CommandRecord): Promise<CommandResult> {
  if (command.text.length > MAX_COMMENT_TEXT) return refuse(command, TOO_LONG);
  try {
    return await applyCommand(world, command, parseCommand(command.text));
  } catch (thrown) {
    const { code, message, advice } = asFault(thrown);
    if (OUTAGES.has(code)) throw thrown;
    world.log.warn({ err: thrown }, 'a command met a fault');
    return refuse(command, `${message} ${advice}`);
  }
}

/** A checkbox needs no reply: its comment shows the pick. */
const isCheckbox = ({ ticked }: CommandRecord): boolean => ticked !== undefined;

/** Sets each kind of reaction once. If GitHub refuses it, the command still counts. */
async function react(
  world: Pick<World, 'log' | 'store'>,
  publisher: Publisher,
  command: CommandRecord,
  reaction: Reaction,
): Promise<void> {
  if (isCheckbox(command)) return;
  try {
    await idempotentWrite(world.store, intentScope(command), `reaction:${reaction}`, {
      look: async () => null,
      write: async () => {
        await publisher.react(targetOf(command.place), reaction);
        return reaction;
      },
    });
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
    world.log.warn({ err: thrown }, 'the reaction to a command could not be set');
  }
}

const targetOf = ({ on, comment }: CommandPlace): ReactionTarget =>
  on === 'line' ? { reviewComment: comment } : { comment };

/** Posts one comment in the conversation; its marker prevents duplicates. */
async function postReply(
  world: Pick<World, 'github' | 'store'>,
  publisher: Publisher,
  command: CommandRecord,
  body: string,
): Promise<void> {
  const { place } = command;
  const github = requireGitHub(world);
  await idempotentWrite(world.store, intentScope(command), 'reply', {
    look: async () => {
      const wanted = findMarker(body);
      return wanted && findOwnComment(github, await github.reader(handleOf(place)), place.thread, wanted);
    },
    write: () => publisher.comment(place.thread, body),
  });
}
