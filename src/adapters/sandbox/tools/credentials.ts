import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Depth of folders searched below a toolchain: deeper ones contain only packages. Our default. */
const DEPTH = 3;

/** Files that always contain a credential. */
const ALWAYS =
  /^(?:\.netrc|_netrc|\.git-credentials|credentials(?:\.toml|\.json|\.yml)?|\.pypirc|id_(?:rsa|dsa|ecdsa|ed25519)|auth\.json|\.dockercfg|\.env|.*\.(?:p12|pfx|keystore))$/;

/** Settings files that may contain a credential, each with the pattern that shows it. */
const SETTINGS: readonly { readonly name: RegExp; readonly holds: RegExp }[] = [
  { name: /^\.?npmrc$/, holds: /^[^#;\n]*(?:_auth|_password|username|keyfile|:\/\/[^/\s]+@)/im },
  { name: /^settings(?:-security)?\.xml$/, holds: /<(?:password|passphrase|privateKey|master)>/ },
  { name: /^gradle\.properties$/, holds: /^[^#\n]*(?:password|token|secret|apikey)\s*=/im },
  { name: /^pip\.(?:conf|ini)$/, holds: /:\/\/[^/\s]+@/ },
  { name: /^(?:config(?:\.toml)?|\.gitconfig)$/, holds: /:\/\/[^/\s"]+@|^\s*token\s*=/im },
  { name: /^(?:\.yarnrc(?:\.yml)?|\.bunfig\.toml)$/, holds: /auth|token|password/i },
];

/**
 * The file of a toolchain that contains, or may contain, a credential, as a clause; null if there is none. Follows no
 * link.
 */
export function credentialIn(root: string): string | null {
  const found = firstIn(root, DEPTH);
  return found === null ? null : `${relative(root, found)} in it may hold a credential.`;
}

function firstIn(folder: string, depth: number): string | null {
  const entries = entriesOf(folder);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name === '.ssh' || entry.name === '.aws' || entry.name === '.gnupg') return path;
    if (entry.isDirectory() || !holdsCredential(entry.name, path)) continue;
    return path;
  }
  if (depth === 1) return null;
  for (const entry of entries) {
    const found = entry.isDirectory() ? firstIn(join(folder, entry.name), depth - 1) : null;
    if (found !== null) return found;
  }
  return null;
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
  const settings = SETTINGS.find((each) => each.name.test(name));
  if (settings === undefined) return false;
  try {
    return settings.holds.test(readFileSync(path, 'utf8').replaceAll(/<!--.*?-->/gs, ''));
  } catch {
    // A credential cannot be ruled out.
    return true;
  }
}
