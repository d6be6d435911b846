/**
 * Both Node 20 and later accept these through NODE_OPTIONS, so they also reach a runner behind `npm test`. Node needs a
 * destination for each reporter, in the same order: if the program itself adds one (`hasReporter`), it gets the second.
 */
export const nodeOptions = (file: string, { hasReporter = false } = {}): Record<string, string> => ({
  NODE_OPTIONS: [
    `--test-reporter=junit --test-reporter-destination=${file}`,
    ...(hasReporter ? [] : ['--test-reporter=tap']),
    '--test-reporter-destination=stdout',
  ].join(' '),
});

const REPORTER = /^--test-reporter(?:-destination)?$/;
/** A command without the reporters that it names: each would need a destination beside others. */
export const withoutReporters = (words: readonly string[]): readonly string[] =>
  words.filter(
    (word, at) =>
      !/^--test-reporter(?:-destination)?(?:=|$)/.test(word) && !REPORTER.test(words[at - 1] ?? ''),
  );

/**
 * Tests of Node that a program loads by itself, without `--test`, are printed as TAP. The variables have no effect on
 * programs that use no tests of Node; empty for commands that do not start Node.
 */
export const tapOfNode = (words: readonly string[]): Record<string, string> =>
  words.some((word) => /^(?:.*\/)?(?:node|tsx|c8|nyc|npm|pnpm|yarn)$/.test(word))
    ? { NODE_OPTIONS: '--test-reporter=tap --test-reporter-destination=stdout' }
    : {};
