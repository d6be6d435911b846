import {
  type Alias,
  type Brief,
  type Candidate,
  Fault,
  programKilled,
  type RunId,
  type Task,
} from '../../core/model/index.ts';
import { redactor } from '../../core/secrets/index.ts';
import { type Times, timesOf, timesWithin } from '../../core/settings/index.ts';
import type { Coder, ExecResult, Lease, RunRecord } from '../../ports/index.ts';
import { rememberAnswers } from '../ask-model.ts';
import { prepareBase } from '../base/index.ts';
import { coderOf, routeOf } from '../contestants.ts';
import { loadRun, recordSandbox, repositoryKeyOf, taskOf, type World } from '../context.ts';
import { cancelledError, retryOutages } from '../stage.ts';
import { type AgentInput, type AgentOutput, leaseMs, runAgent } from './agent.ts';
import {
  COLLECTING,
  type CoderPorts,
  type CoderSession,
  endingOf,
  listenForStop,
  progressOf,
  stopReason,
  storeCandidatePatch,
  storeIfItFits,
  type WritingOptions,
} from './ending.ts';
import { noteTaker, recordSteps } from './steps.ts';
import { applyOwnPatch, coderPrompt, startingPointOf } from './task-text.ts';

/**
 * Runs one coder in its own sandboxed clone and stores its patch. Success depends on the patch and the gateway's
 * ledger, never on an exit code. Does nothing if the candidate was finished before a crash.
 */
export async function writeCandidate(
  world: CoderPorts & Pick<World, 'announcer' | 'github'>,
  runId: RunId,
  alias: Alias,
  how: WritingOptions,
): Promise<void> {
  const { signal } = how;
  const candidate = (await world.store.candidates(runId)).find((c) => c.alias === alias);
  if (!candidate) throw new Fault('INTERNAL', `Run ${runId} has no candidate ${alias}.`);
  // Both shutdown and cancellation abort coders; if the flow resumes, it was a shutdown.
  if (!['queued', 'coding', 'cancelled'].includes(candidate.state)) return;

  const run = await loadRun(world, runId);
  const task = taskOf(run);
  const because = mayStopEarly(task, candidate) ? await stopReason(world.store, runId) : null;
  if (because !== null) return world.store.putCandidate({ ...candidate, state: 'cancelled', note: because });
  const base = await retryOutages(world, signal, () => prepareBase(world, task, { signal }));
  const progress = progressOf(world.store, candidate, () => world.announcer.soon(runId));
  await recordSandbox(world, runId);
  const area = await world.workspaces.open(base, `${runId}-${alias}`);
  try {
    const given = await startingPointOf(world, run, candidate);
    const refused =
      given?.kind === 'repair' ? await applyOwnPatch(world, { base, area }, given.patch, signal) : null;
    if (refused === null)
      await runSession({ ...how, world, task, brief: briefOf(run), candidate, base, area, given, progress });
    else progress.set({ state: 'failed', note: refused });
    await retryOutages(world, signal, () => progress.flush());
  } finally {
    await world.workspaces.remove(area);
    await progress.flush();
  }
}

function briefOf({ id, brief }: RunRecord): Brief {
  if (!brief) throw new Fault('INTERNAL', `Run ${id} has no brief although it is being coded.`);
  return brief;
}

/** Candidates of a further round are never stopped early: they were requested individually. */
const mayStopEarly = ({ settings }: Task, { contestant }: Candidate): boolean =>
  settings.adaptive.stopEarly && contestant.round === undefined;

async function runSession(work: CoderSession): Promise<void> {
  const { world, task, candidate, progress } = work;
  const coder = coderOf(world, candidate.contestant.agent);
  const coderVersion = await coder.version();
  const usual = timesOf(task.settings.timeout, world.ceilings.timeoutCandidateSeconds);
  const times = timesWithin(usual, work.leftMs);
  const lease = await openCoderLease(world, task, candidate, times, (usage) => progress.set({ usage }));
  const startedAt = world.clock.elapsed();
  const redact = redactor([lease.key]);
  const steps = recordSteps(world, { ...candidate, redact });
  const noteOfEvents = noteTaker(redact);
  const wordsOfEvents = noteTaker(redact);
  let lastWords = '';
  try {
    progress.set({ state: 'coding', note: 'starts', ...versionOf(coder, coderVersion) });
    const { result, enough } = await runUntilStopped(work, coder, lease, times, {
      redact,
      onEvents: (events) => {
        steps.add(events);
        const note = noteOfEvents(events);
        lastWords = wordsOfEvents(events.filter(({ kind }) => kind === 'says')) ?? lastWords;
        if (note !== undefined) progress.set({ note, ms: world.clock.elapsed() - startedAt });
      },
    });
    const how = endingOf(result, lease);
    steps.ended(enough ?? how ?? 'ended with exit code 0');
    const used = { ms: world.clock.elapsed() - startedAt, usage: lease.usage() };
    if (enough !== null) return progress.set({ state: 'cancelled', note: enough, ...used });
    if (result.stopped === 'cancelled') {
      progress.set({ state: 'cancelled', note: 'cancelled' });
      throw cancelledError();
    }
    // Its model answers are cached, so a restart does not pay for them again (docs/decisions/0040).
    if (
      result.exitCode === null &&
      result.stopped === null &&
      lease.refusal() === null &&
      work.mayRestart(used.ms, usual.mostMs)
    ) {
      throw programKilled(`The agent of candidate ${candidate.alias}`, { kind: 'lost', how: 'was killed' });
    }
    progress.set({ note: COLLECTING, ...used });
    const ending = { how: how === null ? null : redact(how), lastWords };
    progress.set(
      result.stopped === 'disk' ? await storeIfItFits(work, ending) : await storeCandidatePatch(work, ending),
    );
  } finally {
    await steps.close();
    await lease.close();
  }
}

/** `enough`: the reason why it was stopped early, after the first finishers agreed. */
async function runUntilStopped(
  work: CoderSession,
  coder: Coder,
  lease: Lease,
  times: Times,
  output: AgentOutput,
): Promise<{ readonly result: ExecResult; readonly enough: string | null }> {
  const { world, task, candidate, signal } = work;
  if (!mayStopEarly(task, candidate)) {
    return { result: await runCoder(work, coder, lease, times, output), enough: null };
  }
  const listener = listenForStop(world, task.runId, signal);
  try {
    const result = await runCoder({ ...work, signal: listener.signal }, coder, lease, times, output);
    const early = result.stopped === 'cancelled' && !signal.aborted;
    return { result, enough: early ? listener.because() : null };
  } finally {
    listener.close();
  }
}

const versionOf = (coder: Coder, version: string | null): Pick<Candidate, 'coderVersion'> =>
  version ? { coderVersion: coder.experimental ? `${version} (experimental)` : version } : {};

function openCoderLease(
  world: Pick<World, 'gateway'>,
  task: Task,
  candidate: Candidate,
  times: Times,
  onUsage: (usage: Candidate['usage']) => void,
): Promise<Lease> {
  const { budget } = task.settings;
  return world.gateway.open(
    {
      runId: candidate.runId,
      spender: candidate.alias,
      repository: repositoryKeyOf(task.origin),
      models: [candidate.contestant.model],
      capUsd: budget.candidate,
      runCapUsd: budget.run,
      ...(budget.tokens === undefined ? {} : { capTokens: budget.tokens }),
      ttlMs: leaseMs(times),
    },
    onUsage,
  );
}

async function runCoder(
  work: CoderSession,
  coder: Coder,
  lease: Lease,
  times: Times,
  output: AgentOutput,
): Promise<ExecResult> {
  const { world, area, signal } = work;
  const input = await inputFor(work, coder, times);
  return runAgent(world, { area, coder, lease, times, input, ...output, signal });
}

async function inputFor(
  { world, task, brief, candidate, given }: CoderSession,
  coder: Coder,
  times: Times,
): Promise<AgentInput> {
  const { model, prompt: named, argv, seed = 0 } = candidate.contestant;
  const variant = world.prompts.coder.get(named);
  if (!variant) throw new Fault('SETTINGS_INVALID', `There is no prompt variant ${JSON.stringify(named)}.`);
  // The prompt must be identical after a crash, so that the gateway recognises its questions.
  const prompt = await rememberAnswers(world, task.runId)(`task:${candidate.alias}`, async () =>
    coderPrompt({ variant, brief, task, seed, given, nonce: world.random.nonce() }),
  );
  return {
    ...routeOf(world, coder, model, task.settings),
    prompt,
    wallSeconds: Math.floor(times.mostMs / 1000),
    seed,
    ...(argv ? { argv } : {}),
  };
}
