import { z } from 'zod';

/**
 * The origin of a probe's input. `as-is`: from a test, unchanged. `near`: one value replaced by another of its kind,
 * or by a result from elsewhere in the tests. `far`: an edge case of the kind. `further`: new combinations of known
 * values, tried after all tests.
 */
export type ProbeVariation = 'as-is' | 'near' | 'far' | 'further';

/** The result of one probe on one tree. */
export interface Observation {
  /** `fault`: an error thrown by the language itself, such as a TypeError; `stuck`: it hung or ended the process. */
  readonly kind: 'value' | 'error' | 'fault' | 'stuck';
  /** The value or error, bounded; equal texts mean equal behaviour. */
  readonly text: string;
  /** For people: the call, the value that was changed, or the name of the test. */
  readonly input: string;
  readonly variation: ProbeVariation;
}

/** The results of one run of the derived tests on one tree. */
export interface ProbeRun {
  /** By probe: the same id means the same input on every tree. */
  readonly observations: ReadonlyMap<string, Observation>;
  /**
   * By `file.case`: whether the case passed as its author wrote it. If it was executed several times, it must pass
   * each time.
   */
  readonly cases: ReadonlyMap<string, 'passed' | 'failed'>;
  /** It ended before all cases: one that is missing has no result. Absent otherwise. */
  readonly late?: true;
  /** Inputs were left out, because too many of them took long, hung or ended the process. Absent otherwise. */
  readonly cut?: true;
}

/** A derived test file: the sandbox program's conversion of a test file, with its cases. */
const DerivedFile = z.object({
  path: z.string().max(1_000),
  text: z.string().max(4_000_000),
  /** Prefix of the keys of its observations. */
  file: z.string().regex(/^[ab]\d+$/),
  /** The authors of the file; empty for base tests. */
  by: z.array(z.string().max(200)).max(100),
  cases: z
    .array(
      z.object({
        id: z.string().max(20),
        title: z.string().max(400),
        source: z.string().max(8_000),
        origin: z.enum(['base', 'issue', 'candidate']),
        /** The issue says that this is what should be, and does not only tell a result. */
        isMeant: z.literal(true).optional(),
      }),
    )
    .max(5_000),
});

/** The output of derive.ts. */
export const DerivedTests = z.object({
  files: z.array(DerivedFile).max(200),
  unused: z.array(z.string()).max(100),
  /** For each author of changed code, the values that it alone contributes to the inputs, as texts. */
  values: z.array(z.array(z.string().max(400)).max(500)).max(100),
});
export type DerivedTests = z.infer<typeof DerivedTests>;

const boundedText = z.string().max(2_000);
const probeKey = z.string().max(300);
const ProbeLine = z.union([
  z.tuple([
    z.literal('s'),
    probeKey,
    z.union([z.number(), z.string().max(200)]),
    z.enum(['v', 'e', 'x']),
    boundedText,
  ]),
  z.tuple([
    z.literal('c'),
    probeKey,
    boundedText,
    z.enum(['v', 'e', 'x']),
    boundedText,
    boundedText,
    z.number(),
  ]),
  z.tuple([z.literal('d'), probeKey, boundedText, z.number(), boundedText, boundedText]),
  z.tuple([
    z.literal('e'),
    probeKey,
    z.enum(['ok', 'failed', 'threw', 'pending', 'lost']),
    z.string().max(4_000),
  ]),
  z.tuple([z.enum(['h', 'q']), probeKey, boundedText]),
]);
type ProbeLine = z.infer<typeof ProbeLine>;

/** The output of run.ts. */
export const ProbeOutput = z.object({
  lines: z.array(z.unknown()).max(200_000),
  ended: z.enum(['done', 'late', 'restarts']),
  /** Why only unchanged tests ran in the end. */
  cut: z.enum(['late', 'restarts']).nullable(),
  /** Values that were not used any more, because inputs with them hung or ended the process. */
  avoided: z.array(z.string().max(400)).max(50_000),
});
export type ProbeOutput = z.infer<typeof ProbeOutput>;

const OBSERVATION_KINDS = { v: 'value', e: 'error', x: 'fault' } as const;

interface ProbeChange {
  readonly variation: ProbeVariation;
  readonly input: string;
}

/**
 * Parses the output of a run of these derived tests. The derivation supplies the names of unchanged tests. The output
 * was written next to untrusted code, so malformed entries are ignored, and those about other files.
 */
export function readProbeRun(
  { lines, ended, cut, avoided }: ProbeOutput,
  derived: Pick<DerivedTests, 'files'>,
): ProbeRun {
  const titles = titlesOf(derived);
  const own = new Set(derived.files.map(({ file }) => file));
  const read = lines.flatMap((line) => {
    const parsed = ProbeLine.safeParse(line);
    return parsed.success && own.has(fileOfProbe(parsed.data[1])) ? [parsed.data] : [];
  });
  const changes = new Map<string, ProbeChange>();
  for (const line of read) if (line[0] === 'd') changes.set(line[1], readChange(line));
  const observations = new Map<string, Observation>();
  const cases = new Map<string, 'passed' | 'failed'>();
  for (const line of read) {
    const one = readObservation(line, changes, titles);
    if (one) observations.set(one.id, one.observation);
    const outcome = readCaseOutcome(line);
    if (outcome && cases.get(outcome.id) !== 'failed')
      cases.set(outcome.id, outcome.passed ? 'passed' : 'failed');
  }
  const isCut = cut !== null || avoided.length > 0;
  return {
    observations,
    cases,
    ...(ended === 'done' ? {} : { late: true }),
    ...(isCut ? { cut: true } : {}),
  };
}

/**
 * The results of different files on one tree; null without any. It is late or cut if the base's files are: how long a
 * candidate's file takes says nothing about others.
 */
export function joinedRun(
  parts: readonly { readonly run: ProbeRun; readonly isOfBase: boolean }[],
): ProbeRun | null {
  if (parts.length === 0) return null;
  const ofBase = parts.flatMap(({ run, isOfBase }) => (isOfBase ? [run] : []));
  return {
    observations: new Map(parts.flatMap(({ run }) => [...run.observations])),
    cases: new Map(parts.flatMap(({ run }) => [...run.cases])),
    ...(ofBase.some(({ late }) => late) ? { late: true } : {}),
    ...(ofBase.some(({ cut }) => cut) ? { cut: true } : {}),
  };
}

/** Whether two runs of the same derived tests observed the same, and passed the same cases. */
export function isSameRun(one: ProbeRun, other: ProbeRun): boolean {
  const { observations, cases } = one;
  return (
    observations.size === other.observations.size &&
    cases.size === other.cases.size &&
    [...cases].every(([id, outcome]) => other.cases.get(id) === outcome) &&
    [...observations].every(([id, { kind, text }]) => {
      const theirs = other.observations.get(id);
      return theirs?.kind === kind && theirs.text === text;
    })
  );
}

const titlesOf = ({ files }: Pick<DerivedTests, 'files'>): ReadonlyMap<string, string> =>
  new Map(
    files.flatMap(({ file, cases }) =>
      cases.map(({ id, title, origin }): [string, string] => [
        `${file}.${id}`,
        // Judges read inputs, and no words that a candidate chose for them.
        origin === 'candidate'
          ? `test ${id} of the added test file ${file}`
          : title.slice(0, MAX_TITLE_CHARS),
      ]),
    ),
  );

const MAX_TITLE_CHARS = 120;

const readChange = ([, , , light, from, to]: Extract<
  ProbeLine,
  readonly ['d', ...unknown[]]
>): ProbeChange => ({
  variation: light ? 'near' : 'far',
  input: `${from} → ${to}`,
});

const CALL_VARIATIONS: readonly ProbeVariation[] = ['far', 'near', 'further'];

function readObservation(
  line: ProbeLine,
  changes: ReadonlyMap<string, ProbeChange>,
  titles: ReadonlyMap<string, string>,
): { id: string; observation: Observation } | null {
  const [type, key] = line;
  const variant = key.split('.')[3] ?? '';
  switch (type) {
    case 's': {
      const asIs = { variation: 'as-is' as const, input: unchangedInput(key, line[2], titles) };
      const change = variant.startsWith('look') ? asIs : changes.get(key);
      // In `calls` a case is executed differently: its own results have already been recorded.
      if (!change || variant.startsWith('calls')) return null;
      return {
        id: `${key}#${line[2]}`,
        observation: { kind: OBSERVATION_KINDS[line[3]], text: line[4], ...change },
      };
    }
    case 'c': {
      const variation = CALL_VARIATIONS[line[6]] ?? 'far';
      return {
        id: callId(key, line[2]),
        observation: {
          kind: OBSERVATION_KINDS[line[3]],
          text: line[4],
          input: line[5],
          variation: variation,
        },
      };
    }
    case 'h':
    case 'q': {
      const text = type === 'h' ? 'does not come back' : 'ends the process';
      if (line[2])
        return {
          id: callId(key, line[2]),
          observation: { kind: 'stuck', text, input: line[2], variation: 'far' },
        };
      const change = changes.get(key);
      return change ? { id: `${key}#0`, observation: { kind: 'stuck', text, ...change } } : null;
    }
    default:
      return null;
  }
}

/** What an unchanged test does, by its title and the place of the value or call in it; without a title by its key. */
function unchangedInput(key: string, place: number | string, titles: ReadonlyMap<string, string>): string {
  const test = key.split('.', 2).join('.');
  const [, isCall, nth = ''] = /^(t?)(\d+)$/.exec(String(place)) ?? [];
  const what = isCall ? 'call' : 'value';
  const where = nth === '' || (nth === '0' && !isCall) ? '' : ` (${what} ${Number(nth) + 1})`;
  return `a ${what} in ${titles.get(test) ?? `test ${test}`}${where}`;
}

/** The same call is the same probe, whichever case of a file made it. */
const callId = (key: string, call: string): string => `${key.split('.')[0]}:${call}`;

/** The derived file of a probe or a case. */
export const fileOfProbe = (id: string): string => id.split(/[.:]/, 1)[0] ?? '';

function readCaseOutcome(line: ProbeLine): { id: string; passed: boolean } | null {
  const [type, key] = line;
  const [file, id, , variant] = key.split('.');
  if (!file || !id || !variant?.startsWith('check')) return null;
  if (type === 'h' || type === 'q') return { id: `${file}.${id}`, passed: false };
  return type === 'e' ? { id: `${file}.${id}`, passed: line[2] === 'ok' } : null;
}
