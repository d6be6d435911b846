import { z } from 'zod';
import { MAX_COMMAND_CHARS, scriptCommands } from './ci-commands.ts';
import { chainParts, recognise } from './command-kinds.ts';
import { readPackage } from './package-scripts.ts';
import { programWords } from './program-words.ts';

/** A command, and the file that defines it. */
export interface FoundCommand {
  readonly command: string;
  readonly file: string;
}

type Read = Readonly<Record<string, string>>;

/** Files that `taskTest`, `containerSetup` and `dockerSetup` read, by path. */
export const LAST_RESORT_FILES: readonly string[] = [
  'mise.toml',
  '.mise.toml',
  '.devcontainer/devcontainer.json',
  '.devcontainer.json',
  'Dockerfile',
];

/** The command of a mise task named `test`. */
export function taskTest(read: Read): FoundCommand | null {
  for (const file of ['mise.toml', '.mise.toml']) {
    const text = read[file] ?? '';
    const own = /^\[tasks\.["']?tests?["']?\]([^[]*(?:\n[^[\n].*)*)/m.exec(text)?.[1] ?? '';
    const all = /^\[tasks\]\s*\n((?:(?!\[).*\n?)*)/m.exec(text)?.[1] ?? '';
    const command = quotedAfter(own, 'run') ?? quotedAfter(all, 'tests?');
    if (command !== null) return { command, file };
  }
  return null;
}

/** A text or a list of texts of a TOML file on one line; null for another value. */
function quotedAfter(toml: string, key: string): string | null {
  const [, value = ''] =
    RegExp(`^\\s*${key}\\s*=\\s*(\\[[^\\]\\n]*\\]|"[^"\\n]*"|'[^'\\n]*')\\s*(?:#.*)?$`, 'm').exec(toml) ?? [];
  const texts = [...value.matchAll(/"([^"\\]*)"|'([^']*)'/g)].map(([, one, other]) => one ?? other ?? '');
  const command = texts.join(' && ');
  return command === '' || command.length > MAX_COMMAND_CHARS || /\{\{|\$\{?\w*arg/i.test(command)
    ? null
    : command;
}

const CommandValue = z.union([z.string(), z.array(z.string())]);
const Container = z.object({
  onCreateCommand: CommandValue.optional().catch(undefined),
  updateContentCommand: CommandValue.optional().catch(undefined),
  postCreateCommand: CommandValue.optional().catch(undefined),
});

/** The command of a development container after its creation. */
export function containerSetup(read: Read): FoundCommand | null {
  for (const file of ['.devcontainer/devcontainer.json', '.devcontainer.json']) {
    const container = Container.safeParse(readJsonWithComments(read[file] ?? '')).data;
    const asked =
      container?.postCreateCommand ?? container?.updateContentCommand ?? container?.onCreateCommand;
    const command = (typeof asked === 'string' ? asked : (asked ?? []).map(shellQuoted).join(' ')).trim();
    const fits =
      command !== '' &&
      command.length <= MAX_COMMAND_CHARS &&
      !/[\n\r]|\$\{|\bsudo\b|\bapt(?:-get)?\b|\bdocker\b/.test(command);
    if (fits) return { command, file };
  }
  return null;
}

/** Maximum characters of a Dockerfile that are read. */
const MAX_DOCKERFILE_CHARS = 64 * 1024;

/** The installation steps of a Dockerfile for the repository itself, without system packages. */
export function dockerSetup(read: Read): FoundCommand | null {
  const file = 'Dockerfile';
  const text = (read[file] ?? '').slice(0, MAX_DOCKERFILE_CHARS).replace(/\\\r?\n/g, ' ');
  const place = {
    folder: '',
    value: () => null,
    env: new Map<string, string>(),
    own: new Map<string, string>(),
  };
  const commands = [...text.matchAll(/^\s*RUN\s+(?:--\S+\s+)*([^[\s].*)$/gim)]
    .flatMap(([, script = '']) => scriptCommands(script, place))
    .flatMap(({ part, command }) =>
      part === 'setup' && !/^(?:cp|mkdir|touch|ln)\s/.test(command) ? [command] : [],
    );
  const command = [...new Set(commands)].join(' && ');
  return command === '' || command.length > MAX_COMMAND_CHARS ? null : { command, file };
}

/** Quotes a text as one word for a POSIX shell. */
export const shellQuoted = (word: string): string =>
  /^[\w@./:=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Parses JSON with comments and trailing commas; null for other text. */
export function readJsonWithComments(text: string): unknown {
  // What is never closed is matched as well: otherwise each quote of a hostile file is a search to its end.
  const plain = text
    .slice(0, 64 * 1024)
    .replace(
      /("(?:[^"\\\n]|\\.)*"?)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g,
      (_, string: string | undefined) => string ?? '',
    )
    .replace(/("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])/g, (_, string: string | undefined) => string ?? '');
  try {
    return JSON.parse(plain);
  } catch {
    // An unreadable file is treated as empty.
    return null;
  }
}

/** A program that measures coverage, with its options, before the command that it runs. */
const COVERAGE =
  /^((?:cross-env |\w+=\S+ )*)(?:nyc|c8)(?: (?:(?:-r|--reporter) [\w-]+|--?\w[\w.-]*(?:=\S+)?))* (?=\w)/;
/** The same for istanbul, which separates the arguments of the program that it runs. */
const ISTANBUL =
  /^((?:cross-env |\w+=\S+ )*)istanbul cover (?:[\w=./-]+ ){0,10}?(?:\.\/)?(?:node_modules\/\.bin\/)?(_?mocha|tape|tap|qunit)(?: --)?(?= |$)/;
/** Programs outside of node_modules. */
const ANYWHERE = /^(?:npm|pnpm|yarn|bun|npx|node|cross-env|\w+=)/;

/**
 * The script `test` of package.json without the programs that measure coverage: old ones break on new versions of Node,
 * and tests do not need them. Null if it has none, or is not a plain chain.
 */
export function testsWithoutCoverage(read: Read): FoundCommand | null {
  const scripts = readPackage(read['package.json'] ?? '')?.scripts;
  const parts = chainParts(scripts?.get('test') ?? '');
  if (!parts?.some((part) => COVERAGE.test(part) || ISTANBUL.test(part))) return null;
  const plain = parts.map((part) => part.replace(COVERAGE, '$1').replace(ISTANBUL, '$1$2'));
  const commands = plain.map((part) => (ANYWHERE.test(part) ? part : `npx --no-install ${part}`));
  const before = scripts?.has('pretest') ? ['npm run pretest'] : [];
  return { command: [...before, ...commands].join(' && '), file: 'package.json' };
}

/** A script of package.json, by its name. */
const SCRIPT_CALL = /^(?:(?:pnpm|yarn)(?: run)?|npm run)(?: -s| --silent)? ([\w:-]+)$/;

/** Scripts of package.json for a part of the tests that needs no browser, the most common names first. */
const NARROWER = ['jsdom', 'node', 'browserless', 'unit', 'server'].map((part) => `test:${part}`);

/** Programs whose tasks stand in a file of their own, and what starts a runner on the files that are its default. */
const TASK_PROGRAMS: ReadonlySet<string> = new Set(['jake', 'grunt', 'gulp', 'make']);
const SHELL_PROGRAMS: ReadonlySet<string> = new Set(['sh', 'bash']);
const TEST_RUNNERS = ['mocha', 'jest', 'vitest run', 'ava', 'tap'];

/**
 * For a script that may need a browser or a service, one for a part of the tests; and for one that ends with the task of
 * another program or a shell script, which may start a linter or a download before the tests, the only runner among the
 * packages.
 */
export function otherTests(read: Read, test: FoundCommand): readonly FoundCommand[] {
  const { scripts, packages = new Set() } = readPackage(read['package.json'] ?? '') ?? {};
  const manager = /^(npm|pnpm|yarn|bun)(?: run)? test$/.exec(test.command)?.[1];
  if (manager === undefined) return [];
  const script = scripts?.get('test') ?? '';
  const name = NARROWER.find((one) => scripts?.has(one));
  const isOther = name !== undefined && !RegExp(`^[^&|;]*\\b${name}$`).test(script);
  const runners = TEST_RUNNERS.filter((one) => packages.has(one.split(' ', 1)[0] ?? ''));
  const called = (part: string) => chainParts(scripts?.get(SCRIPT_CALL.exec(part)?.[1] ?? '') ?? part);
  const own = chainParts(script) ?? [];
  const parts = own.flatMap((part) => called(part) ?? part);
  const [program = '', file = ''] = programWords(parts.at(-1) ?? '');
  const endsWithTask =
    TASK_PROGRAMS.has(program) || (SHELL_PROGRAMS.has(program) ? file : program).endsWith('.sh');
  const hasOwnTests = own.some((part) => !SCRIPT_CALL.test(part) && recognise(part) !== null);
  const before = scripts?.has('pretest') ? `${manager} run pretest && ` : '';
  const commands = [
    ...(isOther ? [`${manager} run ${name}`] : []),
    ...(endsWithTask && !hasOwnTests && runners.length === 1
      ? [`${before}npx --no-install ${runners[0]}`]
      : []),
  ];
  return commands.map((command) => ({ command, file: 'package.json' }));
}

const TYPE_ERROR = /\berror TS\d{4,5}: /;
/** Errors of the configuration (TS5…, TS6…, no input), and those of other programs. */
const OTHER_ERROR = /\berror TS(?:[56]\d{3}|1800\d): |\b(?:[A-Z]\w*)?Error: |\bENOSPC\b/;

/** Words of Nx and Lerna, Turborepo, and pnpm with `--no-bail` for packages of a workspace whose build failed. */
const PACKAGE_FAILED =
  /^\s{0,9}Failed tasks:|^\s{0,9}Failed:\s{1,9}\S+#\S|^\s{0,9}Summary: \d{1,9} fails?, [1-9]\d{0,9} passes\b/m;

/**
 * Whether a build that failed has left files, by its output: it failed by types alone, in spite of which TypeScript writes
 * its files unless it is told not to, or in some packages of a workspace.
 */
export const isPartialBuild = (build: {
  readonly output: string;
  readonly stopped?: string | null;
}): boolean =>
  !build.stopped &&
  (PACKAGE_FAILED.test(build.output) || (TYPE_ERROR.test(build.output) && !OTHER_ERROR.test(build.output)));

/** Words of Lerna and Turborepo, and the option with which they build packages that do not need the failed one. */
const GOES_ON: readonly (readonly [said: RegExp, option: string])[] = [
  [/\bLerna \(powered by Nx\)/, '--no-bail'],
  [/^\s{0,9}Failed:\s{1,9}\S+#\S/m, '--continue'],
];

/**
 * A build that failed in part, so that as much as possible is built, and what failed is no reason to stop. Null if the
 * runner cannot be told so: it ends what is under way at the first failure, so what is left depends on time.
 */
export function partialBuild(build: string, output: string): string | null {
  const [, option] = GOES_ON.find(([said]) => said.test(output)) ?? [];
  if (option === undefined) return `${/[;\n|]/.test(build) ? `{ ${build}; }` : build} || true`;
  if (!SCRIPT_CALL.test(build)) return null;
  return `${build}${build.startsWith('npm ') ? ' --' : ''} ${option} || true`;
}
