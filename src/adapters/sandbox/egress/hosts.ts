import { BlockList, isIP } from 'node:net';
import { Fault } from '../../../core/model/index.ts';
import type { ExecSpec, FailedHost } from '../../../ports/index.ts';

export interface EgressTarget {
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
export interface AllowedHosts {
  readonly all: ReadonlySet<string>;
  /** Those of them that may lead to a private address: the operator named them, the repository did not. */
  readonly anyAddress: ReadonlySet<string>;
}

export function allowList({
  egress = [],
  registries = [],
}: Pick<ExecSpec, 'egress' | 'registries'>): AllowedHosts {
  const named = egress.map((entry) => {
    const name = nameOfTarget(entry);
    if (name !== null) return name;
    throw new Fault(
      'SETTINGS_INVALID',
      `network.allow: "${entry}" is not a host name with a port, such as registry.example.org:443.`,
    );
  });
  const anyAddress = new Set(registries.flatMap((entry) => nameOfTarget(entry) ?? literalName(entry) ?? []));
  return { all: new Set([...named, ...anyAddress]), anyAddress };
}

/** `address:port` if a registry is named by its address; a request must name it the same way. */
function literalName(authority: string): string | null {
  const target = literalTarget(authority);
  return target && authority;
}

/** Parses an address and a port; only for `registries`. */
export function literalTarget(authority: string): EgressTarget | null {
  const [, v6, v4, digits] = /^(?:\[([\da-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(authority) ?? [];
  const host = v6 ?? v4 ?? '';
  const port = Number(digits);
  return isIP(host) === (v6 === undefined ? 4 : 6) && port >= 1 && port <= 65_535 ? { host, port } : null;
}

function nameOfTarget(authority: string): string | null {
  const target = parseTarget(authority);
  return target && `${target.host}:${target.port}`;
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

/** Link-local addresses, including a cloud's metadata service: never a registry, whoever configured one. */
export const isLinkLocal = (address: string): boolean =>
  /^(?:::ffff:)?169\.254\.|^fe[89ab][0-9a-f]:/i.test(address);

/** Milliseconds between two reports of traffic, our default. */
const TRAFFIC_EVERY_MS = 1_000;
/** Maximum number of hosts stored, our default: a message shows a few. */
const MAX_HOSTS = 20;
/** Milliseconds without an answer after which a host counts as unreachable if the client disconnects; our default. */
const NO_ANSWER_MS = 10_000;

/** Reachability of a command's allowed hosts, derived from its connections. `why` completes "the host …". */
export interface Reachability {
  /** A connection could not be made. */
  failed(host: string, why: string): void;
  /** A connection was made. */
  connected(host: string): Connection;
  /** Hosts whose last connection failed, in the order of the first time. */
  failures(): readonly FailedHost[];
}

export interface Connection {
  /** The client sent bytes. */
  asked(): void;
  /** The host sent bytes. */
  answered(): void;
  /** The client closed the connection. */
  ended(): void;
  /** The host closed the connection; `why` if it broke off. */
  lost(why?: string): void;
}

/**
 * A host that responded after a failure counts as reachable: clients retry, and a later failure has another cause.
 * `noAnswerMs`: tests only.
 */
export function openReachability(
  onTraffic: (() => void) | undefined,
  noAnswerMs = NO_ANSWER_MS,
): Reachability {
  const failures = new Map<string, string>();
  /** Connections that wait for a response of their host, with the start of the wait. */
  const owing = new Map<Connection, { readonly host: string; readonly since: number }>();
  let reportedAt = Number.NEGATIVE_INFINITY;
  const failed = (host: string, why: string): void => {
    if (failures.size < MAX_HOSTS || failures.has(host)) failures.set(host, why);
  };
  const reportTraffic = (): void => {
    const now = performance.now();
    if (now - reportedAt < TRAFFIC_EVERY_MS) return;
    reportedAt = now;
    onTraffic?.();
  };
  const giveUp = (connection: Connection): void => {
    const owes = owing.get(connection);
    owing.delete(connection);
    if (owes && performance.now() - owes.since >= noAnswerMs) failed(owes.host, 'does not answer');
  };
  return {
    failed,
    connected(host) {
      let over = false;
      const connection: Connection = {
        asked() {
          if (!over && !owing.has(connection)) owing.set(connection, { host, since: performance.now() });
        },
        answered() {
          owing.delete(connection);
          failures.delete(host);
          reportTraffic();
        },
        ended() {
          over = true;
          giveUp(connection);
        },
        lost(why) {
          const owed = owing.delete(connection);
          if (over) return;
          over = true;
          if (why !== undefined) failed(host, why);
          else if (owed) failed(host, 'closed the connection without an answer');
        },
      };
      return connection;
    },
    failures() {
      // The command may have ended before its connections are closed.
      for (const connection of owing.keys()) giveUp(connection);
      return [...failures].map(([host, why]) => ({ host, why }));
    },
  };
}
