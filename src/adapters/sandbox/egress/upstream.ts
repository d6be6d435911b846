import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import { decoded } from '../../../core/settings/index.ts';
import type { EgressTarget } from './targets.ts';

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
export interface Upstream {
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
export function dialThrough(upstream: Upstream, target: EgressTarget, signal: AbortSignal): Promise<Dialled> {
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
