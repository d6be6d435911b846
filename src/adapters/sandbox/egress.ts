import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { BlockList, connect, isIP, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { Fault } from '../../core/model/index.ts';
import type { ExecResult, ExecSpec } from '../../ports/index.ts';
import type { Owner } from './processes.ts';

/** Milliseconds to wait for a host to accept a connection, our default. */
const CONNECT_TIMEOUT_MS = 15_000;
/** Maximum number of open connections of one command. Our default; package managers use up to 50. */
const MAX_TUNNELS = 256;

/** How names are resolved and which addresses may be dialled. */
export interface Dialler {
  /** All addresses of a host name. */
  resolve(host: string): Promise<readonly string[]>;
  mayDial(address: string): boolean;
}

export const publicInternet: Dialler = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  mayDial: isPublicAddress,
};

export interface EgressProxy {
  /** Path of the unix socket that accepts CONNECT. */
  readonly socket: string;
  /** `host:port` names that were asked for and are not allowed, in the order of the first time; at most `MAX_REFUSED`. */
  refused(): readonly string[];
  close(): Promise<void>;
}

/** Names that are remembered, our default: a message shows a few. */
const MAX_REFUSED = 20;

interface EgressTarget {
  readonly host: string;
  readonly port: number;
}

const DNS_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
// Lists letters in both cases: lowering first would turn the Kelvin sign and similar characters into ASCII letters.
const AUTHORITY = new RegExp(`^((?:${DNS_LABEL}\\.)*${DNS_LABEL}):(\\d{1,5})$`);

/**
 * Parses `host:port` with one strict grammar for settings and requests: an ASCII DNS name with a letter in its last
 * label.
 */
export function parseTarget(authority: string): EgressTarget | null {
  const match = AUTHORITY.exec(authority);
  const [host, digits] = [match?.[1]?.toLowerCase(), match?.[2]];
  if (host === undefined || host.length > 253) return null;
  const port = Number(digits);
  // Some resolvers would read a last label of digits or 0x… as an IPv4 address.
  const last = host.split('.').at(-1) ?? '';
  if (isIP(host) !== 0 || /^(?:\d+|0x[0-9a-f]*)$/.test(last) || port < 1 || port > 65_535) return null;
  return { host, port };
}

/** `host:port` names that a command may reach. */
interface AllowedHosts {
  readonly all: ReadonlySet<string>;
  /** Those of them that may lead to a private address: the operator named them, the repository did not. */
  readonly anyAddress: ReadonlySet<string>;
}

function allowList({ egress = [], registries = [] }: Pick<ExecSpec, 'egress' | 'registries'>): AllowedHosts {
  const named = egress.map((entry) => {
    const name = nameOfTarget(entry);
    if (name !== null) return name;
    throw new Fault(
      'SETTINGS_INVALID',
      `network.allow: "${entry}" is not a host name with a port, such as registry.example.org:443.`,
    );
  });
  const anyAddress = new Set(registries.flatMap((entry) => nameOfTarget(entry) ?? []));
  return { all: new Set([...named, ...anyAddress]), anyAddress };
}

function nameOfTarget(authority: string): string | null {
  const target = parseTarget(authority);
  return target && `${target.host}:${target.port}`;
}

/**
 * Starts a CONNECT proxy for one command on a new unix socket in `folder`; null for a command that may reach nothing. It
 * allows only the exact `host:port` names in `egress` and `registries`. A name is resolved once, and the address that was
 * checked is the one that is dialled. Throws SETTINGS_INVALID for a malformed name in `egress`.
 */
export async function openEgress(
  spec: Pick<ExecSpec, 'egress' | 'registries' | 'onRefusedHost'>,
  folder: string,
  owner: Owner | null,
  dialler: Dialler,
): Promise<EgressProxy | null> {
  const allowed = allowList(spec);
  if (allowed.all.size === 0) return null;
  const refused = new Set<string>();
  const onRefused = (host: string) => {
    if (refused.size < MAX_REFUSED) refused.add(host);
    spec.onRefusedHost?.(host);
  };
  const tunnels = new Set<Duplex>();
  const server = createServer({ headersTimeout: 10_000 }, (_request, response) => {
    response.writeHead(403, { connection: 'close', 'content-type': 'text/plain' });
    response.end('Only CONNECT to the allowed hosts passes here.\n');
  });
  server.on('connect', (request, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy());
    if (tunnels.size >= MAX_TUNNELS)
      return refuseTunnel(client, '503 Service Unavailable', 'too many connections');
    tunnels.add(client);
    client.on('close', () => tunnels.delete(client));
    void tunnel({ authority: request.url ?? '', client, head }, allowed, dialler, onRefused);
  });
  server.on('clientError', (_error, socket) => refuseTunnel(socket, '400 Bad Request', 'malformed request'));

  const place = join(folder, randomBytes(6).toString('hex'));
  mkdirSync(place, { mode: 0o700 });
  if (owner !== null) chownSync(place, owner.uid, owner.gid);
  // Bound through a descriptor of its folder: the path of a socket may have only 107 bytes, and that of a data folder
  // may be longer.
  const fd = openSync(place, 'r');
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(`/proc/self/fd/${fd}/egress.sock`, resolve);
    });
    chmodSync(join(place, 'egress.sock'), 0o666);
  } catch (thrown) {
    closeSync(fd);
    rmSync(place, { recursive: true, force: true });
    throw thrown;
  }
  return {
    socket: join(place, 'egress.sock'),
    refused: () => [...refused],
    async close() {
      for (const open of tunnels) open.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      closeSync(fd);
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** The result of a command with what its proxy refused. */
export const withRefusedHosts = (result: ExecResult, egress: EgressProxy | null): ExecResult =>
  egress === null ? result : { ...result, refusedHosts: egress.refused() };

function refuseTunnel(client: Duplex, status: string, reason: string): void {
  client.end(`HTTP/1.1 ${status}\r\nX-Refused: ${reason}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

interface TunnelRequest {
  readonly authority: string;
  readonly client: Duplex;
  readonly head: Buffer;
}

async function tunnel(
  { authority, client, head }: TunnelRequest,
  allowed: AllowedHosts,
  dialler: Dialler,
  onRefused: (host: string) => void,
): Promise<void> {
  const target = parseTarget(authority);
  const name = target && `${target.host}:${target.port}`;
  if (target === null || name === null || !allowed.all.has(name)) {
    if (name !== null) onRefused(name);
    return refuseTunnel(client, '403 Forbidden', 'not in the list of allowed hosts');
  }
  const addresses = await dialler.resolve(target.host).catch(() => []);
  const anyAddress = allowed.anyAddress.has(name);
  const address = addresses.find((candidate) =>
    anyAddress ? !isLinkLocal(candidate) : dialler.mayDial(candidate),
  );
  if (address !== undefined) {
    if (!client.destroyed) splice(client, head, connect({ host: address, port: target.port }));
    return;
  }
  if (addresses.length === 0) return refuseTunnel(client, '502 Bad Gateway', 'the name has no address');
  onRefused(name);
  refuseTunnel(client, '403 Forbidden', 'the name leads to a private address');
}

/** Connects client and server; when one of them ends, both do. */
function splice(client: Duplex, head: Buffer, server: Socket): void {
  let connected = false;
  server.setTimeout(CONNECT_TIMEOUT_MS, () => server.destroy(new Error('no answer')));
  server.once('connect', () => {
    connected = true;
    server.setTimeout(0);
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    if (head.length > 0) server.write(head);
    server.pipe(client);
    client.pipe(server);
  });
  server.on('error', () => {
    if (connected) client.destroy();
    else refuseTunnel(client, '502 Bad Gateway', 'the host does not answer');
  });
  server.on('close', () => client.end());
  client.on('close', () => server.destroy());
}

/** Ranges of the IANA special-purpose registry (IPv4) that are not part of the public internet, including multicast. */
const NOT_PUBLIC_4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

/** Parts of the global range 2000::/3 that are not public: Teredo and other protocol blocks, documentation, 6to4. */
const NOT_PUBLIC_6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

// One list for each family: Node matches every IPv4 address against an IPv6 rule that covers ::ffff:0:0/96.
function blockList(ranges: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, family);
  return list;
}
const NOT_PUBLIC_V4 = blockList(NOT_PUBLIC_4, 'ipv4');
const NOT_PUBLIC_V6 = blockList(NOT_PUBLIC_6, 'ipv6');
const GLOBAL_V6 = blockList([['2000::', 3]], 'ipv6');

/** True only for addresses of the public internet: not this machine, its networks, or a cloud's metadata service. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !NOT_PUBLIC_V4.check(address, 'ipv4');
    case 6:
      return GLOBAL_V6.check(address, 'ipv6') && !NOT_PUBLIC_V6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Addresses of the same link, a cloud's metadata service among them: no registry is there, whoever names one. */
const isLinkLocal = (address: string): boolean => /^(?:::ffff:)?169\.254\.|^fe[89ab][0-9a-f]:/i.test(address);
