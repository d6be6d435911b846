import { expect, test } from 'vitest';
import { isPublicAddress } from '../../../src/adapters/sandbox/egress/index.ts';

test.each([
  '1.1.1.1',
  '9.255.255.255',
  '172.15.0.1',
  '172.32.0.1',
  '192.167.1.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
])('%s is the public internet', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  ...[
    '0.0.0.0',
    '127.0.0.1',
    '127.9.9.9',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
  ],
  ...['169.254.169.254', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '192.0.2.1'],
  ...['::', '::1', 'fe80::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8'],
  ...['64:ff9b::7f00:1', '2002:7f00:1::', '2001:db8::1', '2001:0:7f00:1::', 'localhost', '', '1.1.1.1.evil'],
])('"%s" is not', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});
