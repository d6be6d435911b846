/** Values that one author's changed lines contribute to the inputs, as observations show them. */
export type AuthorValues = readonly string[];

export interface RestartLimits {
  /** Restarts because of inputs without such values. */
  readonly restarts: number;
  /** Restarts because of inputs that contain an author's values, before these are not used any more. */
  readonly restartsOfAuthor: number;
}

interface Author {
  readonly values: AuthorValues;
  readonly isNamed: RegExp;
  left: number;
}

/**
 * The restarts that are left after variants that hung or ended their process. Those with values of an author's patch
 * are counted for that author: a large number in one patch leaves the others their inputs.
 */
export class Restarts {
  #left: number;
  readonly #authors: readonly Author[];

  constructor(values: readonly AuthorValues[], { restarts, restartsOfAuthor }: RestartLimits) {
    this.#left = restarts;
    this.#authors = values
      .filter((own) => own.length > 0)
      .map((own) => ({ values: own, isNamed: naming(own), left: restartsOfAuthor }));
  }

  /** Counts a start that ended with these inputs; returns the values that must not be used any more. */
  spend(inputs: readonly string[]): readonly string[] {
    const payers = inputs.map((input) =>
      this.#authors.filter(({ isNamed, left }) => left > 0 && isNamed.test(input)),
    );
    if (payers.some((paying) => paying.length === 0)) this.#left -= 1;
    const paying = [...new Set(payers.flat())];
    for (const author of paying) author.left -= 1;
    return paying.flatMap(({ values, left }) => (left > 0 ? [] : values));
  }

  get isOver(): boolean {
    return this.#left < 0;
  }
}

/**
 * Finds these values in the text of an input, and for a large number all numbers of about its size, because others are
 * made of it; recorder.cjs and probing.py do the same.
 */
const naming = (values: AuthorValues): RegExp =>
  new RegExp(`(?<![\\w.])(?:${values.map(patternOf).join('|')})(?![\\w.])`);

const patternOf = (value: string): string =>
  /^\d{7,}$/.test(value) ? `\\d{${value.length - 1},}` : value.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
