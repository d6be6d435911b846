import { chmodSync, chownSync, closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { ExecResult, ExecSpec, FailedHost } from '../../../ports/index.ts';
import type { Owner } from '../processes.ts';
import { ownFolder } from '../scratch.ts';
import { type Dialler, dial, keepingAddresses } from './dial.ts';
import {
  type AllowedHosts,
  allowList,
  type Connection,
  type EgressTarget,
  literalTarget,
  openReachability,
  parseTarget,
  type Reachability,
} from './hosts.ts';
import { type LoginProxy, openLoginProxy } from './logins.ts';
import { MAX_CLIENTS, openTunnels, type Tunnels } from './tunnels.ts';

export { type Dialler, publicInternet } from './dial.ts';
export { isPublicAddress, parseTarget } from './hosts.ts';

import type { Socket } from 'node:net';

export interface EgressProxy {
  /** Path of the unix socket that accepts CONNECT. */
  readonly socket: string;
  /** Requested `host:port` names that are not allowed, in the order of their first request; at most `MAX_REFUSED`. */
  refused(): readonly string[];
  /** Allowed hosts whose last connection failed. */
  failed(): readonly FailedHost[];
  close(): Promise<void>;
}

/** Milliseconds in which a connection has to ask for something. Our default: a busy client may need seconds. */
const HEADERS_MS = 30_000;

/** Maximum number of names stored, our default: a message shows a few. */
const MAX_REFUSED = 20;

/**
 * Starts a CONNECT proxy for one command on a new unix socket in `folder`; null for a command that may reach nothing.
 * It allows only the exact `host:port` names in `egress` and `registries`. Throws SETTINGS_INVALID for a malformed name
 * in `egress`. `noAnswerMs`, `headersMs`: tests only.
 */
export async function openEgress(
  spec: Pick<ExecSpec, 'egress' | 'registries' | 'logins' | 'onRefusedHost' | 'onTraffic'>,
  folder: string,
  owner: Owner | null,
  resolving: Dialler,
  { noAnswerMs, headersMs = HEADERS_MS }: { noAnswerMs?: number; headersMs?: number } = {},
): Promise<EgressProxy | null> {
  const allowed = allowList(spec);
  if (allowed.all.size === 0) return null;
  const dialler = keepingAddresses(resolving);
  const refused = new Set<string>();
  const onRefused = (host: string) => {
    if (refused.size < MAX_REFUSED) refused.add(host);
    spec.onRefusedHost?.(host);
  };
  const reachability = openReachability(spec.onTraffic, noAnswerMs);
  const over = new AbortController();
  const logins = openLoginProxy(
    spec.logins ?? [],
    (host) => dial(targetOf(host, allowed) ?? NOWHERE, true, dialler, over.signal),
    reachability,
  );
  const tunnels = openTunnels();
  const timeouts = { headersTimeout: headersMs, connectionsCheckingInterval: Math.min(headersMs, 2_000) };
  const server = createServer(timeouts, (_request, response) => {
    response.writeHead(403, { connection: 'close', 'content-type': 'text/plain' });
    response.end('Only CONNECT to the allowed hosts passes here.\n');
  });
  // Each takes one of this process's descriptors.
  server.maxConnections = MAX_CLIENTS;
  server.on('connect', (request, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy());
    // Of an HTTP server, the duplex is a socket.
    const asked = { authority: request.url ?? '', client: client as Socket, head };
    tunnel(asked, { allowed, dialler, logins, onRefused, reachability, tunnels }).catch(() =>
      refuseTunnel(client, '502 Bad Gateway', 'the host cannot be reached'),
    );
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) =>
    // Package managers ask again after this answer, and not after the other one.
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? refuseTunnel(socket, '408 Request Timeout', 'no request in time')
      : refuseTunnel(socket, '400 Bad Request', 'malformed request'),
  );

  const { socket, release } = await listenIn(folder, owner, (path) => {
    return new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
  });
  return {
    socket,
    refused: () => [...refused],
    failed: reachability.failures,
    async close() {
      over.abort();
      logins.close();
      tunnels.closeAll();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      release();
    },
  };
}

/** A new unix socket in `folder`, accessible to every user inside. */
async function listenIn(
  folder: string,
  owner: Owner | null,
  listen: (path: string) => Promise<void>,
): Promise<{ readonly socket: string; release(): void }> {
  const place = ownFolder(folder, 'egress');
  mkdirSync(place, { mode: 0o700 });
  if (owner !== null) chownSync(place, owner.uid, owner.gid);
  // Bound through a descriptor of its folder: a socket's path may have only 107 bytes, and a data folder's path may be
  // longer.
  const fd = openSync(place, 'r');
  const socket = join(place, 'egress.sock');
  const release = () => {
    closeSync(fd);
    rmSync(place, { recursive: true, force: true });
  };
  try {
    await listen(`/proc/self/fd/${fd}/egress.sock`);
    chmodSync(socket, 0o666);
  } catch (thrown) {
    release();
    throw thrown;
  }
  return { socket, release };
}

/** The result of a command with what its proxy refused, and what it could not reach. */
export const withHosts = (result: ExecResult, egress: EgressProxy | null): ExecResult =>
  egress === null ? result : { ...result, refusedHosts: egress.refused(), failedHosts: egress.failed() };

/** Sockets of this server are half-open: one that is only ended would be open for as long as its client likes. */
function refuseTunnel(client: Duplex, status: string, reason: string): void {
  const text = `HTTP/1.1 ${status}\r\nX-Refused: ${reason}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
  client.end(text, () => client.destroy());
}

/** An address that never resolves. */
const NOWHERE = { host: 'nowhere.invalid', port: 443 };

const nameOf = ({ host, port }: EgressTarget): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The host that a request names, if it is allowed. */
function targetOf(authority: string, allowed: AllowedHosts): EgressTarget | null {
  const target = parseTarget(authority) ?? literalTarget(authority);
  return target !== null && allowed.all.has(nameOf(target)) ? target : null;
}

interface TunnelRequest {
  readonly authority: string;
  readonly client: Socket;
  readonly head: Buffer;
}

/** What all connections of one command share. */
interface TunnelContext {
  readonly allowed: AllowedHosts;
  readonly dialler: Dialler;
  readonly logins: LoginProxy;
  readonly onRefused: (host: string) => void;
  readonly reachability: Reachability;
  readonly tunnels: Tunnels;
}

async function tunnel(
  { authority, client, head }: TunnelRequest,
  { allowed, dialler, logins, onRefused, reachability, tunnels }: TunnelContext,
): Promise<void> {
  const target = targetOf(authority, allowed);
  if (target === null) {
    const asked = parseTarget(authority);
    if (asked !== null) onRefused(`${asked.host}:${asked.port}`);
    return refuseTunnel(client, '403 Forbidden', 'not in the list of allowed hosts');
  }
  if (!(await tunnels.admit(client)))
    return refuseTunnel(client, '503 Service Unavailable', 'too many connections');
  const host = nameOf(target);
  const login = logins.of(host);
  if (login) {
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    return logins.serve(client, head, login, () => tunnels.hold(client));
  }
  const hungUp = new AbortController();
  client.once('close', () => hungUp.abort());
  const dialled = await dial(target, allowed.anyAddress.has(host), dialler, hungUp.signal);
  switch (dialled.kind) {
    case 'refused':
      onRefused(host);
      return refuseTunnel(client, '403 Forbidden', dialled.why);
    case 'denied':
      return refuseTunnel(client, `${dialled.status} Denied`, dialled.why);
    case 'absent':
      return refuseTunnel(client, '502 Bad Gateway', `the host ${dialled.why}`);
    case 'failed':
      if (!client.destroyed) reachability.failed(host, dialled.why);
      return refuseTunnel(client, '502 Bad Gateway', `the host ${dialled.why}`);
    case 'connected':
      if (client.destroyed) dialled.socket.destroy();
      else splice({ client, head }, dialled.socket, usedBy(client, reachability.connected(host), tunnels));
  }
}

/** The same connection; its use is told to the tunnels, too. */
const usedBy = (client: Socket, connection: Connection, tunnels: Tunnels): Connection => ({
  ...connection,
  asked() {
    tunnels.asked(client);
    connection.asked();
  },
  answered() {
    tunnels.answered(client);
    connection.answered();
  },
});

/**
 * Connects a client to a host; when one side ends, so does the other. The traffic is encrypted, so only the presence of
 * responses is observed.
 */
function splice(
  { client, head }: { readonly client: Duplex; readonly head: Buffer },
  server: Socket,
  connection: Connection,
): void {
  client.on('data', connection.asked);
  client.on('end', connection.ended);
  client.on('close', connection.ended);
  server.on('data', connection.answered);
  server.on('end', () => connection.lost());
  server.on('error', ({ code }: NodeJS.ErrnoException) => {
    connection.lost(`broke the connection (${code ?? 'unknown error'})`);
    client.destroy();
  });
  server.on('close', () => client.end());
  client.on('close', () => server.destroy());
  client.write('HTTP/1.1 200 OK\r\n\r\n');
  if (head.length > 0) {
    connection.asked();
    server.write(head);
  }
  server.pipe(client);
  client.pipe(server);
}
