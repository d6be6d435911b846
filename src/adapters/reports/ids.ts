import type { TestOutcome } from '../../core/evidence/index.ts';

/** Where the sandbox shows the repository; runners write absolute paths below it. */
const ROOT = '/repo/';
/** Characters of one id; longer names are cut. */
const LONGEST_ID = 1_000;

export const relative = (path: string): string => {
  const plain = path.startsWith('file://') ? path.slice('file://'.length) : path;
  return plain.startsWith(ROOT) ? plain.slice(ROOT.length) : plain.replace(/^\.\//, '');
};

/** Collects outcomes by id: file, suites and name joined by ` > `; a repeated id gets ` #2`, ` #3`. */
export class Outcomes {
  readonly #byId = new Map<string, TestOutcome>();
  readonly #times = new Map<string, number>();

  add(parts: readonly string[], outcome: TestOutcome): void {
    const id = parts
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .join(' > ')
      .slice(0, LONGEST_ID);
    const times = (this.#times.get(id) ?? 0) + 1;
    this.#times.set(id, times);
    this.#byId.set(times === 1 ? id : `${id} #${times}`, outcome);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Own properties only, `__proto__` included: names come from outside. */
  toRecord(): Readonly<Record<string, TestOutcome>> {
    return Object.fromEntries(this.#byId);
  }
}
