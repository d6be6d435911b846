// CPU time that viewers of a live run cost the App: with VIEWERS (200) open streams of a candidate's steps, minus with
// none, for SECONDS (20) each. Meanwhile the candidate reports a step and changes its note every half second.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../src/adapters/database/index.ts';
import { openStore } from '../src/adapters/store/index.ts';
import { githubOrigin } from '../test/world/origin.ts';

const VIEWERS = Number(process.env.VIEWERS ?? 200);
const MEASURED_MS = Number(process.env.SECONDS ?? 20) * 1_000;
const ID = 'rbench0001';
/** Maximum share of one core; above it, the benchmark fails. Our default: the rest of the core is for runs. */
const MOST = 0.1;

const dir = await mkdtemp(join(tmpdir(), 'runoff-viewers-'));
// The database runs as a user of its own.
await chmod(dir, 0o755);
const postgres = await startEmbeddedPostgres({ dir });
await postgres.ensureDatabase('viewers');
const store = await openStore(postgres.url('viewers'));
await store.createRun({
  id: ID,
  origin: githubOrigin(),
  title: 'Fix the rounding',
  request: null,
  at: Date.now(),
});

let number = 0;
let working = true;
async function work(): Promise<void> {
  while (working) {
    number += 1;
    const at = Date.now();
    const note = `bash: npm test -- part ${number}`;
    await store.putCandidate({
      ...{ runId: ID, alias: 'A', ordinal: 0, state: 'coding', ms: number * 500, note },
      contestant: { agent: 'builtin', model: 'anthropic/claude-sonnet-5', prompt: 'plain' },
      usage: { usd: number / 1000, tokensIn: 1, tokensOut: 1, calls: number },
    });
    await store.appendSteps(ID, [
      { alias: 'A', number, at, kind: 'result', text: '', detail: 'ok\n'.repeat(300), exitCode: 0, ok: true },
    ]);
    await wait(500);
  }
}

async function ask(server: ChildProcess): Promise<{ readonly cpuMs: number; readonly rss: number }> {
  const answer = once(server, 'message');
  server.send('usage');
  return (await answer)[0] as { cpuMs: number; rss: number };
}

/** Share of a core that the server uses. */
async function share(server: ChildProcess): Promise<number> {
  const before = await ask(server);
  const at = performance.now();
  await wait(MEASURED_MS);
  return ((await ask(server)).cpuMs - before.cpuMs) / (performance.now() - at);
}

const worked = work();
const server = fork(fileURLToPath(new URL('viewers-server.ts', import.meta.url)), [
  postgres.url('viewers'),
  process.env.BENCH_PORT ?? '0',
]);
const [{ port }] = (await once(server, 'message')) as [{ port: number }];
process.stdout.write(`http://127.0.0.1:${port}/runs/${ID}/steps/A\n`);
let events = 0;
const idle = await share(server);
const open = Array.from({ length: VIEWERS }, (_, at) => {
  const headers = { accept: 'text/event-stream', 'x-person': String(at + 1) };
  const request = get(
    { port, host: '127.0.0.1', path: `/runs/${ID}/events?steps=A&after=${number}`, headers },
    (response) => {
      if (response.statusCode !== 200) throw new Error(`A viewer got ${response.statusCode}.`);
      response.on('data', (chunk: Buffer) => {
        events += chunk.toString('utf8').split('event: steps').length - 1;
      });
    },
  );
  return request.on('error', () => undefined);
});
await wait(MEASURED_MS / 4);
events = 0;
const watched = await share(server);
const seconds = MEASURED_MS / 1000;
const { rss } = await ask(server);
for (const request of open) request.destroy();
working = false;
await worked;
server.disconnect();
await store.close();
await postgres.stop();
await rm(dir, { recursive: true, force: true });

const percent = (part: number) => `${(100 * part).toFixed(1)}%`;
process.stdout.write(
  `${VIEWERS} viewers of a live run: ${percent(watched - idle)} of a core (${percent(watched)} with, ${percent(idle)} without them), ` +
    `${(events / VIEWERS / seconds).toFixed(2)} events a second for each, ${Math.round(rss / 2 ** 20)} MiB; ` +
    `load of the machine ${loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}\n`,
);
if (events === 0 || watched - idle >= MOST) {
  process.stderr.write(`The limit is ${percent(MOST)} of a core.\n`);
  process.exitCode = 1;
}
