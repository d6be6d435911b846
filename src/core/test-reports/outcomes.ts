import type { TestOutcome } from '../evidence/index.ts';

/** Where the sandbox shows the repository; runners write absolute paths below it. */
const ROOT = '/repo/';
/** Characters of one id; longer names are cut. */
const LONGEST_ID = 1_000;
/** Failing tests of which the runner's words are kept, and characters of each: the first and the last half. */
const MOST_SAID = 200;
const LONGEST_SAID = 1_000;

export const relative = (path: string): string => {
  const plain = path.startsWith('file://') ? path.slice('file://'.length) : path;
  return plain.startsWith(ROOT) ? plain.slice(ROOT.length) : plain.replace(/^\.\//, '');
};

/** Collects outcomes by id: file, suites and name joined by ` > `; a repeated id gets ` #2`, ` #3`. */
export class Outcomes {
  readonly #byId = new Map<string, TestOutcome>();
  readonly #times = new Map<string, number>();
  readonly #said = new Map<string, string>();

  /** `said` is what the runner says about a failure. */
  add(parts: readonly string[], outcome: TestOutcome, said = ''): void {
    const id = parts
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .join(' > ')
      .slice(0, LONGEST_ID);
    const times = (this.#times.get(id) ?? 0) + 1;
    this.#times.set(id, times);
    const unique = times === 1 ? id : `${id} #${times}`;
    this.#byId.set(unique, outcome);
    if (outcome === 'failed' && said.trim() !== '' && this.#said.size < MOST_SAID) {
      this.#said.set(unique, ends(said.trim()));
    }
  }

  /** Adds another report of the same tests: a test is worth what the worse of the two says. */
  include(other: Outcomes): void {
    for (const [id, outcome] of other.#byId) {
      const known = this.#byId.get(id);
      if (known === 'failed' || (known === 'skipped' && outcome === 'passed')) continue;
      this.#byId.set(id, outcome);
      const said = other.#said.get(id);
      if (said !== undefined && this.#said.size < MOST_SAID) this.#said.set(id, said);
    }
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Own properties only, `__proto__` included: names come from outside. */
  toRecord(): Readonly<Record<string, TestOutcome>> {
    return Object.fromEntries(this.#byId);
  }

  said(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#said);
  }
}

const ends = (text: string): string =>
  text.length <= LONGEST_SAID
    ? text
    : `${text.slice(0, LONGEST_SAID / 2)}\n…\n${text.slice(-LONGEST_SAID / 2)}`;

/** Characters of a line that are looked at. */
const LONGEST_LINE = 4_000;
const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g');

/** The lines of a text, cut, without colours. */
export const linesOf = (text: string): readonly string[] =>
  text.split(/\r?\n/).map((line) => {
    const cut = line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) : line;
    return cut.includes(ESCAPE) ? cut.replace(COLOURS, '') : cut;
  });
