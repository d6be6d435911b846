import { parseCommand } from '../core/commands/index.ts';
import { isOver } from '../core/lifecycle/index.ts';
import { asFault } from '../core/model/index.ts';
import { findMarker } from '../core/reports/index.ts';
import type { CommandPlace, CommandRecord, Publisher, Reaction, ReactionTarget } from '../ports/index.ts';
import { findOwn, handleOf, OUTAGES, once, requireGitHub, type World } from '../runs/index.ts';
import { obey } from './obey.ts';
import { type Obeyed, refuse, scopeOf } from './obeyed.ts';
import type { Senders } from './senders.ts';

/** Milliseconds after which a command that could not be authorised is let go. Our default: longer than most outages. */
const LATEST_MS = 60 * 60_000;

/**
 * One command from its row to its outcome: authorised now (I4), obeyed, answered, audited. Never rejects. While GitHub or
 * the database does not answer, the command stays open and is taken up again later; it never counts as allowed.
 */
export const attend = (world: World, senders: Senders, command: CommandRecord): Promise<void> =>
  guarded(world, command, () => settle(world, senders, command));

/**
 * Whether a command is to be obeyed, without obeying it; one of somebody who may not write is settled. Never rejects. The
 * right is read once more when it is obeyed.
 */
export async function isAllowed(world: World, senders: Senders, command: CommandRecord): Promise<boolean> {
  let allowed = false;
  await guarded(world, command, async () => {
    allowed = await mayGoOn(world, senders, command);
  });
  return allowed;
}

/** Whether a run is at work where a command was given. Never rejects; not known: no. */
export async function isAtWork({ store, log }: World, { place }: CommandRecord): Promise<boolean> {
  try {
    return (await store.runsAt(place.repositoryId, place.thread)).some(({ state }) => !isOver(state));
  } catch (thrown) {
    log.warn({ err: thrown }, 'whether a run is at work could not be read, so a cancel takes its turn');
    return false;
  }
}

async function guarded(world: World, command: CommandRecord, work: () => Promise<void>): Promise<void> {
  // The next of a lane is begun from within the work on the one before it.
  const about = { command: command.id, run: command.ticked, delivery: undefined };
  return world.log.within(about, () => guardedNow(world, command, work));
}

async function guardedNow(world: World, command: CommandRecord, work: () => Promise<void>): Promise<void> {
  try {
    const standing = await world.store.command(command.id);
    if (!standing || standing.outcome) return;
    await work();
  } catch (thrown) {
    const { code } = asFault(thrown);
    const old = world.clock.now() - command.at > LATEST_MS;
    const waits = OUTAGES.has(code) && !old;
    world.log.warn({ waits, err: thrown }, 'a command could not be obeyed');
    if (!waits) await giveUp(world, command, asFault(thrown).message);
  }
}

/** What was done stays done, also where it could not be said. */
async function giveUp(world: World, command: CommandRecord, why: string): Promise<void> {
  try {
    const { outcome, runId } = (await whatCameOf(world, command)) ?? refuse(command, why);
    await world.store.settleCommand(command.id, outcome, world.clock.now(), runId);
  } catch (thrown) {
    world.log.error({ err: thrown }, 'the outcome of a command could not be stored');
  }
}

/** Who was allowed when it was obeyed is not asked again: it is only to be said still. */
async function mayGoOn(world: World, senders: Senders, command: CommandRecord): Promise<boolean> {
  if (await whatCameOf(world, command)) return true;
  if (await senders.mayWrite(command.place, command.by)) return true;
  const outcome = { kind: 'ignored', why: 'the sender may not write to the repository' } as const;
  await world.store.settleCommand(command.id, outcome, world.clock.now());
  return false;
}

async function settle(world: World, senders: Senders, command: CommandRecord): Promise<void> {
  const { place, by } = command;
  if (!(await mayGoOn(world, senders, command))) return;
  const publisher = await requireGitHub(world).publisher(handleOf(place));
  try {
    // Writes take turns, and whoever cancels waits for none.
    if (parseCommand(command.text)?.name !== 'cancel') await sayItIsSeen(world, publisher, command);
    // Kept before it is said, so that after a crash the command is not obeyed again.
    const { outcome, reply, runId } = await once(world.store, scopeOf(command), OBEYED, {
      look: async () => null,
      write: () => obeyOrSay(world, command),
    });
    if (reply) await answer(world, publisher, command, reply);
    await react(world, publisher, command, 'eyes');
    await react(world, publisher, command, outcome.kind === 'done' ? 'rocket' : 'confused');
    await world.store.settleCommand(command.id, outcome, world.clock.now(), runId);
    world.log.info({ by: by.id, run: runId, ...outcome }, 'a command has its outcome');
  } finally {
    await publisher.close();
  }
}

async function sayItIsSeen(world: World, publisher: Publisher, command: CommandRecord): Promise<void> {
  await react(world, publisher, command, 'eyes').catch((thrown: unknown) => {
    // It is set with the next one: what was asked for comes first.
    world.log.warn(
      { err: thrown },
      'the reaction that a command was seen could not be set; it is obeyed, and the reaction set with its outcome',
    );
  });
}

/** Key under which is kept what came of a command before it is said. */
const OBEYED = 'obeyed';

async function whatCameOf({ store }: World, command: CommandRecord): Promise<Obeyed | null> {
  const kept = await store.intent(scopeOf(command), OBEYED);
  return kept?.state === 'done' ? (kept.result as Obeyed) : null;
}

/** A fault that is no outage is an answer, too. */
async function obeyOrSay(world: World, command: CommandRecord): Promise<Obeyed> {
  try {
    return await obey(world, command, parseCommand(command.text));
  } catch (thrown) {
    const { code, message, advice } = asFault(thrown);
    if (OUTAGES.has(code)) throw thrown;
    world.log.warn({ err: thrown }, 'a command met a fault');
    return refuse(command, `${message} ${advice}`);
  }
}

/** A tick is answered by the comment itself, which says what was picked. */
const isTick = ({ ticked }: CommandRecord): boolean => ticked !== undefined;

/** Its own kind once on each command. One that is refused stops nothing: what it tells is done already. */
async function react(
  world: World,
  publisher: Publisher,
  command: CommandRecord,
  reaction: Reaction,
): Promise<void> {
  if (isTick(command)) return;
  try {
    await once(world.store, scopeOf(command), `reaction:${reaction}`, {
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

/** One comment in the conversation, found again by its marker. */
async function answer(
  world: World,
  publisher: Publisher,
  command: CommandRecord,
  body: string,
): Promise<void> {
  const { place } = command;
  const github = requireGitHub(world);
  await once(world.store, scopeOf(command), 'reply', {
    look: async () => {
      const wanted = findMarker(body);
      return wanted && findOwn(github, await github.reader(handleOf(place)), place.thread, wanted);
    },
    write: () => publisher.comment(place.thread, body),
  });
}
