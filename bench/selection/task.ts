/** A small repository with an issue and patches of which we know which are right. All of it is our own. */
export interface SelectionTask {
  readonly name: string;
  readonly issue: string;
  /** The base commit, by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly candidates: readonly {
    readonly name: string;
    /** It does what the issue asks for and keeps the rest: by our own reading, and by tests that no candidate sees. */
    readonly right: boolean;
    /** Files as it leaves them. */
    readonly files: Readonly<Record<string, string>>;
  }[];
}

/** A package whose tests run with `node --test`. */
export const packageOf = (name: string): Readonly<Record<string, string>> => ({
  'package.json': `${JSON.stringify({ name, version: '1.0.0', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
});
