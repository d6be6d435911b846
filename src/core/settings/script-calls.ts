import { unquoted } from './command-kinds.ts';
import { matchesAnyGlob, matchesName } from './workspace-graph.ts';

/** A script of package.json, as a command starts it. */
export interface ScriptCall {
  readonly name: string;
  /** Words for the end of the script. */
  readonly more: readonly string[];
  readonly hooks: boolean;
}

/** The script of package.json that a command starts; null for another command, and with options that are not known. */
export function scriptCall([manager = '', ...words]: readonly string[]): ScriptCall | null {
  if (manager === 'node') {
    const [run, name, end, ...more] = words;
    return run === '--run' && name && (end === undefined || end === '--')
      ? { name, more, hooks: false }
      : null;
  }
  if (manager === 'nr') return antfuCall(words);
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(manager)) return null;
  const end = words.indexOf('--');
  const own = (end < 0 ? words : words.slice(0, end)).filter(
    (word) => !/^(?:-s|--silent|--if-present)$/.test(word),
  );
  const behind = end < 0 ? [] : words.slice(end + 1);
  const [verb, ...rest] = own;
  const runs = verb === 'run' || verb === 'run-script';
  const [name, ...more] = runs ? rest : shortCall(manager, own);
  if (!name || name.startsWith('-')) return null;
  // npm reads options that stand in front of `--` itself.
  if (manager === 'npm' && more.length > 0) return null;
  return { name, more: [...more, ...behind], hooks: true };
}

export const ASSIGNMENT = /^\w+=/;
/** Commands behind the options of c8 and nyc that may lead to tests. */
const LEADS_ON = /^(?:npm|pnpm|yarn|bun|node|nr|run-s|run-p|npm-run-all2?|cross-env|env|\w+=.*)$/s;

/** What stands before the command that `cross-env`, `env`, c8 and nyc start. */
export function prefixesOf(words: readonly string[]) {
  const variables: string[] = [];
  const coverage: string[] = [];
  let at = 0;
  for (let word = words[0] ?? ''; ; word = words[at] ?? '') {
    const end = /^(?:c8|nyc)$/.test(word)
      ? words.findIndex((one, index) => index > at && LEADS_ON.test(one))
      : 0;
    if (end > 0) coverage.push(...words.slice(at, end));
    else if (ASSIGNMENT.test(word)) variables.push(word);
    else if (!(/^(?:cross-env|env)$/.test(word) && ASSIGNMENT.test(words[at + 1] ?? ''))) break;
    at = Math.max(end, at + 1);
  }
  return { variables, coverage, inner: words.slice(at) };
}

function shortCall(manager: string, [verb = '', ...more]: readonly string[]): readonly string[] {
  if (manager === 'bun') return [];
  if (verb === 'test' || (verb === 't' && manager !== 'yarn')) return ['test', ...more];
  return manager === 'npm' ? [] : [verb, ...more];
}

/** `nr NAME …` of the package @antfu/ni: it hands everything behind the name to the script. */
const antfuCall = ([name = '', ...more]: readonly string[]): ScriptCall | null =>
  name === '' || name.startsWith('-') ? null : { name, more, hooks: true };

/** Whether it may be a command of `gatheredCommands`. */
export const startsSeveral = ([program = '', , name = '']: readonly string[]): boolean =>
  /^(?:run-s|run-p|npm-run-all2?|concurrently)$/.test(program) || (program === 'pnpm' && name.includes('/'));

/**
 * The commands that a runner of several scripts starts: `pnpm run /^test:/`, `run-s`, `npm-run-all`, `concurrently`. In
 * the order of their names. `scripts`: names of all scripts. Null for another command, with options that are not known,
 * and for names that no script has.
 */
export function gatheredCommands(
  [program = '', ...words]: readonly string[],
  scripts: readonly string[],
): readonly string[] | null {
  if (program === 'pnpm') return pnpmCommands(words, scripts);
  if (program === 'concurrently') return concurrentCommands(words, scripts);
  if (!/^(?:run-s|run-p|npm-run-all2?)$/.test(program)) return null;
  const names = words.filter((word) => !GATHERING_FLAG.test(word));
  if (names.some((name) => name.startsWith('-'))) return null;
  return allOf(names.map((name) => scriptsNamed(unquoted(name), scripts, 'npm run -s')));
}

const GATHERING_FLAG =
  /^(?:-[slncp]+|--(?:silent|sequential|parallel|serial|aggregate-output|continue-on-error|print-label|print-name))$/;

/** `pnpm run /^test:/`, `pnpm run '/^(build|test)$/'`: every script whose name matches. */
function pnpmCommands(
  [verb, pattern = '', ...more]: readonly string[],
  scripts: readonly string[],
): readonly string[] | null {
  const [, start, part = '', end] =
    /^['"]?\/(\^?)([\w:-]+|\([\w:|-]+\))(?:\.\*|(\$))?\/['"]?$/.exec(pattern) ?? [];
  if (verb !== 'run' || part === '' || more.length > 0) return null;
  const parts = part.replace(/[()]/g, '').split('|');
  const fits = (name: string, one: string): boolean => {
    if (start) return end ? name === one : name.startsWith(one);
    return end ? name.endsWith(one) : name.includes(one);
  };
  const names = scripts.filter((name) => parts.some((one) => fits(name, one)));
  return names.length === 0 ? null : names.map((name) => `pnpm run ${name}`);
}

/** Options that neither end a command before it is done nor ignore how it ends. */
const CONCURRENT_FLAG = /^(?:-r|--raw|-g|--group|--no-color|--kill-others-on-fail|--pad-prefix|--timings)$/;
/** The same, with a value behind `=` or as the next word. */
const CONCURRENT_OPTION = /^(?:-[nctplm]|--(?:names|prefix|prefix-colors|max-processes))(=|$)/;

/** `concurrently "npm:test:*" "tsc -p ."`: one after the other, where each has to end. */
function concurrentCommands(words: readonly string[], scripts: readonly string[]): readonly string[] | null {
  const lines: (string | null)[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const option = CONCURRENT_OPTION.exec(word);
    if (option) at += option[1] === '=' ? 0 : 1;
    else if (!CONCURRENT_FLAG.test(word)) lines.push(/^-/.test(word) ? null : wordAsRead(word));
  }
  if (lines.length === 0) return null;
  return allOf(
    lines.map((line) => {
      const [, manager, name] = /^(npm|pnpm|yarn|bun):(.+)$/s.exec(line ?? '') ?? [];
      if (manager && name)
        return scripts.filter((one) => isMatch(name, one)).map((one) => `${manager} run ${one}`);
      return line === null ? [] : [line];
    }),
  );
}

/** For concurrently, the first `*` is any text; a second one would be part of the name. */
const isMatch = (name: string, script: string): boolean =>
  /^[\w:@./-]*(?:\*[\w:@./-]*)?$/.test(name) &&
  (name === script || (script.length <= MAX_SCRIPT_NAME_CHARS && matchesName(name, script)));

/** The word that a shell hands to a program; null for one that is quoted in parts. */
function wordAsRead(word: string): string | null {
  const [, double] = /^"((?:[^"\\]|\\.)*)"$/s.exec(word) ?? [];
  if (double !== undefined) return double.replace(/\\(["\\$`])/g, '$1');
  const [, single] = /^'([^']*)'$/s.exec(word) ?? [];
  return single ?? (/^[^'"\\]+$/.test(word) ? word : null);
}

const allOf = (parts: readonly (readonly string[])[]): readonly string[] | null =>
  parts.length === 0 || parts.some(({ length }) => length === 0) ? null : parts.flat();

function scriptsNamed(name: string, scripts: readonly string[], start: string): readonly string[] {
  if (!/^[\w:@./*-]+$/.test(name)) return [];
  const glob = globOf(name);
  const names = scripts.filter((one) =>
    glob === null
      ? one === name
      : one.length <= MAX_SCRIPT_NAME_CHARS && matchesAnyGlob([glob], swapped(one)),
  );
  return names.map((one) => `${start} ${one}`);
}

/** Maximum characters of a name of a script that a pattern may match. */
const MAX_SCRIPT_NAME_CHARS = 200;

/**
 * A name with `*` for all but `:`, and `**` for any parts between `:`, as a glob of a path; null without `*`. A `**` at
 * the end is at least one part.
 */
const globOf = (name: string): string | null =>
  name.includes('*') ? swapped(name).replace(/(^|\/)\*\*$/, '$1**/*') : null;

/** `:` separates the parts of such names, and `/` does not. */
const swapped = (name: string): string => name.replace(/[:/]/g, (one) => (one === ':' ? '/' : ':'));
