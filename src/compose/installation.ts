import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { runCommand } from '../adapters/sandbox/index.ts';
import { OWN } from './data-folder.ts';

const ROOT = dirname(OWN.package);

const isPackage = (root: string): boolean => root.split(sep).includes('node_modules');

/** What has a script of its own in a checkout. */
const CHECKOUT_SCRIPTS: Readonly<Record<string, string>> = { serve: 'npm start', demo: 'npm run demo --' };

/** How people start a command of Runoff from a shell: its program if npm installed it, else a script of its checkout. */
export const ownCommand = (command: string, root = ROOT): string =>
  isPackage(root)
    ? `runoff ${command}`
    : (CHECKOUT_SCRIPTS[command] ?? `npm run --silent runoff -- ${command}`);

/** A sentence that says how its packages are installed. */
export const ownSetUp = (root = ROOT): string =>
  isPackage(root) ? 'Install Runoff again with npm, as the first time.' : 'Run `npm run setup`.';

/** The commit that Runoff's sources are of, with `-dirty` if they have been changed; null if nothing says it. */
export async function ownCommit(root = ROOT): Promise<string | null> {
  // Git would answer for the repository around an installed package.
  if (existsSync(join(root, '.git'))) {
    const describe = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
    const { code, stdout } = await runCommand(['git', '-C', root, ...describe], null);
    return code === 0 ? stdout.trim() : null;
  }
  const text = await readFile(join(root, 'build-info.json'), 'utf8').catch(() => null);
  // Written into the package by `npm run pack`.
  return text === null ? null : (JSON.parse(text) as { readonly commit: string }).commit;
}
