import { type Command, parseCommand } from '../core/commands/index.ts';
import type { CommandRecord } from '../ports/index.ts';

/** What may start a run: it works on the words of the moment in which it was asked for, whatever its turn (I5). */
export const STARTS: ReadonlySet<Command['name']> = new Set(['run', 'retry', 'review', 'fix']);

export interface LaneWork {
  /** Whether the command waits for nobody's permission but its own: its sender is likely to be a writer. */
  isLikely(command: CommandRecord): boolean;
  /** Whether somebody unlikely may write after all. Where not, the command is settled. Never rejects. */
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
 * Three lanes for each repository. People who are not known to be writers are checked in a lane of their own, so that no
 * writer waits for them. `cancel` has one as well: while a run is at work in its conversation, it waits only for what was
 * asked for before it there and starts a run, so that it can be cancelled. Where none is, it can only end the waiting for a
 * pick, and takes turns with picks. All else is done one at a time.
 *
 * Nothing that has begun waits for a lane, and a cancel does what it would wait for itself: so no two wait for each other.
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
  /** Does what waits, in its order, and waits for what has begun. */
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
      if (!lanesOf(at).some(({ working }) => working)) repositories.delete(one.command.place.repositoryId);
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
      if (work.isLikely(command)) admit(one, at);
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
      // Before anything else happens: what is added from now on begins anew.
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
