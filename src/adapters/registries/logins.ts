/** A login of the operator, as configured in a package client. Secret. */
export interface Login {
  /** `host:port`. */
  readonly host: string;
  /** Paths for which it is; ends with a slash. */
  readonly path: string;
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
  const authorization = basic(decodeURIComponent(url.username), decodeURIComponent(url.password));
  const host = `${url.hostname}:${url.port || '443'}`;
  return [{ host, path: path ?? folder(url.pathname), authorization }];
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
      .replaceAll(/\$\{([^}]+)\}/g, (whole, variable: string) => env[variable] ?? whole);
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
    const url = new URL(place);
    const host = `${url.hostname}:${url.port || '443'}`;
    return authorization === null ? [] : [{ host, path: folder(url.pathname), authorization }];
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
