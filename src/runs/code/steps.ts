import {
  type Alias,
  asFault,
  CODER_STEP_LIMITS,
  type CoderEvent,
  type CoderStep,
  cutMiddle,
  type RunId,
} from '../../core/model/index.ts';
import { endsInKey, REDACTED, type Redact } from '../../core/secrets/index.ts';
import type { Clock, LiveRuns, StepTotals } from '../../ports/index.ts';
import type { World } from '../context.ts';

/** Keeps what a coder reports, for those who follow it from any process. Its coder never waits for it. */
interface StepRecorder {
  add(events: readonly CoderEvent[]): void;
  /** Adds how its process ended, in Runoff's words. */
  ended(how: string): void;
  /** Stores what is left, within `CLOSE_MS`. Never rejects: steps may be lost, their candidate may not. */
  close(): Promise<void>;
}

/** Milliseconds between two writes: what a coder does is seen about a second later. Our default. */
const WRITE_EVERY_MS = 500;
/** Milliseconds until the next attempt after the database refused a write. Our default. */
const RETRY_MS = 3_000;
/** Milliseconds that the end of a coder may wait for its last steps. Our default. */
const CLOSE_MS = 5_000;
/** Steps that wait for the database, at most; one write stores so many. */
const MAX_WAITING = 500;
const BATCH = 100;
/** UTF-16 units of details that wait for the database. */
const MAX_WAITING_DETAILS = 1_000_000;

/** A step without its number: that is known when it is written. */
type NewStep = Omit<CoderStep, 'alias' | 'number'> & {
  /** Of a piece of a text: what came before it, in earlier steps. */
  readonly before?: string;
};

/** `redact`: applied to all texts before they are shortened. */
export function recordSteps(
  world: Pick<World, 'clock' | 'log'> & { readonly store: Pick<LiveRuns, 'appendSteps' | 'stepTotals'> },
  of: { readonly runId: RunId; readonly alias: Alias; readonly redact: Redact },
): StepRecorder {
  const { clock, log } = world;
  const waiting = waitingSteps(clock);
  const writer = stepWriter(world.store, of, waiting);
  const wake = new AbortController();
  let pumping: Promise<void> | null = null;
  let closing = false;
  let over = false;

  const pump = async (): Promise<void> => {
    while (!over && !writer.isDone()) {
      const failure = await writer.write();
      if (failure === 'final') over = true;
      if (closing && failure !== null) return;
      if (!closing) await clock.sleep(failure === null ? WRITE_EVERY_MS : RETRY_MS, wake.signal);
    }
  };
  const start = (): void => {
    if (over) return;
    pumping ??= pump().finally(() => {
      pumping = null;
    });
  };
  start();
  return {
    add(events) {
      for (const event of events) waiting.add(event);
      start();
    },
    ended(how) {
      waiting.note('exit', how);
      start();
    },
    async close() {
      closing = true;
      wake.abort();
      start();
      const patience = new AbortController();
      const last = (pumping ?? Promise.resolve()).then(() => (over ? undefined : pumping));
      await Promise.race([last, clock.sleep(CLOSE_MS, patience.signal)]);
      patience.abort();
      over = true;
      if (writer.isDone()) return;
      const { runId: run, alias: candidate } = of;
      log.warn({ run, candidate }, 'the last steps of a coder could not be stored; its work is not affected');
    },
  };
}

interface WaitingSteps {
  add(event: CoderEvent): void;
  note(kind: 'exit', text: string): void;
  /** Removes the next steps to write. */
  take(): readonly NewStep[];
  isEmpty(): boolean;
  /** Milliseconds since 1970 UTC. */
  readonly startedAt: number;
}

/** Steps that are not written yet: limited in number, size and rate. What exceeds a limit is left out and counted. */
function waitingSteps(clock: Pick<Clock, 'elapsed' | 'now'>): WaitingSteps {
  const { perSecond, burst } = CODER_STEP_LIMITS;
  let steps: NewStep[] = [];
  let details = 0;
  let allowed: number = burst;
  let countedAt = clock.elapsed();
  let left = 0;
  let continued = false;
  let newest: NewStep | undefined;

  const push = (step: NewStep): void => {
    newest = step;
    steps.push(step);
    details += step.detail?.length ?? 0;
  };
  const noteLeftOut = (): void => {
    if (left === 0) return;
    push({ at: clock.now(), kind: 'cut', text: leftOutText(left) });
    left = 0;
  };
  return {
    add(event) {
      const last = steps.at(-1);
      const { piece, ...fields } = event;
      if (piece && continued && last?.kind === event.kind && left === 0) {
        const longer = continuedBy(last, event);
        if (longer !== null) {
          details += (longer.detail?.length ?? 0) - (last.detail?.length ?? 0);
          steps[steps.length - 1] = longer;
          newest = longer;
          return;
        }
      }
      const now = clock.elapsed();
      allowed = Math.min(burst, allowed + ((now - countedAt) / 1000) * perSecond);
      countedAt = now;
      const goesOn = piece && continued && newest?.kind === event.kind;
      const before = goesOn && newest ? writtenBefore(newest) : undefined;
      continued = piece === true;
      if (allowed < 1 || steps.length >= MAX_WAITING || details > MAX_WAITING_DETAILS) {
        left += 1;
        return;
      }
      allowed -= 1;
      noteLeftOut();
      push({ ...fields, ...(before === undefined ? {} : { before }), at: clock.now() });
    },
    note(kind, text) {
      noteLeftOut();
      push({ at: clock.now(), kind, text });
    },
    take() {
      const taken = steps.slice(0, BATCH);
      steps = steps.slice(BATCH);
      details = steps.reduce((sum, { detail = '' }) => sum + detail.length, 0);
      return taken;
    },
    isEmpty: () => steps.length === 0,
    startedAt: clock.now(),
  };
}

const leftOutText = (steps: number): string =>
  `${steps} ${steps === 1 ? 'step was' : 'steps were'} left out: the agent reported steps faster than Runoff records them.`;

/** Lines of output stay lines. */
const betweenPieces = (kind: CoderStep['kind']): string => (kind === 'output' ? '\n' : '');

/** Maximum UTF-16 units of earlier steps that are redacted with a piece: more than the longest secret with a pattern. */
const MAX_BEFORE = 16_000;

const writtenBefore = ({ before = '', text, detail = text, kind }: NewStep): string =>
  `${before}${detail}${betweenPieces(kind)}`.slice(-MAX_BEFORE);

/**
 * A piece without secrets, also those that began in an earlier step: a key of several lines is recognised only together
 * with its first line. Everything that is returned is part of the text that was redacted as a whole.
 */
function redactedAfter(redact: Redact, before: string, text: string): string {
  const [earlier, whole] = [redact(before), redact(before + text)];
  let same = 0;
  while (same < earlier.length && earlier[same] === whole[same]) same += 1;
  return whole.slice(same) || (text === '' ? '' : REDACTED);
}

/** Maximum UTF-16 units of a key of which nothing is shown. Our default, several times the longest usual one. */
const MAX_KEY = 64_000;
const KEY_END = '-----END ';

/**
 * The newest text that says what an agent does, for people and without secrets; undefined for none. Lines of a key that
 * come one after the other are recognised, but no other secret in several pieces: to redact all that came before, with
 * each line, would take too long.
 */
export function noteTaker(redact: Redact): (events: readonly CoderEvent[]) => string | undefined {
  let keyUnits = 0;
  return (events) => {
    let newest: { readonly isOfKey: boolean; readonly text: string } | undefined;
    for (const event of events) {
      const isOfKey = keyUnits > 0 && event.piece === true;
      if (event.kind !== 'result' && event.text !== '')
        newest = { isOfKey, text: isOfKey ? behindKey(event.text) : event.text };
      keyUnits = unitsOfOpenKey(isOfKey ? keyUnits : 0, event);
    }
    return newest && `${newest.isOfKey ? REDACTED : ''}${redact(newest.text)}`;
  };
}

/** From its last line on. */
const behindKey = (text: string): string => (text.includes(KEY_END) ? text.slice(text.indexOf(KEY_END)) : '');

/** UTF-16 units of the key that is open after an event, with those before; 0 for none. */
function unitsOfOpenKey(before: number, { text, detail = text, piece }: CoderEvent): number {
  const isOpen = before > 0 && !detail.includes(KEY_END) ? before < MAX_KEY : endsInKey(detail);
  return piece && isOpen ? before + detail.length + 1 : 0;
}

/** A piece of a text together with what came before; null if that would be too long. */
function continuedBy(before: NewStep, { text, detail = text, kind }: CoderEvent): NewStep | null {
  const between = betweenPieces(kind);
  const whole = `${before.detail ?? before.text}${between}${detail}`;
  return whole.length > CODER_STEP_LIMITS.detail ? null : { ...before, detail: whole };
}

interface StepWriter {
  /** Writes the next steps. Null: done; `later`: try again; `final`: nothing can be stored any more. Never rejects. */
  write(): Promise<'later' | 'final' | null>;
  isDone(): boolean;
}

/** Faults after which another attempt cannot succeed. */
const FINAL_FAULTS: ReadonlySet<string> = new Set(['EXECUTOR_EXPIRED', 'RUN_UNKNOWN']);

/** Numbers steps after those that are stored, so that an attempt whose answer was lost may be repeated. */
function stepWriter(
  store: Pick<LiveRuns, 'appendSteps' | 'stepTotals'>,
  { runId, alias, redact }: { readonly runId: RunId; readonly alias: Alias; readonly redact: Redact },
  waiting: WaitingSteps,
): StepWriter {
  let numbering: { last: number; details: number } | null = null;
  let batch: readonly CoderStep[] = [];

  const begin = async (): Promise<{ last: number; details: number }> => {
    const totals = (await store.stepTotals(runId)).find((one) => one.alias === alias);
    batch = [{ alias, number: (totals?.last ?? 0) + 1, ...startStep(totals, waiting.startedAt) }];
    return { last: batch.length + (totals?.last ?? 0), details: totals?.details ?? 0 };
  };
  const next = (known: { last: number; details: number }): readonly CoderStep[] =>
    waiting.take().map(({ before = '', ...step }) => {
      known.last += 1;
      const clean = (text: string) => redactedAfter(redact, before, text);
      const most =
        known.details > CODER_STEP_LIMITS.details ? CODER_STEP_LIMITS.shortDetail : CODER_STEP_LIMITS.detail;
      const detail = step.detail === undefined ? undefined : cutMiddle(clean(step.detail), most);
      known.details += detail?.length ?? 0;
      const text = clean(step.text).slice(0, CODER_STEP_LIMITS.text).toWellFormed();
      return {
        ...step,
        alias,
        number: known.last,
        text,
        ...(detail === undefined ? {} : { detail }),
        ...(step.call === undefined ? {} : { call: redact(step.call) }),
      };
    });
  return {
    async write() {
      try {
        numbering ??= await begin();
        if (batch.length === 0) batch = next(numbering);
        await store.appendSteps(runId, batch);
        batch = [];
        return null;
      } catch (thrown) {
        return FINAL_FAULTS.has(asFault(thrown).code) ? 'final' : 'later';
      }
    },
    isDone: () => numbering !== null && batch.length === 0 && waiting.isEmpty(),
  };
}

function startStep(totals: StepTotals | undefined, at: number): Pick<CoderStep, 'at' | 'kind' | 'text'> {
  const again = totals !== undefined && totals.starts > 0;
  const text = again
    ? 'The coder was restarted after an interruption. Completed model answers are replayed at no cost.'
    : 'The coder starts.';
  return { at, kind: 'start', text };
}
