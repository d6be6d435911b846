import { type Command, parseCommand } from '../core/commands/index.ts';
import type { CommandRecord } from '../ports/index.ts';

/** What may start a run: it works on the words of the moment in which it was asked for, whatever its turn (I5). */
export const STARTS: ReadonlySet<Command['name']> = new Set(['run', 'retry', 'review', 'fix']);

export interface LaneWork {
  /** Whether its sender is probably a writer, so that it needs no check in the lane of unknown people first. */
  isLikelyAllowed(command: CommandRecord): boolean;
  /** Whether a sender of whom that is not known may write; if not, the command is settled. Never rejects. */
  check(command: CommandRecord): Promise<boolean>;
  /** Whether a run that is not over is at work where the command was given. Never rejects. */
  isAtWork(command: CommandRecord): Promise<boolean>;
  /** Never rejects. */
  attend(command: CommandRecord): Promise<void>;
}

export interface Lanes {
  add(command: CommandRecord): void;
  idle(): Promise<void>;
}

interface Waiting {
  readonly command: CommandRecord;
  readonly name: Command['name'] | null;
  /** It is being obeyed. */
  begun: boolean;
  readonly over: PromiseWithResolvers<void>;
}

/** Commands of one kind in one repository, one at a time, by GitHub's own times. */
interface Lane {
  waiting: Waiting[];
  current: Waiting | null;
  working: Promise<void> | null;
}

/**
 * Three lanes for each repository:
 * - `unknown`: senders who are not known to be writers are checked here, so that no writer waits for them.
 * - `cancels`: a cancel waits only for earlier commands of its conversation that start a run, so that it cancels that run
 *   too. Where no run is at work, all it can end is a run that waits for a pick, so it takes turns with picks.
 * - `main`: everything else, one at a time.
 *
 * No deadlock: a command that has begun waits for no lane, and a cancel executes the commands it would have to wait for.
 */
export function openLanes(work: LaneWork): Lanes {
  const repositories = new Map<number, Repository>();
  const known = new Set<string>();

  function repositoryOf({ place }: CommandRecord): Repository {
    const found = repositories.get(place.repositoryId) ?? newRepository();
    repositories.set(place.repositoryId, found);
    return found;
  }
  async function attend(one: Waiting): Promise<void> {
    one.begun = true;
    await work.attend(one.command);
    known.delete(one.command.id);
    one.over.resolve();
  }
  async function check(one: Waiting, at: Repository): Promise<void> {
    if (await work.check(one.command)) return admit(one, at);
    known.delete(one.command.id);
    one.over.resolve();
  }
  async function inMain(one: Waiting, { cancels }: Repository): Promise<void> {
    if (isStart(one)) await Promise.all(all(cancels).filter(before(one)).filter(sameThread(one)).map(isOver));
    if (isPick(one))
      await Promise.all(
        all(cancels)
          .filter((other) => before(one)(other) || other.begun)
          .map(isOver),
      );
    await attend(one);
  }
  async function inCancels(one: Waiting, { main }: Repository): Promise<void> {
    const starts = (other: Waiting) => isStart(other) && before(one)(other) && sameThread(one)(other);
    await ahead(main, starts, starts);
    if (!(await work.isAtWork(one.command)))
      await ahead(main, (other) => isPick(other) && before(one)(other), isPick);
    await attend(one);
  }
  /** Takes what `waits` out of the lane and executes it in order; first waits for the current one where it `goesOn`. */
  async function ahead(lane: Lane, waits: (one: Waiting) => boolean, goesOn: (one: Waiting) => boolean) {
    const { current } = lane;
    const pulled = lane.waiting.filter(waits);
    lane.waiting = lane.waiting.filter((one) => !pulled.includes(one));
    if (current?.begun && goesOn(current)) await isOver(current);
    for (const one of pulled.toSorted(byTime)) await attend(one);
  }
  function put(one: Waiting, lane: Lane, at: Repository, how: typeof inMain): void {
    lane.waiting.push(one);
    lane.working ??= drain(lane, (next) => how(next, at)).then(() => {
      const { repositoryId } = one.command.place;
      // Meanwhile another lane that ended may have removed it, and a new command have opened it anew.
      if (repositories.get(repositoryId) !== at) return;
      if (!lanesOf(at).some(({ working }) => working)) repositories.delete(repositoryId);
    });
  }
  const admit = (one: Waiting, at: Repository): void =>
    one.name === 'cancel' ? put(one, at.cancels, at, inCancels) : put(one, at.main, at, inMain);

  return {
    add(command) {
      if (known.has(command.id)) return;
      known.add(command.id);
      const at = repositoryOf(command);
      const name = parseCommand(command.text)?.name ?? null;
      const one = { command, name, begun: false, over: Promise.withResolvers<void>() };
      if (work.isLikelyAllowed(command)) admit(one, at);
      else put(one, at.unknown, at, check);
    },
    async idle() {
      for (;;) {
        const lanes = [...repositories.values()].flatMap(lanesOf);
        const working = lanes.flatMap((lane) => lane.working ?? []);
        if (working.length === 0) return;
        await Promise.all(working);
      }
    },
  };
}

interface Repository {
  readonly unknown: Lane;
  readonly main: Lane;
  readonly cancels: Lane;
}

const lanesOf = ({ unknown, main, cancels }: Repository): readonly Lane[] => [unknown, main, cancels];
const newLane = (): Lane => ({ waiting: [], current: null, working: null });
const newRepository = (): Repository => ({ unknown: newLane(), main: newLane(), cancels: newLane() });

async function drain(lane: Lane, how: (one: Waiting) => Promise<void>): Promise<void> {
  for (;;) {
    lane.waiting.sort(byTime);
    lane.current = lane.waiting.shift() ?? null;
    if (!lane.current) {
      // Without an await in between: a command that is added from now on starts the lane again.
      lane.working = null;
      return;
    }
    await how(lane.current);
  }
}

const isOver = ({ over }: Waiting): Promise<void> => over.promise;

/** By GitHub's own times and numbers, whatever the order in which deliveries come. */
const byTime = ({ command: one }: Waiting, { command: other }: Waiting): number =>
  one.at - other.at || one.place.comment - other.place.comment;

const all = ({ waiting, current }: Lane): readonly Waiting[] => [...(current ? [current] : []), ...waiting];
const before =
  (one: Waiting) =>
  (other: Waiting): boolean =>
    byTime(other, one) < 0;
const sameThread =
  (one: Waiting) =>
  (other: Waiting): boolean =>
    other.command.place.thread === one.command.place.thread;
const isStart = ({ name }: Waiting): boolean => name !== null && STARTS.has(name);
const isPick = ({ name }: Waiting): boolean => name === 'pick';
