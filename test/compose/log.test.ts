import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openDbosEngine } from '../../src/adapters/engine/index.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import { openLog } from '../../src/compose/index.ts';
import { type Operator, parseEnvironment } from '../../src/core/settings/index.ts';
import type { Flows } from '../../src/ports/index.ts';
import { instrumentFlows } from '../../src/runs/instrumentation.ts';
import { freshDatabase } from '../world/database.ts';
import { memoryStore } from '../world/memory-store.ts';

const KEY = 'a-key-of-the-operator-42';

function operatorWith(more: Readonly<Record<string, string>>): Operator {
  const parsed = parseEnvironment({ RUNOFF_DATA: '/nowhere', ...more });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.operator;
}

type Line = Readonly<Record<string, unknown>>;

/** A log that writes to a pipe; `lines` ends it and reads what came out. */
function piped() {
  const pipe = new PassThrough();
  const log = openLog(operatorWith({ OPENAI_API_KEY: KEY }), pipe);
  return {
    log,
    async lines(): Promise<readonly Line[]> {
      pipe.end();
      return (await text(pipe))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Line);
    },
  };
}

const what = (lines: readonly Line[]) =>
  lines.map(({ msg, run, candidate, stage }) => [msg, run, candidate, stage].filter(Boolean).join(' '));

test('every log line of a run names its run, candidate and stage, with the real engine and two runs at once', async () => {
  const { log, lines } = piped();
  const database = await freshDatabase();
  const engine = openDbosEngine({
    databaseUrl: database.url,
    executorId: 'app-log',
    applicationVersion: '1',
    queue: { name: 'coders', perWorker: 4, perPartition: 4 },
    log,
  });
  const flows: Flows = {
    async run(context, input) {
      const { runId } = input as { runId: string };
      await context.step('admit', async () => log.info({}, 'in a step'));
      const child = { key: 'A', partition: 'p', input: { runId, alias: 'A' } };
      await context.fanOut([child]);
      log.info({}, 'between steps');
      return null;
    },
    candidate: (context) =>
      context.step('write', async () => {
        await new Promise<void>((resolve) => setTimeout(resolve, 1));
        log.within({}, () => setImmediate(() => log.warn({ note: 'n' }, 'in a callback')));
        await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
        return null;
      }),
    examination: async () => null,
  };
  const world = { store: memoryStore(), clock: systemClock, log };
  try {
    await engine.launch(instrumentFlows(world, flows));
    await log.within({ delivery: 'd1' }, async () => {
      await Promise.all(['r1', 'r2'].map((runId) => engine.start(runId, { runId })));
      log.info({}, 'taken');
    });
    await Promise.all([engine.settled('r1'), engine.settled('r2')]);
  } finally {
    await engine.shutdown();
    await database.drop();
  }
  const all = await lines();
  expect(what(all).toSorted()).toEqual([
    'between steps r1',
    'between steps r2',
    'in a callback r1 A write',
    'in a callback r2 A write',
    'in a step r1 admit',
    'in a step r2 admit',
    'taken',
  ]);
  expect(all.map(({ delivery }) => delivery).filter(Boolean)).toEqual(['d1']);
});

test('fields of a log line do not leak into the next', async () => {
  const { log, lines } = piped();
  log.within({ run: 'r1', command: 'c1' }, () => {
    log.info({ stage: 'once', seen: 1 }, 'first');
    log.within({ command: undefined }, () => log.info({}, 'second'));
    log.info({}, 'third');
  });
  const [first, second, third] = await lines();
  expect(first).toMatchObject({ run: 'r1', command: 'c1', stage: 'once', seen: 1 });
  expect(second).not.toHaveProperty('command');
  expect([second, third].map((line) => [line?.run, line?.stage, line?.seen])).toEqual([
    ['r1', undefined, undefined],
    ['r1', undefined, undefined],
  ]);
  expect(third).toHaveProperty('command', 'c1');
});

test('a secret in an error, its stack or its cause is not logged', async () => {
  const { log, lines } = piped();
  const cause = Object.assign(new Error(`401 for ${KEY}`), { request: { headers: { 'x-api-key': KEY } } });
  log.error({ err: new Error(`the provider said ${KEY.slice(0, 20)}…`, { cause }) }, `with ${KEY}`);
  const [line] = await lines();
  expect(JSON.stringify(line)).toContain('the provider said [redacted]');
  expect(JSON.stringify(line)).not.toContain(KEY.slice(0, 12));
});

const withLog = (body: string): readonly string[] => [
  '--input-type=module',
  '--eval',
  `
    import * as fs from 'node:fs';
    import { openLog } from ${JSON.stringify(new URL('../../src/compose/instrumentation.ts', import.meta.url).href)};
    const log = openLog({ logLevel: 'info' });
    ${body}
  `,
];

test('a process whose log is on a full disk goes on, and can be ended', () => {
  const full = openSync('/dev/full', 'w');
  const logs = withLog(`
    log.info({}, 'first');
    setTimeout(() => log.info({}, 'second'), 50);
    setTimeout(() => {
      process.stdout.write('works');
      log.info({}, 'last');
      process.exit(3);
    }, 100);
  `);
  const { stdout, status } = spawnSync(process.execPath, logs, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', full],
    timeout: 60_000,
  });
  closeSync(full);
  expect([stdout, status]).toEqual(['works', 3]);
});

/** 4 MB: more than is kept and a pipe holds. */
const MANY = 4000;
const LOG_MANY = `for (let n = 0; n < ${MANY}; n += 1) log.info({ n }, 'x'.repeat(900));`;

/** How many of those lines are in the log, from the first on, and what else it says. */
function inLog(written: string) {
  const lines = written
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
  const numbers = lines.flatMap(({ n }) => (typeof n === 'number' ? [n] : []));
  expect(numbers).toEqual(numbers.map((_, index) => index));
  const others = lines.filter(({ n }) => n === undefined).map(({ msg, lines }) => [msg, lines]);
  return { count: numbers.length, others };
}

const LOST = 'Lines of the log could not be written and are lost.';

test('a log goes on when its disk has space again, and says how many lines are lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'runoff-log-'));
  const [file, moved] = [join(folder, 'log'), join(folder, 'log.1')];
  const logs = withLog(`
    const [file, moved] = process.argv.slice(1);
    ${LOG_MANY}
    fs.copyFileSync(file, moved);
    fs.truncateSync(file);
    const look = setInterval(() => {
      if (fs.statSync(file).size === 0) return;
      clearInterval(look);
      log.info({}, 'last');
    }, 10);
  `);
  // A file that may not grow beyond 2 MiB stands for the disk.
  const limited = [
    '-c',
    'ulimit -S -f 2048; exec "$@" 2>>"$LOG_FILE"',
    'bash',
    process.execPath,
    ...logs,
    file,
    moved,
  ];
  const { status } = spawnSync('bash', limited, { env: { ...process.env, LOG_FILE: file }, timeout: 30_000 });
  const written = (await Promise.all([moved, file].map((path) => readFile(path, 'utf8')))).join('');
  await rm(folder, { recursive: true });
  const { count, others } = inLog(written);
  expect(count).toBeGreaterThan(2900);
  expect([status, others]).toEqual([
    0,
    [
      [LOST, MANY - count],
      ['last', undefined],
    ],
  ]);
});

test('a reader of the log that stalls does not stop the process, and gets the lines when it reads again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'runoff-log-'));
  const logs = withLog(`
    setTimeout(() => fs.writeFileSync(process.argv[1], ''), 20);
    ${LOG_MANY}
  `);
  const reader = 'for i in {1..300}; do [ -e "$FIRED" ] && echo fired && break; sleep 0.1; done; cat';
  const script = `"$@" "$FIRED" 2>&1 >/dev/null | { ${reader}; }`;
  const { stdout } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...logs], {
    encoding: 'utf8',
    env: { ...process.env, FIRED: join(folder, 'fired') },
    maxBuffer: 2 ** 24,
    timeout: 60_000,
  });
  await rm(folder, { recursive: true });
  const [first, ...lines] = stdout.split('\n');
  expect(first).toBe('fired');
  const { count, others } = inLog(lines.join('\n'));
  expect(count).toBeGreaterThan(1000);
  expect(others).toEqual([[LOST, MANY - count]]);
});

test('a process whose log nobody reads can be ended', async () => {
  const logs = withLog(`${LOG_MANY} process.exit(3);`);
  const child = spawn(process.execPath, logs, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 20_000 });
  expect(await once(child, 'exit')).toEqual([3, null]);
});

test('the last line before a crash is in the log', () => {
  const logs = withLog(`log.info({}, 'last'); throw new Error('a crash');`);
  const { stderr } = spawnSync(process.execPath, logs, { encoding: 'utf8', timeout: 60_000 });
  expect(stderr).toContain('"msg":"last"}\n');
});
