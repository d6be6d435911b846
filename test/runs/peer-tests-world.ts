import { setImmediate } from 'node:timers/promises';
import { GATES, type TestRun } from '../../src/core/evidence/index.ts';
import type { Patch, PatchFile } from '../../src/core/patches/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { Clock, ExecResult, Sandbox, WorkArea, Workspaces } from '../../src/ports/index.ts';
import { type CheckRunner, rememberInMemory, withCommandSlots } from '../../src/runs/examine/areas.ts';
import type {
  CandidateEntry,
  ExaminationTools,
  ExaminedCandidate,
} from '../../src/runs/examine/candidate.ts';
import { openExaminationTime } from '../../src/runs/examine/time.ts';
import type { Tree, Trees } from '../../src/runs/examine/trees.ts';
import { partial } from '../world/partial.ts';

interface TimedWorldOptions {
  /** Commands at a time. */
  readonly parallel: number;
  /** Milliseconds of the suite on the base. */
  readonly suiteMs: number;
  /** Milliseconds of a command, by the id of its area. */
  readonly commandMs: (area: string) => number;
  /** `timeout.examine`. */
  readonly examine: string;
  /** How commands end, by the id of their area; default: with exit code 1. */
  readonly endOf?: (area: string) => Partial<ExecResult>;
}

/** Survivors whose tests pass on their own code only, commands that take nothing but time, and a clock that jumps. */
export async function openTimedWorld({
  parallel,
  suiteMs,
  commandMs,
  examine,
  endOf = () => ({ exitCode: 1 }),
}: TimedWorldOptions) {
  const time = jumpingClock();
  /** Commands in the order of their beginning, with the second in which they began, and how they ended. */
  const commands: string[] = [];
  const exec: Sandbox['exec'] = async ({ area, argv, signal }) => {
    const id = area.id.replace(/^r1-x-/, '');
    if (argv[0] !== 'sh') return ended({ exitCode: 0 });
    const at = commands.push(`${id} at ${time.clock.elapsed() / 1_000} s`) - 1;
    await time.clock.sleep(commandMs(id), signal);
    if (!signal?.aborted) return ended({ ms: commandMs(id), ...endOf(id) });
    commands[at] += `, stopped at ${time.clock.elapsed() / 1_000} s`;
    return ended({ stopped: 'cancelled' });
  };
  const signal = new AbortController().signal;
  const workspaces = partial<Workspaces>({
    open: async (_, id) => partial<WorkArea>({ id }),
    remove: async () => undefined,
    isWhole: async () => true,
  });
  const given = partial<CheckRunner>({
    world: { parallelChecks: parallel, clock: time.clock, sandbox: { exec }, workspaces },
    task: { runId: 'r1', settings: Settings.parse({ timeout: { examine } }) },
    plan: { commands: [{ command: 'test', args: [], env: {}, report: null, prefix: '' }], focus: () => null },
    base: { sha: 'base', layers: [] },
    baseFiles: [],
    services: null,
    remember: rememberInMemory(),
    signal,
  });
  const runner = withCommandSlots(given);
  const onBase = runOf(suiteMs);
  const tools = partial<ExaminationTools>({
    runner,
    onBase,
    time: await openExaminationTime(runner, [], onBase),
    trees: partial<Trees>({ of: async () => treeOf('') }),
  });
  return { ...time, tools, commands };
}

export const survivor = (alias: string): ExaminedCandidate => ({
  candidate: partial<CandidateEntry>({ runId: 'r1', alias, patch: { sha256: alias } }),
  gates: GATES.map((gate) => ({ gate, passed: true, because: '' })),
  own: runOf(0),
  patch: partial<Patch>({
    tests: [
      partial<PatchFile>({
        path: `test/${alias}.js`,
        change: 'added',
        hunks: [],
        section: `tests of ${alias}\n`,
      }),
    ],
    files: [],
    production: [],
  }),
  tree: treeOf(alias),
});

const treeOf = (patch: string): Tree =>
  partial<Tree>({ patch, ready: true, built: { upper: `${patch}-upper` } }, []);

const runOf = (ms: number): TestRun => ({
  source: 'exit-code',
  exitCode: 0,
  stopped: null,
  ms,
  tests: {},
  tail: '',
});

const ended = (result: Partial<ExecResult>): ExecResult =>
  partial<ExecResult>({ exitCode: null, stopped: null, stdout: '', stderr: '', ms: 0, ...result }, [
    'signal',
  ]);

/** Time passes only while `pass` waits: whenever nothing else is left to do, until the next sleep ends. */
function jumpingClock() {
  let now = 0;
  const sleeping = new Set<{ readonly until: number; wake(): void }>();
  const clock: Pick<Clock, 'elapsed' | 'sleep'> = {
    elapsed: () => now,
    async sleep(ms, signal) {
      if (signal?.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const one = { until: now + ms, wake: resolve };
      sleeping.add(one);
      signal?.addEventListener('abort', () => resolve());
      await promise;
      sleeping.delete(one);
    },
  };
  async function pass<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    over.catch(() => undefined);
    for (;;) {
      for (let turn = 0; turn < 50; turn += 1) await setImmediate();
      if (isOver) return over;
      const [next] = [...sleeping].sort((a, b) => a.until - b.until);
      if (!next) throw new Error('The work waits for something that never comes.');
      now = next.until;
      next.wake();
    }
  }
  return { clock, pass };
}
