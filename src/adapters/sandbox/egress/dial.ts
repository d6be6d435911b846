import { lookup } from 'node:dns/promises';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { connect, type Socket } from 'node:net';
import { openTimedCache } from '../../../core/model/index.ts';
import { decoded } from '../../../core/settings/index.ts';
import { type EgressTarget, isLinkLocal, isPublicAddress } from './hosts.ts';

/** Milliseconds to wait for a host to accept a connection, our default. */
const CONNECT_TIMEOUT_MS = 15_000;
/** Maximum number of addresses tried per name, our default: IPv6 and IPv4 of a host with two of each. */
const MAX_ADDRESSES = 4;

/** Resolves names and decides which addresses may be dialled. */
export interface Dialler {
  /** All addresses of a host name. */
  resolve(host: string): Promise<readonly string[]>;
  mayDial(address: string): boolean;
  /** The proxy through which a host is reached; null or absent: none. */
  readonly upstream?: (target: EgressTarget) => Upstream | null;
}

export const publicInternet: Dialler = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  mayDial: isPublicAddress,
  upstream: (target) => upstreamFor(target, process.env),
};

/** Milliseconds for which the addresses of a name are used, our default. */
const ADDRESSES_MS = 30_000;
/** Maximum number of names whose addresses are kept; a command may reach fewer. */
const MAX_KEPT_NAMES = 256;

/**
 * The same, with a name resolved once for many connections. Some package managers (npm 8) open one for each package,
 * and each lookup that is lost takes five seconds, and one of this process's four threads for files.
 */
export function keepingAddresses(dialler: Dialler): Dialler {
  const kept = openTimedCache<readonly string[]>(() => performance.now(), ADDRESSES_MS, MAX_KEPT_NAMES);
  return { ...dialler, resolve: (host) => kept.get(host, () => dialler.resolve(host)) };
}

/**
 * Connects to a host. Its name is resolved once, and exactly the checked address is dialled; with `anyAddress` it may
 * be private, but never link-local. An operator's proxy resolves names itself.
 */
export async function dial(
  target: EgressTarget,
  anyAddress: boolean,
  dialler: Dialler,
  signal: AbortSignal,
): Promise<Dialled> {
  const upstream = dialler.upstream?.(target) ?? null;
  if (upstream !== null) return dialThrough(upstream, target, signal);
  const addresses = await dialler.resolve(target.host).catch(({ code }: NodeJS.ErrnoException) => code ?? '');
  // A wrong name in the repository is its error. The operator's own registries exist, so there DNS is at fault.
  if (addresses === 'ENOTFOUND' && !anyAddress) return { kind: 'absent', why: 'has no address' };
  if (typeof addresses === 'string' || addresses.length === 0)
    return { kind: 'failed', why: 'has no address' };
  const allowed = addresses.filter((one) => (anyAddress ? !isLinkLocal(one) : dialler.mayDial(one)));
  if (allowed.length === 0) return { kind: 'refused', why: 'the name leads to a private address' };
  let last: Dialled = { kind: 'failed', why: 'does not answer' };
  for (const address of allowed.slice(0, MAX_ADDRESSES)) {
    if (signal.aborted) break;
    last = await connectTo(address, target.port, signal);
    if (last.kind === 'connected') break;
  }
  return last;
}

function connectTo(host: string, port: number, signal: AbortSignal): Promise<Dialled> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const give = (dialled: Dialled): void => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      socket.setTimeout(0);
      if (dialled.kind !== 'connected') {
        // Ignores late errors of an abandoned connection.
        socket.on('error', () => undefined);
        socket.destroy();
      }
      resolve(dialled);
    };
    const onAbort = (): void => give({ kind: 'failed', why: 'does not answer' });
    signal.addEventListener('abort', onAbort);
    socket.once('connect', () => give({ kind: 'connected', socket }));
    socket.once('timeout', () => give({ kind: 'failed', why: 'does not accept connections in time' }));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      give({ kind: 'failed', why: `does not accept connections (${code ?? 'unknown error'})` }),
    );
  });
}

/** Result of an attempt to connect to a host. */
export type Dialled =
  | { readonly kind: 'connected'; readonly socket: Socket }
  /** The host may not be reached. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The operator's proxy rejects the host with this `status`. */
  | { readonly kind: 'denied'; readonly status: number; readonly why: string }
  /** The host's name does not exist. `why` completes "the host …". */
  | { readonly kind: 'absent'; readonly why: string }
  /** The host is allowed, but the connection failed. `why` completes "the host …". */
  | { readonly kind: 'failed'; readonly why: string };

/** A proxy of the operator for reaching hosts. */
interface Upstream {
  readonly host: string;
  readonly port: number;
  /** Whether the proxy is reached over TLS. */
  readonly secure: boolean;
  /** Value of `Proxy-Authorization`; never enters a sandbox. */
  readonly authorization?: string;
}

type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** The proxy for an HTTPS host according to this process's variables (as curl reads them); null: none. */
export function upstreamFor({ host, port }: EgressTarget, env: ProxyEnvironment): Upstream | null {
  const address = env.https_proxy || env.HTTPS_PROXY || env.all_proxy || env.ALL_PROXY;
  if (!address || isExcluded(host, port, env.no_proxy ?? env.NO_PROXY ?? '')) return null;
  const text = address.includes('://') ? address : `http://${address}`;
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  const secure = url.protocol === 'https:';
  const login = `${decoded(url.username)}:${decoded(url.password)}`;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (secure ? 443 : 80),
    secure,
    ...(login === ':' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
  };
}

/** Whether NO_PROXY covers a host: by its name, a parent domain, or `*`; an entry may have a port. */
function isExcluded(host: string, port: number, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      const [, name = '', digits] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (digits !== undefined && Number(digits) !== port) return false;
      const domain = name.replace(/^\*?\./, '');
      return name === '*' || host === domain || (domain !== '' && host.endsWith(`.${domain}`));
    });
}

/** Milliseconds to wait for the proxy to reach the host, our default. */
const PROXY_TIMEOUT_MS = 30_000;

/** Connects to a host by CONNECT. The proxy resolves the name, so the address is not known here. */
function dialThrough(upstream: Upstream, target: EgressTarget, signal: AbortSignal): Promise<Dialled> {
  const name = `${target.host}:${target.port}`;
  return new Promise((resolve) => {
    const request = (upstream.secure ? requestSecure : requestPlain)({
      host: upstream.host,
      port: upstream.port,
      method: 'CONNECT',
      path: name,
      agent: false,
      timeout: PROXY_TIMEOUT_MS,
      headers: {
        host: name,
        ...(upstream.authorization ? { 'proxy-authorization': upstream.authorization } : {}),
      },
    });
    const fail = (why: string): void => {
      request.destroy();
      resolve({ kind: 'failed', why });
    };
    const onAbort = (): void => fail('does not answer');
    signal.addEventListener('abort', onAbort, { once: true });
    request.once('timeout', () => fail('is not reached in time by the proxy of this machine'));
    request.on('error', ({ code }: NodeJS.ErrnoException) =>
      fail(`cannot be reached: the proxy of this machine does not answer (${code ?? 'unknown error'})`),
    );
    request.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      signal.removeEventListener('abort', onAbort);
      if (statusCode === 200) {
        socket.setTimeout(0);
        if (head.length > 0) socket.unshift(head);
        return resolve({ kind: 'connected', socket });
      }
      socket.destroy();
      const why = `the proxy of this machine answers ${statusCode}`;
      resolve(
        statusCode >= 500
          ? { kind: 'failed', why: `cannot be reached: ${why}` }
          : { kind: 'denied', status: statusCode, why },
      );
    });
    request.end();
  });
}
