import type { TestOutcome } from '../evidence/index.ts';

/** Path of the repository in the sandbox; runners write absolute paths below it. */
const ROOT = '/repo/';
/** Maximum characters of one id; longer names are cut. */
const MAX_ID_CHARS = 1_000;
/** Maximum failing tests with a message, and maximum characters of each: the first and the last half. */
const MAX_MESSAGES = 200;
const MAX_FAILURE_CHARS = 1_000;

export const relativePath = (path: string): string => {
  const plain = path.startsWith('file://') ? path.slice('file://'.length) : path;
  return plain.startsWith(ROOT) ? plain.slice(ROOT.length) : plain.replace(/^\.\//, '');
};

/** Collects outcomes by id: file, suites and name joined by ` > `; a repeated id gets ` #2`, ` #3`. */
export class Outcomes {
  readonly #byId = new Map<string, TestOutcome>();
  readonly #times = new Map<string, number>();
  readonly #messages = new Map<string, string>();

  /** `said` is the runner's message about a failure. */
  add(parts: readonly string[], outcome: TestOutcome, message = ''): void {
    const id = parts
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .join(' > ')
      .slice(0, MAX_ID_CHARS);
    let times = (this.#times.get(id) ?? 0) + 1;
    const numbered = () => (times === 1 ? id : `${id} #${times}`);
    // Another test may have this number as part of its name.
    while (this.#byId.has(numbered())) times += 1;
    this.#times.set(id, times);
    const unique = numbered();
    this.#byId.set(unique, outcome);
    if (outcome === 'failed' && message.trim() !== '' && this.#messages.size < MAX_MESSAGES) {
      this.#messages.set(unique, headAndTail(message.trim()));
    }
  }

  /** Merges another report of the same tests: the worse of two outcomes counts. */
  include(other: Outcomes): void {
    for (const [id, outcome] of other.#byId) {
      const known = this.#byId.get(id);
      if (known === 'failed' || (known === 'skipped' && outcome === 'passed')) continue;
      this.#byId.set(id, outcome);
      const message = other.#messages.get(id);
      if (message !== undefined && this.#messages.size < MAX_MESSAGES) this.#messages.set(id, message);
    }
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Own properties only, `__proto__` included: names are untrusted. */
  toRecord(): Readonly<Record<string, TestOutcome>> {
    return Object.fromEntries(this.#byId);
  }

  messages(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#messages);
  }
}

const headAndTail = (text: string): string =>
  text.length <= MAX_FAILURE_CHARS
    ? text
    : `${text.slice(0, MAX_FAILURE_CHARS / 2)}\n…\n${text.slice(-MAX_FAILURE_CHARS / 2)}`;

/** Maximum characters of a line that are read. */
const MAX_LINE_CHARS = 4_000;
const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g');

/** The lines of a text, cut, without colours. */
export const reportLines = (text: string): readonly string[] =>
  text.split(/\r?\n/).map((line) => {
    const cut = line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line;
    return cut.includes(ESCAPE) ? cut.replace(COLOURS, '') : cut;
  });

/** Maximum lines kept of one failure. */
export const MAX_FAILURE_LINES = 30;

/** Lines below headings, by what a heading names; `headingOf` gives null for a line that only ends a block. */
export function failureBlocks(
  lines: readonly string[],
  headingOf: (line: string) => string | null | undefined,
): Map<string, string> {
  const blocks = new Map<string, string[]>();
  let own: string[] | undefined;
  for (const line of lines) {
    const name = headingOf(line);
    if (name === undefined) {
      if (own && own.length < MAX_FAILURE_LINES) own.push(line);
      continue;
    }
    own = name === null ? undefined : (blocks.get(name) ?? []);
    if (name !== null && own) blocks.set(name, own);
  }
  return new Map([...blocks].map(([name, text]) => [name, text.join('\n')]));
}
