import { AsyncLocalStorage } from 'node:async_hooks';
import { constants } from 'node:fs';
import { appendFile, open, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, type RunId } from '../../core/model/index.ts';
import { fnv1a } from '../../core/settings/index.ts';
import type { SpanAbout, Tracer } from '../../ports/index.ts';
import { makeFolder } from '../folders/index.ts';

interface TraceFilesOptions {
  /** The file of a run; its folder is created. Several processes may write the same file. Other files are left alone. */
  readonly fileOf: (run: RunId) => string;
  /** Which process this is. */
  readonly instance: string;
  /** Called once if a file cannot be written. */
  readonly onFailure: (thrown: unknown) => void;
  /** Time limit of the last writes in milliseconds. Default 3000. */
  readonly closeMs?: number;
}

/** Our default: a disk that hangs must not delay shutdown. */
const LAST_WRITES_MS = 3000;
/** Runs whose rows are known; our default. Whoever is forgotten gets new rows in the same file. */
const MAX_KNOWN_RUNS = 100;
/** Time in which another process writes the first line of a file that it has created, in milliseconds; our default. */
const FIRST_LINE_MS = 200;

/** A row of the picture. Spans of one row never overlap, except where one contains the other. */
interface Row {
  readonly tid: number;
  readonly label: string;
  /** A span without a parent in this row has begun and not ended. */
  busy: boolean;
  /** When its last span ended, in milliseconds since 1970 UTC. */
  until: number;
}

interface OpenSpan {
  readonly run: RunId;
  readonly row: Row;
  /** Spans below it that have begun and not ended. */
  children: number;
}

/** What is written of one run. */
interface TraceFile {
  readonly rows: Row[];
  waiting: string[];
  writing: Promise<void> | null;
  /** It cannot be created, or what is there is no trace: nothing is added to it. */
  isForeign: boolean;
  /** Its run has ended. */
  isOver: boolean;
}

/** Milliseconds since 1970 UTC, with fractions. */
const now = (): number => performance.timeOrigin + performance.now();

/** Never through a symbolic link, which may lead to anybody's file; a pipe is opened without waiting for its reader. */
const EXISTING = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Creates a trace file, readable for this user alone, with its folder; leaves one that is there. Faults:
 * OUTPUT_UNWRITABLE if it cannot be written, or is something else than a trace.
 */
export async function prepareTraceFile(path: string): Promise<void> {
  try {
    await makeFolder(dirname(path), 0o700);
    if (!(await isCreated(path))) await checkTraceFile(path);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new Fault('OUTPUT_UNWRITABLE', `A trace cannot be written to ${path}: ${why}.`, { cause: thrown });
  }
}

async function isCreated(path: string): Promise<boolean> {
  try {
    await writeFile(path, '[\n', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
}

async function checkTraceFile(path: string): Promise<void> {
  await using file = await open(path, EXISTING);
  if (!(await file.stat()).isFile()) throw new Error('it is not a regular file');
  const begins = async () => (await file.read({ buffer: Buffer.alloc(1), position: 0 })).buffer.toString();
  if ((await file.stat()).size === 0) await sleep(FIRST_LINE_MS);
  if ((await file.stat()).size === 0) await file.appendFile('[\n');
  if ((await begins()) !== '[') throw new Error('the file exists and is not a trace');
}

/**
 * Writes the spans of each run to a file in Chrome's trace format, which chrome://tracing and ui.perfetto.dev show as a
 * flame chart: an array of events, one a line, without its closing bracket, which the format allows to be missing. Rows
 * are stages, candidates, model calls and writes to GitHub; concurrent commands of one have further rows. Spans that
 * cannot be written are dropped.
 */
export function openTraceFiles({
  fileOf,
  instance,
  onFailure,
  closeMs = LAST_WRITES_MS,
}: TraceFilesOptions): Tracer {
  // Not a span exporter of the OpenTelemetry SDK: it gets spans when they have ended, children first, but a row is chosen
  // when a span begins; and it is not told which spans were recorded afterwards, which need rows of their own.
  const files = new Map<RunId, TraceFile>();
  const active = new AsyncLocalStorage<OpenSpan>();
  // Ids of processes recur: in containers most are 1.
  const pid = fnv1a([instance, process.pid, performance.timeOrigin].join('\n')) >>> 1;
  let rowCount = 0;
  let failed = false;

  function report(thrown: unknown): void {
    if (!failed) onFailure(thrown);
    failed = true;
  }

  async function flush(run: RunId, file: TraceFile): Promise<void> {
    while (file.waiting.length > 0) {
      const lines = file.waiting.join('');
      file.waiting = [];
      if (file.isForeign) continue;
      await appendFile(fileOf(run), lines, { flag: EXISTING }).catch(report);
    }
    file.writing = null;
    if (file.isOver) files.delete(run);
  }

  async function begin(run: RunId, file: TraceFile): Promise<void> {
    try {
      await prepareTraceFile(fileOf(run));
    } catch (thrown) {
      file.isForeign = true;
      report(thrown);
    }
    await flush(run, file);
  }

  function write(run: RunId, event: object): void {
    const file = fileFor(run);
    file.waiting.push(`${JSON.stringify({ ...event, pid })},\n`);
    file.writing ??= flush(run, file);
  }

  function fileFor(run: RunId): TraceFile {
    const known = files.get(run);
    if (known) return known;
    forgetIdle(files);
    const file: TraceFile = { rows: [], waiting: [], writing: null, isForeign: false, isOver: false };
    files.set(run, file);
    file.writing = begin(run, file);
    write(run, { ph: 'M', name: 'process_name', tid: 0, args: { name: instance } });
    return file;
  }

  /** A row with this label that is free from `at` on. */
  function freeRow(run: RunId, label: string, at: number): Row {
    const file = fileFor(run);
    const free = file.rows.find((row) => row.label === label && !row.busy && row.until <= at);
    if (free) return free;
    // Counted over all runs, so that the rows of a run that was forgotten do not recur.
    rowCount += 1;
    const row: Row = { tid: rowCount, label, busy: false, until: 0 };
    file.rows.push(row);
    write(run, { ph: 'M', name: 'thread_name', tid: row.tid, args: { name: label } });
    return row;
  }

  const put = (about: SpanAbout, row: Row, times: { startedAt: number; endedAt: number; failed: boolean }) =>
    write(about.run, {
      ph: 'X',
      cat: about.name,
      name: spanTitle(about),
      tid: row.tid,
      ts: Math.round(times.startedAt * 1000),
      dur: Math.max(0, Math.round((times.endedAt - times.startedAt) * 1000)),
      args: { ...about.attributes, ...(times.failed ? { failed: true } : {}) },
    });

  function record(about: SpanAbout, when: Parameters<Tracer['record']>[1]): void {
    const row = freeRow(about.run, `${about.name}s`, when.startedAt);
    put(about, row, when);
    row.until = when.endedAt;
  }

  return {
    async within(about, work) {
      const above = active.getStore();
      const parent = above?.run === about.run ? above : null;
      const startedAt = now();
      const nested = parent !== null && parent.children === 0;
      const label = parent?.row.label ?? labelOf(about);
      const row = nested ? parent.row : freeRow(about.run, label, startedAt);
      if (!nested) row.busy = true;
      if (parent) parent.children += 1;
      let failed = true;
      try {
        const result = await active.run({ run: about.run, row, children: 0 }, work);
        failed = false;
        return result;
      } finally {
        const endedAt = now();
        put(about, row, { startedAt, endedAt, failed });
        if (parent) parent.children -= 1;
        if (!nested) {
          row.busy = false;
          row.until = endedAt;
        }
      }
    },
    record,
    recordRun(about, when) {
      record(about, when);
      fileFor(about.run).isOver = true;
    },
    async close() {
      const written = Promise.all([...files.values()].map(({ writing }) => writing));
      await Promise.race([written, sleep(closeMs, undefined, { ref: false })]);
    },
  };
}

/** A worker is not told when a run has ended. */
function forgetIdle(files: Map<RunId, TraceFile>): void {
  for (const [run, { rows, writing }] of files)
    if (files.size >= MAX_KNOWN_RUNS && writing === null && rows.every(({ busy }) => !busy))
      files.delete(run);
}

const labelOf = ({ name, attributes }: SpanAbout): string =>
  attributes.candidate === undefined ? `${name}s` : `candidate ${attributes.candidate}`;

function spanTitle({ name, attributes }: SpanAbout): string {
  const { what, operation, stage, model, area, program } = attributes;
  if (program !== undefined) return [area, program].filter(Boolean).join(' ');
  return String(what ?? operation ?? stage ?? model ?? name);
}
