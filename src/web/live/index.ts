import { Hono } from 'hono';
import { aliasOf } from '../../core/commands/index.ts';
import { handleOf } from '../../runs/index.ts';
import type { Right, Viewer, WebContext, WebEnv, WebParts } from '../context.ts';
import { sendProblem } from '../layout.ts';
import { openConcurrencyLimit, personKey } from '../people/index.ts';
import { openListReaders } from './lists.ts';
import { PAGE_EVENTS } from './page-events.ts';
import { MAX_NUMBER, type Position, readPosition } from './position.ts';
import { openLiveReaders, type Reader } from './run-streams.ts';
import { stepPages } from './steps-page.ts';
import { eventStream, type OpenStream } from './stream.ts';

/** Streams that one person may have open, and all together. Our defaults: a browser opens six to one server. */
export const STREAMS_OF_A_PERSON = 12;
export const STREAMS = 400;

export { structureOf } from './page-events.ts';
export { POSITION_FORM } from './position.ts';
export type { FollowedRun, StreamForm } from './run-streams.ts';

/** What the reader of a run's events asks for. */
export interface Following extends Omit<Reader, 'from' | 'stream'> {
  /** Counted with all other streams of the same person. */
  readonly viewer: Viewer | null;
  /** The header `Last-Event-ID`. */
  readonly lastEvent: string | undefined;
  /** Where it begins otherwise. Default: at the beginning. */
  readonly first?: Position;
}

/** Streams of events, and the pages of coders' steps. */
export interface LivePages {
  /** Below `/runs`: `/:id/events` and `/:id/steps/:alias`. */
  readonly runs: Hono<WebEnv>;
  /** `/events`: whether the list of runs has changed. */
  readonly lists: Hono<WebEnv>;
  /** The stream of a run's events; null if the person, or everybody together, has too many open. */
  follow(following: Following): Response | null;
  /** Ends all streams; browsers connect again by themselves. */
  close(): void;
}

export function livePages(parts: WebParts): LivePages {
  const { world, access, identify } = parts;
  const begin = openConcurrencyLimit(STREAMS);
  const readers = openLiveReaders(world);
  const lists = openListReaders(world);
  const open = (viewer: Viewer | null, remove: (stream: OpenStream) => void) => {
    const release = begin(viewer, viewer?.kind === 'github' ? STREAMS_OF_A_PERSON : STREAMS / 4);
    if (!release) return null;
    const opened = eventStream(() => {
      release();
      remove(opened.stream);
    });
    return opened;
  };
  const samePerson = async (c: WebContext): Promise<boolean> => {
    const now = (await identify(c))?.viewer ?? null;
    return personKey(now) === personKey(c.var.viewer);
  };
  const follow: LivePages['follow'] = ({ viewer, lastEvent, first = BEGINNING, ...reader }) => {
    const opened = open(viewer, readers.remove);
    if (!opened) return null;
    readers.add({ ...reader, stream: opened.stream, from: readPosition(lastEvent) ?? first });
    return opened.response;
  };

  const runs = stepPages(parts);
  runs.get('/:id/events', (c) => {
    const { run } = c.var.visible;
    const { viewer } = c.var;
    const response = follow({
      viewer,
      runId: run.id,
      form: PAGE_EVENTS,
      alias: aliasOf(c.req.query('steps') ?? ''),
      lastEvent: c.req.header('last-event-id'),
      first: firstPosition(c),
      async maySee() {
        if (!(await samePerson(c))) return false;
        const { origin } = run;
        if (origin.kind === 'github' && mayRead(await access.listedRight(viewer, handleOf(origin))))
          return true;
        return (await access.visibleRun(viewer, run.id)) !== null;
      },
    });
    return response ?? tooManyStreams(c);
  });
  const app = new Hono<WebEnv>();
  app.get('/events', (c) => {
    const { viewer } = c.var;
    const opened = open(viewer, lists.remove);
    if (!opened) return tooManyStreams(c);
    lists.add({
      stream: opened.stream,
      isThere: () => samePerson(c),
      maySee: async ({ id, origin }) =>
        origin.kind === 'github'
          ? mayRead(await access.listedRight(viewer, handleOf(origin)))
          : (await access.visibleRun(viewer, id)) !== null,
    });
    return opened.response;
  });
  return {
    runs,
    lists: app,
    follow,
    close() {
      readers.close();
      lists.close();
    },
  };
}

const mayRead = (right: Right | null): boolean => right === 'read' || right === 'write';

const tooManyStreams = (c: WebContext): Promise<Response> =>
  sendProblem(
    c,
    429,
    'Too many live pages',
    'Close some of your other pages of runs; this one can be reloaded.',
  );

const BEGINNING: Position = { version: '', step: 0, call: 0 };

/** Where a page that was just loaded begins: after the steps and calls that it shows. */
function firstPosition(c: WebContext) {
  const number = (name: string): number => {
    const text = c.req.query(name) ?? '';
    return /^\d{1,10}$/.test(text) ? Math.min(Number(text), MAX_NUMBER) : 0;
  };
  return { version: '', step: number('after'), call: number('call') };
}
