/** What `.gitmodules` says about a submodule. */
interface DeclaredSubmodule {
  readonly name: string;
  readonly path: string;
  readonly url: string;
}

/** Maximum characters that are read of `.gitmodules`. Our default; 200 submodules take about 20,000. */
const MAX_GITMODULES = 256 * 1024;

/** Reads `.gitmodules` as data. Sections without a path or a URL are left out; the last value of a key counts. */
export function declaredSubmodules(text: string): readonly DeclaredSubmodule[] {
  const found = new Map<string, { path?: string; url?: string }>();
  let section: { path?: string; url?: string } | null = null;
  for (const line of text.slice(0, MAX_GITMODULES).split(/\r?\n/)) {
    const heading = /^\s*\[\s*submodule\s+"((?:[^"\\]|\\.){1,500})"\s*\]/i.exec(line)?.[1];
    if (heading !== undefined) {
      const name = heading.replace(/\\(.)/g, '$1');
      section = found.get(name) ?? {};
      found.set(name, section);
    } else if (/^\s*\[/.test(line)) section = null;
    const [, key = '', value = ''] = /^\s*(path|url)\s*=\s*(.{0,2000}?)\s*$/i.exec(line) ?? [];
    if (section !== null && key !== '') section[key.toLowerCase() as 'path' | 'url'] = plainValue(value);
  }
  return [...found].flatMap(([name, { path, url }]) => (path && url ? [{ name, path, url }] : []));
}

/** Comments after a value, and escapes, are not read: they occur in no file that git itself writes. */
const plainValue = (value: string): string => /^"([^"\\]*)"$/.exec(value)?.[1] ?? value;

/** Where a submodule is fetched from, or why it cannot be, as a clause. */
type SubmoduleAddress =
  | {
      readonly kind: 'address';
      readonly url: string;
      /** `host:port`. */
      readonly host: string;
    }
  | { readonly kind: 'none'; readonly why: string };

const none = (why: string): SubmoduleAddress => ({ kind: 'none', why });

const LABEL = '[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?';
const HOST = `(?:${LABEL}\\.){0,8}${LABEL}`;
const PATH = '[\\w.~+%@-]+(?:/[\\w.~+%@-]+)*';
const HTTP = new RegExp(`^(https?)://(${HOST})(?::(\\d{1,5}))?/(${PATH})/?$`, 'i');
const SSH = new RegExp(`^(?:ssh|git)://(?:[\\w.-]+@)?(${HOST})(?::\\d{1,5})?/(${PATH})/?$`, 'i');
const SCP = new RegExp(`^[\\w.-]+@(${HOST}):/?(${PATH})/?$`, 'i');

/**
 * The address of a submodule, or of any remote. `parent`: that of the repository that contains it, as this function
 * returned it; null if unknown. Only https, and http on the parent's own server; ssh and git are replaced by https, as
 * for other dependencies (docs/decisions/0078).
 */
export function submoduleAddress(url: string, parent: string | null): SubmoduleAddress {
  if (/^\.\.?\//.test(url)) {
    if (parent === null)
      return none('its URL is relative, and the repository has no remote `origin` by https or ssh');
    return plainAddress(resolved(url, parent), parent);
  }
  return plainAddress(url, parent);
}

function plainAddress(url: string | null, parent: string | null): SubmoduleAddress {
  if (url === null || url.split('/').includes('..')) return none('its URL leads out of its server');
  const [, scheme = '', host = '', port, path = ''] = HTTP.exec(url) ?? [];
  if (host !== '') {
    const isSecure = scheme.toLowerCase() === 'https' || !isOnServer(url, parent);
    const at = `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}${port === undefined ? '' : `:${port}`}/${path}`;
    return { kind: 'address', url: at, host: `${host.toLowerCase()}:${port ?? (isSecure ? 443 : 80)}` };
  }
  const [, sshHost = '', sshPath = ''] = SSH.exec(url) ?? SCP.exec(url) ?? [];
  if (sshHost === '') return none('its URL is not one of https or ssh');
  const at = `https://${sshHost.toLowerCase()}/${sshPath}`;
  return { kind: 'address', url: at, host: `${sshHost.toLowerCase()}:443` };
}

const isOnServer = (url: string, parent: string | null): boolean =>
  parent !== null && new URL(url).origin === new URL(parent).origin;

/** As git resolves it: `../lib.git` beside the parent. Null if it leads above the top of the server. */
function resolved(relative: string, parent: string): string | null {
  const { origin, pathname } = new URL(parent);
  const parts = pathname.split('/').filter(Boolean);
  for (const part of relative.split('/')) {
    if (part === '..' && parts.pop() === undefined) return null;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return `${origin}/${parts.join('/')}`;
}

/** Whether a path of a tree can be created below a folder: a commit can be written without git's own checks. */
export const isPlainPath = (path: string): boolean =>
  path.length <= 1_000 &&
  !/[\p{Cc}\\]/u.test(path) &&
  path.split('/').every((part) => !['', '.', '..'].includes(part) && part.toLowerCase() !== '.git');

/** Hosts that a repository's submodules may be fetched from. */
export interface SubmoduleAccess {
  /** Whether they are fetched at all (`checks.submodules`). */
  readonly wanted: boolean;
  /** Whether the host of the repository itself is allowed. */
  readonly ownHost: boolean;
  /** Further `host:port` names. */
  readonly hosts: readonly string[];
}

/** Why a submodule may not be fetched from a host, as a clause; null if it may. `own`: the repository's own host. */
export function hostObstacle(host: string, own: string | null, access: SubmoduleAccess): string | null {
  if (access.hosts.includes(host) || (access.ownHost && host === own)) return null;
  const name = host.replace(/:443$/, '');
  return `Runoff may not reach ${name}: add \`network: { allow: [${name}] }\` to .github/auto-dev.yml, and NETWORK_ALLOW=registries,${name} to Runoff's own settings`;
}
