import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decoded } from '../../core/settings/index.ts';
import type { RegistryAccess } from '../../ports/index.ts';

/** Registry settings of a client on this machine. */
export interface ClientAnswer extends Omit<RegistryAccess, 'logins'> {
  readonly logins: readonly Login[];
  /** PEM of certificate authorities that it trusts besides the machine's. */
  readonly authorities: readonly string[];
}

/** `host:port` of an HTTPS URL; null for any other text, including folders and plain HTTP. */
export function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port } = new URL(url);
  return protocol === 'https:' && hostname !== '' ? `${hostname}:${port || '443'}` : null;
}

/** Without a login: a sandbox gets none. */
export function withoutLogin(url: string): string {
  const clean = new URL(url);
  clean.username = '';
  clean.password = '';
  return clean.href;
}

export const urlsIn = (text: string): readonly string[] => text.match(/https:\/\/[^\s'",|]+/g) ?? [];

export const accessTo = (urls: readonly string[], settings: Partial<ClientAnswer> = {}): ClientAnswer => ({
  hosts: [...new Set(urls.flatMap((url) => hostOf(url) ?? []))],
  env: {},
  files: {},
  folders: [],
  logins: urls.flatMap((url) => loginIn(url)),
  authorities: [],
  ...settings,
});

export const isText = (value: unknown): value is string => typeof value === 'string';

/** Text of a file named in a setting; empty if there is none. */
export const fileText = async (path: unknown): Promise<string> =>
  isText(path) && path !== '' ? readFile(path, 'utf8').catch(() => '') : '';

/** The certificates in the text of a PEM file, without its other blocks, such as a private key. */
export const certificatesIn = (text: string): string =>
  (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).join('\n');

/** For an index `…/simple` (devpi: `…/+simple`), its files are in a sibling folder. */
export const besideIndex = (url: string): string | undefined =>
  URL.canParse(url)
    ? new URL(url).pathname.replace(/(?:\+?simple\/?)?$/, '').replace(/\/?$/, '/')
    : undefined;

/** Paths of a host: those below `path`, which ends with a slash. */
interface HostPath {
  /** `host:port`. */
  readonly host: string;
  readonly path: string;
}

/** A login of the operator, as configured in a package client, and the place it is for. Secret. */
export interface Login extends HostPath {
  /** Value of `Authorization`. */
  readonly authorization: string;
}

/** The environment of a package client. */
export type ClientEnvironment = Readonly<Record<string, string | undefined>>;

const folder = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

const basic = (login: string, password: string): string =>
  `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;

/** The login in a URL, for the paths below it; none if it has none. */
export function loginIn(address: string, path?: string): readonly Login[] {
  if (!URL.canParse(address)) return [];
  const url = new URL(address);
  if (url.protocol !== 'https:' || (url.username === '' && url.password === '')) return [];
  const authorization = basic(decoded(url.username), decoded(url.password));
  return [{ ...placeOf(address, path), authorization }];
}

/** The place of a registry; `path` replaces its own. */
export function placeOf(address: string, path?: string): HostPath {
  const url = new URL(address);
  return { host: `${url.hostname}:${url.port || '443'}`, path: path ?? folder(url.pathname) };
}

/**
 * Logins limited to these places. A login in a file may be for a whole host, whose other interfaces (such as one that
 * shows the data of its user) are not for set-up.
 */
export function loginsWithin(logins: readonly Login[], places: readonly HostPath[]): readonly Login[] {
  return logins.flatMap((login) => {
    const near = places.filter(({ host }) => host === login.host).map(({ path }) => path);
    const paths = near.flatMap((path) =>
      path.startsWith(login.path) ? [path] : login.path.startsWith(path) ? [login.path] : [],
    );
    return [...new Set(paths)].map((path) => ({ ...login, path }));
  });
}

/** Logins in the text of an `.npmrc`; `registry` applies to lines without a URL. */
export function npmLogins(text: string, registry: string | null, env: ClientEnvironment): readonly Login[] {
  const fields = new Map<string, Record<string, string>>();
  for (const line of text.split(/\r?\n/)) {
    const [, at, name, raw = ''] =
      /^\s*(?:(\/\/[^\s=]+?):)?(_authToken|_auth|username|_password)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) continue;
    const place = at === undefined ? registry : `https:${at}`;
    if (place === null || !URL.canParse(place)) continue;
    const value = raw
      .replace(/^(["'])(.*)\1$/, '$2')
      .replaceAll(/\$\{([^}]+)\}/g, (whole, variable: string) => env[variable] ?? whole)
      .trim();
    fields.set(place, { ...fields.get(place), [name]: value });
  }
  return [...fields].flatMap(([place, { _authToken, _auth, username, _password }]) => {
    const authorization = _authToken
      ? `Bearer ${_authToken}`
      : _auth
        ? `Basic ${_auth}`
        : username && _password
          ? basic(username, Buffer.from(_password, 'base64').toString())
          : null;
    return authorization === null ? [] : [{ ...placeOf(place), authorization }];
  });
}

/** Logins in the text of a netrc file for these hosts (`host:port`). */
export function netrcLogins(text: string, hosts: readonly string[]): readonly Login[] {
  const words = text
    .replaceAll(/^\s*#.*$/gm, '')
    .split(/\s+/)
    .filter(Boolean);
  const machines = new Map<string, Record<string, string>>();
  let current: Record<string, string> | null = null;
  for (let at = 0; at < words.length; at += 2) {
    const [word = '', value = ''] = words.slice(at, at + 2);
    if (word === 'default') {
      current = null;
      at -= 1;
    } else if (word === 'machine') {
      current = {};
      machines.set(value, current);
    } else if (current) current[word] = value;
  }
  return hosts.flatMap((host) => {
    const { login, password } = machines.get(host.replace(/:\d+$/, '')) ?? {};
    return login !== undefined && password !== undefined
      ? [{ host, path: '/', authorization: basic(login, password) }]
      : [];
  });
}

/** The home of a client's user; the root folder where neither variable nor account names one, as in some containers. */
export function homeOf({ HOME }: ClientEnvironment): string {
  if (HOME !== undefined) return HOME;
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/** Logins for these places in the operator's netrc file, which pip, uv and Go read. */
export async function netrcAt(
  env: ClientEnvironment,
  places: readonly HostPath[],
): Promise<readonly Login[]> {
  const text = await fileText(env.NETRC ?? join(homeOf(env), '.netrc'));
  const hosts = new Set(places.map(({ host }) => host));
  return loginsWithin(netrcLogins(text, [...hosts]), places);
}

/** Sibling folders of `simple` in a mirror on disk, whose pages link to them as `../../files/…`. */
const BESIDE_INDEX = ['files', 'packages'];

/** A folder of packages on this machine, and its path in a sandbox. */
export function localFolder(
  path: string,
  at: string,
): { readonly to: string; readonly binds: RegistryAccess['folders'] } {
  const to = `/opt/registries/${at}/${basename(path)}`;
  const beside = (basename(path) === 'simple' ? BESIDE_INDEX : [])
    .map((name) => join(dirname(path), name))
    .filter(mayBeShared);
  return {
    to,
    binds: [
      { from: path, to },
      ...beside.map((from) => ({ from, to: `/opt/registries/${at}/${basename(from)}` })),
    ],
  };
}

/** The folder that a setting of pip names; null for any other value, and for one that must not be shared. */
export const localFolderOf = (value: string): string | null => {
  const path = value.startsWith('file:') && URL.canParse(value) ? fileURLToPath(value) : value;
  return isAbsolute(path) && mayBeShared(path) ? realpathSync(path) : null;
};

/** Never share a folder that contains the home of Runoff's user, and so logins and keys, whatever pip's settings. */
const mayBeShared = (path: string): boolean =>
  existsSync(path) && relative(realpathSync(path), realpathSync(homeOf(process.env))).startsWith('..');

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables for a package client that is queried for its registries: those of every program, and its own. The prefixes
 * are those that the clients document (npm, pip, uv, Poetry, PDM, Go, Cargo, Maven, RubyGems, Composer, NuGet).
 */
const CLIENT_VARIABLES =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR|TMP|TEMP|TZ|LANG|LANGUAGE|LC_[A-Z]+|XDG_[A-Z]+_(?:HOME|DIRS)|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|JSR_URL|DENO_(?:CERT|TLS_CA_STORE)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|JAVA_HOME|JDK_HOME|M2_HOME|VIRTUAL_ENV|(?:NPM_CONFIG|YARN|PNPM|COREPACK|PIP|UV|POETRY|PDM|CARGO|RUSTUP|MAVEN|GEM|BUNDLE|COMPOSER|NUGET|DOTNET)_\w.*|GO(?:PROXY|SUMDB|NOSUMDB|NOPROXY|PRIVATE|INSECURE|FLAGS|ENV|PATH|ROOT|CACHE|MODCACHE|TOOLCHAIN|VCS))$/i;
/**
 * The part of an environment that clients get; everything else, above all keys, is withheld. npm keeps compiled code in
 * the folder for temporary files unless it is told not to, and nobody would remove that.
 */
export const clientEnvironment = (env: Environment): Environment => ({
  // npm does not start without one.
  HOME: homeOf(env),
  ...Object.fromEntries(Object.entries(env).filter(([name]) => CLIENT_VARIABLES.test(name))),
  NODE_DISABLE_COMPILE_CACHE: '1',
});
