import { describe, expect, test } from 'vitest';
import { seccompFilter } from '../../../src/adapters/sandbox/seccomp.ts';

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const errno = (number: number): number => 0x00050000 | number;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [errno(1), errno(38), errno(97)];

interface Call {
  readonly nr: number;
  readonly arch: number;
  readonly args?: readonly number[];
}

/** What the kernel would answer: an interpreter of the classic BPF that filters consist of. */
function verdict(filter: Buffer, { nr, arch, args = [] }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr, 0);
  data.writeUInt32LE(arch, 4);
  args.forEach((value, index) => {
    data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  });
  let accumulator = 0;
  for (let at = 0; at * 8 < filter.length; at += 1) {
    const [code, operand] = [filter.readUInt16LE(at * 8), filter.readUInt32LE(at * 8 + 4)];
    const [whenTrue, whenFalse] = [filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else if (code === 0x54) accumulator = (accumulator & operand) >>> 0;
    else if (code === 0x15) at += accumulator === operand ? whenTrue : whenFalse;
    else if (code === 0x35) at += accumulator >= operand ? whenTrue : whenFalse;
    else if (code === 0x06) return operand;
    else throw new Error(`unexpected opcode ${code}`);
  }
  throw new Error('fell off the end of the filter');
}

// Numbers as in the kernel's tables, written down apart from the product's own.
const MACHINES = {
  x64: {
    arch: 0xc000003e,
    nr: {
      read: 0,
      ioctl: 16,
      socket: 41,
      socketpair: 53,
      clone: 56,
      ptrace: 101,
      mknod: 133,
      mount: 165,
      mknodat: 259,
      unshare: 272,
      setns: 308,
      memfd: 319,
      ioSetup: 206,
      prctl: 157,
      bpf: 321,
      keyctl: 250,
      openByHandle: 304,
    },
  },
  arm64: {
    arch: 0xc00000b7,
    nr: {
      read: 63,
      ioctl: 29,
      socket: 198,
      socketpair: 199,
      clone: 220,
      ptrace: 117,
      mknod: 33,
      mount: 40,
      mknodat: 33,
      unshare: 97,
      setns: 268,
      memfd: 279,
      ioSetup: 0,
      prctl: 167,
      bpf: 280,
      keyctl: 219,
      openByHandle: 265,
    },
  },
} as const;

describe.each(['x64', 'arm64'] as const)('the filter on %s', (name) => {
  const filter = seccompFilter(name);
  const { arch, nr } = MACHINES[name];
  const ask = (number: number, ...args: number[]): number => verdict(filter, { nr: number, arch, args });

  test('allows ordinary work', () => {
    expect([nr.read, nr.ptrace, nr.socket].map((number) => ask(number, 1))).toEqual([ALLOW, ALLOW, ALLOW]);
    expect(ask(nr.clone, 0x01200011)).toBe(ALLOW);
    expect(ask(nr.clone, 0x003d0f00)).toBe(ALLOW);
    expect(ask(nr.ioctl, 0, 0x5401)).toBe(ALLOW);
    expect(ask(nr.socketpair, 1)).toBe(ALLOW);
  });

  test('refuses namespaces, mounts, keys and handles', () => {
    const { unshare, setns, mount, keyctl, bpf, openByHandle } = nr;
    for (const number of [unshare, setns, mount, keyctl, bpf, openByHandle]) expect(ask(number)).toBe(EPERM);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(ask(nr.clone, flag | 17)).toBe(EPERM);
    }
  });

  test('allows no thread its own descriptors', () => {
    expect(ask(nr.clone, 0x003d0f00 & ~0x400)).toBe(EPERM);
    expect([0, 4, 2, 6].map((flags) => ask(436, 3, 9, flags))).toEqual([ALLOW, ALLOW, EPERM, EPERM]);
  });

  test('lets no program hide what it has open, and tells it that it does', () => {
    const [SET_DUMPABLE, SET_NAME] = [4, 15];
    expect([0, 1].map((value) => ask(nr.prctl, SET_DUMPABLE, value))).toEqual([errno(0), ALLOW]);
    expect(ask(nr.prctl, SET_NAME, 0)).toBe(ALLOW);
  });

  test('has no clone3, no memory files and no queues of asynchronous reads', () => {
    const absent = [435, nr.memfd, 447, nr.ioSetup];
    expect(absent.map((number) => ask(number))).toEqual([ENOSYS, ENOSYS, ENOSYS, ENOSYS]);
  });

  test('opens sockets of four families only', () => {
    expect([1, 2, 10, 16].map((family) => ask(nr.socket, family))).toEqual([ALLOW, ALLOW, ALLOW, ALLOW]);
    // AF_PACKET, AF_ALG, AF_VSOCK, AF_XDP, AF_TIPC
    for (const family of [17, 38, 40, 44, 30]) expect(ask(nr.socket, family)).toBe(EAFNOSUPPORT);
    expect(ask(nr.socketpair, 30)).toBe(EAFNOSUPPORT);
  });

  test('forbids typing into terminals and creating devices', () => {
    expect([0x5412, 0x541c].map((request) => ask(nr.ioctl, 0, request))).toEqual([EPERM, EPERM]);
    expect([0x61b0, 0x21b0, 0x81b0, 0x11b0].map((mode) => ask(nr.mknodat, 0, 0, mode))).toEqual([
      EPERM,
      EPERM,
      ALLOW,
      ALLOW,
    ]);
  });

  test('ends a program of another architecture', () => {
    expect(verdict(filter, { nr: nr.read, arch: 0x40000003 })).toBe(KILL);
  });
});

test('the filter on x64 also forbids the x32 ABI and the old mknod', () => {
  const { arch, nr } = MACHINES.x64;
  const filter = seccompFilter('x64');
  expect(verdict(filter, { nr: 0x40000000 + nr.mount, arch })).toBe(ENOSYS);
  expect(verdict(filter, { nr: nr.mknod, arch, args: [0, 0x21b0] })).toBe(EPERM);
});
