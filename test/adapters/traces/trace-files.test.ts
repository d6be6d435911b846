import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openTraceFiles, prepareTraceFile } from '../../../src/adapters/traces/index.ts';
import type { SpanAbout } from '../../../src/ports/index.ts';

interface TraceEvent {
  readonly ph: 'X' | 'M';
  readonly pid: number;
  readonly name: string;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
  readonly args: Readonly<Record<string, unknown>>;
}

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function traceFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'runoff-traces-'));
  folders.push(folder);
  const failures: unknown[] = [];
  const fileOf = (run: string) => join(folder, 'traces', `${run}.json`);
  const open = (instance = 'app') =>
    openTraceFiles({ fileOf, instance, onFailure: (thrown) => failures.push(thrown) });
  /** As the viewers read it: the closing bracket may be missing. */
  const events = async (run = 'r1') =>
    JSON.parse(`${(await readFile(fileOf(run), 'utf8')).replace(/,\n$/, '')}]`) as readonly TraceEvent[];
  return { folder, failures, fileOf, open, events };
}

const stage = (name: string): SpanAbout => ({
  name: 'stage',
  run: 'r1',
  attributes: { run: 'r1', stage: name },
});
const command = (area: string): SpanAbout => ({
  name: 'sandbox',
  run: 'r1',
  attributes: { run: 'r1', area, program: 'sh' },
});

const spans = (events: readonly TraceEvent[]) => events.filter(({ ph }) => ph === 'X');
const rowsOf = (events: readonly TraceEvent[]) =>
  new Map(
    events.flatMap(({ ph, name, tid, args }) =>
      ph === 'M' && name === 'thread_name' ? [[tid, args.name] as const] : [],
    ),
  );
const isWithin = (inner: TraceEvent, outer: TraceEvent): boolean =>
  inner.ts >= outer.ts && inner.ts + inner.dur <= outer.ts + outer.dur;

describe('a trace file', () => {
  test('shows commands below their stage, one after the other in its row, and concurrent ones in rows of their own', async () => {
    const { open, events } = await traceFolder();
    const tracer = open();
    await tracer.within(stage('examine'), async () => {
      await tracer.within(command('x-A-base'), () => turn());
      await Promise.all(['x-A-own', 'x-B-own'].map((area) => tracer.within(command(area), () => turn())));
    });
    await tracer.close();

    const all = await events();
    const found = Object.fromEntries(spans(all).map((one) => [one.name, one]));
    expect(Object.keys(found).sort()).toEqual(['examine', 'x-A-base sh', 'x-A-own sh', 'x-B-own sh']);
    const [whole, first, second, beside] = ['examine', 'x-A-base sh', 'x-A-own sh', 'x-B-own sh'].map(
      (name) => found[name] as TraceEvent,
    ) as [TraceEvent, TraceEvent, TraceEvent, TraceEvent];
    expect([first.tid, second.tid]).toEqual([whole.tid, whole.tid]);
    expect(beside.tid).not.toBe(whole.tid);
    expect([first, second].every((one) => isWithin(one, whole))).toBe(true);
    expect([...rowsOf(all).values()]).toEqual(['stages', 'stages']);
  });

  test('has rows for candidates, model calls and writes, whose spans are told when they are over', async () => {
    const { open, events } = await traceFolder();
    const tracer = open();
    const candidate: SpanAbout = {
      name: 'candidate',
      run: 'r1',
      attributes: { run: 'r1', stage: 'write', candidate: 'A' },
    };
    await tracer.within(candidate, () => turn());
    const call = {
      name: 'model call',
      run: 'r1',
      attributes: { run: 'r1', model: 'openai/gpt', spender: 'A' },
    };
    tracer.record(call, { startedAt: 1000, endedAt: 3000, failed: false });
    tracer.record(call, { startedAt: 2000, endedAt: 4000, failed: true });
    tracer.record(call, { startedAt: 3000, endedAt: 5000, failed: false });
    tracer.recordRun(
      { name: 'run', run: 'r1', attributes: { run: 'r1' } },
      { startedAt: 0, endedAt: 9, failed: false },
    );
    await tracer.close();

    const all = await events();
    const rows = rowsOf(all);
    expect(
      spans(all).map(({ name, tid, ts, dur, args }) => [rows.get(tid), name, ts, dur, args.failed]),
    ).toEqual([
      ['candidate A', 'write', expect.any(Number), expect.any(Number), undefined],
      ['model calls', 'openai/gpt', 1_000_000, 2_000_000, undefined],
      ['model calls', 'openai/gpt', 2_000_000, 2_000_000, true],
      ['model calls', 'openai/gpt', 3_000_000, 2_000_000, undefined],
      ['runs', 'run', 0, 9000, undefined],
    ]);
    expect(new Set(spans(all).flatMap(({ name, tid }) => (name === 'openai/gpt' ? [tid] : []))).size).toBe(2);
  });

  test('is continued by the process that takes the run over', async () => {
    const { open, events } = await traceFolder();
    for (const instance of ['app', 'worker']) {
      const tracer = open(instance);
      await tracer.within(stage(instance), () => turn());
      await tracer.close();
    }
    const all = await events();
    expect(spans(all).map(({ name }) => name)).toEqual(['app', 'worker']);
    // Both are the same process here, as both are process 1 of their containers elsewhere.
    expect(new Set(all.map(({ pid }) => pid)).size).toBe(2);
  });

  test('keeps its rows apart from those of a span that ends after its run', async () => {
    const { open, events } = await traceFolder();
    const tracer = open();
    await tracer.within(stage('publish'), () => turn());
    const about = { name: 'run', run: 'r1', attributes: { run: 'r1' } } as const;
    tracer.recordRun(about, { startedAt: 0, endedAt: 9, failed: false });
    await expect.poll(async () => spans(await events()).length).toBe(2);
    await turn();
    await tracer.within(stage('pick'), () => turn());
    await tracer.close();
    const all = await events();
    expect(rowsOf(all).size).toBe(3);
    expect(new Set(spans(all).map(({ tid }) => tid)).size).toBe(3);
  });

  test('is readable for its user alone', async () => {
    const { folder, fileOf, open } = await traceFolder();
    const tracer = open();
    await tracer.within(stage('code'), () => turn());
    await tracer.close();
    expect((await stat(fileOf('r1'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'traces'))).mode & 0o777).toBe(0o700);
  });

  test('of each run is a file of its own, and marks what failed', async () => {
    const { open, events } = await traceFolder();
    const tracer = open();
    const broken = tracer.within({ ...stage('code'), run: 'r2' }, () => Promise.reject(new Error('no')));
    await expect(broken).rejects.toThrow('no');
    await tracer.within(stage('brief'), () => turn());
    await tracer.close();
    expect(spans(await events('r2'))).toMatchObject([{ name: 'code', args: { failed: true } }]);
    expect(spans(await events('r1'))).toMatchObject([{ name: 'brief' }]);
  });

  test('that cannot be written stops no work, and is reported once', async () => {
    const { folder, failures, open } = await traceFolder();
    await writeFile(join(folder, 'traces'), 'a file in place of the folder');
    const tracer = open();
    expect(await tracer.within(stage('code'), async () => 'done')).toBe('done');
    await turn();
    await tracer.within(stage('judge'), () => turn());
    await tracer.close();
    expect(failures).toHaveLength(1);
  });
});

describe('a trace is not written to a file that is something else', () => {
  test.each(['a file of somebody', 'a link to such a file', 'a link to nothing', 'a folder'])(
    '%s',
    async (what) => {
      const { folder, failures, fileOf, open } = await traceFolder();
      const [path, target] = [fileOf('r1'), join(folder, 'target')];
      await mkdir(join(folder, 'traces'));
      if (what === 'a file of somebody') await writeFile(path, 'precious');
      else if (what === 'a folder') await mkdir(path);
      else await symlink(target, path);
      if (what === 'a link to such a file') await writeFile(target, '[]');

      await expect(prepareTraceFile(path)).rejects.toMatchObject({ code: 'OUTPUT_UNWRITABLE' });
      const tracer = open();
      await tracer.within(stage('code'), () => turn());
      await tracer.close();
      expect(failures).toHaveLength(1);
      if (what === 'a file of somebody') expect(await readFile(path, 'utf8')).toBe('precious');
      if (what === 'a link to such a file') expect(await readFile(target, 'utf8')).toBe('[]');
      if (what === 'a link to nothing') await expect(stat(target)).rejects.toMatchObject({ code: 'ENOENT' });
    },
  );

  // Node's own recursive `mkdir` never ends there.
  test.runIf(process.platform === 'linux')('nor below a folder that takes none', async () => {
    await expect(prepareTraceFile('/proc/nope/trace.json')).rejects.toMatchObject({
      code: 'OUTPUT_UNWRITABLE',
      message: expect.stringContaining('/proc/nope/trace.json'),
    });
  });

  test('but to one that is empty or a trace', async () => {
    const { folder, fileOf, open, events, failures } = await traceFolder();
    await mkdir(join(folder, 'traces'));
    await writeFile(fileOf('r1'), '');
    for (let i = 0; i < 2; i++) {
      await prepareTraceFile(fileOf('r1'));
      const tracer = open();
      await tracer.within(stage('code'), () => turn());
      await tracer.close();
    }
    expect(failures).toEqual([]);
    expect(spans(await events())).toHaveLength(2);
  });
});
