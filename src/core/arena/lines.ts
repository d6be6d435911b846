import type { z } from 'zod';
import { parseUntrustedJson } from '../model/index.ts';
import { schemaProblem } from '../settings/index.ts';

/** Lines with their 1-based numbers, without empty ones. */
export function* numberedLines(text: string): Generator<{ readonly text: string; readonly line: number }> {
  let line = 0;
  for (const raw of text.split('\n')) {
    line += 1;
    const one = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (one.trim() !== '') yield { text: one, line };
  }
}

type ReadLine =
  | { readonly kind: 'json'; readonly value: unknown }
  /** `why`: a sentence. */
  | { readonly kind: 'invalid'; readonly why: string };

/** One line of a JSONL file. Never throws. */
export function jsonOfLine(line: string): ReadLine {
  if (/^(<{7}|={7}|>{7}|\|{7})( |$)/.test(line))
    return { kind: 'invalid', why: 'There is an unresolved merge conflict. Keep the lines of both sides.' };
  const read = parseUntrustedJson(line);
  return read.kind === 'json'
    ? read
    : { kind: 'invalid', why: 'This line is not valid JSON; each line must be one record.' };
}

interface ReadRecords<T> {
  /** In order of the lines; of records with the same id, the first. */
  readonly records: readonly T[];
  /** `file:line: sentence`; empty if every line is right. */
  readonly problems: readonly string[];
  /**
   * Characters of the end of the text that are no record: the rest of a line whose writer was killed. 0 for none. They
   * are no problem; who writes next removes them.
   */
  readonly unfinished: number;
}

/** Maximum number of wrong lines that are listed. */
const MAX_WRONG_LINES = 20;

/** Reads an append-only JSONL file whose records have ids. Never throws. */
export function readRecords<T extends { readonly id: string }>(
  text: string,
  fileName: string,
  schema: z.ZodType<T>,
): ReadRecords<T> {
  const unfinished = unfinishedChars(text);
  const records = new Map<string, T>();
  const problems: string[] = [];
  for (const { text: one, line } of numberedLines(text.slice(0, text.length - unfinished))) {
    const read = jsonOfLine(one);
    const parsed = read.kind === 'json' ? schema.safeParse(read.value) : null;
    if (read.kind === 'invalid') problems.push(`${fileName}:${line}: ${read.why}`);
    else if (parsed?.success) {
      if (!records.has(parsed.data.id)) records.set(parsed.data.id, parsed.data);
    } else problems.push(`${fileName}:${line}: ${firstProblem(parsed?.error)}`);
  }
  return { records: [...records.values()], problems: problems.slice(0, MAX_WRONG_LINES), unfinished };
}

/** Characters of a last line without a line end that is no JSON: its writer was killed. 0 for none. */
export function unfinishedChars(text: string): number {
  const last = text.slice(text.lastIndexOf('\n') + 1);
  return last.trim() === '' || jsonOfLine(last).kind === 'json' ? 0 : last.length;
}

function firstProblem(error: z.ZodError | undefined): string {
  const [issue] = error?.issues ?? [];
  const place = issue?.path.join('.') ?? '';
  const what = issue ? schemaProblem(issue) : 'is invalid';
  return `${place === '' ? 'The record' : `\`${place}\``}: ${what}.`;
}
