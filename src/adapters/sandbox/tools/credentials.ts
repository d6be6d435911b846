import { type Dirent, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Depth of folders searched below a toolchain: deeper ones contain only packages. Our default. */
const DEPTH = 3;

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
 * places for settings that are no package's. Each folder of /usr/local may be a toolchain.
 */
export function credentialsInUsr(usr = '/usr'): readonly string[] {
  const found = [
    ...filesWithCredentials(join(usr, 'etc'), DEPTH),
    ...filesWithCredentials(join(usr, 'local'), DEPTH + 1),
  ];
  // A link that leads out of /usr leads nowhere in a sandbox.
  const real = found.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  return [...new Set(real)].filter((path) => path.startsWith(`${usr}/`));
}

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
    const text = readFileSync(path, 'utf8').replaceAll(/<!--.*?-->/gs, '');
    return settings.some(({ holds }) => holds.test(text));
  } catch {
    // A credential cannot be ruled out.
    return true;
  }
}
