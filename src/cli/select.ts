import { asFault, counted } from '../core/model/index.ts';
import { type SelectAnswer, SelectRequest, unknownKeysOf } from '../core/ranking/index.ts';
import type { ActivityStep } from '../core/reports/index.ts';
import { schemaProblem } from '../core/settings/index.ts';
import { mayAskModels, type SelectOptions, select } from '../runs/index.ts';
import { EXIT, type Selecting, type Shell } from '../shell.ts';
import { jsonLine, stepText } from './render/index.ts';

export interface SelectFlags extends SelectOptions {
  /** Requests at a time. Default: the number of cores plus one. */
  readonly jobs?: number;
  /** Blind judges decide between candidates that execution leaves tied. */
  readonly judges?: boolean;
  /** Models write tests if execution leaves doubt. */
  readonly writers?: boolean;
  /** US dollars for the models of one request. */
  readonly budget?: number;
}

/**
 * US dollars for the models of one request. Our default: 36 answers about patches of average length by a mid-priced
 * model.
 */
const MODELS_USD = 1;

/** Printed instead of an answer if a line cannot be answered. */
interface SelectFailure {
  readonly id: string | number | null;
  /** 1-based. */
  readonly line: number;
  readonly error: string;
}

/**
 * `runoff select`: JSON lines in, JSON lines out, in the order in which answers are ready. An invalid line does not
 * affect the others.
 */
export async function selectLines(shell: Shell, flags: SelectFlags): Promise<number> {
  // One more than the number of cores, because a request spends part of its time waiting for git and mounts.
  const jobs = flags.jobs ?? shell.cores + 1;
  const { judges = false, writers = false, budget: usd = MODELS_USD } = flags;
  const models = judges || writers ? { models: { judge: judges, write: writers, usd } } : {};
  const atOnce = Math.max(1, Math.floor(shell.cores / jobs));
  const tools = lazily(() => shell.openSelecting({ atOnce, ...models }));
  const stop = new AbortController();
  const release = shell.onInterrupt(() => stop.abort());
  const counts = { answered: 0, abstained: 0, failed: 0, modelless: 0 };
  const lines = numbered(shell.lines(stop.signal));
  const say = narratorOf(shell.screen);
  const lane = async () => {
    for await (const { text, line } of lines) {
      if (stop.signal.aborted) return;
      let mayAsk = true;
      const answer = await answerTo(text, line, (request, ignored) => {
        say(request, ignored);
        mayAsk = mayAskModels(request);
        const options = { ...flags, onStep: stepNarratorOf(shell.screen, request) };
        return select(request, async () => (await tools.get()).tools, options, stop.signal);
      });
      if (stop.signal.aborted) return;
      countAnswer(counts, answer);
      if (!mayAsk && !('error' in answer)) counts.modelless += 1;
      shell.screen.out(`${jsonLine(answer)}\n`);
    }
  };
  try {
    await Promise.all(Array.from({ length: jobs }, lane));
  } finally {
    release();
    await tools.close();
  }
  if (stop.signal.aborted) return EXIT.stopped;
  shell.screen.err(
    `${counts.answered} answered, ${counts.abstained} of them without a pick; ${counts.failed} failed.\n`,
  );
  if ((judges || writers) && counts.modelless > 0) {
    const needs =
      judges && writers ? '--judges and --writers need' : `${judges ? '--judges' : '--writers'} needs`;
    shell.screen.err(
      `No model was asked for ${counted(counts.modelless, 'request')}: ${needs} \`repoDir\`, and \`model\` or \`tournament\` in \`evaluator\` if the request has one.\n`,
    );
  }
  return counts.failed > 0 ? EXIT.failed : EXIT.done;
}

/** On standard error: what is ignored of a request, each key once, and that one is executed, which takes time. */
function narratorOf(screen: Shell['screen']): (request: SelectRequest, ignored: readonly string[]) => void {
  const told = new Set<string>();
  return ({ id, repoDir, candidates }, ignored) => {
    const fresh = ignored.filter((key) => !told.has(key));
    for (const key of fresh) told.add(key);
    if (fresh.length > 0)
      screen.err(`Request ${jsonLine(id)}: unknown keys are ignored: ${fresh.map(jsonLine).join(', ')}.\n`);
    if (typeof repoDir === 'string')
      screen.err(`Request ${jsonLine(id)}: executing ${counted(candidates.length, 'candidate')} …\n`);
  };
}

const UNTESTED = 'examining every candidate without running tests, because there is no `testCommand`';

/** On standard error: each part of the execution of a request, once. Some of them alternate. */
function stepNarratorOf(
  screen: Shell['screen'],
  { id, testCommand }: SelectRequest,
): (step: ActivityStep) => void {
  const told = new Set<ActivityStep['name']>();
  return (step) => {
    if (told.has(step.name)) return;
    told.add(step.name);
    const text = step.name === 'candidates' && !testCommand ? UNTESTED : stepText(step);
    screen.err(`Request ${jsonLine(id)}: ${text} …\n`);
  };
}

const countAnswer = (
  counts: { answered: number; abstained: number; failed: number },
  answer: SelectAnswer | SelectFailure,
): void => {
  if ('error' in answer) counts.failed += 1;
  else counts.answered += 1;
  if ('pick' in answer && answer.pick === null) counts.abstained += 1;
};

/** The answer to one line. If it cannot be read or executed, an error takes its place. */
async function answerTo(
  text: string,
  line: number,
  work: (request: SelectRequest, ignored: readonly string[]) => Promise<SelectAnswer>,
): Promise<SelectAnswer | SelectFailure> {
  const read = readRequest(text);
  if (read.kind === 'unreadable') return { id: read.id, line, error: read.why };
  try {
    return await work(read.request, read.ignored);
  } catch (thrown) {
    const { message, advice } = asFault(thrown);
    return { id: read.request.id, line, error: `${message} → ${advice}` };
  }
}

type ReadPool =
  | { readonly kind: 'request'; readonly request: SelectRequest; readonly ignored: readonly string[] }
  | { readonly kind: 'unreadable'; readonly id: string | number | null; readonly why: string };

function readRequest(text: string): ReadPool {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { kind: 'unreadable', id: null, why: `This line is not valid JSON: ${(thrown as Error).message}` };
  }
  const parsed = SelectRequest.safeParse(value);
  if (parsed.success)
    return { kind: 'request', request: parsed.data, ignored: unknownKeysOf(value as object) };
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  return {
    kind: 'unreadable',
    id: idOf(value),
    why: `${where === '' ? 'The request' : `\`${where}\``}: ${issue ? schemaProblem(issue) : 'is invalid'}.`,
  };
}

function idOf(value: unknown): string | number | null {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Lines from one source for several readers, without empty lines. */
async function* numbered(lines: AsyncIterable<string>): AsyncGenerator<{ text: string; line: number }> {
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text.trim() !== '') yield { text, line };
  }
}

/** Opens on first use, once, and closes what was opened. */
function lazily(open: () => Promise<Selecting>): { get(): Promise<Selecting>; close(): Promise<void> } {
  let opened: Promise<Selecting> | null = null;
  return {
    get() {
      opened ??= open();
      return opened;
    },
    async close() {
      const selecting = await opened?.catch(() => null);
      await selecting?.close();
    },
  };
}
