// What a flood of unsigned bodies costs: a real App in a process of its own is sent bodies that trickle, and whole ones,
// while signed deliveries go on. All come from one address, as behind a reverse proxy: the worst case for sharing fairly.
// RUNOFF_MAIN names another version's src/main.ts to compare with.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { appEnvironment, startLocalGitHub } from '@runoff/local-github';
import { makeSampleRepository } from '../src/demo/sample/index.ts';

const CONNECTIONS = Number(process.env.CONNECTIONS ?? 320);
const SECONDS = Number(process.env.SECONDS ?? 15);
/** Between two cases, so that connections of the first one end. */
const SETTLING_MS = SECONDS * 200;
const MAIN = process.env.RUNOFF_MAIN ?? fileURLToPath(new URL('../src/main.ts', import.meta.url));
const BODY_BYTES = 5 * 2 ** 20;
const HONEST_EVERY_MS = 200;
const HOOKS = '/api/github/webhooks';

const home = await mkdtemp(join(tmpdir(), 'runoff-flood-'));
const repository = { owner: 'mona', name: 'tally' };
await mkdir(join(home, 'tally'));
await chmod(home, 0o711);
await makeSampleRepository(join(home, 'tally'));
const github = await startLocalGitHub({
  users: ['mona'],
  repositories: [{ ...repository, from: join(home, 'tally') }],
  webhookUrl: () => undefined,
});
const child = spawn(process.execPath, [MAIN, 'serve'], {
  cwd: home,
  env: {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    RUNOFF_DATA: join(home, 'data'),
    ...appEnvironment(github),
    HOST: '127.0.0.1',
    PORT: '0',
    ANTHROPIC_API_KEY: 'never-used',
    LOG_LEVEL: 'silent',
  },
  stdio: ['ignore', 'ignore', 'pipe'],
});
const said: string[] = [];
const port = await new Promise<number>((resolve, reject) => {
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    const found = /Runoff listens at http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (found) resolve(Number(found));
  });
  child.once('exit', (code) => reject(new Error(`The App ended with ${code}: ${said.join('\n')}`)));
});

/** Megabytes that the App's process has in memory now. Compared with the idle App, as one attack leaves memory to the next. */
const resident = async (): Promise<number> =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1_000;

const body = JSON.stringify({
  action: 'labeled',
  installation: { id: 1 },
  repository: { id: 1, name: 'tally', owner: { login: 'acme' } },
  issue: { number: 1, title: 'x', body: 'x'.repeat(20_000), updated_at: '2026-01-01T00:00:00Z' },
  label: { name: 'bug' },
  sender: { id: 1, login: 'mona', type: 'User' },
});
const signature = `sha256=${createHmac('sha256', github.webhookSecret).update(body).digest('hex')}`;

/** Count of signed deliveries by the status of their answer; 0: none came. */
const statuses = new Map<number, number>();

/** Seconds until a signed delivery was answered with 200; infinite where it was not. */
async function deliver(): Promise<number> {
  const began = performance.now();
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${HOOKS}`, {
      method: 'POST',
      body,
      headers: { ...headers, 'x-hub-signature-256': signature, connection: 'close' },
      signal: AbortSignal.timeout(10_000),
    });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    return answer.status === 200 ? (performance.now() - began) / 1_000 : Number.POSITIVE_INFINITY;
  } catch {
    statuses.set(0, (statuses.get(0) ?? 0) + 1);
    return Number.POSITIVE_INFINITY;
  }
}
const headers = {
  'content-type': 'application/json',
  'x-github-event': 'issues',
  'x-github-delivery': 'a6b7c8d9-0000-4000-8000-000000000001',
};

/** What an attacker sends: the headers of a delivery with a signature that is made up, or with none. */
const opening = (signed: 'made up' | 'none'): string => {
  const made = signed === 'none' ? {} : { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
  const fields = { host: 'x', ...headers, ...made, 'content-length': BODY_BYTES };
  return `POST ${HOOKS} HTTP/1.1\r\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
};

interface Attack {
  readonly name: string;
  readonly connections: number;
  readonly opening: string;
  readonly bytes: number;
}

/** Sends from a process of its own, so that sending does not slow down what is measured; returns what ends it. */
function attack({ connections, opening: first, bytes }: Attack): () => void {
  const file = fileURLToPath(new URL('flood-sender.ts', import.meta.url));
  const sender = spawn(process.execPath, [file, JSON.stringify({ port, connections, first, bytes })], {
    stdio: 'inherit',
  });
  return () => void sender.kill('SIGKILL');
}

async function measure(one: Attack, idle: number): Promise<void> {
  const before = await resident();
  statuses.clear();
  const end = attack(one);
  const answers: Promise<number>[] = [];
  let peak = before;
  for (const last = performance.now() + SECONDS * 1_000; performance.now() < last; ) {
    answers.push(deliver());
    peak = Math.max(peak, await resident());
    await wait(HONEST_EVERY_MS);
  }
  const times = await Promise.all(answers);
  end();
  await wait(SETTLING_MS);
  const intime = times.filter((seconds) => seconds <= 2).length;
  console.log(
    `${one.name}: ${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most: ${(peak / idle).toFixed(2)} × the idle App; ` +
      `${intime} of ${times.length} signed deliveries answered within 2 s (${((100 * intime) / times.length).toFixed(0)}%), ` +
      `by status: ${JSON.stringify(Object.fromEntries(statuses))}`,
  );
}

try {
  const idle = await resident();
  await measure({ name: 'no attack', connections: 0, opening: '', bytes: 0 }, idle);
  await measure(
    {
      name: `${CONNECTIONS} slow bodies without a signature`,
      connections: CONNECTIONS,
      opening: opening('none'),
      bytes: BODY_BYTES - 4_096,
    },
    idle,
  );
  await measure(
    {
      name: `${CONNECTIONS} slow bodies with a fake signature`,
      connections: CONNECTIONS,
      opening: opening('made up'),
      bytes: BODY_BYTES - 4_096,
    },
    idle,
  );
  await measure(
    {
      name: '32 complete bodies at a time with a fake signature',
      connections: 32,
      opening: opening('made up'),
      bytes: BODY_BYTES,
    },
    idle,
  );
} catch (thrown) {
  console.error(thrown);
  process.exitCode = 1;
} finally {
  child.kill('SIGTERM');
  await Promise.race([new Promise((resolve) => child.once('exit', resolve)), wait(20_000)]);
  child.kill('SIGKILL');
  await github.close();
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
}
