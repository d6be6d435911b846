import { Fault } from '../../core/model/index.ts';
import type { ExecResult, ExecSpec, StopReason } from '../../ports/index.ts';
import { type Box, type BoxEnd, startBox } from './box.ts';
import type { Launch } from './launch.ts';
import { INSIDE } from './layout.ts';
import { capture, lines } from './output.ts';
import type { Owner } from './owner.ts';
import type { ProcessTable } from './processes.ts';
import { watch } from './watchdog.ts';

export interface RunInput {
  readonly spec: ExecSpec;
  readonly launch: Launch;
  readonly filter: Buffer;
  readonly owner: Owner | null;
  readonly table: ProcessTable;
  /** Bytes in the area that the command did not write, because the area is a copy. */
  readonly givenBytes: number;
}

/** Longest delay of a timer in Node; a longer wall time is no limit in practice. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Runs a launch to its end within its limits. */
export async function run(input: RunInput): Promise<ExecResult> {
  const { spec } = input;
  const startedAt = performance.now();
  const box = startBox(input.launch, spec.stdin, input.filter, input.owner);
  const supervision = supervise(box, input);
  const output = { stdout: capture(spec.limits.outputBytes), stderr: capture(spec.limits.outputBytes) };
  const pending = (['stdout', 'stderr'] as const).map((name) => {
    const split = lines((line) => supervision.guard(() => spec.onLine?.(line, name)));
    box[name].on('data', (chunk: Buffer) => {
      supervision.heard();
      output[name].add(chunk);
      split.add(chunk);
    });
    return split;
  });
  const end = await box.ended.finally(() => supervision.close());
  for (const split of pending) split.end();
  const stopped = supervision.outcome();
  const stdout = output.stdout.end();
  const stderr = output.stderr.end();
  return {
    exitCode: stopped === null ? exitCode(end, stderr.text) : null,
    stopped,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.truncated || stderr.truncated,
    ms: Math.round(performance.now() - startedAt),
  };
}

interface Supervision {
  /** The command showed a sign of life. */
  heard(): void;
  /** Runs a caller's callback; what it throws ends the box and is thrown again by `outcome`. */
  guard(callback: () => void): void;
  close(): void;
  outcome(): StopReason | null;
}

/** Stops the box for the first limit it meets. */
function supervise(box: Box, { spec, owner, table, givenBytes }: RunInput): Supervision {
  const { limits } = spec;
  const over = new AbortController();
  let stopped: StopReason | null = null;
  let failure: { readonly thrown: unknown } | null = null;
  const stop = (reason: StopReason): void => {
    if (over.signal.aborted) return;
    stopped ??= reason;
    box.kill();
  };
  const fail = (thrown: unknown): void => {
    failure ??= { thrown };
    box.kill();
  };
  const after = (ms: number, reason: StopReason): NodeJS.Timeout =>
    setTimeout(() => stop(reason), Math.min(ms, LONGEST_TIMER_MS));
  const wall = after(limits.wallMs, 'wall');
  const silence = limits.silenceMs === undefined ? undefined : after(limits.silenceMs, 'silence');
  const onAbort = (): void => stop('cancelled');
  spec.signal?.addEventListener('abort', onAbort, { once: true });
  if (spec.signal?.aborted) onAbort();

  const folders = [spec.area.upper, spec.area.home, ...(spec.out === undefined ? [] : [spec.out])] as const;
  void box.init
    .then((init) =>
      init === null ? null : watch({ ...limits, init, folders, givenBytes }, table, owner, over.signal),
    )
    .then((reason) => reason !== null && stop(reason))
    .catch((thrown: unknown) => over.signal.aborted || fail(thrown));

  return {
    heard: () => silence?.refresh(),
    guard(callback) {
      try {
        callback();
      } catch (thrown) {
        fail(thrown);
      }
    },
    close() {
      over.abort();
      clearTimeout(wall);
      clearTimeout(silence);
      spec.signal?.removeEventListener('abort', onAbort);
    },
    outcome() {
      if (failure !== null) throw failure.thrown;
      return stopped;
    },
  };
}

/** The numbers of signals that end a command; shells and bubblewrap report a death by signal as 128 + number. */
const DEADLY_SIGNALS = [2, 4, 5, 6, 7, 8, 9, 11, 13, 15, 24, 25, 31];

function exitCode({ reported, code }: BoxEnd, stderr: string): number | null {
  if (reported !== null) return DEADLY_SIGNALS.includes(reported - 128) ? null : reported;
  // The launcher itself was killed, by the kernel out of memory or by an operator.
  if (code === null) return null;
  const notStarted = /^bwrap: execvp [^\n]*: ([^\n:]+)\n/.exec(stderr);
  if (notStarted !== null) return notStarted[1] === 'No such file or directory' ? 127 : 126;
  const why = stderr.trim().split('\n').slice(-3).join('; ') || `the launcher ended with code ${code}`;
  throw new Fault('SANDBOX_UNAVAILABLE', `The sandbox could not be set up for ${INSIDE.repo}: ${why}`);
}
