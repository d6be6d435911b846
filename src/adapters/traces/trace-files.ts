import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RunId } from '../../core/model/index.ts';
import type { SpanAbout, Tracer } from '../../ports/index.ts';

export interface TraceFilesOptions {
  /** The file of a run; its folder is created. Several processes may write the same file. */
  readonly fileOf: (run: RunId) => string;
  /** Which process this is. */
  readonly instance: string;
  /** Called once if a file cannot be written. */
  readonly onFailure: (thrown: unknown) => void;
}

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
}

/** Milliseconds since 1970 UTC, with fractions. */
const now = (): number => performance.timeOrigin + performance.now();

/**
 * Writes the spans of each run to a file in Chrome's trace format, which chrome://tracing and ui.perfetto.dev show as a
 * flame chart: an array of events, one a line, without its closing bracket, which the format allows to be missing. Rows
 * are stages, candidates, model calls and writes to GitHub; concurrent commands of one have further rows. Spans that
 * cannot be written are dropped.
 */
export function openTraceFiles({ fileOf, instance, onFailure }: TraceFilesOptions): Tracer {
  const files = new Map<RunId, TraceFile>();
  const active = new AsyncLocalStorage<OpenSpan>();
  let failed = false;

  async function flush(run: RunId, file: TraceFile): Promise<void> {
    while (file.waiting.length > 0) {
      const lines = file.waiting.join('');
      file.waiting = [];
      try {
        await appendFile(fileOf(run), lines);
      } catch (thrown) {
        if (!failed) onFailure(thrown);
        failed = true;
      }
    }
    file.writing = null;
  }

  async function begin(run: RunId): Promise<void> {
    const path = fileOf(run);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '[\n', { flag: 'wx' });
  }

  function write(run: RunId, event: object): void {
    const file = fileFor(run);
    file.waiting.push(`${JSON.stringify({ ...event, pid: process.pid })},\n`);
    file.writing ??= flush(run, file);
  }

  function fileFor(run: RunId): TraceFile {
    const known = files.get(run);
    if (known) return known;
    const file: TraceFile = { rows: [], waiting: [], writing: null };
    files.set(run, file);
    // It may be there: of a process before this one, or of another one.
    file.writing = begin(run)
      .catch(() => undefined)
      .then(() => flush(run, file));
    write(run, { ph: 'M', name: 'process_name', tid: 0, args: { name: instance } });
    return file;
  }

  /** A row with this label that is free from `at` on. */
  function freeRow(run: RunId, label: string, at: number): Row {
    const { rows } = fileFor(run);
    const free = rows.find((row) => row.label === label && !row.busy && row.until <= at);
    if (free) return free;
    const row: Row = { tid: rows.length + 1, label, busy: false, until: 0 };
    rows.push(row);
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
    recordRun: record,
    async close() {
      await Promise.all([...files.values()].map(({ writing }) => writing));
    },
  };
}

const labelOf = ({ name, attributes }: SpanAbout): string =>
  attributes.candidate === undefined ? `${name}s` : `candidate ${attributes.candidate}`;

function spanTitle({ name, attributes }: SpanAbout): string {
  const { what, operation, stage, model, area, program } = attributes;
  if (program !== undefined) return [area, program].filter(Boolean).join(' ');
  return String(what ?? operation ?? stage ?? model ?? name);
}
