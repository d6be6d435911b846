import {
  closeSync,
  type Dirent,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { type Owner, runCommand } from '../processes.ts';

/** Depth of folders searched below a toolchain: deeper ones contain only packages. Our default. */
const DEPTH = 3;

/** Bytes of a file that are searched: settings are short. Our default. */
const SEARCHED_BYTES = 2 ** 20;

/** Files that always contain a credential. */
const ALWAYS =
  /^(?:\.netrc|_netrc|\.git-credentials|credentials(?:\.toml|\.json|\.yml)?|\.pypirc|id_(?:rsa|dsa|ecdsa|ed25519)|auth\.json|\.dockercfg|\.env|.*\.(?:p12|pfx|keystore))$/;

/** A user and a password in a URL. */
const LOGIN_IN_URL = /:\/\/[^/\s"'<>@]+@/;

/** Settings files that may contain a credential, each with the pattern that shows it. */
const SETTINGS: readonly { readonly name: RegExp; readonly holds: RegExp }[] = [
  { name: /^\.?npmrc$/, holds: /^[^#;\n]*(?:_auth|_password|username|keyfile|:\/\/[^/\s]+@)/im },
  {
    name: /^settings(?:-security)?\.xml$/,
    holds: /<(?:password|passphrase|privateKey|master|httpHeaders)>|:\/\/[^/\s<]+@/,
  },
  { name: /^gradle\.properties$/, holds: /^[^#\n]*(?:password|token|secret|apikey)\s*=/im },
  { name: /\.gradle(?:\.kts)?$/, holds: /password|credentials|token|secret/i },
  { name: /^pip\.(?:conf|ini)$/, holds: LOGIN_IN_URL },
  { name: /^(?:config(?:\.toml)?|\.gitconfig)$/, holds: /:\/\/[^/\s"]+@|^\s*token\s*=/im },
  { name: /^(?:\.yarnrc(?:\.yml)?|\.bunfig\.toml)$/, holds: /auth|token|password/i },
  // Conda's channels have tokens in their paths.
  { name: /^\.?condarc$/, holds: /:\/\/[^/\s]+@|\/t\/[^/\s]+\/|token|password/i },
  { name: /^\.?gemrc$/, holds: /:\/\/[^/\s]+@|api_key/i },
  // Settings of any other program, such as go.env.
  {
    name: /(?:^\..*rc|\.(?:env|conf|cfg|ini|properties|toml|xml|ya?ml))$/,
    holds: /:\/\/[^/\s:@"'<>]+:[^/\s@"'<>]+@/,
  },
];

/**
 * The file of a toolchain that contains, or may contain, a credential, as a clause; null if there is none. Follows no
 * link.
 */
export function credentialIn(root: string): string | null {
  for (const found of filesWithCredentials(root, DEPTH))
    return `${relative(root, found)} in it may hold a credential.`;
  return null;
}

/**
 * Files and folders of /usr, all of which every sandbox would see, that contain, or may contain, a credential: in the
 * places for settings that are no package's. Each folder of /usr/local may be a toolchain. What is in a folder that the
 * sandboxes' user cannot enter is left out: no sandbox sees it, and bubblewrap, which has that user, could not cover it.
 */
export async function credentialsInUsr(owner: Owner | null, usr = '/usr'): Promise<readonly string[]> {
  const found = [
    ...filesWithCredentials(join(usr, 'etc'), DEPTH),
    ...filesWithCredentials(join(usr, 'local'), DEPTH + 1),
  ];
  // A link that leads out of /usr leads nowhere in a sandbox.
  const real = found.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  const inside = [...new Set(real)].filter((path) => path.startsWith(`${usr}/`));
  if (owner === null || inside.length === 0) return inside;
  const { code, stdout } = await runCommand(['sh', '-c', REACHABLE, 'sh', ...inside], owner);
  const reached = new Set(stdout.split('\0'));
  return code === 0 ? inside.filter((path) => reached.has(path)) : inside;
}

/** Prints those of its arguments that its user can reach. */
const REACHABLE = `for path; do test ! -e "$path" || printf '%s\\0' "$path"; done`;

function* filesWithCredentials(folder: string, depth: number): Generator<string> {
  const entries = entriesOf(folder);
  const below: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name === '.ssh' || entry.name === '.aws' || entry.name === '.gnupg') yield path;
    else if (entry.isDirectory()) below.push(path);
    else if (holdsCredential(entry.name, path)) yield path;
  }
  if (depth > 1) for (const path of below) yield* filesWithCredentials(path, depth - 1);
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Unreadable for this process: a sandbox, whose user has no more rights, cannot read it either.
    return [];
  }
}

function holdsCredential(name: string, path: string): boolean {
  if (ALWAYS.test(name)) return true;
  const settings = SETTINGS.filter((each) => each.name.test(name));
  if (settings.length === 0) return false;
  try {
    // Nobody may ever write to a FIFO.
    if (!statSync(path).isFile()) return false;
    const text = beginningOf(path).replaceAll(/<!--.*?-->/gs, '');
    return settings.some(({ holds }) => holds.test(text));
  } catch {
    // A credential cannot be ruled out.
    return true;
  }
}

function beginningOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(SEARCHED_BYTES, statSync(path).size));
    return bytes.toString('utf8', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
