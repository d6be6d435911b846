import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { isLinkLocal, isPublicAddress } from './addresses.ts';
import type { EgressTarget } from './targets.ts';
import { type Dialled, dialThrough, type Upstream, upstreamFor } from './upstream.ts';

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
