// Memory of the App with its embedded database: idle, and while runs are examined.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { MAINTAINER, REPOSITORY } from '../src/demo/environment.ts';
import { ISSUE } from '../src/demo/sample/index.ts';
import { LABEL } from '../src/runs/index.ts';
import { type AppProcess, inTemporaryHome, startApp } from './app-process.ts';
import { type DemoAppOptions, withDemoApp } from './demo-app.ts';

const LOOK_EVERY_MS = 1_000;
/** Four runs on two cores take minutes; runs that take this long wait for something that does not come. */
const LIMIT_MS = 30 * 60_000;
const METRICS_TOKEN = 'a-token-for-this-bench-only';

/** Bytes in use after the App has been idle for `idleMs` milliseconds. */
export const idleAppMemory = (idleMs: number): Promise<number> =>
  inTemporaryHome(async (home) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const app = await startApp(home, {
      APP_ID: '1',
      PRIVATE_KEY: privateKey.export({ type: 'pkcs1', format: 'pem' }) as string,
      WEBHOOK_SECRET: randomBytes(32).toString('hex'),
      ANTHROPIC_API_KEY: 'none',
    });
    try {
      await wait(idleMs);
      return app.memory();
    } finally {
      await app.end();
    }
  });

interface ExaminedMemory {
  /** Most bytes in use while at least one run was examined. */
  readonly bytes: number;
  /** Most runs that were examined at the same time. */
  readonly atOnce: number;
}

/** Labels this many issues at once and watches the App until all runs have a result. */
export function examiningAppMemory(runs: number, options: DemoAppOptions): Promise<ExaminedMemory> {
  const variables = { ...options.variables, METRICS_TOKEN };
  return withDemoApp({ ...options, variables }, async ({ app, github }) => {
    const person = github.as(MAINTAINER);
    for (let run = 0; run < runs; run += 1)
      await person.addLabel(REPOSITORY, await person.openIssue(REPOSITORY, ISSUE), LABEL);
    return watchExaminations(app, runs);
  });
}

async function watchExaminations(app: AppProcess, runs: number): Promise<ExaminedMemory> {
  let most: ExaminedMemory = { bytes: 0, atOnce: 0 };
  for (const until = performance.now() + LIMIT_MS; performance.now() < until; await wait(LOOK_EVERY_MS)) {
    const states = await runsByState(app.url);
    const count = (state: string): number => states.get(state) ?? 0;
    if (count('failed') > 0) throw new Error('A run failed.');
    if (count('published') + count('awaiting_pick') === runs) return most;
    const examined = count('coded');
    if (examined > 0)
      most = { bytes: Math.max(most.bytes, app.memory()), atOnce: Math.max(most.atOnce, examined) };
  }
  throw new Error('The runs did not end.');
}

async function runsByState(url: string): Promise<ReadonlyMap<string, number>> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const text = await (await fetch(new URL('/metrics', url), { headers })).text();
  const rows = text.matchAll(/^runoff_runs\{[^}]*state="(\w+)"[^}]*\} (\d+)$/gm);
  return new Map(Array.from(rows, ([, state = '', count = '0']) => [state, Number(count)]));
}
