import { BlockList, isIP } from 'node:net';

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
