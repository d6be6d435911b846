import { z } from 'zod';
import { Texts } from './ci-steps.ts';
import { type Recognised, type RunnerName, recognise } from './command-kinds.ts';
import { shellQuoted } from './last-resorts.ts';
import { wordsOf } from './program-words.ts';
import { readPlainYaml } from './toml-and-yaml.ts';

/** A command that runs all its tests, and the options of it that would have chosen some, as they are named to people. */
interface WholeCommand {
  readonly command: string;
  readonly taken: readonly string[];
}

/** A quick look at a line: most commands choose nothing. */
const MAY_CHOOSE =
  /changed|affected|shard|picked|since|lastCommit|partition|--splits|bail|fail|exitfirst|--stop-on|\s-[a-z]*[bfox]/i;

/** Such options, with their values. */
const CHOICES =
  / --(?:(?:onlyChanged|lastCommit|changedFilesWithAncestor|affected|picked|uncommitted|untracked)(?:=\S+)?|(?:changed|only-changed|since)(?:=\S+| [^- ]\S*)?|(?:changedSince|shard|test-shard|partition)[= ]\S+|(?:splits|group|shard-id|num-shards)[= ]\d+)(?= |$)/g;
const CHOICES_OF_JEST = / -o(?= |$)/g;
/** Options that end the run at a failing test: those behind it would look as if they were gone. */
const STOPS_EARLY =
  / --?(?:(?:bail|max-?fail)(?:[= ]\d+|=true)?|exitfirst|fail-?fast(?:=\S+)?|stop-on-(?:failure|error|defect))(?= |$)/g;
/** The same as letters; pytest's may stand among others, also before one with a value. */
const STOPPING_LETTERS: Readonly<Partial<Record<RunnerName, readonly [letter: RegExp, left: string]>>> = {
  pytest: [/ -([vqsl]*x[vqsxl]*[kmn]?)(?= |$)/g, 'x'],
  mocha: [/ -(b)(?= |$)/g, 'b'],
  unittest: [/ -(f)(?= |$)/g, 'f'],
};
/** The commits that `nx affected` compares. */
const COMMITS_OF_NX = / --(?:base|head|files)[= ]\S+/g;

const WORKSPACE_RUNNER = /^(?:turbo|nx|lerna|nextest|playwright)$/;

/**
 * A command without the options that choose tests by what changed in git, or a numbered part of them: in a clone of one
 * commit, where a candidate's patch is not committed, they choose none or the wrong ones. `nx affected` becomes
 * `nx run-many`. Filters of pnpm and turbo are left to the choice of packages. Also without those that end the run at the
 * first failing test.
 */
export function withAllTests(command: string): WholeCommand {
  const whole = { command, taken: [] };
  if (!MAY_CHOOSE.test(command)) return whole;
  const words = wordsOf(command);
  const found = recognise(command);
  const at = found?.at ?? words.findIndex((word) => WORKSPACE_RUNNER.test(word));
  if (at < 0) return whole;
  const taken: string[] = [];
  const take = (option: string): string => {
    taken.push(option.trim());
    return '';
  };
  const given = ` ${words
    .slice(at + 1)
    .map(withoutSpaces)
    .join(' ')}`;
  let options = given;
  const [affected, target] =
    words[at] === 'nx' ? (/^ affected(?::([\w-]+))?(?= |$)/.exec(options) ?? []) : [];
  if (affected !== undefined) {
    const rest = options.slice(affected.length).replace(COMMITS_OF_NX, take);
    options = ` run-many${target === undefined ? '' : ` -t ${target}`}${rest}`;
    take(affected);
  }
  if (found?.runner === 'jest') options = options.replace(CHOICES_OF_JEST, take);
  options = withoutStops(options.replace(CHOICES, take), found?.runner);
  if (options === given) return whole;
  return {
    command: `${words.slice(0, at + 1).join(' ')}${withSpaces(options)}`.trimEnd(),
    taken: taken.map(withSpaces),
  };
}

/** No option stands inside a quoted word: while options are looked for, its spaces are private characters. */
const withoutSpaces = (word: string): string =>
  word.replace(/[\t-\r ]/g, (space) => String.fromCharCode(PRIVATE_USE + space.charCodeAt(0)));
const withSpaces = (text: string): string =>
  text.replace(/[\ue009-\ue020]/g, (hidden) => String.fromCharCode(hidden.charCodeAt(0) - PRIVATE_USE));
/** The first private character of Unicode. */
const PRIVATE_USE = 0xe000;

function withoutStops(options: string, runner: RunnerName | undefined): string {
  const [letters, letter = ''] = (runner && STOPPING_LETTERS[runner]) ?? [];
  const plain = runner === undefined ? options : options.replace(STOPS_EARLY, '');
  if (letters === undefined) return plain;
  return plain.replace(letters, (_, found: string) => {
    const left = found.replaceAll(letter, '');
    return left === '' ? '' : ` -${left}`;
  });
}

/** What configures a runner at the top of the repository, and the option that overrules it there. */
const CONFIGURATIONS: Readonly<Partial<Record<RunnerName, readonly [file: RegExp, option: string]>>> = {
  vitest: [/^vite(?:st)?\.(?:config|workspace)\.[cm]?[jt]s$/, '--bail=0'],
  mocha: [/^(?:\.mocharc\.\w+|package\.json)$/, '--no-bail'],
  ava: [/^(?:ava\.config\.[cm]?js|package\.json)$/, '--no-fail-fast'],
};

/** Whether a file at the top may say that a run ends at the first failing test. */
export const configuresTests = (path: string): boolean =>
  Object.values(CONFIGURATIONS).some(([file]) => file.test(path));

/**
 * The option that overrules a configuration which ends the run at the first failing test; empty without one, since
 * older versions of these runners refuse the option.
 */
export function overruledStop(runner: RunnerName, files: Readonly<Record<string, string>>): string {
  const [file, option = ''] = CONFIGURATIONS[runner] ?? [];
  const texts = Object.entries(files).filter(([path]) => file?.test(path));
  return texts.some(([, text]) => CONFIGURED_STOP.test(text)) ? option : '';
}

const CONFIGURED_STOP = /(?:^|[\s{,])["']?(?:bail|failFast)["']?\s*:\s*(?:true\b|[1-9])/m;

/** In the order in which mocha looks for them; it reads the first one only, and package.json as well. */
const FILES_OF_MOCHA = ['cjs', 'js', 'mjs', 'yaml', 'yml', 'jsonc', 'json'].map((end) => `.mocharc.${end}`);
const OptionsOfMocha = z.record(z.string(), z.unknown()).nullable().catch(null);
const NAMES_SPEC = /(?:^|[\s{,])["']?spec["']?\s*:/m;

/** Shell code before a runner, and its options, with which it runs the files that it is given and no others. */
interface GivenFilesOnly {
  readonly before: string;
  readonly options: string;
}

/** Options of mocha that name files, or another configuration than the usual one, which may name some. */
const NAMES_FILES = /^--(?:spec|config|package|no-config|no-package)(?:=|$)/;

/**
 * borp and mocha run the files that their configuration names besides those that they are given. `folder`: where a
 * configuration of mocha without them is written. Null if it is a program, which cannot be written without them, or if
 * the command's own options name files or a configuration.
 */
export function givenFilesOnly(
  { runner, words }: Recognised,
  files: Readonly<Record<string, string>>,
  folder: string,
): GivenFilesOnly | null {
  if (runner === 'borp') return { before: `export BORP_CONF_FILE=${folder}/no-borp.yaml && `, options: '' };
  if (runner !== 'mocha') return { before: '', options: '' };
  if (words.some((word) => NAMES_FILES.test(word))) return null;
  const own = FILES_OF_MOCHA.find((path) => files[path] !== undefined);
  const text = files[own ?? ''] ?? '';
  const inPackage = OptionsOfMocha.parse(Texts.parse(readPlainYaml(files['package.json'] ?? '')).mocha);
  if (!NAMES_SPEC.test(text) && inPackage?.spec === undefined) return { before: '', options: '' };
  const inFile = /js$/.test(own ?? '') ? null : OptionsOfMocha.parse(readPlainYaml(text));
  if (own !== undefined && (inFile === null || inPackage !== null)) return null;
  const { spec: _spec, ...others } = inFile ?? inPackage ?? {};
  const file = `${folder}/mocharc.json`;
  // As texts, node would refuse them as values of its own options.
  const written = JSON.stringify(others, (_, one) => one === 'true' || (one !== 'false' && one));
  return {
    before: `printf %s ${shellQuoted(written)} > ${file} && `,
    options: ` --no-package --config ${file}`,
  };
}

/** What is said about the options that were taken off; none without such. */
export const choiceNotes = (taken: readonly string[]): readonly string[] =>
  taken.length === 0
    ? []
    : [
        `The test command chooses tests by what changed in git, or a part of them (${[...new Set(taken)].join(', ')}). A candidate is tested with all of them.`,
      ];
