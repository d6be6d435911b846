import {
  diffIn,
  MAX_SHOWN_CHARS,
  type PlannedSample,
  pathsByInterest,
  repairPrompt,
  repositoryPrompt,
  type Sample,
} from '../../core/arena/index.ts';
import type { Lease, ModelRoute, TextAnswer } from '../../ports/index.ts';
import { readTextAt, type World } from '../context.ts';
import { collectText } from '../examine/index.ts';
import { throwIfCancelled } from '../stage.ts';
import {
  type Answered,
  type Asking,
  type AskingPorts,
  beginSeconds,
  openSampleLease,
  type Unasked,
} from './asking.ts';
import type { TaskBase } from './verify.ts';

/** What is asked: the prompt of a text task, or the statement with the repository's files. The same for equal tasks. */
export async function askedText(
  ports: Pick<World, 'workspaces'>,
  { task }: Pick<PlannedSample, 'task'>,
  base: TaskBase | null,
): Promise<string> {
  if (task.kind === 'text' || base === null) return task.kind === 'text' ? task.prompt : task.statement;
  const { source, commit } = base;
  const paths = await ports.workspaces.listFiles(source, commit);
  const files: { path: string; text: string }[] = [];
  let left = MAX_SHOWN_CHARS;
  for (const path of pathsByInterest(paths, task.statement)) {
    if (left < MAX_SHOWN_CHARS / 100) break;
    const text = await readTextAt(ports, source, commit, path);
    if (text === null || text.length > left || text.includes('\0')) continue;
    left -= text.length;
    files.push({ path, text });
  }
  return repositoryPrompt({ statement: task.statement, paths, files, verify: task.verify });
}

/** Milliseconds by which the lease of a plain call outlasts its time limit. */
const PLAIN_SLACK_MS = 60_000;

interface AskedTask {
  readonly text: string;
  /** Null for a text task. */
  readonly base: TaskBase | null;
}

/** Asks the model itself, once or with one repair turn. Never rejects because of it or its provider. */
export async function plainCall(
  ports: AskingPorts,
  asking: Asking,
  planned: PlannedSample,
  asked: AskedTask,
): Promise<Answered> {
  const { contest, signal } = asking;
  const { limits, temperature } = contest;
  const { model, instructions } = planned.contestant;
  const route = ports.gateway.route(model);
  const lease = await openSampleLease(ports, asking, planned, limits.time * 1000 + PLAIN_SLACK_MS);
  const seconds = beginSeconds(ports, lease);
  const late = timeLimit(ports, limits.time * 1000, signal);
  const terms = {
    ...{ route, lease, instructions, maxTokens: limits.tokens, seed: planned.seed, signal: late.signal },
    ...(temperature === 'default' ? {} : { temperature }),
  };
  try {
    const said = await callModel(ports, terms, { ...asked, repair: contest.repair, id: planned.id });
    throwIfCancelled(signal);
    if (said.kind === 'unasked' && !late.signal.aborted)
      return temperature !== 'default' && /temperature/i.test(said.why)
        ? { ...said, why: `${said.why} ${TEMPERATURE_HINT}` }
        : said;
    const { temperatureIgnored, ...rest } = said.kind === 'unasked' ? tooLate(limits.time) : said;
    return {
      ...rest,
      usage: lease.usage(),
      seconds: seconds(),
      temperature: temperature === 'default' || temperatureIgnored ? null : temperature,
      agentVersion: null,
    };
  } finally {
    late.close();
    await lease.close();
  }
}

const TEMPERATURE_HINT = 'If the model accepts no temperature, set `temperature: default` in contest.yml.';

const tooLate = (seconds: number): Said => ({
  kind: 'answered',
  outcome: 'failed',
  answer: null,
  why: `It gave no answer within ${seconds} s.`,
  repaired: false,
  temperatureIgnored: false,
});

/** A signal that aborts with another one or when the time is over, whatever comes first. */
function timeLimit(
  { clock }: Pick<World, 'clock'>,
  ms: number,
  signal: AbortSignal,
): { readonly signal: AbortSignal; close(): void } {
  const over = new AbortController();
  const closed = new AbortController();
  void clock.sleep(ms, closed.signal).then(() => closed.signal.aborted || over.abort());
  return { signal: AbortSignal.any([signal, over.signal]), close: () => closed.abort() };
}

interface Terms {
  readonly route: ModelRoute;
  readonly lease: Lease;
  readonly instructions: string;
  readonly temperature?: number;
  readonly seed: number;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
}

interface Said extends Pick<Sample, 'outcome' | 'answer' | 'why'> {
  readonly kind: 'answered';
  readonly repaired: boolean;
  readonly temperatureIgnored: boolean;
}

/** One call, and one more if the diff does not apply and the contest allows it. */
async function callModel(
  ports: AskingPorts,
  terms: Terms,
  { text, base, repair, id }: AskedTask & { readonly repair: boolean; readonly id: string },
): Promise<Said | Unasked> {
  const first = await ports.texts.write({ ...terms, messages: [{ role: 'user', content: text }] });
  if (first.kind === 'failed') return { kind: 'unasked', why: first.why, cap: terms.lease.capReached() };
  const { temperatureIgnored } = first;
  const read = await readDiffAnswer(first, base, id);
  if (read.kind === 'usable' || !repair || base === null || first.end === 'refused')
    return { kind: 'answered', ...sampleOutcome(read, first.text), repaired: false, temperatureIgnored };
  const second = await ports.texts.write({
    ...terms,
    messages: [
      { role: 'user', content: text },
      // Some providers refuse an empty message.
      { role: 'assistant', content: first.text.trim() || '(no answer)' },
      { role: 'user', content: repairPrompt(read.why) },
    ],
  });
  if (second.kind === 'failed') return { kind: 'unasked', why: second.why, cap: terms.lease.capReached() };
  const again = await readDiffAnswer(second, base, id);
  return { kind: 'answered', ...sampleOutcome(again, second.text), repaired: true, temperatureIgnored };
}

type ReadDiffAnswer =
  | { readonly kind: 'usable'; readonly answer: string }
  /** `answer`: a diff that does not apply; null if there is none. */
  | {
      readonly kind: 'unusable';
      readonly outcome: 'refused' | 'not-a-diff' | 'failed';
      readonly why: string;
      readonly answer: string | null;
    };

async function readDiffAnswer(
  { text, end }: Pick<Extract<TextAnswer, { kind: 'text' }>, 'text' | 'end'>,
  base: TaskBase | null,
  id: string,
): Promise<ReadDiffAnswer> {
  if (end === 'refused')
    return { kind: 'unusable', outcome: 'refused', why: 'The model refused to answer.', answer: null };
  if (end === 'length')
    return {
      kind: 'unusable',
      outcome: 'failed',
      why: 'The answer was cut at `limits.tokens`.',
      answer: null,
    };
  if (text.trim() === '')
    return { kind: 'unusable', outcome: 'failed', why: 'The model answered nothing.', answer: null };
  if (base === null) return { kind: 'usable', answer: text };
  const diff = diffIn(text);
  if (diff === null)
    return {
      kind: 'unusable',
      outcome: 'not-a-diff',
      why: 'The answer contains no unified diff.',
      answer: null,
    };
  const { patch, note } = await collectText(base.runner, `${id}-read`, diff);
  if (patch) return { kind: 'usable', answer: diff };
  return { kind: 'unusable', outcome: 'failed', why: `The diff ${note}`, answer: diff };
}

/** A diff that does not apply is an answer: its verification says that it does not. */
function sampleOutcome(read: ReadDiffAnswer, text: string): Pick<Sample, 'outcome' | 'answer' | 'why'> {
  if (read.kind === 'usable') return { outcome: 'answered', answer: read.answer, why: null };
  if (read.answer !== null) return { outcome: 'answered', answer: read.answer, why: null };
  return { outcome: read.outcome, answer: text.trim() === '' ? null : text, why: read.why };
}
