import { DEFAULT_LIMITS, type ExecSpec } from '../../ports/index.ts';
import { prepareBase } from '../base/index.ts';
import { checkRunnerOn, egressOf } from '../examine/index.ts';
import type { PreparedPlace, PrepareTools } from './prepare.ts';

/** The terminal of whoever uses the shell. */
export interface ShellTerminal extends Required<Pick<ExecSpec, 'input' | 'onOutput'>> {
  /** Its type, such as `xterm-256color`. */
  readonly term: string;
  readonly rows: number;
  readonly columns: number;
}

/** Milliseconds; our default: somebody who forgets a shell does not keep an area for ever. */
const SHELL_MS = 12 * 60 * 60_000;

/** Bytes of each stream that are kept, for messages only. */
const SHELL_OUTPUT_BYTES = 64 * 1024;

/** `script` makes the terminal inside the sandbox, so that nothing in it has a descriptor of the real one. */
const SHELL_SCRIPT = `command -v script > /dev/null || {
  echo 'The sandbox has no program script (package bsdutils or util-linux), which the shell needs.' >&2
  exit 127
}
export SHELL=/bin/sh
exec script --quiet --return --command 'stty rows "$SHELL_ROWS" cols "$SHELL_COLUMNS"; unset SHELL_ROWS SHELL_COLUMNS
if command -v bash > /dev/null; then PS1="sandbox:\\w\\\\$ " exec bash --norc -i; else PS1="sandbox$ " exec sh -i; fi' /dev/null`;

/**
 * Opens a shell in a fresh area over a base commit, with what its tests have: packages, programs, services, and their
 * network, usually none. Returns its exit code and, if it could not run, why.
 */
export async function openShell(
  tools: PrepareTools,
  { task, bare, isSetUp }: PreparedPlace,
  terminal: ShellTerminal,
  signal: AbortSignal,
): Promise<{ readonly exitCode: number | null; readonly why: string | null }> {
  const { source } = bare;
  const base = isSetUp ? await prepareBase(tools, task, { source, signal }) : bare.base;
  const runner = await checkRunnerOn(tools, { task, source, base, signal });
  const area = await tools.workspaces.open(base, `${task.runId}-shell`);
  try {
    const { exitCode, stopped, stderr } = await tools.sandbox.exec({
      area,
      argv: ['sh', '-c', `${runner.services?.script ?? ''}${SHELL_SCRIPT}`],
      env: {
        ...{ CI: '1', TERM: terminal.term },
        ...{ SHELL_ROWS: String(terminal.rows), SHELL_COLUMNS: String(terminal.columns) },
        ...runner.services?.env,
      },
      egress: egressOf(runner),
      limits: { ...DEFAULT_LIMITS, wallMs: SHELL_MS, outputBytes: SHELL_OUTPUT_BYTES },
      input: terminal.input,
      onOutput: terminal.onOutput,
      signal,
    });
    const why = stopped === null ? stderr.trim() : `It was stopped by its limit (${stopped}).`;
    return { exitCode, why: why === '' ? null : why };
  } finally {
    await tools.workspaces.remove(area);
  }
}
