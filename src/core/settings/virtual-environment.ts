import { chainParts } from './command-kinds.ts';
import { folderParts, inFolder } from './folder-parts.ts';
import { VENV } from './python-setup.ts';

/** Programs of Python packages that can be started as modules too. */
const MODULES = /^(?:pip|pytest|tox|nox|coverage|stestr|nose2|green)[\d.]*$/;

/** The top of the repository, as a folder. */
const TOP = '';

/**
 * Rewrites a command for system-wide Python to run in the virtual environment nearest to the folder that it enters:
 * there, or above it. `folders` are those with an environment. Without one, the command stays as it is.
 */
export function inVenv(command: string, folders: readonly string[] = [TOP]): string {
  if (folders.length === 0) return command;
  const parts = folderParts(command).map(({ folder, line }) => {
    const [nearest] = above(folder, folders);
    const inner = nearest === undefined ? line : inside(line, `${wayUp(nearest, folder)}${VENV}`);
    return inFolder(folder, inner);
  });
  return parts.join(' && ');
}

/** Those of `folders` that contain this one or are it, nearest first. */
const above = (folder: string, folders: readonly string[]): readonly string[] =>
  folders
    .filter((one) => one === TOP || `${folder}/`.startsWith(`${one}/`))
    .toSorted((a, b) => b.length - a.length);

/** The path from a folder to one above it. */
const wayUp = (to: string, from: string): string => '../'.repeat(depthOf(from) - depthOf(to));

const depthOf = (folder: string): number => (folder === TOP ? 0 : folder.split('/').length);

function inside(command: string, python: string): string {
  const parts = chainParts(command) ?? [command];
  return parts
    .map((part) => {
      const [, set = '', program = '', rest = ''] =
        /^((?:\w+=\S*\s+)*)(?:(?:poetry|pdm|pipenv|uv)\s+run\s+(?=(?:python|pytest|coverage|tox|nox)\b))?(\S+)(.*)$/s.exec(
          part,
        ) ?? [];
      if (/^python[\d.]*$/.test(program)) return `${set}${python}${rest}`;
      if (MODULES.test(program)) return `${set}${python} -m ${program.replace(/[\d.]+$/, '')}${rest}`;
      // Tests have no network, so uv must not look for newer packages.
      if (program === 'uv')
        return part.replace(/^((?:\w+=\S*\s+)*uv\s+run)\s+(?!.*--no-sync)/, '$1 --no-sync ');
      return part;
    })
    .join(' && ');
}

/**
 * The folders in which a command makes a virtual environment `.venv`, or uses one; empty for none. poetry and pipenv
 * make another by default. `workspace`: the manifest at the top defines a workspace of uv, which has one environment.
 */
export const venvFolders = (command: string, workspace = false): readonly string[] => [
  ...new Set(
    folderParts(command).flatMap(({ folder, line }) => [
      ...line.split(/[\s'"=:;|&()<>]+/).flatMap((word) => folderOfVenv(word, folder)),
      ...(/\buv sync\b/.test(line) ? [workspace ? TOP : folder] : []),
      ...(/\bpdm (?:sync|install)\b|_IN_PROJECT=(?:true|1)\b/.test(line) ? [folder] : []),
    ]),
  ),
];

/** The folder of the environment that a word names, such as `../.venv/bin/python`, in this folder. */
function folderOfVenv(word: string, folder: string): readonly string[] {
  const [, before] = /^(?:\$PWD\/|\$\{PWD\}\/)?((?:[\w@.-]+\/)*)\.venv(?:\/|$)/.exec(word) ?? [];
  if (before === undefined) return [];
  const found: string[] = [];
  for (const part of `${folder}/${before}`.split('/'))
    if (part !== '..') found.push(...(part === '' || part === '.' ? [] : [part]));
    else if (found.pop() === undefined) return [];
  return [found.join('/')];
}

interface VenvCommands {
  readonly setup?: string | undefined;
  readonly test?: string | undefined;
}

/**
 * Put in front of a build, test or type check: what it starts finds the programs of its environment, also through
 * `make`, a script or `manage.py`. The one nearest to the folder that `command` enters comes first. Empty if there is
 * none.
 */
export function venvPath({ setup = '', test = '' }: VenvCommands, command = ''): string {
  // Only the manifest at the top says whether a folder belongs to a workspace of uv; a folder that is missing is passed
  // over.
  const all = [setup, test].flatMap((one) => [...venvFolders(one), ...venvFolders(one, true)]);
  const [entered, ...others] = folderParts(command);
  const first = entered === undefined || others.length > 0 ? [] : above(entered.folder, all);
  const folders = [...new Set([...first, ...all])];
  const path = folders.map((folder) => `$PWD/${folder === TOP ? '' : `${folder}/`}.venv/bin:`).join('');
  return path === '' ? '' : `export PATH="${path}$PATH"; `;
}
