// What one run of the demo costs besides time, counted: requests to GitHub and to models, transactions, rows and
// write-ahead log of the database, and what it leaves there and among the artifacts. Counts hardly depend on the machine;
// those per minute are of an App without work, which asks its database for some.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/adapters/database/index.ts';
import { type DemoEnvironment, openDemoEnvironment } from '../src/demo/environment.ts';
import { resultOf, startDemoRun } from './demo-run.ts';

const RUNS = Number(process.env.RUNS ?? 3);
const IDLE_MS = Number(process.env.IDLE_MS ?? 60_000);

/** Cumulative since the start of the server, by the names below; `database` and `artifacts` are bytes on disk. */
type Counts = ReadonlyMap<string, number>;

const github = { reads: 0, writes: 0, tokens: 0 };
/** What was written to GitHub, by method and path. */
const written = new Map<string, number>();

/** Reads by REST and GraphQL, what creates or changes something, and tokens that are made and revoked. */
const countedFetch: typeof fetch = (input, init) => {
  const { method, url } = new Request(input, init);
  if (/\/access_tokens|\/installation\/token/.test(url)) github.tokens += 1;
  else if (method === 'GET' || url.endsWith('/graphql')) github.reads += 1;
  else {
    github.writes += 1;
    const route = `${method} ${new URL(url).pathname.replaceAll(/\/[0-9a-f]{7,}|\/\d+/g, '/…')}`;
    written.set(route, (written.get(route) ?? 0) + 1);
  }
  return fetch(input, init);
};

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

async function countsNow(demo: DemoEnvironment, client: pg.Client): Promise<Counts> {
  // Sessions report what they did a second later.
  await wait(1_500);
  const { rows } = await client.query<Record<string, string>>(
    `select sum(xact_commit + xact_rollback) as transactions,
       sum(tup_inserted + tup_updated + tup_deleted) as "rowsWritten",
       (select wal_bytes from pg_stat_wal) as "walBytes", sum(pg_database_size(datname)) as database,
       (select count(*) from runoff.gateway_call) as "modelCalls"
     from pg_stat_database where datname = 'runoff'`,
  );
  return new Map([
    ...Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Number(value)] as const),
    ...Object.entries(github),
    ['artifacts', bytesOf(join(demo.home, 'data', 'artifacts'))],
  ]);
}

async function runOnce({ github, world: { store } }: DemoEnvironment): Promise<void> {
  const { id } = await startDemoRun({ github, store });
  const run = await resultOf({ github, store }, id);
  if (run.state === 'failed') throw new Error(`The run failed: ${run.trouble?.message}`);
}

const difference = (after: Counts, before: Counts, divisor: number): Counts =>
  new Map([...after].map(([name, value]) => [name, (value - (before.get(name) ?? 0)) / divisor]));

/** What the App asks its database anyway does not count for a run that takes this many minutes. */
const withoutIdle = (counts: Counts, idle: Counts, minutes: number): Counts =>
  new Map([...counts].map(([name, value]) => [name, Math.max(0, value - (idle.get(name) ?? 0) * minutes)]));

const count = (value: number): string => Math.round(value).toLocaleString('en-US');
const kib = (bytes: number): string => `${count(bytes / 1024)} KiB`;

/** Rows of the table: what it is called, its name among the counts, how it is written, whether an idle App has it. */
const ROWS = [
  ['requests to GitHub that read', 'reads', count, true],
  ['requests to GitHub that write', 'writes', count, true],
  ['tokens of the installation, made and revoked', 'tokens', count, true],
  ['model calls', 'modelCalls', count, false],
  ['transactions', 'transactions', count, true],
  ['rows written', 'rowsWritten', count, true],
  ['write-ahead log', 'walBytes', kib, true],
  ['growth of the database', 'database', kib, false],
  ['artifacts', 'artifacts', kib, false],
] as const;

const demo = await openDemoEnvironment({
  paceMs: 0,
  fetch: countedFetch,
  onStep: (text) => process.stderr.write(`starting ${text} …\n`),
});
try {
  const postgres = await startEmbeddedPostgres({ dir: join(demo.home, 'data', 'pg') });
  const client = new pg.Client({ connectionString: postgres.url('runoff') });
  await client.connect();
  try {
    await measure(client);
  } finally {
    await client.end();
  }
} finally {
  await demo.close();
}

async function measure(client: pg.Client): Promise<void> {
  process.stderr.write('warming up …\n');
  await runOnce(demo);
  const idleFrom = await countsNow(demo, client);
  await wait(IDLE_MS);
  const from = await countsNow(demo, client);
  written.clear();
  const began = performance.now();
  for (let at = 1; at <= RUNS; at += 1) {
    process.stderr.write(`run ${at} of ${RUNS} …\n`);
    await runOnce(demo);
  }
  const minutes = (performance.now() - began) / 60_000;
  const idle = difference(from, idleFrom, IDLE_MS / 60_000);
  const perRun = withoutIdle(difference(await countsNow(demo, client), from, RUNS), idle, minutes / RUNS);
  console.log('| | a run of the demo | an idle App, per minute |\n|---|--:|--:|');
  for (const [title, name, format, whenIdle] of ROWS) {
    const cell = (counts: Counts) => format(counts.get(name) ?? Number.NaN);
    console.log(`| ${title} | ${cell(perRun)} | ${whenIdle ? cell(idle) : '–'} |`);
  }
  const { rows } = await client.query<{ connections: string }>(
    `select count(*) as connections from pg_stat_activity where datname = 'runoff' and pid <> pg_backend_pid()`,
  );
  console.log(
    `\nconnections of the App to its database: ${rows[0]?.connections}\nwritten to GitHub, for each run:`,
  );
  for (const [route, times] of [...written].sort(([, a], [, b]) => b - a))
    console.log(`  ${(times / RUNS).toFixed(1)} × ${route}`);
}
