/**
 * One round of `npm run chaos`, in a process of its own: `RoundOptions` as JSON in the first argument, one JSON line for
 * each thing that happens on standard output, exit code 0 also when something was lost.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { LIMITS } from '../../src/adapters/postgres/index.ts';
import {
  type ChaosEnvironment,
  type ChaosEnvironmentOptions,
  withChaosEnvironment,
} from './chaos-environment.ts';
import { mayBeGone, type RoundProcesses, strike } from './faults.ts';
import { findProblems } from './find-problems.ts';
import { type Kind, type Plan, type PlannedFault, planOf, type Setting } from './plan.ts';
import type { AppProcess } from './process.ts';

export interface RoundOptions {
  readonly seed: number;
  readonly round: number;
  readonly only: readonly Kind[];
  readonly furnished: string;
  /** Where logs and data of the round lie afterwards when something was lost. */
  readonly keepAt: string;
  /** No further fault begins then, milliseconds since 1970. */
  readonly until: number;
}

export type RoundNews =
  | { readonly what: 'begins'; readonly setting: Setting }
  | { readonly what: 'fault'; readonly kind: Kind; readonly detail: string }
  /** There was nothing to do it to. */
  | { readonly what: 'missed'; readonly kind: Kind }
  | { readonly what: 'ends'; readonly runs: number; readonly lost: readonly string[] };

const options = JSON.parse(process.argv[2] ?? '{}') as RoundOptions;
const news: string[] = [];
async function tell(one: RoundNews): Promise<void> {
  const line = JSON.stringify(one);
  news.push(`${new Date().toISOString()} ${line}`);
  // Waited for: what is still on its way when a process exits is cut off.
  await new Promise((written) => process.stdout.write(`${line}\n`, written));
}

/** A command that failed may bring all that it said. */
const LONGEST = 2_000;
const MAX_REPORTED = 100;

const WORKER = 'one';
const LOOK_EVERY_MS = 20;

/** Short, so that a round does not consist of waiting; those of a user are longer (docs/operations.md). */
const LIMITS_HERE = { ...LIMITS, connectMs: 6_000, silenceMs: 3_000, statementMs: 2_500, lockMs: 2_500 };

/** An outage is tried again every half a minute, and a run may meet several of them, one after the other. */
const PATIENCE_MS = 600_000;

const run = promisify(execFile);
const DISK_MB = 900;

/** A small disk below the data folder, of this round alone. */
async function smallDisk(home: string): Promise<() => Promise<void>> {
  const data = join(home, 'data');
  await mkdir(data);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=711`, 'tmpfs', data]);
  return async () => {
    await run('umount', ['--lazy', data]);
  };
}

const SETTING_OPTIONS: Readonly<Record<Setting, Omit<ChaosEnvironmentOptions, 'furnished'>>> = {
  embedded: {},
  apart: { databaseApart: true, databaseLimits: LIMITS_HERE },
  workers: { databaseApart: true, databaseLimits: LIMITS_HERE, withWorkers: true },
  // Less is free from the start than runs are begun with by default.
  disk: { furnishHome: smallDisk, env: async () => ({ MIN_FREE_DISK: '0' }) },
};

/** The App, and in its setting the worker: started, and started anew when they were ended. */
async function startProcesses(environment: ChaosEnvironment, setting: Setting): Promise<RoundProcesses> {
  let app = await environment.start();
  let worker: AppProcess | null = setting === 'workers' ? await environment.worker(WORKER) : null;
  return {
    environment,
    app: () => app,
    worker: () => worker,
    async restartApp() {
      await app.kill();
      app = await environment.start();
    },
    async restartWorker() {
      await worker?.kill();
      worker = await environment.worker(WORKER);
    },
  };
}

async function momentOf(processes: RoundProcesses, { deeds, afterMs }: PlannedFault): Promise<void> {
  const before = processes.app().deeds.length;
  const until = performance.now() + afterMs;
  while (performance.now() < until && processes.app().deeds.length < before + deeds)
    await delay(LOOK_EVERY_MS);
}

const AT_WORK = `select count(*)::int as runs from runoff.run
  where state not in ('published', 'failed', 'cancelled', 'refused', 'merged', 'closed', 'awaiting_pick')`;

/** Labels further issues as long as too few runs are at work. */
async function topUp({ environment }: RoundProcesses, issues: number[], runsAtOnce: number): Promise<void> {
  const rows = await environment.query(AT_WORK).catch(() => []);
  if (rows.length === 0) return;
  const free = runsAtOnce - Number(rows[0]?.runs ?? 0);
  if (free > 0) issues.push(...(await environment.label(free)));
}

async function play(environment: ChaosEnvironment, { setting, runsAtOnce, faults }: Plan): Promise<void> {
  const processes = await startProcesses(environment, setting);
  const issues = [...(await environment.label(runsAtOnce))];
  let gone = false;
  for (const fault of faults) {
    if (Date.now() > options.until) break;
    await momentOf(processes, fault);
    await topUp(processes, issues, runsAtOnce);
    const detail = await strike(processes, fault);
    gone ||= mayBeGone(fault, detail);
    tell(
      detail === null ? { what: 'missed', kind: fault.kind } : { what: 'fault', kind: fault.kind, detail },
    );
  }
  const how = await environment.play(processes.app(), issues);
  if (how === 'dead') throw new Error(`The App ended by itself. It said: ${processes.app().said()}`);
  await processes.worker()?.stop();
  await processes.app().stop();
  const folders = setting === 'workers' ? [WORKER] : [];
  const found = await findProblems(environment, issues, { folders, gone });
  const lost = found.map((one) => one.slice(0, LONGEST));
  await tell({ what: 'ends', runs: issues.length, lost: lost.slice(0, MAX_REPORTED) });
  if (lost.length > 0) throw new Lost();
}

/** Something was lost, and told. */
class Lost extends Error {}

const plan = planOf(options.seed, options.round, new Set(options.only));
await tell({ what: 'begins', setting: plan.setting });
try {
  const { furnished, keepAt } = options;
  await withChaosEnvironment((environment) => play(environment, plan), {
    ...SETTING_OPTIONS[plan.setting],
    patienceMs: PATIENCE_MS,
    furnished,
    keepAt,
  });
} catch (thrown) {
  if (!(thrown instanceof Lost)) {
    const { message, stack } = thrown as Error;
    await tell({ what: 'ends', runs: 0, lost: [message.slice(0, LONGEST)] });
    news.push(String(stack));
  }
  await mkdir(options.keepAt, { recursive: true });
  await writeFile(join(options.keepAt, 'round.log'), `${news.join('\n')}\n`);
}
process.exit(0);
