// Runs inside the sandbox: reads the issue and test files of the repository, and prints derived test files, which check
// more of the code than the originals. Executes none of it. Covered: JavaScript and TypeScript whose cases are
// registered by calls (node:test, vitest, jest, mocha, tape, tap, ava) or that assert in plain statements, with assert,
// expect, chai or a `t`; in Python test functions and methods that pytest or unittest finds. Not covered: should-style
// assertions and QUnit's `assert` parameter are only checked for passing. stdin: see `Input`; stdout: see `Output`. The
// first argument is the folder with tree-sitter.js and the grammars.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hashOf, sharedConstants } from './cases.ts';
import { withExamples } from './insert-examples.ts';
import { issueConstants, type Source } from './issue-examples.ts';

import { rewritePython, withPythonExamples } from './python.ts';
import { type Derived, type DerivedCase, poolOf, type RewriteOptions, rewrite } from './rewrite.ts';
import { type Node, openParser, type Parse } from './syntax.ts';

interface Input {
  /** Title and body. */
  readonly issue: string;
  /** Folder that the paths of `tests` are relative to. */
  readonly root: string;
  /** Test files of the base commit, the most relevant ones first. */
  readonly tests: readonly string[];
  /** Test files of candidates: new ones, and changed ones in full. */
  readonly added?: readonly Added[];
  /** For each candidate, the lines that it changed, with their context: constants in them are likely boundaries. */
  readonly changed?: readonly string[];
  /** Path of observe.cjs when the derived files run. */
  readonly helper: string;
  /** The package's own name, under which its tests may import it. */
  readonly packageName?: string;
  readonly limits?: Partial<typeof DEFAULTS>;
}

interface Added {
  readonly path: string;
  readonly text: string;
  /** Its author; never part of what is derived. */
  readonly by: string;
}

interface DerivedFile {
  /** Its path: that of the base's file, or next to that of a candidate's file. */
  readonly path: string;
  readonly text: string;
  /** First part of the keys of its observations. */
  readonly file: string;
  /** Its authors; none for tests of the base. */
  readonly by: readonly string[];
  readonly cases: readonly (DerivedCase & CaseOrigin)[];
}

interface CaseOrigin {
  readonly origin: 'base' | 'issue' | 'candidate';
  /** The issue says that this is what should be, and does not only tell a result. */
  readonly isMeant?: true;
}

interface Output {
  readonly files: readonly DerivedFile[];
  /** Examples in the issue that no test file could take. */
  readonly unused: readonly string[];
  /** For each candidate, the values that its changed lines alone contribute, as observations show them. */
  readonly values: readonly (readonly string[])[];
}

/**
 * Maximum number of changed literals in the first base file (the n-th one has an n-th of it) and in a candidate's, and
 * of bytes of a base file; of files and bytes of each candidate.
 */
const DEFAULTS = { changes: 240, changesAdded: 40, bytes: 200_000, added: 8, bytesAdded: 100_000 };
/** Maximum number of cases in a file. */
const MAX_CASES = 5_000;
const MAX_TESTED = 120;
const MAX_POOL = 260;
const MAX_ISSUE = 100_000;

async function derive(input: Input, parse: Parse): Promise<Output> {
  const limits = { ...DEFAULTS, ...input.limits };
  const base = await readTests(input, parse, limits.bytes);
  const { sources, unused } = await exemplified(input.issue.slice(0, MAX_ISSUE), base, parse);
  const scripts = sources.filter(({ path }) => !isPython(path));
  const tested = [...new Set(scripts.flatMap(({ root }) => poolOf(root)))].slice(0, MAX_TESTED);
  const given = new Set([...tested, ...issueConstants(input.issue)]);
  const changed = sharedConstants(input.changed ?? []);
  const pool = [...new Set([...given, ...changed.all])].slice(0, MAX_POOL);
  const common = { helper: input.helper, pool, own: input.packageName ?? null };
  const files: DerivedFile[] = [];
  for (const [at, { root, text, path }] of sources.entries()) {
    const file = `b${at}`;
    const mostChanges = Math.floor(limits.changes / (at + 1));
    const derived = rewriteAny(path, root, text, { ...common, file, mostChanges, known: new Set() });
    if (!derived) continue;
    const cases = derived.cases.map((each) => ({ ...each, ...originOf(each) }));
    files.push({ path, text: derived.text, file, by: [], cases });
  }
  const known = new Set(files.flatMap(({ cases }) => cases.map(({ source }) => source)));
  for (const { path, text, by, hash } of withinShares(distinct(input.added ?? []), limits)) {
    const file = `a${hash}`;
    const options = { ...common, file, mostChanges: limits.changesAdded, known };
    const derived = await derivedFrom(parse, path, text, options);
    if (!derived) continue;
    const cases = derived.cases.map((each) => ({ ...each, origin: 'candidate' as const }));
    files.push({ path: besides(path, hash), text: derived.text, file, by, cases });
  }
  return { files, unused, values: changed.byAuthor.map((own) => ownValues(own, given)) };
}

/** Small numbers are tried anyway; see mutate.cjs. */
const MAX_COUNT = 12;

const ownValues = (constants: readonly unknown[], given: ReadonlySet<unknown>): readonly string[] =>
  constants
    .filter((one) => !given.has(one) && (typeof one !== 'number' || Math.abs(one) > MAX_COUNT))
    .map((one) => JSON.stringify(one));

/** Null also for a file that is nested too deeply, so that a candidate's file costs others nothing. */
async function derivedFrom(
  parse: Parse,
  path: string,
  text: string,
  options: RewriteOptions,
): Promise<Derived | null> {
  try {
    const root = await parse(path, text);
    return root && !root.hasError ? rewriteAny(path, root, text, options) : null;
  } catch {
    return null;
  }
}

const isPython = (path: string): boolean => path.endsWith('.py');

function rewriteAny(path: string, root: Node, text: string, options: RewriteOptions): Derived | null {
  const derived = isPython(path) ? rewritePython(root, text, options) : rewrite(root, text, options);
  return derived && derived.cases.length <= MAX_CASES ? derived : null;
}

/** Adds the examples in the language of the tests; if there are several, in that of the first file. */
async function exemplified(issue: string, base: readonly Source[], parse: Parse) {
  const python = base.filter(({ path }) => isPython(path));
  const others = base.filter(({ path }) => !isPython(path));
  const [first] = base;
  if (first && isPython(first.path)) {
    const { sources, unused } = await withPythonExamples(issue, python, parse);
    return { sources: [...sources, ...others], unused };
  }
  const { sources, unused } = await withExamples(issue, others, parse);
  return { sources: [...sources, ...python], unused };
}

type DistinctFile = Omit<Added, 'by'> & { readonly by: readonly string[]; readonly hash: number };

/** Equal texts once, named and ordered by their content: their authors and order have no effect. */
function distinct(added: readonly Added[]): readonly DistinctFile[] {
  const byText = new Map<string, { path: string; text: string; by: string[]; hash: number }>();
  for (const { path, text, by } of added.toSorted((a, b) => compare(a.path, b.path) || compare(a.by, b.by))) {
    const known = byText.get(text);
    if (known) known.by.push(by);
    else byText.set(text, { path, text, by: [by], hash: hashOf(text) });
  }
  return [...byText.values()].toSorted((a, b) => a.hash - b.hash);
}

/** What each candidate may add by itself: files of one leave those of the others their room. */
function withinShares(
  all: readonly DistinctFile[],
  most: { readonly added: number; readonly bytesAdded: number },
): readonly DistinctFile[] {
  const used = new Map<string, { files: number; bytes: number }>();
  const hashes = new Set<number>();
  return all.filter(({ text, by, hash }) => {
    const paying = by.flatMap((author) => {
      const own = used.get(author) ?? { files: 0, bytes: 0 };
      used.set(author, own);
      return own.files < most.added && own.bytes + text.length <= most.bytesAdded ? [own] : [];
    });
    // Another text with the same hash would have the same name.
    if (paying.length === 0 || hashes.has(hash)) return false;
    hashes.add(hash);
    for (const own of paying) {
      own.files += 1;
      own.bytes += text.length;
    }
    return true;
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** In the same folder, with the same endings, so that the runner recognises it as a test too. */
const besides = (path: string, hash: number): string => path.replace(/[^/.]+(?=[^/]*$)/, `derived-${hash}`);

/** By the titles that `exampleTitle` gives. */
function originOf({ title }: DerivedCase): CaseOrigin {
  if (/example.of.the.issue.\d+/.test(title)) return { origin: 'issue', isMeant: true };
  return { origin: /result.in.the.issue.\d+/.test(title) ? 'issue' : 'base' };
}

async function readTests(
  { root, tests }: Input,
  parse: Parse,
  mostBytes: number,
): Promise<readonly Source[]> {
  const sources: Source[] = [];
  for (const path of tests) {
    const source = await readFile(join(root, path), 'utf8').catch(() => null);
    if (source === null || source.length > mostBytes || source.includes('\0')) continue;
    const tree = await parse(path, source);
    if (tree && !tree.hasError) sources.push({ path, text: source, root: tree });
  }
  return sources;
}

const [, , grammars = ''] = process.argv;
const input = JSON.parse(await text(process.stdin)) as Input;
process.stdout.write(JSON.stringify(await derive(input, await openParser(grammars))));
