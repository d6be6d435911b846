import type { Evidence } from '../evidence/index.ts';

/** Names of tests that are told; the rest is counted. Our default. */
const MOST_TESTS = 40;
/** Characters of one name. */
const LONGEST_NAME = 300;
/** Characters of a gate's sentence, and of the lines or the output it names. Our defaults. */
const MOST_SENTENCE = 2_000;
const MOST_HUNK = 6_000;

/**
 * What a candidate's coder is told in a repair: the gates it failed, each with the lines or the output in question, and
 * the base tests it breaks. Tests that others wrote are left out: a patch mended against them could no longer be measured
 * by them, and the others' work would be told.
 */
export function whatFailed({ gates, baseTests }: Evidence): readonly string[] {
  const failed = gates
    .filter((gate) => !gate.passed)
    .map(({ gate, because, hunk }) =>
      [`Gate ${gate}: ${because.slice(0, MOST_SENTENCE)}`, ...(hunk ? [hunk.slice(0, MOST_HUNK)] : [])].join(
        '\n',
      ),
    );
  const broken = baseTests?.regressions ?? [];
  return broken.length === 0 ? failed : [...failed, tests(broken)];
}

function tests(broken: readonly string[]): string {
  const named = broken.slice(0, MOST_TESTS).map((id) => `- ${id.slice(0, LONGEST_NAME)}`);
  const rest = broken.length - named.length;
  return [
    'Tests that pass on the base commit and do not pass with this patch:',
    ...named,
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ].join('\n');
}
