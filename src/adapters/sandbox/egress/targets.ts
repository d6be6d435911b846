import { isIP } from 'node:net';
import { Fault } from '../../../core/model/index.ts';
import type { ExecSpec } from '../../../ports/index.ts';

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
