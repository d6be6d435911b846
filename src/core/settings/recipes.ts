import { type StepKind, stepKind, stepKindByName } from './command-kinds.ts';
import { denoTask } from './deno-ecosystem.ts';
import { defaultSessions, noxCall, noxSessions, sessionNamed } from './noxfile.ts';
import { composerScript } from './ruby-and-php.ts';

/** The commands of a makefile target, tox environment or nox session. */
interface RecipeLine {
  readonly command: string;
  /** Absent: the command is parsed like any other. */
  readonly kind?: StepKind;
  /** The program that the command finally starts, if not visible in it. */
  readonly inner?: string;
}

type Files = Readonly<Record<string, string>>;

/**
 * The lines run by `make test`, `tox`, `nox`, `deno task test` or `composer test`; null for another command, or if they
 * cannot be separated.
 */
export function recipeLines(words: readonly string[], files: Files): readonly RecipeLine[] | null {
  const [first = '', ...rest] = words;
  // Set-up starts them by the Python of its own environment.
  const python = /^(?:[\w.-]+\/)*python[\d.]*$/.test(first) && rest[0] === '-m';
  const program = python ? (rest[1] ?? '') : first;
  const start = python ? words.slice(0, 3).join(' ') : first;
  const options = python ? rest.slice(2) : rest;
  if (program === 'make' || program === 'gmake') return makeLines(start, options, files);
  if (program === 'deno') return denoLines(options, files);
  if (program === 'composer') return composerLines(options, files);
  if (program === 'tox') return toxLines(start, options, files);
  return program === 'nox' ? noxLines(start, options, files) : null;
}

/** `deno task NAME`, with words for the end of the task. */
function denoLines(
  [verb, name = '', ...more]: readonly string[],
  files: Files,
): readonly RecipeLine[] | null {
  const lines = verb === 'task' ? denoTask(name, files) : null;
  const own = more[0] === '--' ? more.slice(1) : more;
  return (
    lines?.map((command, at) => ({
      command: at === lines.length - 1 ? [command, ...own].join(' ') : command,
    })) ?? null
  );
}

/** `composer test`; not with words for its end, which would reach each of its commands. */
function composerLines(words: readonly string[], files: Files): readonly RecipeLine[] | null {
  const [name = '', ...more] = words.filter((word, at) => at > 0 || !/^(?:run|run-script)$/.test(word));
  const lines = more.length === 0 ? composerScript(name, files['composer.json'] ?? '') : null;
  return lines?.map((command) => ({ command })) ?? null;
}

/** For makefiles whose recipes are portable between shells. */
const SPECIAL = /^(?:\.ONESHELL|SHELL\s*[:?]?=|-?include\s|export\b|define\s|\.RECIPEPREFIX)/m;

function makeLines(make: string, options: readonly string[], files: Files): readonly RecipeLine[] | null {
  const text = files.GNUmakefile ?? files.makefile ?? files.Makefile ?? '';
  const [target = '', ...more] = options.filter(
    (word) => !/^(?:-s|--silent|--no-print-directory)$/.test(word),
  );
  if (more.length > 0 || !/^[\w.-]+$/.test(target) || SPECIAL.test(text)) return null;
  const rule = ruleOf(text.replace(/\\\n\s*/g, ' '), target);
  if (!rule) return null;
  const recipe = rule.recipe.map((line) => plainRecipe(line, variablesOf(text)));
  if (recipe.includes(null)) return null;
  // make builds a prerequisite, including its own prerequisites.
  const first = rule.needs.map((name) => {
    const kind = stepKindByName(name);
    return { command: `${make} ${name}`, ...(kind ? { kind } : {}) };
  });
  return [...first, ...recipe.map((command) => ({ command: command as string }))];
}

/** Prerequisites and recipe of a target; null if it has no plain rule, or more than one. */
function ruleOf(text: string, target: string) {
  const lines = text.split('\n');
  const heads = lines.flatMap((line, at) => (line.startsWith(`${target}:`) ? [at] : []));
  const [at] = heads;
  const head = /^[\w.-]+:([^=:;|%$]*)$/.exec((lines[at ?? 0] ?? '').replace(/#.*/, ''));
  if (at === undefined || heads.length > 1 || !head) return null;
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((line) => line !== '' && !/^(?:\t|#)/.test(line));
  const recipe = rest.slice(0, end < 0 ? rest.length : end).filter((line) => line.startsWith('\t'));
  return { needs: (head[1] ?? '').split(/\s+/).filter((name) => name !== ''), recipe };
}

const variablesOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(/^([A-Za-z_]\w*)[ \t]*[:?]?=[ \t]*([^\n#]*)/gm)].map(([, name, value]) => [
      name as string,
      (value as string).trim(),
    ]),
  );

/** Null for a line whose failure make ignores, and for one that only make can evaluate. */
function plainRecipe(line: string, variables: ReadonlyMap<string, string>): string | null {
  const text = line.trim().replace(/^[@+]+\s*/, '');
  if (text.startsWith('-')) return null;
  let known = true;
  const expanded = text.replace(
    /\$(\$|\((\w+)\)|\{(\w+)\}|.)/g,
    (_, all: string, one?: string, other?: string) => {
      const value = all === '$' ? '$' : variables.get(one ?? other ?? '');
      known &&= value !== undefined && (all === '$' || !value.includes('$'));
      return value ?? '';
    },
  );
  return known ? expanded : null;
}

/** The words of a command of tox, after its name. */
interface ToxCall {
  /** Options that apply to every environment. */
  readonly options: readonly string[];
  /** The value of `-e`; null without. */
  readonly chosen: string | null;
  /** What the tests get, with `--` before it; empty for none. */
  readonly passedOn: string;
}

const TOX_FLAG =
  /^(?:-[rvq]+|--(?:recreate|verbose|quiet|skip-pkg-install|skip-missing-interpreters)(?:=\w+)?)$/;

function toxCall(words: readonly string[]): ToxCall | null {
  const end = words.indexOf('--');
  const given = words.slice(/^(?:r|run)$/.test(words[0] ?? '') ? 1 : 0, end < 0 ? words.length : end);
  const options = given.filter((word) => TOX_FLAG.test(word));
  const selecting = given.filter((word) => !TOX_FLAG.test(word)).join(' ');
  const chosen = selecting === '' ? null : (/^-e(?: |=)?([\w.,-]+)$/.exec(selecting)?.[1] ?? undefined);
  if (chosen === undefined) return null;
  return { options, chosen, passedOn: end < 0 ? '' : ` ${words.slice(end).join(' ')}` };
}

/** Environments that tox runs, one to a step; those of the tests together, as `tox -e a,b`. */
function toxLines(start: string, given: readonly string[], files: Files): readonly RecipeLine[] | null {
  const ini = sectionsOf(files['tox.ini'] ?? '');
  const call = toxCall(given);
  if (!call) return null;
  const tox = [start, ...call.options].join(' ');
  const listed = call.chosen ?? ini.get('tox')?.get('envlist') ?? ini.get('tox')?.get('env_list') ?? '';
  const names = listed.includes('{') ? null : listed.split(/[\s,]+/).filter((name) => name !== '');
  if (!names || names.length === 0 || names.some((name) => !/^[\w.-]+$/.test(name))) return null;
  const commandsOf = (name: string): readonly string[] =>
    (ini.get(`testenv:${name}`)?.get('commands') ?? ini.get('testenv')?.get('commands') ?? '')
      .split('\n')
      .map((line) => line.trim().replace(/^-\s*/, ''))
      .filter((line) => line !== '');
  return grouped(
    names.map((name) => ({ name, lines: commandsOf(name) })),
    (some) => `${tox} -e ${some.join(',')}${call.passedOn}`,
  );
}

interface Session {
  readonly name: string;
  readonly lines: readonly string[];
}

/** A step for each session; those that run tests are one, as they are one command's options. */
function grouped(
  sessions: readonly Session[],
  commandFor: (names: readonly string[]) => string,
): readonly RecipeLine[] | null {
  const kinds = sessions.map(({ name, lines }) => ({ name, lines, ...kindOfSession(name, lines) }));
  const tests = kinds.filter(({ kind }) => kind === 'tests');
  const [first] = tests;
  if (!first) return null;
  const inner = first.inner === undefined ? {} : { inner: first.inner };
  return kinds.flatMap((one): readonly RecipeLine[] => {
    if (one.kind !== 'tests') return [{ command: commandFor([one.name]), kind: one.kind }];
    return one === first
      ? [{ command: commandFor(tests.map(({ name }) => name)), kind: 'tests', ...inner }]
      : [];
  });
}

function kindOfSession(
  name: string,
  lines: readonly string[],
): { readonly kind: StepKind; readonly inner?: string } {
  const inner = lines.find((line) => stepKind(line) === 'tests');
  if (inner !== undefined) return { kind: 'tests', inner };
  const kinds = new Set(lines.map(stepKind));
  const named = stepKindByName(name);
  if (named) return { kind: named };
  const [only] = kinds;
  return { kind: kinds.size === 1 && only ? only : 'other' };
}

/** Sections of an INI file as tox reads it: indented lines continue a value. */
export function sectionsOf(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  let key = '';
  for (const line of text.split(/\r?\n/)) {
    const head = /^\[([^\]]+)\]/.exec(line);
    const pair = /^([\w-]+)\s*[=:]\s*(.*)$/.exec(line);
    if (/^\s*[#;]/.test(line)) continue;
    if (head) {
      section = new Map();
      sections.set(head[1] as string, section);
    } else if (pair) {
      key = pair[1] as string;
      section.set(key, pair[2] as string);
    } else if (/^\s+\S/.test(line) && key !== '') {
      section.set(key, `${section.get(key) ?? ''}\n${line.trim()}`);
    }
  }
  return sections;
}

function noxLines(start: string, given: readonly string[], files: Files): readonly RecipeLine[] | null {
  const text = files['noxfile.py'];
  const call = noxCall(given);
  const all = noxSessions(text);
  const wanted = call?.sessions ?? defaultSessions(text);
  const sessions = wanted.flatMap((name) => {
    const session = sessionNamed(name, all);
    return session ? [{ name, lines: session.commands }] : [];
  });
  if (!call || wanted.length === 0 || sessions.length < wanted.length) return null;
  const nox = [start, ...call.options].join(' ');
  const passedOn = call.passedOn.length > 0 ? ` -- ${call.passedOn.join(' ')}` : '';
  return grouped(sessions, (some) => `${nox} -s ${some.join(' ')}${passedOn}`);
}
