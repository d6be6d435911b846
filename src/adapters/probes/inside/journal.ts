import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A variant that started and did not end. */
export interface Begun {
  readonly key: string;
  /** The journal with its start; the file name starts with the id of the process. */
  readonly file: string;
  readonly mode: string;
  /** The further call that was active. */
  readonly call?: string;
}

/** What must not be executed: a variant, or one call of it. */
export interface Skip {
  readonly key: string;
  readonly call?: string;
}

type Line = readonly unknown[];

const SKIPS = 'skip.jsonl';
const TAIL_BYTES = 256 << 10;
const LINE = /^\["([bem])","([^"]+)",("(?:[^"\\]|\\.)*"|\d+)(?:,("[^"]*"|\d+))?/;

/**
 * Stands for the folder in derived files, whose texts are kept: it differs in each run. No variable names it, since the
 * code under test could read that.
 */
export const JOURNAL = '@the-journal-of-probes@';

/** The folder in which recorder.cjs writes one file for each process, and reads what to skip. */
export class Journal {
  readonly folder: string;
  /** What was unfinished in a file when it had this many bytes: it is read again only when it has grown. */
  readonly #seen = new Map<string, { readonly size: number; readonly unfinished: readonly Begun[] }>();

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(parent: string): Promise<Journal> {
    return new Journal(await mkdtemp(join(parent, 'tmp-')));
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #files(): Promise<readonly string[]> {
    const names = await readdir(this.folder);
    return names.filter((name) => name.endsWith('.jsonl') && name !== SKIPS).sort();
  }

  /** At most one for each process; they are near the end of its file. */
  async unfinished(): Promise<readonly Begun[]> {
    const found: Begun[] = [];
    for (const file of await this.#files()) found.push(...(await this.#unfinishedIn(file)));
    return found;
  }

  async #unfinishedIn(name: string): Promise<readonly Begun[]> {
    const path = join(this.folder, name);
    const before = this.#seen.get(name);
    if (before?.size === (await stat(path)).size) return before.unfinished;
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const from = Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      const unfinished = unfinishedIn(name, buffer.toString('utf8', 0, bytesRead));
      this.#seen.set(name, { size, unfinished });
      return unfinished;
    } finally {
      await file.close();
    }
  }

  /** `b` for variants, `x` for calls; recorder.cjs reads them when a process starts. */
  async avoid({ key, call }: Skip): Promise<void> {
    await this.#append(SKIPS, call ? ['x', call] : ['b', key, 0]);
  }

  /** Marks it as no longer active. */
  async close({ file, key }: Begun): Promise<void> {
    await this.#append(file, ['e', key, 'lost', '']);
  }

  /** Lets it run again. */
  async forget({ file, key }: Begun): Promise<void> {
    const path = join(this.folder, file);
    const begin = `["b",${JSON.stringify(key)},`;
    const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => !line.startsWith(begin));
    await writeFile(path, lines.join('\n'));
    this.#seen.delete(file);
  }

  async #append(name: string, line: Line): Promise<void> {
    await writeFile(join(this.folder, name), `${JSON.stringify(line)}\n`, { flag: 'a' });
  }

  /** The observations, up to a number of bytes. */
  async lines(most: number): Promise<readonly Line[]> {
    const found: Line[] = [];
    let bytes = 0;
    for (const file of await this.#files()) {
      for (const line of (await readFile(join(this.folder, file), 'utf8')).split('\n')) {
        bytes += line.length;
        if (bytes > most) return found;
        const read = /^\["[scde]",/.test(line) ? readLine(line) : null;
        if (read) found.push(read);
      }
    }
    return found;
  }
}

/** Null for a line that is incomplete because its process ended. */
function readLine(line: string): Line | null {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return null;
  }
}

function unfinishedIn(file: string, text: string): readonly Begun[] {
  const left = new Map<string, Begun>();
  for (const line of text.split('\n')) {
    const [, type, key = '', third = '', fourth = ''] = LINE.exec(line) ?? [];
    if (type === 'b') left.set(key, { key, file, mode: fourth.replaceAll('"', '') });
    if (type === 'e') left.delete(key);
    const begun = type === 'm' ? left.get(key) : undefined;
    if (begun) left.set(key, { ...begun, call: JSON.parse(third) as string });
  }
  return [...left.values()];
}
