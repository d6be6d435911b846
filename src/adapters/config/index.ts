import { readFile, stat } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { Fault } from '../../core/model/index.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The variables of a `.env` file. Faults: ENVIRONMENT_INVALID when it is not there, cannot be read or has a malformed line. */
export async function readEnvFile(path: string): Promise<Readonly<Record<string, string>>> {
  const text = await readText(path);
  if (text === null) throw new Fault('ENVIRONMENT_INVALID', `There is no settings file ${path}.`);
  const line = malformedLine(text);
  if (line !== null) {
    throw new Fault('ENVIRONMENT_INVALID', `Line ${line} of ${path} is neither NAME=value nor a # comment.`);
  }
  return variablesOf(text);
}

/** One entry of a settings file as `parseEnv` reads it: a value in quotes may span lines. */
const ENTRY =
  /[ \t]*(?:#[^\n]*|(?:export[ \t]+)?[A-Za-z_][\w.-]*[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)?[^\n]*)?\r?(?:\n|$)/y;

/** Number of the first line that is no entry, from 1: `parseEnv` drops it or takes it for part of the next name. */
function malformedLine(text: string): number | null {
  const entry = new RegExp(ENTRY);
  while (entry.lastIndex < text.length) {
    const start = entry.lastIndex;
    if (!entry.test(text)) return text.slice(0, start).split('\n').length;
  }
  return null;
}

/** Bytes; a settings file is much smaller. Our default. */
const LARGEST_FOREIGN_FILE = 256 * 1024;

/**
 * Names of the variables that a file of somebody else's sets, which is not to be obeyed. None where it cannot be read, is
 * no regular file, or is larger than settings are.
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

/** The environment over a `.env` file: what is set in the real environment wins, empty values included. */
export const overFile = (file: Readonly<Record<string, string>>, env: Env): Env => ({
  ...file,
  ...defined(env),
});

/** `env` with PRIVATE_KEY read from the file PRIVATE_KEY_PATH, where only the path is set. Faults: ENVIRONMENT_INVALID. */
export async function withPrivateKey(env: Env): Promise<Env> {
  const path = env.PRIVATE_KEY_PATH?.trim();
  if (!path || env.PRIVATE_KEY?.trim()) return env;
  const key = await readText(path);
  if (key === null) throw new Fault('ENVIRONMENT_INVALID', `PRIVATE_KEY_PATH: there is no file ${path}.`);
  return { ...env, PRIVATE_KEY: key };
}

const defined = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Fault('ENVIRONMENT_INVALID', `${path} cannot be read (${code ?? 'unknown reason'}).`, {
      cause: thrown,
    });
  }
}
