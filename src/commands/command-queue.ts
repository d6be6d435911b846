import { type Command, parseCommand } from '../core/commands/index.ts';
import type { CommandRecord } from '../ports/index.ts';

/** Commands that may start a run. The run uses the text at the time of the command, however long it queued (I5). */
export const STARTS: ReadonlySet<Command['name']> = new Set(['run', 'retry', 'review', 'fix', 'debate']);

interface CommandHandlers {
  /** Whether the author probably has write access, so that the command can skip the queue for unknown authors. */
  isLikelyAllowed(command: CommandRecord): boolean;
  /** Checks the write access of an unknown author; without it the command is settled. Never rejects. */
  check(command: CommandRecord): Promise<boolean>;
  /** Whether a run is active in the command's thread. Never rejects. */
  isAtWork(command: CommandRecord): Promise<boolean>;
  /** Never rejects. */
  process(command: CommandRecord): Promise<void>;
}

interface CommandQueue {
  add(command: CommandRecord): void;
  /** Resolves when the command has been processed, at once if it is not queued. */
  finished(id: string): Promise<void>;
  idle(): Promise<void>;
}

interface QueuedCommand {
  readonly command: CommandRecord;
  readonly name: Command['name'] | null;
  started: boolean;
  readonly finished: PromiseWithResolvers<void>;
}

/** Commands of one kind in one repository: one at a time, in the order of GitHub's own times. */
interface SerialQueue {
  waiting: QueuedCommand[];
  current: QueuedCommand | null;
  working: Promise<void> | null;
}

/**
 * Three queues for each repository:
 * - `unknown`: authors without known write access are checked here, so that no writer waits for them.
 * - `cancels`: a cancel waits only for earlier commands of its thread that start a run, so that it cancels that run,
 * too. Without an active run it can only end a wait for a pick, so it is kept in order with picks.
 * - `main`: everything else.
 * Implemented here because commands wait for commands of other queues and are removed from the middle, which no
 * package supports.
 * Free of deadlocks: a command that has started waits for no queue, and a cancel itself processes the commands that
 * it would have to wait for.
 */
export function openCommandQueue(work: CommandHandlers): CommandQueue {
  const repositories = new Map<number, RepositoryQueues>();
  const known = new Map<string, QueuedCommand>();

  function queuesFor({ place }: CommandRecord): RepositoryQueues {
    const found = repositories.get(place.repositoryId) ?? newRepositoryQueues();
    repositories.set(place.repositoryId, found);
    return found;
  }
  async function process(one: QueuedCommand): Promise<void> {
    one.started = true;
    await work.process(one.command);
    known.delete(one.command.id);
    one.finished.resolve();
  }
  async function check(one: QueuedCommand, at: RepositoryQueues): Promise<void> {
    if (await work.check(one.command)) return admit(one, at);
    known.delete(one.command.id);
    one.finished.resolve();
  }
  async function processInMain(one: QueuedCommand, { cancels }: RepositoryQueues): Promise<void> {
    if (isStart(one))
      await Promise.all(all(cancels).filter(before(one)).filter(inThreadOf(one)).map(untilFinished));
    if (isPick(one))
      await Promise.all(
        all(cancels)
          .filter((other) => before(one)(other) || other.started)
          .map(untilFinished),
      );
    await process(one);
  }
  async function processInCancels(one: QueuedCommand, { main }: RepositoryQueues): Promise<void> {
    const starts = (other: QueuedCommand) => isStart(other) && before(one)(other) && inThreadOf(one)(other);
    await processFirst(main, starts, starts);
    if (!(await work.isAtWork(one.command)))
      await processFirst(main, (other) => isPick(other) && before(one)(other), isPick);
    await process(one);
  }
  /**
   * Removes the commands that match `pulls` from a queue and processes them in order, after the current one if
   * `waitsFor` matches it.
   */
  async function processFirst(
    queue: SerialQueue,
    pulls: (one: QueuedCommand) => boolean,
    waitsFor: (one: QueuedCommand) => boolean,
  ) {
    const { current } = queue;
    const pulled = queue.waiting.filter(pulls);
    queue.waiting = queue.waiting.filter((one) => !pulled.includes(one));
    if (current?.started && waitsFor(current)) await untilFinished(current);
    for (const one of pulled.toSorted(inOrderGiven)) await process(one);
  }
  function enqueue(
    one: QueuedCommand,
    queue: SerialQueue,
    at: RepositoryQueues,
    how: typeof processInMain,
  ): void {
    queue.waiting.push(one);
    queue.working ??= drain(queue, (next) => how(next, at)).then(() => {
      const { repositoryId } = one.command.place;
      // Meanwhile another queue may have ended and removed the entry, and a new command may have created it again.
      if (repositories.get(repositoryId) !== at) return;
      if (!queuesOf(at).some(({ working }) => working)) repositories.delete(repositoryId);
    });
  }
  const admit = (one: QueuedCommand, at: RepositoryQueues): void =>
    one.name === 'cancel'
      ? enqueue(one, at.cancels, at, processInCancels)
      : enqueue(one, at.main, at, processInMain);

  return {
    add(command) {
      if (known.has(command.id)) return;
      const at = queuesFor(command);
      const name = parseCommand(command.text)?.name ?? null;
      const one = { command, name, started: false, finished: Promise.withResolvers<void>() };
      known.set(command.id, one);
      if (work.isLikelyAllowed(command)) admit(one, at);
      else enqueue(one, at.unknown, at, check);
    },
    finished: (id) => known.get(id)?.finished.promise ?? Promise.resolve(),
    async idle() {
      for (;;) {
        const queues = [...repositories.values()].flatMap(queuesOf);
        const working = queues.flatMap((queue) => queue.working ?? []);
        if (working.length === 0) return;
        await Promise.all(working);
      }
    },
  };
}

interface RepositoryQueues {
  readonly unknown: SerialQueue;
  readonly main: SerialQueue;
  readonly cancels: SerialQueue;
}

const queuesOf = ({ unknown, main, cancels }: RepositoryQueues): readonly SerialQueue[] => [
  unknown,
  main,
  cancels,
];
const newQueue = (): SerialQueue => ({ waiting: [], current: null, working: null });
const newRepositoryQueues = (): RepositoryQueues => ({
  unknown: newQueue(),
  main: newQueue(),
  cancels: newQueue(),
});

async function drain(queue: SerialQueue, how: (one: QueuedCommand) => Promise<void>): Promise<void> {
  for (;;) {
    queue.waiting.sort(inOrderGiven);
    queue.current = queue.waiting.shift() ?? null;
    if (!queue.current) {
      // No await in between: a command added from now on starts the queue again.
      queue.working = null;
      return;
    }
    await how(queue.current);
  }
}

const untilFinished = ({ finished }: QueuedCommand): Promise<void> => finished.promise;

/** By GitHub's times and ids, whatever the order of deliveries. */
const inOrderGiven = ({ command: one }: QueuedCommand, { command: other }: QueuedCommand): number =>
  one.at - other.at || one.place.comment - other.place.comment;

const all = ({ waiting, current }: SerialQueue): readonly QueuedCommand[] => [
  ...(current ? [current] : []),
  ...waiting,
];
const before =
  (one: QueuedCommand) =>
  (other: QueuedCommand): boolean =>
    inOrderGiven(other, one) < 0;
const inThreadOf =
  (one: QueuedCommand) =>
  (other: QueuedCommand): boolean =>
    other.command.place.thread === one.command.place.thread;
const isStart = ({ name }: QueuedCommand): boolean => name !== null && STARTS.has(name);
const isPick = ({ name }: QueuedCommand): boolean => name === 'pick';
