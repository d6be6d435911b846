import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { WorkArea } from '../../../src/ports/index.ts';
import { openWorkbench, shell, type Workbench } from './workbench.ts';

describe('areas that are full copies', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench({ overlay: false });
  });
  afterAll(() => bench.close());

  const read = async (area: WorkArea, line: string) => (await bench.sandbox.exec(shell(area, line))).stdout;
  /** An area over a layer that lies over another area's lower one. */
  const over = (layer: WorkArea, below: WorkArea): WorkArea => ({
    ...bench.area(),
    lowers: [...layer.lowers, ...below.lowers],
  });
  const lowerOf = (area: WorkArea): string => area.lowers[0] ?? '';

  test('show the topmost version of files in several layers, also read-only ones', async () => {
    const [below, above] = [bench.area({ 'a.txt': 'old', kept: 'kept' }), bench.area({ 'a.txt': 'new' })];
    for (const area of [below, above]) chmodSync(join(lowerOf(area), 'a.txt'), 0o444);
    const area = over(above, below);
    expect(await read(area, 'cat a.txt kept; stat -c " %a" a.txt')).toBe('newkept 444\n');
    expect(readFileSync(join(lowerOf(below), 'a.txt'), 'utf8')).toBe('old');
  });

  test("replace a link by a file without touching the link's target", async () => {
    const outside = join(bench.folder(), 'outside');
    writeFileSync(outside, 'untouched', { mode: 0o666 });
    chmodSync(outside, 0o666);
    const [below, above] = [bench.area(), bench.area({ link: 'a file now' })];
    symlinkSync(outside, join(lowerOf(below), 'link'));
    expect(await read(over(above, below), 'cat link; test -L link || echo " and no link"')).toBe(
      'a file now and no link\n',
    );
    expect(readFileSync(outside, 'utf8')).toBe('untouched');
  });

  test('over a used area show its deletions and type changes', async () => {
    const base = bench.area({ gone: 'x', 'folder/a': 'a', file: 'f', stays: 's' });
    await read(base, 'rm gone; rm -r folder; echo now a file > folder; rm file; mkdir file; echo b > file/b');
    const next: WorkArea = { ...bench.area(), lowers: [base.upper, ...base.lowers] };
    expect(await read(next, 'ls; cat folder file/b stays')).toBe('file\nfolder\nstays\nnow a file\nb\ns');
  });

  test('over an unused area show the layers below', async () => {
    const base = bench.area({ 'a.txt': 'a' });
    mkdirSync(join(base.upper, 'made'));
    const next: WorkArea = { ...bench.area(), lowers: [base.upper, ...base.lowers] };
    expect(await read(next, 'ls')).toBe('a.txt\nmade\n');
    expect(existsSync(join(base.upper, 'a.txt'))).toBe(false);
  });

  const marks = () => readdirSync(join(bench.options.scratch, 'copies'));

  test('are remembered no longer than they are there', async () => {
    const [gone, stays] = [bench.area({ a: 'a' }), bench.area({ b: 'b' })];
    await read(gone, 'true');
    await read(stays, 'true');
    const before = marks().length;
    rmSync(gone.upper, { recursive: true });
    await read(bench.area({ c: 'c' }), 'true');
    // One more, and one less.
    expect(marks()).toHaveLength(before);
    await read(stays, 'rm b');
    expect(await read(stays, 'ls')).toBe('');
  });

  test.runIf(process.getuid?.() === 0)('wait for space on a full disk', async () => {
    const area = bench.area({ big: 'x'.repeat(3_000_000) });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=1m,uid=${bench.owner?.uid ?? 0}`, 'tmpfs', area.upper]);
    onTestFinished(() => void execFileSync('umount', ['-l', area.upper]));
    await expect(read(area, 'true')).rejects.toMatchObject({ code: 'DISK_FULL' });
    execFileSync('mount', ['-o', 'remount,size=8m', area.upper]);
    expect(await read(area, 'wc -c < big')).toBe('3000000\n');
  });
});
