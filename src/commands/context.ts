import { type Actor, openBoundedMap, openRateLimit, type RunId } from '../core/model/index.ts';
import { noteReply } from '../core/reports/index.ts';
import type {
  CommandOutcome,
  CommandPlace,
  CommandRecord,
  RepositoryHandle,
  RunRecord,
} from '../ports/index.ts';
import {
  handleOf,
  mayWrite,
  type PublishPorts,
  RunRequest,
  requireGitHub,
  type World,
} from '../runs/index.ts';

/** Maximum UTF-16 units of a command that are stored: more than any command needs. */
export const MAX_COMMENT_TEXT = 8_000;

/** For the author of a longer one: a part of it might say something else than the whole. */
export const TOO_LONG = `The text is longer than ${MAX_COMMENT_TEXT.toLocaleString('en-US')} characters. Shorten it.`;

/** The ports needed to end a run, or its wait for a pick. */
export type CancelPorts = PublishPorts & Pick<World, 'announcer' | 'engine'>;

/** A delivery about a new comment, with the required fields only. */
export interface CommentEvent {
  readonly place: CommandPlace;
  readonly body: string;
  /** Text of the issue or pull request at that moment. */
  readonly issue: { readonly title: string; readonly body: string };
  /** When it was written, milliseconds since 1970 UTC. */
  readonly at: number;
  /** Written through an App, even on behalf of a person. */
  readonly throughApp: boolean;
  /** GitHub's `author_association`; absent: unknown. */
  readonly association?: string;
  readonly actor: EventActor;
}

export type IntakeResult =
  | { readonly kind: 'recorded'; readonly command: string }
  | { readonly kind: 'ignored'; readonly why: string };

export const ignored = (why: string): IntakeResult => ({ kind: 'ignored', why });

/** The user who triggered a delivery: GitHub's `sender`. */
export interface EventActor {
  readonly id: number;
  readonly login: string;
  readonly isBot: boolean;
}

/** The outcome of a command and the reply to its author; plain JSON, so that it survives a crash. */
export interface CommandResult {
  readonly outcome: Exclude<CommandOutcome, { readonly kind: 'ignored' }>;
  /** Body of a comment in the same thread; absent if a reaction is enough. */
  readonly reply?: string;
  readonly runId?: RunId;
}

/** Scope of the intents of a command, which may concern no run. */
export const intentScope = ({ id }: CommandRecord): string => `command:${id}`;

/**
 * Whether GitHub dates `one` after `other`. Its times are in whole seconds: within a second the comment ids decide,
 * which GitHub counts separately for comments on lines.
 */
export const isLater = (one: CommandRecord, other: CommandRecord): boolean =>
  one.at === other.at
    ? one.place.on === other.place.on && one.place.comment > other.place.comment
    : one.at > other.at;

/**
 * When a run was requested, by GitHub's clock, milliseconds since 1970 UTC; by this machine's if it was requested on a
 * page or through the API. Deliveries may be late or replayed: events before this time do not affect the run.
 */
export function triggeredAt({ request }: RunRecord): number {
  const read = RunRequest.safeParse(request);
  return read.success ? read.data.triggeredAt : 0;
}

export const isStartedByLabel = ({ request }: RunRecord): boolean =>
  RunRequest.safeParse(request).data?.trigger === 'label';

/** Milliseconds by which this machine's clock may be ahead of GitHub's. Our default. */
const CLOCK_SKEW_MS = 60_000;

/** Whether a run was requested after GitHub's time of a comment. GitHub's times are in whole seconds, ours are not. */
export function isRequestedAfter(run: RunRecord, at: number): boolean {
  const requestedAt = triggeredAt(run);
  return requestedAt - (requestedAt % 1_000 === 0 ? 0 : CLOCK_SKEW_MS) > at;
}

export const done = (note: string, more: Pick<CommandResult, 'reply' | 'runId'> = {}): CommandResult => ({
  outcome: { kind: 'done', note },
  ...more,
});

/** The commands that start a run in the conversation: a sentence. */
export const howToStart = ({ place }: CommandRecord): string =>
  place.isPull ? '`/auto-dev review` or `/auto-dev fix` starts one.' : '`/auto-dev run` starts one.';

/** `why`: sentences for the command's author. */
export const refuse = (
  command: CommandRecord,
  why: string,
  runId: RunId | undefined = command.page?.run,
): CommandResult => ({
  outcome: { kind: 'refused', why },
  reply: noteReply(command.place.comment, why).body,
  ...(runId ? { runId } : {}),
});

/**
 * Milliseconds for which a refusal is cached. Default: a person who gets write access waits a minute at most. A grant
 * is never cached: permission is read when a command is applied (I4).
 */
const REFUSED_MS = 60_000;
/** Milliseconds for which a person counts as a writer for the order of commands, and for nothing else. Default. */
const WRITER_MS = 10 * 60_000;
/**
 * Maximum commands and labels of one person stored per minute and repository before GitHub has confirmed write
 * access. Default.
 */
const MAX_A_MINUTE = 20;
/** Milliseconds in which dropped commands are counted before they are logged again. Default. */
const DROPPED_MS = 60_000;
/** Maximum entries of each map; beyond that the oldest are dropped. Default. */
const MAX_ENTRIES = 10_000;

/** Short-lived data of this process about the authors of commands and labels. Grants no permission. */
export interface AuthorLimits {
  /** Whether one more command or label of this person may be stored. Each call counts as one. */
  mayStore(place: RepositoryHandle, by: Actor): boolean;
  /** Counts a command or label that was not stored, and logs it once a minute, with the count of the last time. */
  noteDropped(place: RepositoryHandle): void;
  /** Whether the person has write access now. A refusal is kept for a minute. Faults: GITHUB_UNAVAILABLE. */
  mayWrite(place: RepositoryHandle, by: Actor): Promise<boolean>;
  /** Whether the person had write access lately. Only for the order of commands. */
  isRecentWriter(place: RepositoryHandle, by: Actor): boolean;
}

export function openAuthorLimits(world: Pick<World, 'clock' | 'github' | 'log'>): AuthorLimits {
  const { elapsed } = world.clock;
  const refused = openBoundedMap<number>(MAX_ENTRIES);
  const writers = openBoundedMap<number>(MAX_ENTRIES);
  const dropped = openBoundedMap<{ readonly since: number; times: number }>(MAX_ENTRIES);
  const isWithinLimit = openRateLimit(elapsed, MAX_ENTRIES);
  const key = ({ repositoryId }: RepositoryHandle, { id }: Actor): string => `${repositoryId} ${id}`;
  const within = (at: number | undefined, ms: number): boolean => at !== undefined && elapsed() - at < ms;

  const wasWriter: AuthorLimits['isRecentWriter'] = (place, by) =>
    within(writers.get(key(place, by)), WRITER_MS);

  return {
    isRecentWriter: wasWriter,
    mayStore(place, by) {
      if (within(refused.get(key(place, by)), REFUSED_MS)) return false;
      return wasWriter(place, by) || isWithinLimit(key(place, by), MAX_A_MINUTE);
    },
    noteDropped({ repositoryId }) {
      const known = dropped.get(String(repositoryId));
      if (known && within(known.since, DROPPED_MS)) {
        known.times += 1;
        return;
      }
      dropped.set(String(repositoryId), { since: elapsed(), times: 1 });
      world.log.warn(
        { repository: repositoryId, lastCount: known?.times ?? 0 },
        'commands or labels by people without write permission were not stored; logged once a minute at most',
      );
    },
    async mayWrite(place, by) {
      if (within(refused.get(key(place, by)), REFUSED_MS)) return false;
      const reader = await requireGitHub(world).reader(handleOf(place));
      const allowed = await mayWrite(reader, by);
      (allowed ? writers : refused).set(key(place, by), elapsed());
      (allowed ? refused : writers).delete(key(place, by));
      return allowed;
    },
  };
}
