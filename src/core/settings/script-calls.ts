import { unquoted, wordsOf } from './command-kinds.ts';

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

function shortCall(manager: string, [verb = '', ...more]: readonly string[]): readonly string[] {
  if (manager === 'bun') return [];
  if (verb === 'test' || (verb === 't' && manager !== 'yarn')) return ['test', ...more];
  return manager === 'npm' ? [] : [verb, ...more];
}

/** `nr NAME …` of the package @antfu/ni: it hands everything behind the name to the script. */
const antfuCall = ([name = '', ...more]: readonly string[]): ScriptCall | null =>
  name === '' || name.startsWith('-') ? null : { name, more, hooks: true };

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

/** `pnpm run /^test:/`: every script whose name matches. */
function pnpmCommands(
  [verb, pattern = '', ...more]: readonly string[],
  scripts: readonly string[],
): readonly string[] | null {
  const [, start, part] = /^['"]?\/(\^?)([\w:-]+)(?:\.\*)?\/['"]?$/.exec(pattern) ?? [];
  if (verb !== 'run' || part === undefined || more.length > 0) return null;
  const names = scripts.filter((name) => (start ? name.startsWith(part) : name.includes(part)));
  return names.length === 0 ? null : names.map((name) => `pnpm run ${name}`);
}

/** Options that neither end a command before it is done nor ignore how it ends; each with its value. */
const CONCURRENT_OPTION =
  /(?:^| )(?:-r|--raw|-g|--group|--no-color|--kill-others-on-fail|--pad-prefix|--timings|(?:-[nctplm]|--(?:names|prefix|prefix-colors|max-processes))(?: |=)[^\s'"]+)(?= |$)/g;

/** `concurrently "npm:test:*" "tsc -p ."`: one after the other, where each has to end. */
function concurrentCommands(words: readonly string[], scripts: readonly string[]): readonly string[] | null {
  const left = words.join(' ').replace(CONCURRENT_OPTION, '').trim();
  const lines = wordsOf(left).map(unquoted);
  if (lines.length === 0 || lines.some((line) => line.startsWith('-'))) return null;
  return allOf(
    lines.map((line) => {
      const [, manager, name] = /^(npm|pnpm|yarn|bun):(.+)$/.exec(line) ?? [];
      return manager && name ? scriptsNamed(name, scripts, `${manager} run`) : [line];
    }),
  );
}

const allOf = (parts: readonly (readonly string[])[]): readonly string[] | null =>
  parts.length === 0 || parts.some(({ length }) => length === 0) ? null : parts.flat();

function scriptsNamed(name: string, scripts: readonly string[], start: string): readonly string[] {
  const wanted = patternOf(name);
  return scripts.filter((one) => wanted?.test(one)).map((one) => `${start} ${one}`);
}

/** A name of a script, with `*` for all but `:` and `**` for anything; null for arguments and placeholders. */
function patternOf(name: string): RegExp | null {
  if (!/^[\w:@./*-]+$/.test(name)) return null;
  const text = name
    .split(/(\*\*?)/)
    .map((part) => (part === '*' ? '[^:]*' : part === '**' ? '.*' : RegExp.escape(part)))
    .join('');
  return new RegExp(`^${text}$`);
}
