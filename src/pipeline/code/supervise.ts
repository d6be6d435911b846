import { type Alias, type Candidate, Fault, type RunId, type Task } from '../../core/model/index.ts';
import { summarise } from '../../core/patches/index.ts';
import {
  type BaseCheckout,
  type Coder,
  type CollectedPatch,
  DEFAULT_LIMITS,
  type ExecResult,
  type Lease,
  type WorkArea,
} from '../../ports/index.ts';
import { cancelled, patiently } from '../guard.ts';
import { loadRun, loadTask, prepareBase } from '../task.ts';
import type { World } from '../world.ts';
import { type Progress, progressOf } from './progress.ts';
import { taskText } from './task-text.ts';

/** A lease outlives its coder a little, so that a last call is not refused for the clock. */
const LEASE_SLACK_MS = 60_000;

/** Exit code of a coder that saw its time limit come, as `timeout` of the coreutils has it. */
const OUT_OF_TIME = 124;

/** What a candidate's note says between its coder's end and the finished patch. */
export const COLLECTING = 'its patch is collected';

/**
 * Runs one coder in its own sandboxed clone and keeps what it left behind. Judged by the patch and the gateway's
 * ledger, never by an exit code. Does nothing when the candidate was finished before a crash.
 */
export async function writeCandidate(
  world: World,
  runId: RunId,
  alias: Alias,
  signal: AbortSignal,
): Promise<void> {
  const candidate = (await world.store.candidates(runId)).find((c) => c.alias === alias);
  if (!candidate) throw new Fault('INTERNAL', `Run ${runId} has no candidate ${alias}.`);
  // A shutdown aborts coders like a cancel does; if the flow goes on, it was a shutdown.
  if (!['queued', 'coding', 'cancelled'].includes(candidate.state)) return;

  const task = await loadTask(world, runId);
  const base = await patiently(world, signal, () => prepareBase(world, task, { signal }));
  const progress = progressOf(world.store, candidate, () => world.announcer.soon(runId));
  const area = await world.workspaces.open(base, `${runId}-${alias}`);
  try {
    await codeIn({ world, task, candidate, base, area, progress, signal });
  } finally {
    await world.workspaces.remove(area);
    await progress.flush();
  }
}

interface Work {
  readonly world: World;
  readonly task: Task;
  readonly candidate: Candidate;
  readonly base: BaseCheckout;
  readonly area: WorkArea;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function codeIn(work: Work): Promise<void> {
  const { world, task, candidate, progress } = work;
  const coder = coderOf(world, candidate);
  const coderVersion = await coder.version();
  const lease = await openLease(world, task, candidate, (usage) => progress.set({ usage }));
  const startedAt = world.clock.now();
  try {
    progress.set({ state: 'coding', note: 'starts', ...(coderVersion ? { coderVersion } : {}) });
    const result = await runCoder(work, coder, lease, (note) =>
      progress.set({ note, ms: world.clock.now() - startedAt }),
    );
    if (result.stopped === 'cancelled') {
      progress.set({ state: 'cancelled', note: 'cancelled' });
      throw cancelled();
    }
    progress.set({ note: COLLECTING, ms: world.clock.now() - startedAt, usage: lease.usage() });
    progress.set(await keepPatch(work, why(result, lease)));
  } finally {
    await lease.close();
  }
}

function openLease(
  world: World,
  task: Task,
  candidate: Candidate,
  onUsage: (usage: Candidate['usage']) => void,
): Promise<Lease> {
  const { budget, timeout } = task.settings;
  return world.gateway.open(
    {
      runId: candidate.runId,
      spender: candidate.alias,
      models: [candidate.contestant.model],
      capUsd: budget.candidate,
      runCapUsd: budget.run,
      ttlMs: timeout.candidate * 1000 + LEASE_SLACK_MS,
    },
    onUsage,
  );
}

function coderOf(world: World, candidate: Candidate): Coder {
  const coder = world.coders.get(candidate.contestant.agent);
  if (!coder)
    throw new Fault(
      'AGENT_UNKNOWN',
      `There is no coder named ${JSON.stringify(candidate.contestant.agent)}.`,
    );
  return coder;
}

async function runCoder(
  { world, task, candidate, area, signal }: Work,
  coder: Coder,
  lease: Lease,
  onNote: (note: string) => void,
): Promise<ExecResult> {
  const { brief } = await loadRun(world, task.runId);
  if (!brief) throw new Fault('INTERNAL', `Run ${task.runId} has no brief although it is being coded.`);
  const variant = world.prompts.coder.get(candidate.contestant.prompt);
  if (!variant)
    throw new Fault(
      'SETTINGS_INVALID',
      `There is no prompt variant ${JSON.stringify(candidate.contestant.prompt)}.`,
    );
  const { timeout } = task.settings;
  const route = world.gateway.route(candidate.contestant.model);
  const launch = coder.launch({
    ...route,
    prompt: taskText(variant, brief, task, world.random.nonce()),
    wallSeconds: timeout.candidate,
  });
  return world.sandbox.exec({
    area,
    argv: launch.argv,
    env: { ...launch.env, GW_KEY: lease.key },
    stdin: launch.stdin,
    gateway: lease.socket,
    limits: { ...DEFAULT_LIMITS, wallMs: timeout.candidate * 1000, silenceMs: timeout.silence * 1000 },
    onLine: (line, stream) => {
      const event = stream === 'stdout' ? coder.read(line) : null;
      if (event?.text) onNote(event.text);
    },
    signal,
  });
}

type Kept = Pick<Candidate, 'state' | 'note'> & { patch?: Candidate['patch'] & object };

async function keepPatch({ world, base, area, signal }: Work, ending: string | null): Promise<Kept> {
  const collected = await world.workspaces.collect(base, area, signal);
  switch (collected.kind) {
    case 'empty':
      return { state: 'failed', note: ending ?? 'ended without changing a file' };
    case 'refused':
      return { state: 'failed', note: `its patch was refused: ${collected.why}` };
    case 'patch':
      return {
        state: 'coded',
        note: ending ? `${ending}; what it had written is judged` : 'done',
        patch: await store(world, collected.patch),
      };
  }
}

async function store(world: World, patch: CollectedPatch): Promise<NonNullable<Candidate['patch']>> {
  const text = await world.artifacts.put(patch.text);
  const raw = await world.artifacts.put(patch.raw);
  return { ...summarise(patch), sha256: text.sha256, tree: patch.tree, text, raw };
}

/** One clause for people when the coder did not end well; null when it did. */
function why(result: ExecResult, lease: Lease): string | null {
  const refusal = lease.refusal();
  if (refusal) return `stopped by the gateway: ${refusal}`;
  switch (result.stopped) {
    case 'wall':
      return `stopped after ${Math.round(result.ms / 1000)} s, its time limit`;
    case 'silence':
      return 'stopped: no output for too long';
    case 'memory':
    case 'disk':
      return `stopped: it used more ${result.stopped} than it may`;
    case 'cancelled':
    case null:
      if (result.exitCode === OUT_OF_TIME) return 'stopped by itself, shortly before its time limit';
      return result.exitCode === 0 ? null : `ended with exit code ${result.exitCode ?? 'none'}`;
  }
}
