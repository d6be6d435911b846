import type { Recognised } from './command-kinds.ts';

/**
 * Node's JUnit reporter, with the file of each test: Node 20 leaves the file out, although its runner knows
 * it. Without it, nobody can tell which of two tests with the same name a patch removes.
 */
const JUNIT_WITH_FILES = `import { junit } from 'node:test/reporters';
export default async function* (events) {
  yield* junit((async function* () {
    for await (const event of events) {
      if (event.data?.file) event.data.classname ??= event.data.file;
      yield event;
    }
  })());
}`;
/** As an address, so that no file has to exist in the sandbox, and without characters that shells or Node take apart. */
const JUNIT_ADDRESS = `data:text/javascript;base64,${btoa(JUNIT_WITH_FILES)}`;

/**
 * Both Node 20 and later accept these through NODE_OPTIONS, so they also reach a runner behind `npm test`. Node needs a
 * destination for each reporter, in the same order: if the program itself adds one (`hasReporter`), it gets the second.
 */
export const nodeOptions = (file: string, { hasReporter = false } = {}): Record<string, string> => ({
  NODE_OPTIONS: [
    `--test-reporter=${JUNIT_ADDRESS} --test-reporter-destination=${file}`,
    ...(hasReporter ? [] : ['--test-reporter=tap']),
    '--test-reporter-destination=stdout',
  ].join(' '),
});

/** Seconds in which a file of tests does nothing before it is ended. Our default. */
const MAX_IDLE_SECONDS = 30;

/**
 * Ends a process that runs a file of tests, a child of `node --test`, if it waits for connections alone, as with a server
 * that a failing test left open: it computes less than a hundredth of the time, no test ends or prints, and Node lists
 * no timer, file, lookup, program or message of a worker that it waits for. Not listed are timers of sockets, a worker
 * that sends no messages, and queries of `dns.resolve`: tests that wait for these alone for so long are ended, too.
 */
const END_IDLE_TESTS = `import { readFileSync } from 'node:fs';
let parent = '';
try {
  parent = readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8');
} catch {
  // It has ended: nothing waits for this process.
}
let seconds = 0;
let cpu = process.cpuUsage();
let bytes = 0;
const look = () => {
  const { user, system } = process.cpuUsage(cpu);
  const computes = user + system > 10_000;
  const waits = process.getActiveResourcesInfo().some((one) => !/^(?:Pipe|TTY|TCPServer|TCPSocket|UDP)Wrap$/.test(one));
  const isIdle = !computes && !waits && process.stdout.bytesWritten === bytes;
  [cpu, bytes] = [process.cpuUsage(), process.stdout.bytesWritten];
  seconds = isIdle ? seconds + 1 : 0;
  if (seconds >= ${MAX_IDLE_SECONDS}) process.kill(process.pid, 'SIGKILL');
};
if (parent.split('\\0').includes('--test')) setInterval(look, 1_000).unref();`;

/**
 * A command of `node --test` that ends although a test left something open. Null if tests run in the runner's own
 * process, or if modules are loaded by `--require`, whose hooks Node 18 and 20 ignore beside an `--import`.
 */
export function endingIdleTests(words: readonly string[]): ((command: string) => string) | null {
  const isApart = words.includes('--test') && !words.some((word) => word.includes('test-isolation'));
  if (!isApart || words.some((word) => /^(?:-r|--require)(?:=|$)/.test(word))) return null;
  const option = `--import=data:text/javascript;base64,${btoa(END_IDLE_TESTS)}`;
  // Not `&&`: what follows may be a list with `&`.
  return (command) => `export NODE_OPTIONS="$NODE_OPTIONS ${option}"; ${command}`;
}

/** The program bnt of the package better-node-test: it starts `node --test --test-reporter spec`. */
export const isBetterNodeTest = (words: readonly string[]): boolean =>
  words.some((word) => /(?:^|\/)bnt$/.test(word));

const REPORTER = /^--test-reporter(?:-destination)?$/;
/** A command without the reporters that it names: each would need a destination beside others. */
export const withoutReporters = (words: readonly string[]): readonly string[] =>
  words.filter(
    (word, at) =>
      !/^--test-reporter(?:-destination)?(?:=|$)/.test(word) && !REPORTER.test(words[at - 1] ?? ''),
  );

/**
 * `node --test`, with all files in one process instead of one for each. Nothing if the command says itself how files are
 * isolated, or is the program bnt, which may not pass the option on. Older versions of Node end at once with an error.
 */
export const inOneProcess = (words: readonly string[], start: string): { readonly inOneProcess?: string } =>
  /\btest-isolation\b/.test(start) || isBetterNodeTest(words)
    ? {}
    : { inOneProcess: `${start} --test-isolation=none "$@"` };

/**
 * With one worker, which jest uses on two cores, it runs tests in its own process: code that reads `process.argv`,
 * such as a command-line library, would see the report options.
 */
export const inWorkers = (words: readonly string[]): string =>
  words.some((word) => /^(?:-i|-w\b.*|--runInBand|--maxWorkers\b.*|--detectOpenHandles)$/.test(word))
    ? ''
    : '--maxWorkers=2 ';

/** Options of lab with a value that a report replaces, or that are left out. Short ones may be joined: `-vLt 100`. */
const LAB_OPTION = /^(?:-[a-zA-Z]*[rot]|--(?:reporter|output|threshold))$/;

/**
 * lab with a JUnit file: in its TAP, each name begins with a number that further tests shift. Without its threshold of
 * coverage, its linter and its check of types, which change its exit code and are no tests of the report. The words up to
 * lab itself remain as they are: options of node have other meanings.
 */
export const labTests = (
  { words, at: lab }: Recognised,
  options: readonly string[],
  folder: string,
): string => {
  const left = options.flatMap((word, at) => {
    if (LAB_OPTION.test(options[at - 1] ?? '')) return [];
    if (/^--(?:lint|types|(?:reporter|output|threshold)(?:=.*)?)$/s.test(word)) return [];
    const short = /^-[a-zA-Z]+$/.test(word) ? word.replace(/[LY]/g, '').replace(/[rot]$/, '') : word;
    return short === '-' ? [] : [short];
  });
  return [...words.slice(0, lab + 1), ...left, '-r junit -o', `${folder}/report.xml`].join(' ');
};
