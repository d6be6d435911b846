import { MAX_COMMAND_CHARS, namesTests } from './ci-commands.ts';
import { stepKind, unquoted } from './command-kinds.ts';
import { wordsOf } from './program-words.ts';

/** A session of a noxfile that is written as a plain function. */
interface NoxSession {
  readonly name: string;
  /** The words of each literal `session.run(…)`. */
  readonly commands: readonly string[];
  /** The text of its function. */
  readonly text: string;
  /** It names the versions of Python that it wants. */
  readonly hasVersions: boolean;
}

/** Maximum characters of a noxfile that are read. */
const MAX_NOXFILE_CHARS = 64 * 1024;

export const noxSessions = (text = ''): readonly NoxSession[] =>
  text
    .slice(0, MAX_NOXFILE_CHARS)
    .split(/^(?=@nox\.session|@session)/m)
    .slice(1)
    .flatMap((block) => {
      const head = block.split('\ndef ', 1)[0] ?? '';
      const own = /name\s*=\s*["']([\w.-]+)["']/.exec(head)?.[1] ?? /^def (\w+)\(/m.exec(block)?.[1];
      if (own === undefined) return [];
      const hasVersions = /\bpython\s*=\s*(?!None\b|False\b)/.test(head);
      return [{ name: own, commands: sessionCommands(block), text: block, hasVersions }];
    });

const sessionCommands = (block: string): readonly string[] =>
  [...block.matchAll(/session\.run\(([^)]*)\)/g)].map(([, list = '']) =>
    [...list.matchAll(/["']([^"'\n]+)["']/g)].map(([, word]) => word as string).join(' '),
  );

/** What a session installs, as far as it is written down literally; not yet checked for pip or a shell. */
interface NoxInstalls {
  /** Paths of requirement lists. */
  readonly lists: readonly string[];
  /** Packages with versions, in pip's syntax. */
  readonly packages: readonly string[];
  /** Extras of the project itself. */
  readonly extras: readonly string[];
  /** Groups of `[dependency-groups]`. */
  readonly groups: readonly string[];
}

/** With what is between brackets in it, once. */
const INSTALL = /session\.install\(((?:[^()"']|"[^"\n]*"|'[^'\n]*'|\([^()]*\))*)\)/g;
/** Text that Python fills in is none. */
const WRITTEN_TEXT = /(\w?)(?:"([^"\n]*)"|'([^'\n]*)')(\s*(?:%|\.\w))?/g;

/** The first session that runs tests: known ones, else a program that is named so. */
function sessionOfTests(noxfile: string | undefined): NoxSession | undefined {
  const all = noxSessions(noxfile);
  return (
    all.find(({ commands }) => commands.some((line) => stepKind(line) === 'tests')) ??
    all.find(({ commands }) => commands.some(namesTests))
  );
}

/**
 * The command of a session's tests, if all its words are written literally: it needs no environment of nox. Null for
 * pytest, which is started as usual.
 */
export function noxTests(
  noxfile: string | undefined,
): { readonly command: string; readonly file: string } | null {
  const calls = [...(sessionOfTests(noxfile)?.text ?? '').matchAll(RUN)].map(([, list = '']) => list.trim());
  const command = calls
    .filter((list) => WRITTEN_RUN.test(list))
    .map((list) => literals(list).join(' '))
    .find((one) => stepKind(one) === 'tests' || namesTests(one));
  const isPlain = command !== undefined && /^[\w@./:=,+ -]+$/.test(command) && !/\bpy\.?test\b/.test(command);
  return isPlain && command.length <= MAX_COMMAND_CHARS ? { command, file: 'noxfile.py' } : null;
}

const RUN = /session\.run\(([^()]*)\)/g;
/** Literal texts, and at the end what the caller passes on; no variables, folders or environment. */
const WRITTEN_RUN =
  /^(?:(?:"[^"\n]*"|'[^'\n]*')\s*,\s*)*(?:"[^"\n]*"|'[^'\n]*'|\*session\.posargs)(?:\s*,)?$/;

/** What the first session that runs tests installs. */
export function noxInstalls(noxfile: string | undefined): NoxInstalls {
  const session = sessionOfTests(noxfile);
  const calls = [...(session?.text ?? '').matchAll(INSTALL)].map(([, list = '']) => list);
  const groups = calls.flatMap((list) =>
    [...list.matchAll(/dependency_groups\([^,()]+,([^()]*)\)/g)].flatMap(([, names = '']) => literals(names)),
  );
  const found = { lists: [] as string[], packages: [] as string[], extras: [] as string[], groups };
  for (const list of calls) {
    const words = literals(list.replace(/\w*\([^()]*\)/g, '')).flatMap(splitPipOption);
    for (const [at, word] of words.entries()) {
      const before = words[at - 1] ?? '';
      const extras = /^\.\/?\[([\w., -]+)\]$/.exec(word)?.[1];
      if (/^(?:-r|--requirement)$/.test(before)) found.lists.push(word);
      else if (before === '--group') found.groups.push(word);
      else if (/^(?:-c|--constraint)$/.test(before)) continue;
      else if (extras !== undefined) found.extras.push(...extras.split(/[ ,]+/));
      else if (/^[A-Za-z0-9]/.test(word)) found.packages.push(word);
    }
  }
  return found;
}

/** `-e.[tests]` and `--group=tests` as two words. */
const splitPipOption = (word: string): readonly string[] => {
  const [, option, value] =
    /^(-[rce]|--(?:requirement|constraint|editable|group))[= ]?(.+)$/s.exec(word) ?? [];
  return option === undefined || value === undefined ? [word] : [option, value];
};

const literals = (list: string): readonly string[] =>
  [...list.matchAll(WRITTEN_TEXT)].flatMap(([, prefix, one, other, filledIn]) =>
    prefix === '' && filledIn === undefined ? [one ?? other ?? ''] : [],
  );

/** The sessions that run without being named. */
export function defaultSessions(text = ''): readonly string[] {
  const named = /^nox\.options\.sessions\s*=\s*[[(]([^\])]*)[\])]/m.exec(text)?.[1];
  return named === undefined
    ? noxSessions(text).map(({ name }) => name)
    : [...named.matchAll(/["']([\w.-]+)["']/g)].map(([, one]) => one as string);
}

/** The words of a command of nox, after its name. */
interface NoxCall {
  /** Options that apply to every session. */
  readonly options: readonly string[];
  /** As written; null if the command names none. */
  readonly sessions: readonly string[] | null;
  /** What the sessions get, without `--`. */
  readonly passedOn: readonly string[];
}

const NOX_FLAG =
  /^(?:-[Rrvx]|--(?:verbose|(?:no-)?reuse-existing-virtualenvs|no-install|install-only|(?:no-)?stop-on-first-error|(?:no-)?error-on-(?:missing-interpreters|external-run)|non-interactive))$/;
const NOX_SESSIONS = /^(?:-s|-e|--sessions?)$/;
/** These take all words up to the next option. */
const NOX_PYTHONS = /^(?:-[pP]|--(?:force-|extra-)?pythons?)$/;

/** Null if other options select the sessions. */
export function noxCall(words: readonly string[]): NoxCall | null {
  const end = words.indexOf('--');
  const given = words.slice(0, end < 0 ? words.length : end).flatMap(splitOption);
  const options: string[] = [];
  const sessions: string[] = [];
  let values: string[] | null = null;
  for (const word of given) {
    if (NOX_SESSIONS.test(word)) values = sessions;
    else if (NOX_PYTHONS.test(word)) {
      values = options;
      options.push(word);
    } else if (NOX_FLAG.test(word)) {
      values = null;
      options.push(word);
    } else if (values && !word.startsWith('-')) values.push(word);
    else return null;
  }
  const isNamed = given.some((word) => NOX_SESSIONS.test(word));
  if (isNamed && sessions.length === 0) return null;
  return { options, sessions: isNamed ? sessions : null, passedOn: end < 0 ? [] : words.slice(end + 1) };
}

/** `--session=tests` as two words. */
const splitOption = (word: string): readonly string[] => {
  const [, option, value] = /^(--[a-z-]+)=(.+)$/s.exec(word) ?? [];
  return option === undefined || value === undefined ? [word] : [option, value];
};

/** The session that a word names: `tests-3.12` and `tests(django='5')` are runs of `tests`. */
export function sessionNamed(word: string, all: readonly NoxSession[]): NoxSession | undefined {
  const name = unquoted(word);
  const plain = name.replace(/\(.*\)$/s, '').replace(/-(?:python|pypy)?\d[\d.]*$/, '');
  return all.find((one) => one.name === name) ?? all.find((one) => one.name === plain);
}

/**
 * Options of nox so that sessions for several versions of Python run once, with the one that the sandbox has: nox
 * fails where one is missing. Unchanged where the command names versions by an option, or no session does.
 */
export function withOnePython(options: string, noxfile: string | undefined): string {
  const call = noxCall(wordsOf(options));
  const all = noxSessions(noxfile);
  if (!call || call.options.some((word) => NOX_PYTHONS.test(word))) return options;
  const chosen = call.sessions?.map((word) => ({ word, session: sessionNamed(word, all) }));
  const run = chosen?.map(({ session }) => session) ?? all;
  if (!run.some((one) => one?.hasVersions)) return options;
  const names = chosen?.map(({ word, session }) =>
    session?.hasVersions && !word.includes('(') ? session.name : word,
  );
  return [
    ...['', '-P python3', ...call.options],
    ...(names ? ['-s', ...new Set(names)] : []),
    ...(call.passedOn.length > 0 ? ['--', ...call.passedOn] : []),
  ].join(' ');
}
