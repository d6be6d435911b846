import { z } from 'zod';
import { USUAL_SURROUNDINGS } from '../model/index.ts';
import { roleOf } from '../patches/index.ts';

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

/** Of a run that left none. */
export const NO_RECORDS: AssertionRecords = { changed: [], sources: [], used: [], ended: [] };
/** Nothing could be read, or not all of it. */
const INCOMPLETE = 'all';
export const UNREADABLE_RECORDS: AssertionRecords = { ...NO_RECORDS, capped: [INCOMPLETE] };

/**
 * Reads lines of JSON, which code of a candidate may have written, too. Unreadable lines are left out, and then the
 * records are not complete.
 */
export function readAssertionRecords(lines: string): AssertionRecords {
  const written = lines.split('\n').filter((line) => line.trim() !== '');
  const distinct = [...new Set(written.slice(0, MAX_RECORD_LINES))];
  const records = distinct.flatMap((line) => {
    const { data } = AnyRecord.safeParse(parsedRecord(line));
    return data ? [data] : [];
  });
  const isComplete = written.length <= MAX_RECORD_LINES && records.length === distinct.length;
  return mergeAssertionRecords([...records.map(asRecords), ...(isComplete ? [] : [UNREADABLE_RECORDS])]);
}

/** What one line says. */
function asRecords(record: z.infer<typeof AnyRecord>): AssertionRecords {
  switch (record[0]) {
    case 'changed': {
      const [, name, text, places, locked] = record;
      return { ...NO_RECORDS, changed: [{ name, text, places, locked }] };
    }
    case 'source':
      return { ...NO_RECORDS, sources: [`${record[1]} ${record[2]}`] };
    case 'used':
      return { ...NO_RECORDS, used: [{ library: record[1], file: record[2] }] };
    case 'ended':
      return { ...NO_RECORDS, ended: [record[1]] };
    case 'wrote':
      return { ...NO_RECORDS, wrote: [{ name: record[1], text: record[2] }] };
    case 'capped':
      return { ...NO_RECORDS, capped: [record[1]] };
  }
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
  const mayPlugIn = base.changed.some(({ name }) => isPlugInOfRepository(name));
  const changed = own.changed.flatMap((one): AssertionChange[] => {
    if (known.has(one.name)) return [];
    // A repository that contains a plug-in for pytest may add another one.
    const unsure =
      lacks(base, 'changed') ||
      (one.name.startsWith(PLUG_IN) && (mayPlugIn || !isPlugInOfRepository(one.name)));
    return [{ kind: 'changed', name: one.name, function: one, ...unsureIf(unsure) }];
  });
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
  const silent = sameResults ? silentPrograms(base.ended, own.ended) : [];
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

/** Begins the name of a record of a file whose hooks pytest calls; the path of the file follows. */
export const PLUG_IN = 'hooks of pytest by ';
/** A file of production code, not one that configures the tests, as `conftest.py` does, and none outside. */
function isPlugInOfRepository(name: string): boolean {
  const path = name.startsWith(PLUG_IN) ? withoutRoot(name.slice(PLUG_IN.length)) : '';
  return path !== '' && !/^[/<]/.test(path) && roleOf(path) === 'production';
}

const unsureIf = (is: boolean): { readonly unsure?: true } => (is ? { unsure: true } : {});

/** Production code may stop asserting. */
const usedByTests = ({ used }: AssertionRecords): ReadonlySet<string> =>
  new Set(used.flatMap(({ library, file }) => (roleOf(withoutRoot(file)) === 'test' ? [library] : [])));

const withoutRoot = (file: string): string =>
  file.startsWith(`${USUAL_SURROUNDINGS.repo}/`) ? file.slice(USUAL_SURROUNDINGS.repo.length + 1) : file;

/**
 * Programs of the base that did not end in this run. One with another name stands for one of them only if the base has
 * no program of that name: of two committed programs whose names look alike, none stands for the other.
 */
function silentPrograms(base: readonly string[], own: readonly string[]): readonly string[] {
  const known = new Set(base);
  const ended = new Set(own);
  const others = new Set(own.filter((program) => !known.has(program)).map(nameInEachRun));
  return base.filter((program) => !ended.has(program) && !others.has(nameInEachRun(program)));
}

/**
 * A main program by a name that is the same in each run. Tools and tests write programs into temporary folders and under
 * numbers (nyc: `~/.node-spawn-wrap-46-987726406112/node`), so outside of the repository only the words of its file
 * name count, and inside of it what does not look like the random part of such a name.
 */
const nameInEachRun = (program: string): string =>
  program.startsWith(`${USUAL_SURROUNDINGS.repo}/`)
    ? program.replace(RANDOM_PART, '#')
    : program.slice(program.lastIndexOf('/') + 1).replace(/\d[\da-f]*|[\da-f]{6,}/g, '#');

/** A UUID, what `mkdtemp` adds (`fixture-Xk29Bq`), a time, and a hash. `test/case-2.js` is not that. */
const RANDOM_PART =
  /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|(?<=[-_.]|te?mp)(?=[a-z]*[A-Z\d])[A-Za-z\d]{6}(?=\/)|\d{8,}|[\da-f]{12,}/g;

const libraryOf = (source: string): string => source.split(' ', 1)[0] ?? '';

/** Changes that two runs show. */
export const changesAgain = (
  first: readonly AssertionChange[],
  again: readonly AssertionChange[],
): readonly AssertionChange[] =>
  first.filter(({ kind, name }) => again.some((one) => one.kind === kind && one.name === name));
