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
  /** The value that replaces a literal, if it was reached. */
  readonly value?: string;
}

/** What must not be executed: a variant, or one call of it. */
export interface Skip {
  readonly key: string;
  readonly call?: string;
}

type Line = readonly unknown[];

interface ReadSoFar {
  /** Bytes of the file when it was last read. */
  readonly size: number;
  /** Bytes up to the end of its last whole line. */
  readonly bytes: number;
  readonly unfinished: Map<string, Begun>;
}

const SKIPS = 'skip.jsonl';
const TAIL_BYTES = 256 << 10;
const LINE = /^\["([bdem])","([^"]+)",("(?:[^"\\]|\\.)*"|\d+)(?:,("[^"]*"|\d+))?/;

/**
 * Stands for the folder in derived files, whose texts are kept: it differs in each run. No variable names it, since the
 * code under test could read that.
 */
export const JOURNAL = '@the-journal-of-probes@';

/** The folder in which recorder.cjs writes one file for each process, and reads what to skip. */
export class Journal {
  readonly folder: string;
  /** What was read of each file so far: only what was added since is read again. */
  readonly #read = new Map<string, ReadSoFar>();

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
    const { size } = await stat(path);
    const before = this.#read.get(name);
    if (before?.size === size) return [...before.unfinished.values()];
    const from = Math.max(before !== undefined && before.size < size ? before.bytes : 0, size - TAIL_BYTES);
    // What was begun in a part that is not read may have ended there.
    const unfinished = from === before?.bytes ? before.unfinished : new Map<string, Begun>();
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      // The rest may be the start of a line.
      const whole = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1;
      readStates(unfinished, name, buffer.toString('utf8', 0, whole));
      this.#read.set(name, { size, bytes: from + whole, unfinished });
      return [...unfinished.values()];
    } finally {
      await file.close();
    }
  }

  /** `b` for variants, `x` for calls; recorder.cjs reads them when a process starts. */
  async avoid({ key, call }: Skip): Promise<void> {
    await this.#append(SKIPS, call ? ['x', call] : ['b', key, 0]);
  }

  /** No variant, and no call, may use this value, as observations show it. */
  async avoidValue(value: string): Promise<void> {
    await this.#append(SKIPS, ['v', value]);
  }

  /** Only unchanged cases run from now on. */
  async onlyUnchanged(): Promise<void> {
    await this.#append(SKIPS, ['u']);
  }

  /** Whether a process has begun to write. */
  async isBegun(): Promise<boolean> {
    return (await this.#files()).length > 0;
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
    this.#read.delete(file);
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

/** Adds the variants that a text begins, and removes those that it ends. */
function readStates(left: Map<string, Begun>, file: string, text: string): void {
  for (const line of text.split('\n')) {
    const [, type, key = '', third = '', fourth = ''] = LINE.exec(line) ?? [];
    if (type === 'b') left.set(key, { key, file, mode: fourth.replaceAll('"', '') });
    if (type === 'e') left.delete(key);
    const begun = type === 'm' || type === 'd' ? left.get(key) : undefined;
    if (begun && type === 'm') left.set(key, { ...begun, call: JSON.parse(third) as string });
    const value = begun && type === 'd' ? readLine(line)?.[5] : undefined;
    if (begun && typeof value === 'string') left.set(key, { ...begun, value });
  }
}
