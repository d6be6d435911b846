import { readdirSync, readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseEnv } from 'node:util';
import { PERSONA_NAME, type Personas, parsePersona } from '../../core/debate/index.ts';
import { Fault, type FaultCode } from '../../core/model/index.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The variables of a `.env` file. Faults: `unread` if it does not exist or is unreadable, ENVIRONMENT_INVALID if it has a
 * malformed line.
 */
export async function readEnvFile(
  path: string,
  unread: 'COMMAND_LINE_INVALID' | 'ENVIRONMENT_INVALID' = 'ENVIRONMENT_INVALID',
): Promise<Readonly<Record<string, string>>> {
  const text = await readText(path, unread);
  if (text === null) throw new Fault(unread, `There is no settings file ${path}.`);
  const line = malformedLine(text);
  if (line !== null) {
    throw new Fault('ENVIRONMENT_INVALID', `Line ${line} of ${path} is neither NAME=value nor a # comment.`);
  }
  return variablesOf(text);
}

/** One entry of a settings file as `parseEnv` reads it: a value in quotes may span lines. */
const ENTRY =
  /[ \t]*(?:#[^\n]*|(?:export[ \t]+)?[A-Za-z_][\w.-]*[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)?[^\n]*)?\r?(?:\n|$)/y;

/** Number of the first malformed line, from 1: `parseEnv` ignores it or takes it for part of the next name. */
function malformedLine(text: string): number | null {
  const entry = new RegExp(ENTRY);
  while (entry.lastIndex < text.length) {
    const start = entry.lastIndex;
    if (!entry.test(text)) return text.slice(0, start).split('\n').length;
  }
  return null;
}

/** Maximum size of a foreign settings file, in bytes; real ones are much smaller. Our default. */
const LARGEST_FOREIGN_FILE = 256 * 1024;

/**
 * Names of the variables in a settings file that is not Runoff's and is not applied. None if it is unreadable, not a
 * regular file, or larger than settings are.
 */
export async function variablesNamedIn(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile() || found.size > LARGEST_FOREIGN_FILE) return [];
  const text = await readFile(path, 'utf8').catch(() => '');
  return Object.keys(variablesOf(text));
}

const variablesOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(parseEnv(text)).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** Merges the environment over a `.env` file: variables set in the environment win, empty values included. */
export const overFile = (file: Readonly<Record<string, string>>, env: Env): Env => ({
  ...file,
  ...defined(env),
});

/** Sets PRIVATE_KEY from the file PRIVATE_KEY_PATH if only the path is set. Faults: ENVIRONMENT_INVALID. */
export async function withPrivateKey(env: Env): Promise<Env> {
  const path = env.PRIVATE_KEY_PATH?.trim();
  if (!path || env.PRIVATE_KEY?.trim()) return env;
  const key = await readText(path);
  if (key === null) throw new Fault('ENVIRONMENT_INVALID', `PRIVATE_KEY_PATH: there is no file ${path}.`);
  return { ...env, PRIVATE_KEY: key };
}

const defined = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));

async function readText(path: string, unread: FaultCode = 'ENVIRONMENT_INVALID'): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Fault(unread, `${path} cannot be read (${code ?? 'unknown reason'}).`, { cause: thrown });
  }
}

/** Variants in the order in which contestants take them; files that are not named here follow by name. */
const ORDER = ['plain', 'careful', 'test-first', 'root-cause'];

/** Prompts that there is one of. */
type Single =
  | 'planner'
  | 'setup'
  | 'critic'
  | 'synthesiser'
  | 'judge'
  | 'independentTests'
  | 'distinguish'
  | 'reviewer';

/**
 * Reads prompts from Markdown files. A file of the same name in `overrides` replaces the built-in one; an additional
 * `coder/*.md` there adds a variant, an additional `personas/*.md` a persona. Fault ENVIRONMENT_INVALID for unreadable
 * or unusable files.
 */
export function readPrompts(
  folders: Readonly<Record<Single, string>> & {
    coder: string;
    personas: string;
    overrides?: string | undefined;
  },
): Readonly<Record<Single, string>> & { coder: ReadonlyMap<string, string>; personas: Personas } {
  const { overrides } = folders;
  const both = (ours: string, name: string) =>
    new Map([...filesIn(ours), ...(overrides ? filesIn(join(overrides, name)) : [])]);
  const all = both(folders.coder, 'coder');
  const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const names = [...all.keys()].toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const one = (name: string, ours: string): string =>
    (overrides ? readIf(join(overrides, name)) : null) ?? readFileSync(ours, 'utf8');
  return {
    planner: one('planner.md', folders.planner),
    setup: one('setup.md', folders.setup),
    critic: one('critic.md', folders.critic),
    synthesiser: one('synthesiser.md', folders.synthesiser),
    judge: one('judge.md', folders.judge),
    independentTests: one('independent-tests.md', folders.independentTests),
    distinguish: one('distinguish.md', folders.distinguish),
    reviewer: one('reviewer.md', folders.reviewer),
    coder: new Map(names.map((name) => [name, all.get(name) as string])),
    personas: personasOf(both(folders.personas, 'personas')),
  };
}

function personasOf(texts: ReadonlyMap<string, string>): Personas {
  return new Map(
    [...texts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, text]) => {
        const persona = parsePersona(text);
        if (!PERSONA_NAME.test(name))
          throw new Fault(
            'ENVIRONMENT_INVALID',
            `The persona ${JSON.stringify(name)} in RUNOFF_PROMPTS needs another file name: lower-case letters, digits and hyphens, at most 41.`,
          );
        if (!persona)
          throw new Fault('ENVIRONMENT_INVALID', `The persona ${name} in RUNOFF_PROMPTS is empty.`);
        return [name, persona];
      }),
  );
}

/** Texts of a folder's Markdown files, by name without its extension. */
function filesIn(folder: string): Map<string, string> {
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch (thrown) {
    if (isMissing(thrown)) return new Map();
    throw new Fault('ENVIRONMENT_INVALID', `The prompts in ${folder} cannot be read.`, { cause: thrown });
  }
  const markdown = files.filter((file) => file.endsWith('.md'));
  return new Map(markdown.map((file) => [basename(file, '.md'), readFileSync(join(folder, file), 'utf8')]));
}

function readIf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw new Fault('ENVIRONMENT_INVALID', `The prompt ${file} cannot be read.`, { cause: thrown });
  }
}

const isMissing = (thrown: unknown): boolean => (thrown as NodeJS.ErrnoException).code === 'ENOENT';
