import type { RunMark } from '../../ports/index.ts';
import type { World } from '../../runs/index.ts';
import { markVersion } from './facts.ts';
import type { OpenStream } from './stream.ts';

/** Milliseconds between two looks at the database. Our default: a list may lag a little. */
const LOOK_AT_LISTS_MS = 3_000;
/** Runs that are looked at: those that changed last. */
const NEWEST = 100;
/** Milliseconds for each reader over which lists are reloaded, so that many do not load at once; and at most. */
const SPREAD_MS = 50;
const MAX_SPREAD_MS = 15_000;
const BEAT_MS = 15_000;
const RECHECK_MS = 45_000;

/** One reader of the list of runs. */
export interface ListReader {
  readonly stream: OpenStream;
  /** Whether the person is still signed in. */
  readonly isThere: () => Promise<boolean>;
  /** Whether the person may see a run: others do not exist for them. */
  readonly maySee: (run: Pick<RunMark, 'id' | 'origin'>) => Promise<boolean>;
}

interface Listening extends ListReader {
  sentAt: number;
  checkedAt: number;
}

interface ListReaders {
  add(reader: ListReader): void;
  remove(stream: OpenStream): void;
  close(): void;
}

/** Tells readers that a run which they may see has changed, and nothing else. */
export function openListReaders({ store, clock, log }: Pick<World, 'clock' | 'log' | 'store'>): ListReaders {
  const readers = new Map<OpenStream, Listening>();
  let known: ReadonlyMap<string, string> | null = null;
  let isLooking = false;

  const drop = (stream: OpenStream): void => {
    readers.delete(stream);
    stream.end();
  };
  const look = async (): Promise<void> => {
    const marks = await store.runMarks({ newest: NEWEST });
    const before = known;
    known = new Map(marks.map((mark) => [mark.id, markVersion(mark)]));
    const changed = before ? marks.filter((mark) => before.get(mark.id) !== known?.get(mark.id)) : [];
    await Promise.all(
      [...readers.values()].map((reader) => tell(reader, changed).catch(() => drop(reader.stream))),
    );
  };
  const tell = async (reader: Listening, changed: readonly RunMark[]): Promise<void> => {
    const now = clock.elapsed();
    if (now - reader.checkedAt >= RECHECK_MS) {
      reader.checkedAt = now;
      if (!(await reader.isThere())) return drop(reader.stream);
    }
    for (const run of changed) {
      if (!(await reader.maySee(run))) continue;
      reader.sentAt = now;
      const spread = Math.min(MAX_SPREAD_MS, readers.size * SPREAD_MS);
      if (!reader.stream.send({ name: 'changed', data: JSON.stringify({ spread }) })) drop(reader.stream);
      return;
    }
    if (now - reader.sentAt < BEAT_MS) return;
    reader.sentAt = now;
    if (!reader.stream.beat()) drop(reader.stream);
  };
  const lookRegularly = async (): Promise<void> => {
    while (readers.size > 0) {
      await look().catch((error: unknown) => {
        log.warn({ err: error }, 'live lists cannot be updated at the moment');
      });
      await clock.sleep(LOOK_AT_LISTS_MS);
    }
    known = null;
  };
  const start = (): void => {
    if (isLooking) return;
    isLooking = true;
    void lookRegularly().finally(() => {
      isLooking = false;
      if (readers.size > 0) start();
    });
  };
  return {
    add(reader) {
      const now = clock.elapsed();
      readers.set(reader.stream, { ...reader, sentAt: now, checkedAt: now });
      start();
    },
    remove: (stream) => void readers.delete(stream),
    close() {
      for (const stream of [...readers.keys()]) drop(stream);
    },
  };
}
