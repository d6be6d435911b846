import type { Evidence } from '../evidence/index.ts';
import { block } from '../prompts/index.ts';
import type { BlindPatch } from './blind.ts';
import { INJECTION_PLACEHOLDER, redactInjections, shownLine, shownText, truncated } from './blind-line.ts';
import { type Identities, leaksIn } from './identity.ts';
import type { ExecutionFacts, TestFact } from './types.ts';

/** Maximum characters of the task that are shown. Default. */
const MAX_TASK_SHOWN = 12_000;
/** Maximum failing tests and inputs that are named. Defaults. */
const MAX_FACTS_SHOWN = 5;
const MAX_FACT_CHARS = 200;

/**
 * Renders the execution evidence for judges. Names only tests that no candidate wrote, and never includes test
 * output, because a candidate's code can print anything.
 */
export function factsOf({ baseTests, independentTests, peerTests, behaviour }: Evidence): ExecutionFacts {
  const total = peerTests.reduce((sum, one) => sum + one.total, 0);
  const passed = peerTests.reduce((sum, one) => sum + one.passed, 0);
  const tells = baseTests && (!baseTests.silent || baseTests.fixed.length > 0);
  const base = tells && { ...testCounts(baseTests), failing: baseTests.regressions };
  const independent = independentTests && {
    ...testCounts(independentTests),
    failing: independentTests.failing.map(({ id }) => id),
  };
  return {
    ...(base ? { base } : {}),
    ...(independent ? { independent } : {}),
    ...(total > 0 ? { peers: { passed, total } } : {}),
    inputs: [],
    differences: (behaviour?.differences ?? []).map(({ input, others, got }) => ({
      input,
      others,
      own: got,
    })),
  };
}

const testCounts = ({ passed, total }: { readonly passed: number; readonly total: number }) => ({
  passed,
  total,
});

/** One of the two candidates in a question. */
export interface ShownCandidate {
  readonly patch: BlindPatch;
  readonly facts: ExecutionFacts;
}

/** Judges would see two identical patches, so there is nothing to ask. */
export const looksIdentical = (a: ShownCandidate, b: ShownCandidate): boolean =>
  a.patch.production === b.patch.production && a.patch.tests === b.patch.tests;

type JudgeQuestion =
  /** `sharedChars`: the length of its beginning that all questions about the task have, with the same nonce. */
  | { readonly kind: 'question'; readonly text: string; readonly sharedChars: number }
  /** The text still contains author names and must not be sent. */
  | { readonly kind: 'leak'; readonly names: readonly string[] };

/**
 * Builds the text of one question. Untrusted text is enclosed in lines with a nonce drawn after the text was written,
 * so that it cannot end its own block. Finally checks that the question contains no author name.
 */
export function comparisonQuestion(
  task: string,
  sides: { readonly first: ShownCandidate; readonly second: ShownCandidate },
  identities: Identities,
  nonce: string,
): JudgeQuestion {
  return checkedQuestion(
    [
      block('TASK', nonce, blindTask(task, identities)),
      ...candidateBlocks('FIRST', sides.first, identities, nonce),
      ...candidateBlocks('SECOND', sides.second, identities, nonce),
      'Compare the first candidate with the second.',
    ],
    identities,
  );
}

/** Builds a reviewer's question about one candidate, under the same rules. */
export function reviewQuestion(
  task: string,
  shown: ShownCandidate,
  identities: Identities,
  nonce: string,
): JudgeQuestion {
  return checkedQuestion(
    [
      block('TASK', nonce, blindTask(task, identities)),
      ...candidateBlocks('CANDIDATE', shown, identities, nonce),
      'Review the candidate.',
    ],
    identities,
  );
}

function checkedQuestion(parts: readonly string[], identities: Identities): JudgeQuestion {
  const text = parts.join('\n\n');
  const names = leaksIn(text, identities);
  return names.length > 0
    ? { kind: 'leak', names }
    : { kind: 'question', text, sharedChars: parts[0]?.length ?? 0 };
}

/** Blinded patches are already limited. */
const UNLIMITED_CHARS = Number.POSITIVE_INFINITY;

const candidateBlocks = (
  name: string,
  { patch, facts }: ShownCandidate,
  identities: Identities,
  nonce: string,
): readonly string[] => [
  block(`${name} RAN`, nonce, factLines(facts, identities), UNLIMITED_CHARS),
  block(name, nonce, patch.production, UNLIMITED_CHARS),
  ...(patch.tests === '' ? [] : [block(`${name} TESTS`, nonce, patch.tests, UNLIMITED_CHARS)]),
];

/**
 * Line by line, so that a line that cannot be scrubbed does not cost the others: nobody who writes an issue may keep
 * the judges from reading patches. A name that is split over lines costs its last one.
 */
function blindTask(task: string, identities: Identities): string {
  const lines = truncated(task, MAX_TASK_SHOWN)
    .split('\n')
    .map((line) => shownText(line, identities));
  if (leaksIn(lines.join('\n'), identities).length === 0) return lines.join('\n');
  const shown: string[] = [];
  for (const line of lines) {
    const around = [...shown.slice(-2), line].join('\n');
    shown.push(leaksIn(around, identities).length > 0 ? INJECTION_PLACEHOLDER : line);
  }
  return shown.join('\n');
}

function factLines(facts: ExecutionFacts, identities: Identities): string {
  const { base, independent, peers, inputs, differences } = facts;
  const named = (text: string) => shownLine(redactInjections(text).text, identities, MAX_FACT_CHARS);
  const tests = (what: string, { passed, total, failing }: TestFact, verb: string): readonly string[] => [
    `${what}: ${passed} of ${total} pass`,
    ...failing.slice(0, MAX_FACTS_SHOWN).map((name) => `  ${verb}: ${named(name)}`),
    ...(failing.length > MAX_FACTS_SHOWN ? [`  ${verb}: ${failing.length - MAX_FACTS_SHOWN} more`] : []),
  ];
  const lines = [
    ...(base ? tests("the repository's tests", base, 'breaks') : []),
    ...(independent ? tests('tests written from the task alone', independent, 'fails') : []),
    ...(peers ? [`tests that other candidates wrote: ${peers.passed} of ${peers.total} pass`] : []),
    ...inputs
      .slice(0, MAX_FACTS_SHOWN)
      .map(
        ({ input, expected, got }) => `input ${named(input)}: expected ${named(expected)}, got ${named(got)}`,
      ),
    ...differences
      .slice(0, MAX_FACTS_SHOWN)
      .map(
        ({ input, others, own }) =>
          `input ${named(input)}: gives ${named(own)}, most others that pass the given tests return ${named(others)} (who is right is not known)`,
      ),
  ];
  return lines.length > 0 ? lines.join('\n') : 'nothing was executed';
}
