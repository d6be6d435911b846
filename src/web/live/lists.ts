import type { RunId } from '../../core/model/index.ts';
import type { RunMark } from '../../ports/index.ts';
import type { World } from '../../runs/index.ts';
import { markVersion } from './position.ts';
import { type OpenStream, openReaders, RECHECK_MS, STREAM_SILENCE_MS, type StreamReaders } from './stream.ts';

/** Milliseconds between two looks at the database. Our default: a list may lag a little. */
const LOOK_AT_LISTS_MS = 3_000;
/** Runs that are looked at: those that changed last. */
const NEWEST = 100;
/** Milliseconds for each reader over which lists are reloaded, so that many do not load at once; and at most. */
const SPREAD_MS = 50;
const MAX_SPREAD_MS = 15_000;

/** One reader of the list of runs. */
interface ListReader {
  readonly stream: OpenStream;
  /** Whether the person is still signed in. */
  readonly isThere: () => Promise<boolean>;
  /** Whether the person may see a run: others do not exist for them. */
  readonly maySee: (run: Pick<RunMark, 'id' | 'origin'>) => Promise<boolean>;
}

interface Listening extends ListReader {
  /** Runs that have changed, and that the person's right to is not known of yet. */
  readonly changed: Map<RunId, RunMark>;
  sentAt: number;
  checkedAt: number;
  isBusy: boolean;
}

/** Tells readers that a run which they may see has changed, and nothing else. */
export function openListReaders({
  store,
  clock,
  log,
}: Pick<World, 'clock' | 'log' | 'store'>): StreamReaders<ListReader> {
  let known: ReadonlyMap<string, string> | null = null;

  const look = async (): Promise<void> => {
    const marks = await store.runMarks({ newest: NEWEST });
    const before = known;
    known = new Map(marks.map((mark) => [mark.id, markVersion(mark)]));
    const changed = before ? marks.filter((mark) => before.get(mark.id) !== known?.get(mark.id)) : [];
    for (const reader of readers.all()) {
      for (const run of changed) reader.changed.set(run.id, run);
      void tellUnlessBusy(reader);
    }
  };
  /** Nobody waits for it: GitHub may take long to answer for one reader. */
  const tellUnlessBusy = async (reader: Listening): Promise<void> => {
    if (reader.isBusy) return;
    reader.isBusy = true;
    await tell(reader).catch(() => readers.drop(reader.stream));
    reader.isBusy = false;
  };
  const tell = async (reader: Listening): Promise<void> => {
    const now = clock.elapsed();
    if (now - reader.checkedAt >= RECHECK_MS) {
      reader.checkedAt = now;
      if (!(await reader.isThere())) return readers.drop(reader.stream);
    }
    // One at a time: the first run that they may see is enough, and spares the other questions to GitHub.
    for (const [id, run] of reader.changed) {
      reader.changed.delete(id);
      if (!(await reader.maySee(run))) continue;
      reader.changed.clear();
      reader.sentAt = now;
      const spread = Math.min(MAX_SPREAD_MS, readers.all().length * SPREAD_MS);
      if (!reader.stream.send({ name: 'changed', data: JSON.stringify({ spread }) }))
        readers.drop(reader.stream);
      return;
    }
    if (now - reader.sentAt < STREAM_SILENCE_MS) return;
    reader.sentAt = now;
    if (!reader.stream.keepAlive()) readers.drop(reader.stream);
  };
  const readers = openReaders<Listening>(clock, {
    everyMs: LOOK_AT_LISTS_MS,
    look,
    failed: (error) => log.warn({ err: error }, 'live lists cannot be updated at the moment'),
    paused() {
      known = null;
    },
  });
  return {
    remove: readers.remove,
    close: readers.close,
    add(reader) {
      const now = clock.elapsed();
      const state = { changed: new Map(), sentAt: now, checkedAt: now, isBusy: false };
      readers.add({ ...reader, ...state });
    },
  };
}
