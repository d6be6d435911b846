import type { ExecutorRecord } from '../ports/index.ts';
import { jsonText, shown } from './render/index.ts';
import { EXIT, type Shell } from './runtime.ts';

/** `runoff workers`: the processes that share the work, one line each. */
export async function listWorkers(shell: Shell, json: boolean): Promise<number> {
  const { world, close } = await shell.open({});
  try {
    const executors = await world.store.executors();
    if (json) shell.screen.out(`${jsonText(executors)}\n`);
    else if (executors.length === 0) shell.screen.out('No process shares this database right now.\n');
    else shell.screen.out(`${tableOf(executors).join('\n')}\n`);
    return EXIT.done;
  } finally {
    await close();
  }
}

const HEADS = ['NAME', 'ROLE', 'HOST', 'VERSION', 'CODERS', 'EXAMINATIONS', 'LAST SIGN OF LIFE'];

function tableOf(executors: readonly ExecutorRecord[]): readonly string[] {
  const rows = executors.map(({ id, role, host, version, coders, examinations, silentMs }) => [
    shown(id),
    role,
    shown(host),
    shown(version),
    `${coders}`,
    `${examinations}`,
    silentMs === null ? 'has left' : `${Math.round(silentMs / 1000)} s ago`,
  ]);
  const widths = HEADS.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]?.length ?? 0)));
  return [HEADS, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
