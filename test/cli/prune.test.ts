import { expect, test, vi } from 'vitest';
import type { PrunedByHand } from '../../src/shell.ts';
import { shellOver } from './shell.ts';

const retired: PrunedByHand['retired'] = {
  runs: 2,
  calls: 40,
  audit: 0,
  answers: 3,
  branches: 4,
  held: 1,
  flows: 2,
  artifacts: { files: 7, bytes: 1_500_000 },
};
const unused = { checkouts: 1, layers: 2, patches: 0, repositories: 0, tools: 3, bytes: 30_000_000, busy: 1 };

async function typed(...argv: string[]) {
  const dry: boolean[] = [];
  const prune = async (dryRun: boolean) => {
    dry.push(dryRun);
    return dryRun
      ? { retired: { ...retired, branches: 0, held: 0 }, sizes: { toolchain: 612_300_000, areas: 0 } }
      : { retired, unused };
  };
  const { type, out } = shellOver({}, { prune });
  expect(await type('prune', ...argv)).toBe(0);
  return { out: out(), dry };
}

test('pruning reports what was removed, with its size, and what had to stay', async () => {
  const { out, dry } = await typed();
  expect(dry).toEqual([false]);
  expect(out).toContain('        2  runs with all their rows\n');
  expect(out).toContain('        7  artifacts, 1.5 MB\n');
  expect(out).toContain('        3  toolchains\n');
  expect(out).not.toContain('audit');
  expect(out).toContain(
    '31.5 MB of disk space freed.\n1 expired run kept for another day because its GitHub branches could not be deleted, or its candidate outcomes could not be kept; the log says which.\n',
  );
  expect(out).toContain('1 repository skipped because it was in use.\n');
});

test('a dry run removes nothing, and says so', async () => {
  const { out, dry } = await typed('--dry-run');
  expect(dry).toEqual([true]);
  expect(out).toContain(' 612.3 MB  toolchain\n   0.0 MB  areas\nDry run: nothing was removed.');
});

test('a repository without --branches is refused, and nothing is removed', async () => {
  const prune = vi.fn();
  const { type, err } = shellOver({}, { prune });
  expect(await type('prune', '--repo', '.')).toBe(2);
  expect(err()).toContain('--repo is the repository of --branches: add --branches, or leave --repo out');
  expect(prune).not.toHaveBeenCalled();
});

test('pruning prints JSON, and has help', async () => {
  expect(JSON.parse((await typed('--json')).out)).toEqual({ dryRun: false, retired, unused });
  const help = await typed('--help');
  expect(help.out).toContain('--dry-run');
  expect(help.dry).toEqual([]);
});
