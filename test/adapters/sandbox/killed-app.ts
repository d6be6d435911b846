import { spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processesWith } from '../../contracts/sandbox.limits.ts';
import type { Workbench } from './workbench.ts';

const SANDBOX = fileURLToPath(new URL('../../../src/adapters/sandbox/index.ts', import.meta.url));

/** A Runoff of its own, to be killed, whose command runs a shell line; resolves to its process id once `mark` is seen. */
export async function startKilledApp(
  open: 'openContainer' | 'openUnsandboxed',
  bench: Workbench,
  line: string,
  mark: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const { toolchain, owner } = bench.options;
  const options = { toolchain, owner, scratch: join(bench.root, 'scratch'), ...more };
  const spec = {
    area: bench.area(),
    argv: ['sh', '-c', line],
    limits: { wallMs: 600_000, memoryBytes: 1e9, diskBytes: 1e9, processes: 50, outputBytes: 1000 },
  };
  const file = join(bench.root, `${mark}.ts`);
  writeFileSync(
    file,
    `import { ${open} } from ${JSON.stringify(SANDBOX)};\nawait ${open}(${JSON.stringify(options)}).exec(${JSON.stringify(spec)});\n`,
  );
  chmodSync(file, 0o644);
  // The mark is in the file, not in the command line, where it would count as a process of its own.
  const child = spawn(process.execPath, ['-'], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(`import(${JSON.stringify(file)});\n`);
  const deadline = performance.now() + 120_000;
  while (processesWith(mark) < 2) {
    if (performance.now() > deadline) throw new Error('the command did not start');
    await sleep(50);
  }
  return child.pid ?? 0;
}

export const gone = 'all gone';

/** Waits for what the promise allows: ten seconds, and some for a busy machine. */
export async function untilDead(mark: string): Promise<string> {
  const deadline = performance.now() + 60_000;
  while (processesWith(mark) > 0) {
    if (performance.now() > deadline) return `${processesWith(mark)} are alive`;
    await sleep(50);
  }
  return gone;
}
