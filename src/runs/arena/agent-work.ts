import type { PlannedSample, Sample } from '../../core/arena/index.ts';
import type { Brief, Task } from '../../core/model/index.ts';
import { redactor } from '../../core/secrets/index.ts';
import { timesOf } from '../../core/settings/index.ts';
import type { Collected } from '../../ports/index.ts';
import { coderPrompt, endingOf, leaseMs, runAgent } from '../code/index.ts';
import { coderOf, routeOf } from '../contestants.ts';
import { cancelledError, retryOutages } from '../stage.ts';
import { type Answered, type Asking, type AskingPorts, beginSeconds, openSampleLease } from './asking.ts';
import type { TaskBase } from './verify.ts';

/** Seconds of silence after which an agent is stopped, as in runs by default. */
const SILENCE_SECONDS = 300;

/**
 * Lets a coding agent work on the base, as in a run: in its own area, with its own key, time limit and budget. Only the
 * patch that it leaves counts.
 */
export async function agentWork(
  ports: AskingPorts,
  asking: Asking,
  planned: PlannedSample,
  base: TaskBase,
): Promise<Answered> {
  const { contest, areas, signal } = asking;
  const { contestant } = planned;
  const { time } = contest.limits;
  const coder = coderOf(ports, contestant.agent);
  const agentVersion = await coder.version();
  const times = timesOf({ candidate: time, silence: SILENCE_SECONDS, extendWhileProgressing: false }, time);
  const lease = await openSampleLease(ports, asking, planned, leaseMs(times));
  const area = await ports.workspaces.open(base.runner.base, `${areas}-${planned.id}`);
  const elapsed = beginSeconds(ports, lease);
  try {
    const input = {
      ...routeOf(ports, coder, contestant.model, base.settings),
      prompt: agentPrompt(planned, base),
      wallSeconds: Math.floor(times.mostMs / 1000),
      seed: planned.round - 1,
      ...(contestant.argv ? { argv: contestant.argv } : {}),
    };
    const redact = redactor([lease.key]);
    const output = { redact, onEvents: () => {} };
    const result = await runAgent(ports, { area, coder, lease, times, input, ...output, signal });
    if (result.stopped === 'cancelled') throw cancelledError();
    const cap = lease.capReached();
    const refusal = lease.refusal();
    if (refusal !== null && cap !== 'spender') return { kind: 'unasked', why: refusal, cap };
    const seconds = elapsed();
    const how = endingOf(result, lease);
    const ending = how === null ? null : redact(how);
    const collect = () => ports.workspaces.collect(base.runner.base, area, signal);
    const left = patchLeft(await retryOutages(ports, signal, collect), ending);
    const used = { usage: lease.usage(), seconds, repaired: false, temperature: null, agentVersion };
    return { kind: 'answered', ...left, ...used };
  } finally {
    await ports.workspaces.remove(area);
    await lease.close();
  }
}

function patchLeft(collected: Collected, ending: string | null): Pick<Sample, 'outcome' | 'answer' | 'why'> {
  if (collected.kind === 'patch') return { outcome: 'answered', answer: collected.patch.text, why: null };
  const nothing =
    collected.kind === 'refused' ? `its patch was refused: ${collected.why}` : 'it changed no file';
  const why = `The agent left no patch: ${[...(ending === null ? [] : [ending]), nothing].join('; ')}.`;
  return { outcome: 'failed', answer: null, why };
}

/** The same text as in a run, with the statement as its goal. The delimiter is the sample's: a repetition asks the same. */
function agentPrompt({ id, task: asked, contestant, round }: PlannedSample, base: TaskBase): string {
  const statement = asked.kind === 'repo' ? asked.statement : asked.prompt;
  const [title = '', ...rest] = statement.trim().split('\n');
  const brief: Brief = {
    goal: 'Do what the issue below asks for.',
    definitionOfDone: ['The issue is solved.', 'The tests that passed before still pass.'],
    plan: [],
    files: [],
    assumptions: [],
    questions: [],
  };
  const task: Task = {
    runId: id,
    origin: { kind: 'local', path: '' },
    title,
    body: rest.join('\n').trim(),
    comments: [],
    base: { ref: base.commit, sha: base.commit },
    settings: base.settings,
    lowered: [],
  };
  const variant = contestant.instructions;
  return coderPrompt({ variant, brief, task, seed: round - 1, given: null, nonce: id });
}
