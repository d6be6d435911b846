import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import type { RegistryLogin } from '../../../ports/index.ts';
import type { Dialled } from './dial.ts';
import type { Reachability } from './hosts.ts';

/** Request headers of a package client that are passed on; all others, above all logins, are dropped. */
const REQUEST_HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
];
/** Response headers that belong to the connection, or that would let a client act as the operator. */
const NOT_RETURNED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'set-cookie',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Connections to one host, our default. */
const MAX_SOCKETS = 32;
/** Maximum requests of one connection that wait or are answered. Our default: package clients await each answer. */
const MAX_REQUESTS = 8;
/**
 * Maximum requests that wait for a connection to their host, with those whose client has left, which Node's agent
 * keeps. Our default: twice as many as a command has connections.
 */
const MAX_QUEUED_READS = 512;

export interface LoginProxy {
  /** The login of a host; undefined for one without. */
  of(host: string): RegistryLogin | undefined;
  /**
   * Serves a client in the host's place after its tunnel was confirmed. Calls `use` when a request begins, and what that
   * returns when it ends.
   */
  serve(client: Duplex, head: Buffer, login: RegistryLogin, use: () => () => void): void;
  close(): void;
}

/**
 * Responds in place of hosts that require a login: terminates the client's TLS, adds the operator's login to read-only
 * requests, and forwards them to the host. Neither login nor keys are ever inside a sandbox, and a redirect to another
 * host gets none.
 */
export function openLoginProxy(
  logins: readonly RegistryLogin[],
  dialHost: (host: string) => Promise<Dialled>,
  reachability: Reachability,
): LoginProxy {
  const byHost = new Map(logins.map((login) => [login.host, login]));
  const served = new WeakMap<object, Served>();
  const agents = new Map(logins.map((login) => [login.host, agentFor(login, dialHost, reachability)]));
  const server = createServer((incoming, response) => {
    incoming.resume();
    const connection = served.get(incoming.socket);
    const login = connection?.login;
    const agent = login && agents.get(login.host);
    if (!connection || !login || !agent) return refuse(response, 500, 'no login');
    inTurn(connection, incoming, response, () =>
      orBadGateway(response, () => forward(incoming, response, login, agent, reachability)),
    );
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  return {
    of: (host) => byHost.get(host),
    serve(client, head, login, use) {
      if (head.length > 0) client.unshift(head);
      // A duplex of an upgraded connection is a socket.
      const secure = new TLSSocket(client as Socket, {
        isServer: true,
        secureContext: createSecureContext({ key: login.key, cert: login.certificate }),
        ALPNProtocols: ['http/1.1'],
      });
      secure.on('error', () => client.destroy());
      served.set(secure, { login, use, turns: [] });
      server.emit('connection', secure);
    },
    close() {
      server.closeAllConnections();
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

interface Served {
  readonly login: RegistryLogin;
  readonly use: () => () => void;
  /** Its requests that are not answered: the first is under way, others wait. */
  readonly turns: (() => void)[];
}

/**
 * One request of a connection at a time. A client that sends many at once would fill memory: Node reads them all, and
 * keeps what it could answer until those before are answered.
 */
function inTurn(
  { use, turns }: Served,
  { socket }: IncomingMessage,
  response: ServerResponse,
  work: () => void,
): void {
  if (turns.length >= MAX_REQUESTS) {
    socket.destroy();
    return;
  }
  const begin = (): void => {
    const end = use();
    response.once('close', () => {
      end();
      turns.shift();
      if (!socket.destroyed) turns[0]?.();
    });
    work();
  };
  turns.push(begin);
  if (turns.length === 1) begin();
}

function agentFor(
  login: RegistryLogin,
  dialHost: (host: string) => Promise<Dialled>,
  reachability: Reachability,
): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  const name = new URL(`https://${login.host}`).hostname.replace(/^\[|\]$/g, '');
  agent.createConnection = (_options, callback) => {
    const open = (dialled: Dialled): void => {
      if (dialled.kind !== 'connected') {
        if (dialled.kind === 'failed') reachability.failed(login.host, dialled.why);
        callback?.(new Error(dialled.why), undefined as never);
        return;
      }
      const secure = connect({
        socket: dialled.socket,
        ...(isIP(name) === 0 ? { servername: name } : { host: name }),
        ...(login.trusted === undefined ? {} : { ca: login.trusted }),
        ALPNProtocols: ['http/1.1'],
      });
      callback?.(null, secure);
    };
    dialHost(login.host)
      .then(open)
      .catch((thrown: Error) => callback?.(thrown, undefined as never));
    return undefined;
  };
  return agent;
}

function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  login: RegistryLogin,
  agent: Agent,
  reachability: Reachability,
): void {
  const { method = '', url = '' } = incoming;
  const admitted = admitRead(method, url, login);
  if (admitted.kind === 'refused') {
    refuse(response, admitted.status, admitted.why);
    return;
  }
  const waiting = Object.values(agent.requests).reduce((sum, all = []) => sum + all.length, 0);
  if (waiting >= MAX_QUEUED_READS) {
    refuse(response, 503, 'too many requests');
    return;
  }
  const connection = reachability.connected(login.host);
  const headers = { ...passedOn(incoming), ...admitted.headers };
  const { hostname, port } = new URL(`https://${login.host}`);
  // The path is sent exactly as it was checked: parsing it anew could change it.
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 443, path: url };
  const asked = request({ ...to, method, agent, headers }, (answer) => {
    connection.answered();
    const status = answer.statusCode ?? 502;
    if (status === 429 || status >= 500) reachability.failed(login.host, `answers ${status}`);
    else answer.on('data', connection.answered);
    answer.on('error', () => response.destroy());
    orBadGateway(response, () => {
      response.writeHead(status, returnedHeaders(answer, login));
      answer.pipe(response);
    });
  });
  connection.asked();
  asked.on('error', ({ code }: NodeJS.ErrnoException) => {
    const isBroken = code !== undefined && /^(?:ECONN|EPIPE|ETIMEDOUT|EHOST|ENET)/.test(code);
    if (isBroken) connection.lost(`broke the connection (${code})`);
    if (response.headersSent) response.destroy();
    else if (isBroken || code === undefined) refuse(response, 502, 'the host does not answer');
    else refuse(response, 403, `the certificate of the host is not accepted (${code})`);
  });
  response.on('close', () => {
    connection.ended();
    asked.destroy();
  });
  asked.end();
}

/** What a registry sends, or what a file of the operator contains, must not end this process. */
function orBadGateway(response: ServerResponse, work: () => void): void {
  try {
    work();
  } catch {
    if (response.headersSent) response.destroy();
    else refuse(response, 502, 'the host does not answer as a registry does');
  }
}

type ReadAdmission =
  | { readonly kind: 'admitted'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'refused'; readonly status: number; readonly why: string };

/** Whether a request may be made, and with which login. */
function admitRead(method: string, url: string, { rules }: RegistryLogin): ReadAdmission {
  const refused = (status: number, why: string) => ({ kind: 'refused', status, why }) as const;
  if (method !== 'GET' && method !== 'HEAD')
    return refused(405, 'only reading is allowed with the login of this machine');
  const path = plainPath(url);
  if (path === null) return refused(400, 'the path is not plain');
  const rule = rules
    .filter((one) => path.startsWith(one.path))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  if (!hasPlainSlashes(rule ? path.slice(rule.path.length) : path, rule !== undefined))
    return refused(400, 'the path is not plain');
  // On these paths npm registries return data about the login's owner, not about packages.
  if (rule && path.slice(rule.path.length).startsWith('-/'))
    return refused(403, 'only packages are allowed with the login of this machine');
  return { kind: 'admitted', headers: rule ? { authorization: rule.authorization } : {} };
}

const passedOn = ({ headers }: IncomingMessage): Record<string, string | string[]> =>
  Object.fromEntries(
    REQUEST_HEADERS.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );

/**
 * Bytes and escapes in a path that hosts read differently: broken escapes, and those of control characters and of
 * `# % - . ; ? \\`.
 */
const AMBIGUOUS = /\\|%(?![0-9a-f]{2})|%(?:[01][0-9a-f]|7f|23|25|2d|2e|3b|3f|5c)/i;

/** The path of a request without its query; null for one that a host may read as another. */
function plainPath(url: string): string | null {
  if (!/^\/[!-~]*$/.test(url) || /[;#]/.test(url)) return null;
  const [path = ''] = url.split('?', 1);
  const slashes = path.replaceAll(/%2f/gi, '/');
  return AMBIGUOUS.test(path) || /\/\.{1,2}(?:\/|$)|\/\//.test(slashes) ? null : path;
}

/** Encoded slashes are only in names of npm (`@scope%2fname`); below the path of a login, only at its start. */
const hasPlainSlashes = (path: string, isBelowLogin: boolean): boolean =>
  !/%2f/i.test(path.replace(isBelowLogin ? /^@[^/%]+%2f(?!-\/)[^/%]/i : /(?<=\/)@[^/%]+%2f[^/%]/i, ''));

function returnedHeaders(
  { headers }: IncomingMessage,
  login: RegistryLogin,
): Record<string, string | string[]> {
  const secrets = login.rules.flatMap(({ authorization }) => authorization.split(' ').slice(1));
  const isSafe = (value: string | string[]): boolean =>
    !secrets.some((secret) => [value].flat().some((text) => text.includes(secret)));
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value !== undefined && !NOT_RETURNED.has(name) && isSafe(value) ? [[name, value]] : [],
    ),
  );
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' });
  response.end(`${why}\n`);
}
