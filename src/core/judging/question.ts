import type { Evidence } from '../evidence/index.ts';
import { block } from '../prompts/index.ts';
import type { BlindPatch } from './blind.ts';
import { shortened, shownLine, shownText, withhold } from './blind-line.ts';
import { type Identities, leaksIn } from './identity.ts';
import type { ExecutionFacts, TestFact } from './types.ts';

/** Characters of the task that are shown. Our default. */
const MOST_TASK = 12_000;
/** Failing tests and inputs that are named. Our defaults. */
const MOST_NAMED = 5;
const LONGEST = 200;

/**
 * What judges are told of executed evidence. Names only of tests that no candidate wrote, and nothing of what tests
 * printed: a candidate's code can print anything.
 */
export function factsOf({ baseTests, independentTests, peerTests, behaviour }: Evidence): ExecutionFacts {
  const total = peerTests.reduce((sum, one) => sum + one.total, 0);
  const passed = peerTests.reduce((sum, one) => sum + one.passed, 0);
  const tells = baseTests && (!baseTests.silent || baseTests.fixed.length > 0);
  const base = tells && { ...counts(baseTests), failing: baseTests.regressions };
  const neutral = independentTests && {
    ...counts(independentTests),
    failing: independentTests.failing.map(({ id }) => id),
  };
  return {
    ...(base ? { base } : {}),
    ...(neutral ? { neutral } : {}),
    ...(total > 0 ? { peers: { passed, total } } : {}),
    inputs: [],
    differs: (behaviour?.telling ?? []).map(({ input, others, got }) => ({ input, others, own: got })),
  };
}

const counts = ({ passed, total }: { readonly passed: number; readonly total: number }) => ({
  passed,
  total,
});

/** One of the two in a question. */
export interface SideShown {
  readonly patch: BlindPatch;
  readonly facts: ExecutionFacts;
}

/** The same to a judge: there is nothing to ask. */
export const alike = (a: SideShown, b: SideShown): boolean =>
  a.patch.production === b.patch.production && a.patch.tests === b.patch.tests;

export type Question =
  | { readonly kind: 'question'; readonly text: string }
  /** The names are still in the text: it must not be sent. */
  | { readonly kind: 'leak'; readonly names: readonly string[] };

/**
 * The text of one question. What others wrote stands between lines with a nonce that was drawn after they wrote it, so
 * that nothing in it can end its block; the last check before it is sent is that it names nobody.
 */
export function questionOf(
  task: string,
  sides: { readonly first: SideShown; readonly second: SideShown },
  identities: Identities,
  nonce: string,
): Question {
  return sealed(
    [
      block('TASK', nonce, taskText(task, identities)),
      ...side('FIRST', sides.first, identities, nonce),
      ...side('SECOND', sides.second, identities, nonce),
      'Compare the first candidate with the second.',
    ],
    identities,
  );
}

/** What a reviewer is asked about one candidate, under the same rules. */
export function reviewQuestionOf(
  task: string,
  shown: SideShown,
  identities: Identities,
  nonce: string,
): Question {
  return sealed(
    [
      block('TASK', nonce, taskText(task, identities)),
      ...side('CANDIDATE', shown, identities, nonce),
      'Review the candidate.',
    ],
    identities,
  );
}

function sealed(parts: readonly string[], identities: Identities): Question {
  const text = parts.join('\n\n');
  const names = leaksIn(text, identities);
  return names.length > 0 ? { kind: 'leak', names } : { kind: 'question', text };
}

/** What is blinded has its limit already. */
const WHOLE = Number.POSITIVE_INFINITY;

const side = (
  name: string,
  { patch, facts }: SideShown,
  identities: Identities,
  nonce: string,
): readonly string[] => [
  block(`${name} RAN`, nonce, factLines(facts, identities), WHOLE),
  block(name, nonce, patch.production, WHOLE),
  ...(patch.tests === '' ? [] : [block(`${name} TESTS`, nonce, patch.tests, WHOLE)]),
];

/** By lines, so that one that cannot be freed of a name costs no other. */
const taskText = (task: string, identities: Identities): string =>
  shortened(task, MOST_TASK)
    .split('\n')
    .map((line) => shownText(line, identities))
    .join('\n');

function factLines(facts: ExecutionFacts, identities: Identities): string {
  const { base, neutral, peers, inputs, differs } = facts;
  const named = (text: string) => shownLine(withhold(text).text, identities, LONGEST);
  const tests = (what: string, { passed, total, failing }: TestFact, verb: string): readonly string[] => [
    `${what}: ${passed} of ${total} pass`,
    ...failing.slice(0, MOST_NAMED).map((name) => `  ${verb}: ${named(name)}`),
    ...(failing.length > MOST_NAMED ? [`  ${verb}: ${failing.length - MOST_NAMED} more`] : []),
  ];
  const lines = [
    ...(base ? tests("the repository's tests", base, 'breaks') : []),
    ...(neutral ? tests('tests written from the task alone', neutral, 'fails') : []),
    ...(peers ? [`tests that other candidates wrote: ${peers.passed} of ${peers.total} pass`] : []),
    ...inputs
      .slice(0, MOST_NAMED)
      .map(
        ({ input, expected, got }) => `input ${named(input)}: expected ${named(expected)}, got ${named(got)}`,
      ),
    ...differs
      .slice(0, MOST_NAMED)
      .map(
        ({ input, others, own }) =>
          `input ${named(input)}: gives ${named(own)}, most others return ${named(others)} (who is right is not known)`,
      ),
  ];
  return lines.length > 0 ? lines.join('\n') : 'nothing was executed';
}
