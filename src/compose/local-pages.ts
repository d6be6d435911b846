import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openOnDesktop } from '../adapters/system/index.ts';
import { openLocalCommands } from '../commands/index.ts';
import { asFault, Fault, type RunId } from '../core/model/index.ts';
import { escapeHtml } from '../core/reports/index.ts';
import type { Operator } from '../core/settings/index.ts';
import { flows, type World } from '../runs/index.ts';
import { startWeb } from '../server/index.ts';
import { EXIT, type LocalPagesRequest, onPresses, type RunPage, type Terminal } from '../shell.ts';
import { openLocalSignIn, openWeb, type WebApp } from '../web/index.ts';
import { arenaOf } from './arena.ts';
import { disposedOnFailure, type FollowOpening } from './connections.ts';
import { openRuntime } from './runtime.ts';

/** Milliseconds for answers that are under way when the server ends. */
const CLOSE_MS = 2_000;

/**
 * `runoff ui`: pages of this machine's runs on loopback, for whoever can read the terminal, until Ctrl-C. Fault
 * RUN_UNKNOWN for a run that does not exist.
 */
export async function showLocalPages(
  operator: Operator,
  { run, open }: LocalPagesRequest,
  terminal: Terminal,
  follow: FollowOpening,
): Promise<number> {
  const stop = Promise.withResolvers<void>();
  const stopListening = onPresses(terminal.onInterrupt, () => stop.resolve());
  const cleanups = new AsyncDisposableStack();
  cleanups.defer(async () => stopListening());
  return disposedOnFailure(cleanups, async () => {
    const runtime = await follow(openRuntime(operator, { role: 'reader' }));
    cleanups.defer(runtime.close);
    const { world } = runtime;
    if (run !== null && (await world.store.originOf(run))?.kind !== 'local')
      throw new Fault('RUN_UNKNOWN', `There is no run ${run.slice(0, 40)} of a repository on this machine.`);
    await world.engine.launch(flows(world));
    const pages = await serveLocalPages(operator, world, run, cleanups);
    const { screen } = terminal;
    screen.out(`${pages.address()}\n`);
    screen.err('The address can be opened once. Ctrl-C ends the pages.\n');
    if (open) {
      const why = await openInBrowser(operator.data, pages.address(), cleanups);
      if (why !== null) screen.err(`${why}\n`);
    }
    await stop.promise;
    await cleanups.disposeAsync();
    return EXIT.done;
  });
}

/**
 * `runoff run --open`: the page of a run that this process executes, in the desktop's browser. Prints its address where
 * there is no browser. Never rejects: the run goes on without a page.
 */
export async function openRunPage(
  operator: Operator,
  { world, run }: { readonly world: World; readonly run: RunId },
  { screen }: Pick<Terminal, 'screen'>,
): Promise<RunPage | null> {
  const cleanups = new AsyncDisposableStack();
  try {
    return await disposedOnFailure(cleanups, async () => {
      const pages = await serveLocalPages(operator, world, run, cleanups);
      const why = await openInBrowser(operator.data, pages.address(), cleanups);
      if (why === null) screen.err('Opened the page of the run in your browser.\n');
      else screen.err(`${why}\n${pages.address()}\nThe address can be opened once.\n`);
      return { close: () => cleanups.disposeAsync() };
    });
  } catch (thrown) {
    const { message } = asFault(thrown);
    screen.err(`The page of the run could not be opened: ${message} The run goes on without it.\n`);
    return null;
  }
}

interface OpenedPages {
  /** An address that can be opened once. */
  address(): string;
}

/** The engine of this world must have been launched. */
async function serveLocalPages(
  operator: Operator,
  world: World,
  run: RunId | null,
  cleanups: AsyncDisposableStack,
): Promise<OpenedPages> {
  const app = Promise.withResolvers<WebApp>();
  const server = await startWeb({
    host: '127.0.0.1',
    port: 0,
    webhooksPath: '/api/github/webhooks',
    pages: { fetch: async (asked) => (await app.promise).fetch(asked) },
    health: async () => ({ ok: true, detail: {} }),
    log: world.log,
  });
  cleanups.defer(() => server.close(CLOSE_MS));
  const { identify, routes, pathTo } = openLocalSignIn(server.port);
  const web = openWeb({
    world,
    commands: openLocalCommands(world),
    identify,
    signIn: routes,
    arena: arenaOf(operator, world),
    origin: server.url,
    host: new URL(server.url).host,
  });
  // Streams of events would keep the server open until its patience ends.
  cleanups.defer(async () => web.close());
  app.resolve(web);
  return { address: () => `${server.url}${pathTo(run === null ? '/runs' : `/runs/${run}`)}` };
}

/**
 * Opens the address with the desktop's browser; returns why it could not, as a sentence. The browser gets a file that
 * leads there: other users of this machine can read the arguments of programs, but not the file.
 */
async function openInBrowser(
  data: string,
  address: string,
  cleanups: AsyncDisposableStack,
): Promise<string | null> {
  const folder = await mkdtemp(join(data, 'ui-'));
  cleanups.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'open.html');
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${escapeHtml(address)}">`;
  await writeFile(file, page, { mode: 0o600 });
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const why = await openOnDesktop(program, file, { env: process.env });
  return why === null ? null : `No browser was opened by ${program} (${why}): open the address yourself.`;
}
