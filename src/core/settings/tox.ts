import { z } from 'zod';
import { MAX_COMMAND_CHARS, namesTests } from './ci-commands.ts';
import { stepKind } from './command-kinds.ts';
import { inFolder } from './folder-parts.ts';
import { sectionsOf } from './recipes.ts';
import { readPlainToml } from './toml-and-yaml.ts';

type Read = Readonly<Record<string, string>>;

/** What tox installs and sets for the tests, as `[testenv]` of tox.ini says; not yet checked for pip or a shell. */
interface ToxEnvironment {
  /** Paths of requirement lists. */
  readonly lists: readonly string[];
  /** Packages with versions, in pip's syntax. */
  readonly packages: readonly string[];
  readonly extras: readonly string[];
  /** Groups of `[dependency-groups]`. */
  readonly groups: readonly string[];
  /** `NAME=value` of variables that the tests see. */
  readonly variables: readonly string[];
}

/** Maximum lines of a value, those of its references included. */
const MAX_VALUE_LINES = 200;
/** Maximum references from one section to another of one value; real files have one. */
const MAX_REFERENCES = 20;
/** A condition on the name of the environment, such as `django42: …`: only tox knows which one is meant. */
const FACTORS = /^[\w!{},.-]+:/;
/**
 * Variables of Python and its tools, which the sandbox sets itself (those with options of test runners carry the one
 * for the report) or which make an old suite fail on a newer Python.
 */
const OF_TOOLS =
  /^(?:PYTHON\w*|PYTEST_\w+|PIP_\w+|UV_\w+|COV\w*|TOX\w*|VIRTUAL\w*|PATH|HOME|NODE_OPTIONS|SPEC_OPTS|TESTOPTS|MINITEST_REPORTER|MT_CPU|PARALLEL_WORKERS|\w*(?:TOKEN|SECRET|PASSWORD|KEY))$/;

export function toxEnvironment(read: Read): ToxEnvironment {
  const sections = toxSections(read);
  const lines = (key: string, other = key): readonly string[] => {
    const section = sections.get('testenv');
    return linesWithReferences(section?.get(key) ?? section?.get(other) ?? '', sections);
  };
  const names = (key: string, other = key): readonly string[] =>
    lines(key, other)
      .flatMap((line) => line.split(/[\s,]+/))
      .filter((name) => /^[\w.-]{1,60}$/.test(name));
  const native = nativeTox(read).env_run_base;
  const needs = [...lines('deps'), ...native.deps];
  const inner = needs.flatMap((line) => /^(?:-e ?)?\.\[([\w., -]+)\]$/.exec(line)?.[1]?.split(/[ ,]+/) ?? []);
  return {
    lists: needs.flatMap((line) => /^-r ?([\w./-]+)$/.exec(line)?.[1] ?? []),
    packages: needs.filter((line) => /^[A-Za-z0-9]/.test(line)),
    extras: [...names('extras'), ...inner, ...native.extras],
    groups: [...names('dependency_groups'), ...native.dependency_groups],
    variables: lines('setenv', 'set_env').flatMap((line) => {
      const [, name = '', value = ''] = /^(\w+)\s*=\s*([\w@./:,+-]+)$/.exec(line) ?? [];
      return value === '' || OF_TOOLS.test(name) ? [] : [`${name}=${value}`];
    }),
  };
}

/** Sections of tox.ini, or of its text in pyproject.toml. */
const toxSections = (read: Read): ReturnType<typeof sectionsOf> =>
  sectionsOf((read['tox.ini'] ?? inPyproject(read).legacy_tox_ini).slice(0, 64 * 1024));

const Words = z.array(z.string()).catch([]);
const Native = z.object({
  deps: Words,
  extras: Words,
  dependency_groups: Words,
});
const NONE = { deps: [], extras: [], dependency_groups: [] };
const Tox = z.object({
  legacy_tox_ini: z.string().catch(''),
  /** Names, or tables that stand for several. */
  env_list: z.array(z.unknown()).catch([]),
  env_run_base: Native.catch(NONE),
});
const Pyproject = z.object({ tool: z.object({ tox: Tox }) });

const NO_TOX: z.infer<typeof Tox> = { legacy_tox_ini: '', env_list: [], env_run_base: NONE };

const inPyproject = (read: Read): z.infer<typeof Tox> =>
  Pyproject.safeParse(readPlainToml(read['pyproject.toml'] ?? '')).data?.tool.tox ?? NO_TOX;

/** tox's own TOML. */
const nativeTox = (read: Read): z.infer<typeof Tox> =>
  read['tox.toml'] === undefined
    ? inPyproject(read)
    : (Tox.safeParse(readPlainToml(read['tox.toml'])).data ?? NO_TOX);

/** Whether tox environments differ by Python version. The sandbox has one version, which tox calls `py`. */
export function listsVersions(read: Read): boolean {
  const tox = toxSections(read).get('tox');
  const listed = tox?.get('envlist') ?? tox?.get('env_list');
  const names = listed ?? JSON.stringify(nativeTox(read).env_list).replaceAll(/["[\]]/g, ' ');
  return /(?:^|[\s,{])(?:py(?:\d|py|\{)|\d\.[\d{])/.test(names);
}

/**
 * Lines of a value without those for some environments only; `{[section]key}` is replaced by what is there. Each key is
 * expanded once (`seen`): expanded at each reference, a small file would become billions of lines.
 */
function linesWithReferences(
  value: string,
  sections: ReturnType<typeof toxSections>,
  seen = new Set<string>(),
): readonly string[] {
  const found: string[] = [];
  for (const line of linesOf(value)) {
    if (found.length >= MAX_VALUE_LINES) break;
    const [reference, section = '', key = ''] = /^\{\[([^\]]+)\]([\w-]+)\}$/.exec(line) ?? [];
    if (reference === undefined) {
      if (line.length <= MAX_COMMAND_CHARS && !FACTORS.test(line)) found.push(line);
    } else if (!seen.has(reference) && seen.size < MAX_REFERENCES) {
      seen.add(reference);
      found.push(...linesWithReferences(sections.get(section)?.get(key) ?? '', sections, seen));
    }
  }
  return [...new Set(found)].slice(0, MAX_VALUE_LINES);
}

const linesOf = (value: string | undefined): readonly string[] =>
  (value ?? '')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');

/** The test command of tox environments. */
export function toxTests(read: Read): { readonly command: string; readonly file: string } | null {
  const sections = toxSections(read);
  const section = sections.get('testenv');
  const line = linesOf(section?.get('commands'))
    .flatMap((one) => (one.startsWith('{[') ? linesWithReferences(one, sections) : [one]))
    .map((one) => one.replace(/^-\s+/, ''))
    .find((one) => stepKind(one) === 'tests' || namesTests(one));
  if (line === undefined || line.length > MAX_COMMAND_CHARS) return null;
  const command = filledIn(line);
  if (/[{}]/.test(command)) return null;
  const folder = filledIn(section?.get('changedir') ?? section?.get('change_dir') ?? '').replace(/^\.\//, '');
  const file = read['tox.ini'] === undefined ? 'pyproject.toml' : 'tox.ini';
  // tox knows other places, such as its own folder, where the tests need not be.
  const isFolder = folder !== '.' && /^[\w.-]+(?:\/[\w.-]+)*$/.test(folder);
  return { command: inFolder(isFolder ? folder : '', command), file };
}

/** What tox knows of its environment, as for the tests at the top of the repository. */
const filledIn = (line: string): string =>
  line
    .replace(/\s*\{posargs(?::([^{}]*))?\}/g, (_, usual = '') => (usual ? ` ${usual}` : ''))
    .replaceAll(/\{env_?python\}/g, 'python3')
    .replaceAll(/\{(?:toxinidir|tox_root)\}/g, '.')
    .trim();
