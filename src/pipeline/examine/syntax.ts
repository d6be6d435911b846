import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';
import type { PatchFile } from '../../core/patches/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { type Bench, inArea, runCommand } from './execute.ts';

const Troubles = z.array(z.object({ path: z.string(), line: z.number().optional(), message: z.string() }));
type Trouble = z.infer<typeof Troubles>[number];

/** Where `main.ts` puts the checker inside every sandbox. */
const CHECKER = '/opt/runoff/checks/syntax.mjs';

/**
 * Changed files that do not parse although their base version does (or that are new), as one sentence; null when all is
 * well. Files in languages that we cannot parse are left to the build.
 */
export async function parseTroubles(
  bench: Bench,
  area: WorkArea,
  files: readonly PatchFile[],
): Promise<string | null> {
  const paths = files.filter((file) => file.change !== 'deleted').map((file) => file.path);
  const found = await check(bench, area, paths);
  const modified = found.filter((trouble) =>
    files.some((file) => file.path === trouble.path && file.change === 'modified'),
  );
  const before = modified.length > 0 ? await onBase(bench, area.id, modified) : new Set<string>();
  const theirs = found.filter((trouble) => !before.has(trouble.path));
  return theirs.length === 0 ? null : theirs.slice(0, 3).map(sentence).join('; ');
}

const sentence = ({ path, line, message }: Trouble): string =>
  `${path}${line === undefined ? '' : `:${line}`}: ${message.slice(0, 200)}`;

async function onBase(bench: Bench, id: string, troubles: readonly Trouble[]): Promise<ReadonlySet<string>> {
  const paths = troubles.map((trouble) => trouble.path);
  return inArea(
    bench,
    `${id}-syntax`,
    async (area) => new Set((await check(bench, area, paths)).map((t) => t.path)),
  );
}

async function check(bench: Bench, area: WorkArea, paths: readonly string[]): Promise<readonly Trouble[]> {
  if (paths.length === 0) return [];
  const argv = ['/opt/runoff/bin/node', '--no-warnings', CHECKER] as const;
  const result = await runCommand(bench, area, { argv: [...argv], stdin: JSON.stringify(paths) });
  const parsed = result.exitCode === 0 ? Troubles.safeParse(JSON.parse(result.stdout)) : null;
  if (!parsed?.success) {
    throw new Fault(
      'INTERNAL',
      `The syntax check did not run (exit code ${result.exitCode ?? 'none'}): ${result.stderr.slice(0, 500)}`,
    );
  }
  return parsed.data;
}
