import type { PackageFacts } from './package-scripts.ts';

export const LOCKS: readonly (readonly [file: string, manager: string, setup: string])[] = [
  ['pnpm-lock.yaml', 'pnpm', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', 'yarn', 'yarn install --frozen-lockfile'],
  ['bun.lock', 'bun', 'bun install --frozen-lockfile'],
  ['bun.lockb', 'bun', 'bun install --frozen-lockfile'],
  ['package-lock.json', 'npm', 'npm ci --no-audit --no-fund'],
  ['npm-shrinkwrap.json', 'npm', 'npm ci --no-audit --no-fund'],
];

/** The package manager that runs the scripts of package.json. */
export const nodeManager = (facts: PackageFacts, files: ReadonlySet<string>): string =>
  facts.manager ?? LOCKS.find(([file]) => files.has(file))?.[1] ?? 'npm';

/** The command that installs the packages of package.json. */
export function nodeInstall(facts: PackageFacts, files: ReadonlySet<string>): string {
  const lock = LOCKS.find(([file]) => files.has(file));
  const manager = nodeManager(facts, files);
  // Yarn 2 and later use another name for the option.
  if (manager === 'yarn' && files.has('.yarnrc.yml')) return 'yarn install --immutable';
  return lock?.[1] === manager ? lock[2] : `${manager} install`;
}

/**
 * A set-up or build whose native packages are compiled with the headers beside the Node on PATH: node-gyp would
 * download them from a host that is not a registry. Unchanged if it starts no package manager of Node, or may choose
 * another Node first.
 */
export const withNodeHeaders = (command: string): string =>
  /\b(?:npm|npx|pnpm|yarn|bun|lerna|node-gyp)\b/.test(command) && !CHOOSES_NODE.test(command)
    ? `${NODE_HEADERS}${command}`
    : command;

const CHOOSES_NODE = /\bPATH=|\b(?:nvm|fnm|volta|asdf|mise|nodeenv)\b/;

const NODE_HEADERS =
  'at=$(readlink -f -- "$(command -v node)") && at=$(dirname -- "$(dirname -- "$at")") && [ -z "$npm_config_nodedir$NPM_CONFIG_NODEDIR" ] && [ -f "$at/include/node/node_version.h" ] && export npm_config_nodedir="$at"; unset at; ';
