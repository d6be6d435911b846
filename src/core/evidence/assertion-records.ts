import { z } from 'zod';
import { USUAL_SURROUNDINGS } from '../model/index.ts';
import { type Patch, type PatchFile, roleOf } from '../patches/index.ts';
import { excerpt, type TamperingFinding } from './integrity/index.ts';

/** A function of an assertion library, or one on which assertions rest, that is not what it was at the start. */
export interface ChangedFunction {
  /** Library and function, as `assert.equal` or `unittest.TestCase.assertEqual`. */
  readonly name: string;
  /** The beginning of the source or the name of what replaces it; may be empty. */
  readonly text: string;
  /** `path:line`s of the code that replaces it, innermost first; may be empty. */
  readonly places: readonly string[];
  /** It is of an assertion library: the replacement had no effect. */
  readonly locked: boolean;
}

/** What the programs that lock assertion libraries recorded during one run of the tests. */
export interface AssertionRecords {
  readonly changed: readonly ChangedFunction[];
  /** Libraries and the hashes of their sources, as loaded, joined by a space. */
  readonly sources: readonly string[];
  /** Libraries that code of the repository called, and the file that did. */
  readonly used: readonly { readonly library: string; readonly file: string }[];
  /** Main programs of processes that compared all functions once more when they ended. */
  readonly ended: readonly string[];
  /** Functions of assertion libraries that installed packages replaced on their own; absent for none. */
  readonly wrote?: readonly Pick<ChangedFunction, 'name' | 'text'>[];
  /** Kinds of records that are not complete, or `all`; absent for none. */
  readonly capped?: readonly string[];
}

const recordText = z.string().max(2_000);
const Changed = z.tuple([
  z.literal('changed'),
  recordText,
  recordText,
  z.array(recordText).max(20),
  z.boolean(),
]);
const Source = z.tuple([z.literal('source'), recordText, recordText]);
const Used = z.tuple([z.literal('used'), recordText, recordText]);
const Ended = z.tuple([z.literal('ended'), recordText]);
const Wrote = z.tuple([z.literal('wrote'), recordText, recordText]);
const Capped = z.tuple([z.literal('capped'), recordText]);
const AnyRecord = z.union([Changed, Source, Used, Ended, Wrote, Capped]);
/** Maximum lines that are read: each process writes a few hundred at most. */
const MAX_RECORD_LINES = 20_000;

/** Nothing could be read, or not all of it. */
const INCOMPLETE = 'all';
export const UNREADABLE_RECORDS: AssertionRecords = {
  changed: [],
  sources: [],
  used: [],
  ended: [],
  capped: [INCOMPLETE],
};

/**
 * Reads lines of JSON, which code of a candidate may have written, too. Unreadable lines are left out, and then the
 * records are not complete.
 */
export function readAssertionRecords(lines: string): AssertionRecords {
  const written = lines.split('\n').filter((line) => line.trim() !== '');
  const values = [...new Set(written.slice(0, MAX_RECORD_LINES))].map(parsedRecord);
  const isComplete =
    written.length <= MAX_RECORD_LINES && values.every((value) => AnyRecord.safeParse(value).success);
  const all = <T>(schema: z.ZodType<T>): readonly T[] =>
    values.flatMap((value) => {
      const read = schema.safeParse(value);
      return read.success ? [read.data] : [];
    });
  return mergeAssertionRecords([
    {
      changed: all(Changed).map(([, name, by, places, locked]) => ({ name, text: by, places, locked })),
      sources: all(Source).map(([, library, hash]) => `${library} ${hash}`),
      used: all(Used).map(([, library, file]) => ({ library, file })),
      ended: all(Ended).map(([, program]) => program),
      wrote: all(Wrote).map(([, name, by]) => ({ name, text: by })),
      capped: [...all(Capped).map(([, kind]) => kind), ...(isComplete ? [] : [INCOMPLETE])],
    },
  ]);
}

function parsedRecord(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Records of several commands of one run, each once. */
export const mergeAssertionRecords = (all: readonly AssertionRecords[]): AssertionRecords => ({
  ...present(
    'wrote',
    onceEach(
      all.flatMap(({ wrote = [] }) => wrote),
      keyOfWritten,
    ),
  ),
  ...present(
    'capped',
    onceEach(
      all.flatMap(({ capped = [] }) => capped),
      (kind) => kind,
    ),
  ),
  changed: onceEach(
    all.flatMap(({ changed }) => changed),
    ({ name }) => name,
  ),
  sources: onceEach(
    all.flatMap(({ sources }) => sources),
    (source) => source,
  ),
  used: onceEach(
    all.flatMap(({ used }) => used),
    ({ library, file }) => JSON.stringify([library, file]),
  ),
  ended: onceEach(
    all.flatMap(({ ended }) => ended),
    (program) => program,
  ),
});

const present = <Key extends string, T>(
  key: Key,
  list: readonly T[],
): { readonly [K in Key]?: readonly T[] } =>
  list.length === 0 ? {} : ({ [key]: list } as { readonly [K in Key]: readonly T[] });

const keyOfWritten = ({ name, text }: Pick<ChangedFunction, 'name' | 'text'>): string =>
  JSON.stringify([name, text]);

const onceEach = <T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] =>
  [...new Map(all.map((one) => [keyOf(one), one] as const).reverse()).values()].reverse();

/** What a candidate's run shows about assertions that the base's run does not. */
export interface AssertionChange {
  readonly kind: 'changed' | 'rewritten' | 'source' | 'unused' | 'not-compared' | 'unrecorded';
  /** The function, the library, or the program. */
  readonly name: string;
  readonly function?: ChangedFunction;
  /** The records that it rests on are not complete: it is a question at most. */
  readonly unsure?: true;
}

/** Whether a run shows that anything was locked. */
export const showsLock = (records: AssertionRecords | undefined): records is AssertionRecords =>
  records !== undefined &&
  records.changed.length + records.sources.length + records.used.length + records.ended.length > 0;

const lacks = ({ capped = [] }: AssertionRecords, kind: string): boolean =>
  capped.includes(kind) || capped.includes(INCOMPLETE);

/**
 * Compares a candidate's run of the base's tests with that of the base. `sameResults`: no test that passes on the base
 * fails in it, so that the same assertions must have been called. What is missing where records are not complete says
 * nothing for sure.
 */
export function assertionChanges(
  base: AssertionRecords,
  own: AssertionRecords,
  sameResults: boolean,
): readonly AssertionChange[] {
  if (!showsLock(own)) return showsLock(base) ? [{ kind: 'unrecorded', name: '', unsure: true }] : [];
  const known = new Set(base.changed.map(({ name }) => name));
  const changed = own.changed.flatMap((one): AssertionChange[] =>
    known.has(one.name)
      ? []
      : [{ kind: 'changed', name: one.name, function: one, ...unsureIf(lacks(base, 'changed')) }],
  );
  // Plug-ins of the base are the same function of the same name.
  const written = new Set((base.wrote ?? []).map(keyOfWritten));
  const rewritten = (own.wrote ?? []).flatMap((one): AssertionChange[] =>
    written.has(keyOfWritten(one))
      ? []
      : [
          {
            kind: 'rewritten',
            name: one.name,
            function: { ...one, places: [], locked: false },
            ...unsureIf(lacks(base, 'wrote')),
          },
        ],
  );
  const [before, now] = [usedByTests(base), usedByTests(own)];
  const unused = sameResults ? [...before].filter((library) => !now.has(library)) : [];
  const silent = sameResults ? base.ended.filter((program) => !own.ended.includes(program)) : [];
  const libraries = new Set(base.sources.map(libraryOf));
  const sources = own.sources.filter(
    (source) => libraries.has(libraryOf(source)) && !base.sources.includes(source),
  );
  return [
    ...changed,
    ...onceEach(rewritten, ({ name }) => name),
    ...[...new Set(sources.map(libraryOf))].map(
      (name): AssertionChange => ({ kind: 'source', name, ...unsureIf(lacks(base, 'source')) }),
    ),
    ...unused.map((name): AssertionChange => ({ kind: 'unused', name, ...unsureIf(lacks(own, 'used')) })),
    ...silent.map((name): AssertionChange => ({ kind: 'not-compared', name })),
  ];
}

const unsureIf = (is: boolean): { readonly unsure?: true } => (is ? { unsure: true } : {});

/** Production code may stop asserting. */
const usedByTests = ({ used }: AssertionRecords): ReadonlySet<string> =>
  new Set(used.flatMap(({ library, file }) => (roleOf(withoutRoot(file)) === 'test' ? [library] : [])));

const withoutRoot = (file: string): string =>
  file.startsWith(`${USUAL_SURROUNDINGS.repo}/`) ? file.slice(USUAL_SURROUNDINGS.repo.length + 1) : file;

const libraryOf = (source: string): string => source.split(' ', 1)[0] ?? '';

/** Changes that two runs show. */
export const changesAgain = (
  first: readonly AssertionChange[],
  again: readonly AssertionChange[],
): readonly AssertionChange[] =>
  first.filter(({ kind, name }) => again.some((one) => one.kind === kind && one.name === name));

/** Maximum findings for one candidate; code that replaces every function of a library has one for each. */
const MAX_ASSERTION_FINDINGS = 20;

/**
 * The findings of the gate `untampered` for these changes, with the lines of the patch that cause them, if they can be
 * told. A replaced function of an assertion library is a gate; another replaced function, and one that an installed
 * package replaces, is one if the patch contains what replaces it.
 */
export function assertionFindings(
  changes: readonly AssertionChange[],
  patch: Patch,
): readonly TamperingFinding[] {
  return changes.slice(0, MAX_ASSERTION_FINDINGS).map((change): TamperingFinding => {
    const found = change.function ? replacingLines(change.function, patch) : null;
    const path = found?.path ?? patch.production[0]?.path ?? patch.files[0]?.path ?? '';
    const isGate =
      !change.unsure &&
      (change.kind === 'unused' ||
        change.kind === 'source' ||
        change.function?.locked === true ||
        found !== null);
    return {
      kind: 'assertions-patched',
      path,
      ...(found?.line === undefined ? {} : { line: found.line }),
      what: clauseOf(change),
      ...(found?.hunk === undefined ? {} : { hunk: found.hunk }),
      severity: isGate ? 'gate' : 'question',
    };
  });
}

function clauseOf({ kind, name, function: changed }: AssertionChange): string {
  switch (kind) {
    case 'changed':
      return changed?.locked
        ? `when the tests run, it replaces ${name}, which the base commit does not`
        : `when the tests run, ${name} is replaced, which it is not on the base commit`;
    case 'rewritten':
      return `when the tests run, ${name} is replaced from code of an installed package, which it is not on the base commit`;
    case 'unrecorded':
      return 'the tests left no records about assertions, as they do on the base commit';
    case 'source':
      return `when the tests run, the source of ${name} is another one than on the base commit`;
    case 'unused':
      return `the tests pass without calling ${name}, which they call on the base commit`;
    case 'not-compared':
      return `${name} ended without comparing the assertion functions, as it does on the base commit`;
  }
}

interface FoundLines {
  readonly path: string;
  readonly line?: number;
  readonly hunk?: string;
}

/** Where the patch replaces the function: by the places on the stack, else by the text of the replacement. */
function replacingLines({ name, text: source, places }: ChangedFunction, patch: Patch): FoundLines | null {
  for (const place of places) {
    const [, path = '', number] = /^(.*):(\d+)$/.exec(place) ?? [];
    const file = patch.production.find((one) => path === one.path || path.endsWith(`/${one.path}`));
    if (!file) continue;
    const line = Number(number);
    // Compiled code has other lines than its source.
    const at = addedLine(file, (one, text) => one === line && mayReplace(text, name, source));
    return at ?? byText(file, name, source) ?? { path: file.path };
  }
  for (const file of patch.production) {
    const at = source === '' ? null : byText(file, null, source);
    if (at) return at;
  }
  return null;
}

const functionName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

const mayReplace = (text: string, name: string, source: string): boolean =>
  /[=({,[]/.test(text) || text.includes(functionName(name)) || text.includes(firstSourceLine(source));

const firstSourceLine = (text: string): string => text.trim().split('\n', 1)[0]?.trim() ?? '';

/** The first line of a function without a name, as `() => {`. */
const OPENING = /^(?:async\b\s*)?(?:function\b\s*\*?)?\s*\(?[\w$,.\s]*\)?\s*(?:=>)?\s*\{$/;
/** Sources of functions that say nothing about where they come from. */
const isTelling = (line: string): boolean =>
  line.length > 3 && !line.includes('[native code]') && !OPENING.test(line);

function byText(file: PatchFile, name: string | null, source: string): FoundLines | null {
  const line = firstSourceLine(source);
  const own = isTelling(line) ? addedLine(file, (_, text) => text.includes(line)) : null;
  if (own || name === null) return own;
  const word = functionName(name);
  return addedLine(file, (_, text) => text.includes(word));
}

function addedLine(file: PatchFile, isIt: (line: number, text: string) => boolean): FoundLines | null {
  for (const hunk of file.hunks) {
    const at = hunk.lines.findIndex(({ kind, line, text }) => kind === 'added' && isIt(line, text));
    const line = hunk.lines[at]?.line;
    if (line !== undefined) return { path: file.path, line, hunk: excerpt(hunk, at) };
  }
  return null;
}
