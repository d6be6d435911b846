import { type Alias, type CoderStep, isFinal, type RunId, type Usage } from '../../core/model/index.ts';
import type { CandidateView } from '../../core/reports/index.ts';
import type { PickRecord, RunMark, RunRecord, Vote } from '../../ports/index.ts';
import { opinionsOn, type ShownCall, type ShownWork, shownWork, type World } from '../../runs/index.ts';
import { callPosition, isUnderWay, markVersion, type Position, positionText } from './position.ts';
import { type OpenStream, openReaders, RECHECK_MS, STREAM_SILENCE_MS, type StreamReaders } from './stream.ts';

/** Milliseconds between two looks at the database, however many watch. Our default. */
const LOOK_AT_RUNS_MS = 1_000;
/** Steps and calls that one look reads for a reader. */
const READ_AT_ONCE = 200;
/** Milliseconds over which readers of the same run spread their reloading, for each of them; and at most. Our defaults. */
const SPREAD_MS = 25;
const MAX_SPREAD_MS = 10_000;

/** One reader of a run's stream. */
export interface Reader {
  readonly runId: RunId;
  readonly stream: OpenStream;
  readonly form: StreamForm;
  /** Whose steps are read; null for none. */
  readonly alias: string | null;
  readonly from: Position;
  /** Whether the person may still see the run. A rejection ends the stream, too. */
  readonly maySee: () => Promise<boolean>;
}

/** What has become of a run, as it is in the database now. */
export interface FollowedRun {
  readonly run: RunRecord;
  readonly candidates: readonly CandidateView[];
  readonly usage: Usage;
  readonly votes: readonly Vote[];
  /** Those that count. */
  readonly picks: readonly PickRecord[];
}

/** What the events of a kind of readers contain: pages get texts and markup, callers of the API get fields. */
export interface StreamForm {
  readonly name: 'page' | 'api';
  /** Fields of the event `run`; it also gets `spread`, the milliseconds over which its readers load the run. */
  run(followed: FollowedRun): object;
  /** Fields of the event `steps`. */
  steps(alias: Alias, steps: readonly CoderStep[], calls: readonly ShownCall[]): Promise<object>;
}

interface Following extends Reader {
  at: Position;
  /** Numbers of later calls than that of the position that were sent, too. */
  sentBeyond: ReadonlySet<number>;
  /** There may be more steps or calls than the last look has read. */
  hasMore: boolean;
  /** A call that is under way. */
  awaitsCall: boolean;
  sentAt: number;
  checkAt: number;
  checking: boolean;
}

interface Seen {
  readonly version: string;
  /** Of each form that somebody reads. */
  readonly fields: ReadonlyMap<StreamForm, object>;
  readonly work: ShownWork;
  readonly isOver: boolean;
}

/** Reads the database once for all readers of this process, and only while there are any. */
export function openLiveReaders({
  store,
  clock,
  log,
}: Pick<World, 'clock' | 'log' | 'store'>): StreamReaders<Reader> {
  const seen = new Map<RunId, Seen>();

  const send = (reader: Following, name: string, data: unknown): void => {
    const event = {
      id: positionText(reader.at),
      name,
      data: typeof data === 'string' ? data : JSON.stringify(data),
    };
    if (!reader.stream.send(event)) readers.drop(reader.stream);
    reader.sentAt = clock.elapsed();
  };
  const look = async (): Promise<void> => {
    // First: whatever fails below, nobody goes on reading what they may not see any more.
    for (const reader of readers.all()) checkReader(reader);
    const byRun = Map.groupBy(readers.all(), ({ runId }) => runId);
    const marks = await store.runMarks([...byRun.keys()]);
    for (const id of seen.keys()) if (!byRun.has(id)) seen.delete(id);
    for (const [id, own] of byRun) {
      const mark = marks.find((one) => one.id === id);
      if (mark) await unlessItFails(own, follow(mark, own));
      else for (const { stream } of own) readers.drop(stream);
    }
  };
  /** What fails for some readers ends their streams alone; their browsers connect again. */
  const unlessItFails = (own: readonly Following[], work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      log.warn({ err: error }, 'some live pages could not be updated, and have to connect again');
      for (const { stream } of own) readers.drop(stream);
    });
  const follow = async (mark: RunMark, own: readonly Following[]): Promise<void> => {
    const now = await seenNow(mark, new Set(own.map(({ form }) => form)));
    if (!now) return;
    const changed = own.filter(({ at }) => at.version !== now.version);
    // Calls are booked and settled in the ledger: those of one candidate change the mark of its run.
    const reading = own.filter(
      ({ alias, at, hasMore, awaitsCall }) =>
        alias !== null &&
        (hasMore ||
          (mark.steps[alias] ?? 0) > at.step ||
          at.version !== now.version ||
          (awaitsCall && now.isOver)),
    );
    await sendSteps(reading, now.work);
    const spread = Math.min(MAX_SPREAD_MS, own.length * SPREAD_MS);
    for (const [form, fields] of now.fields) {
      const data = JSON.stringify({ ...fields, spread });
      for (const reader of changed) {
        if (reader.form !== form || !isCaughtUp(reader, mark)) continue;
        reader.at = { ...reader.at, version: now.version };
        send(reader, 'run', data);
      }
    }
    if (!now.isOver) return;
    for (const reader of own) {
      if (!isCaughtUp(reader, mark) || reader.awaitsCall) continue;
      send(reader, 'end', {});
      readers.drop(reader.stream);
    }
  };
  const isCaughtUp = ({ alias, at, hasMore }: Following, mark: RunMark): boolean =>
    alias === null || (!hasMore && (mark.steps[alias] ?? 0) <= at.step);

  const seenNow = async (mark: RunMark, forms: ReadonlySet<StreamForm>): Promise<Seen | null> => {
    const version = markVersion(mark);
    const known = seen.get(mark.id);
    if (known?.version === version && [...forms].every((form) => known.fields.has(form))) return known;
    const run = await store.run(mark.id);
    if (!run) return null;
    const [work, usage] = await Promise.all([shownWork(store, run), store.usage(mark.id)]);
    const followed = { run, candidates: work.candidates, usage, ...(await opinionsOn(store, run)) };
    const fields = new Map([...forms].map((form) => [form, form.run(followed)]));
    const now = { version, fields, work, isOver: hasEnded(run) };
    seen.set(mark.id, now);
    return now;
  };
  /** Readers at the same place share what is read and rendered. */
  const sendSteps = async (reading: readonly Following[], work: ShownWork): Promise<void> => {
    const together = Map.groupBy(
      reading,
      ({ form, alias, at, sentBeyond }) =>
        `${form.name} ${alias} ${at.step} ${at.call} ${[...sentBeyond].join()}`,
    );
    for (const group of together.values()) await unlessItFails(group, sendStepsTo(group, work));
  };
  const sendStepsTo = async (group: readonly Following[], work: ShownWork): Promise<void> => {
    const [first] = group;
    if (!first || first.alias === null) return;
    const { form, alias, at, sentBeyond } = first;
    const steps = await work.steps({ alias, after: at.step, limit: READ_AT_ONCE });
    const limit = READ_AT_ONCE + sentBeyond.size;
    const found = await work.calls(alias, { after: at.call, limit });
    const now = clock.now();
    const settled = found.filter((one) => !isUnderWay(one, now));
    const calls = settled.filter(({ number }) => !sentBeyond.has(number));
    const call = callPosition(found, at.call, now);
    const next = {
      sentBeyond: new Set(settled.map(({ number }) => number).filter((number) => number > call)),
      hasMore: steps.length === READ_AT_ONCE || found.length === limit,
      awaitsCall: settled.length < found.length,
    };
    const step = steps.at(-1)?.number ?? at.step;
    const data = JSON.stringify(await form.steps(alias, steps, calls));
    for (const reader of group) {
      Object.assign(reader, next, { at: { ...reader.at, step, call } });
      if (steps.length + calls.length > 0) send(reader, 'steps', data);
    }
  };
  const checkReader = (reader: Following): void => {
    const now = clock.elapsed();
    if (now - reader.sentAt >= STREAM_SILENCE_MS) {
      reader.sentAt = now;
      if (!reader.stream.keepAlive()) readers.drop(reader.stream);
    }
    if (reader.checking || now < reader.checkAt) return;
    reader.checking = true;
    const settle = (may: boolean): void => {
      reader.checking = false;
      reader.checkAt = clock.elapsed() + RECHECK_MS;
      if (!may) readers.drop(reader.stream);
    };
    reader.maySee().then(settle, () => settle(false));
  };
  const readers = openReaders<Following>(clock, {
    everyMs: LOOK_AT_RUNS_MS,
    look,
    failed: (error) => log.warn({ err: error }, 'live pages cannot be updated at the moment'),
  });
  return {
    remove: readers.remove,
    close: readers.close,
    add(reader) {
      const now = clock.elapsed();
      readers.add({
        ...reader,
        at: reader.from,
        sentBeyond: new Set(),
        hasMore: true,
        awaitsCall: false,
        sentAt: now,
        checkAt: now + RECHECK_MS,
        checking: false,
      });
    },
  };
}

/**
 * Runoff has done its work and awaits nothing: not the end of a pull request, nor a pick. Somebody may pick later from a
 * result whose pull request could not be opened, but whoever waits for the result must not wait for that.
 */
const hasEnded = ({ state, outcome }: RunRecord): boolean =>
  isFinal(state) || (state === 'published' && outcome?.kind !== 'pull');
