import { decoded } from '../../core/settings/index.ts';

/** Paths of a host: those below `path`, which ends with a slash. */
export interface HostPath {
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
