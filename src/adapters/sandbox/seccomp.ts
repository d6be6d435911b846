import { type Architecture, SYSCALLS } from './syscalls.ts';

// Return values of a seccomp filter (linux/seccomp.h); the low 16 bits of ERRNO are the error.
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const ERRNO = 0x00050000;
/** The call does nothing and succeeds. */
const IGNORED = ERRNO | 0;
const EPERM = ERRNO | 1;
const ENOSYS = ERRNO | 38;
const EAFNOSUPPORT = ERRNO | 97;

// Classic BPF opcodes (linux/bpf_common.h) and offsets into struct seccomp_data, low word of each argument first.
const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const MASK = 0x54;
const RETURN = 0x06;
const NUMBER_OFFSET = 0;
const ARCH_OFFSET = 4;
const argument = (index: number): number => 16 + 8 * index;

/** Marks the x32 calling convention, a second way to make every x64 system call. */
const X32_BIT = 0x40000000;

/** CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}, and CLONE_NEWTIME, which is in the byte of the exit signal. */
const NEW_NAMESPACE = 0x7e020080;

/** CLONE_THREAD, and CLONE_FILES: a thread that does not share its process's descriptors. */
const THREAD = 0x10000;
const THREAD_WITH_FILES = 0x10400;
/** CLOSE_RANGE_UNSHARE (linux/close_range.h). */
const CLOSE_UNSHARED = 2;

/** PR_SET_DUMPABLE (linux/prctl.h). */
const SET_DUMPABLE = 4;

const AF = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
/** ioctls that type into a terminal: TIOCSTI, TIOCLINUX. */
const TYPING = [0x5412, 0x541c] as const;
const FILE_TYPE = 0xf000;
const DEVICE_TYPES = [0x6000, 0x2000] as const;

/**
 * Always refused: namespaces, mounts, kernel keyring, kernel code, clocks, and other ways to reach other processes'
 * files.
 */
const REFUSED_CALLS = [
  'unshare',
  'setns',
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'move_mount',
  'open_tree',
  'open_tree_attr',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'swapon',
  'swapoff',
  'reboot',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'add_key',
  'request_key',
  'keyctl',
  'open_by_handle_at',
  'name_to_handle_at',
  'fanotify_init',
  'syslog',
  'acct',
  'quotactl',
  'quotactl_fd',
  'settimeofday',
  'clock_settime',
  'adjtimex',
  'clock_adjtime',
  'iopl',
  'ioperm',
  'kcmp',
  'lookup_dcookie',
  'vhangup',
  'nfsservctl',
] as const;

/**
 * Answered with "no such call", for which every program has a fallback. clone3: its flags are behind a pointer that a
 * filter cannot read, and libc falls back to clone. memfd: memory that no process maps, so that no limit includes it.
 * io_setup: the kernel counts these for the whole machine, and databases do without.
 */
const ABSENT_CALLS = ['clone3', 'memfd_create', 'memfd_secret', 'io_setup'] as const;

interface Instruction {
  readonly code: number;
  readonly whenTrue: number;
  readonly whenFalse: number;
  readonly operand: number;
}

const instruction = (code: number, operand: number, whenTrue = 0, whenFalse = 0): Instruction => ({
  code,
  operand,
  whenTrue,
  whenFalse,
});
const load = (offset: number): Instruction => instruction(LOAD, offset);
const returnValue = (verdict: number): Instruction => instruction(RETURN, verdict);
const returnIfEqual = (value: number, verdict: number): Instruction[] => [
  instruction(JUMP_EQUAL, value, 0, 1),
  returnValue(verdict),
];
/** Runs `body`, which must end in a return, only for system call `number`. */
const forCall = (number: number, body: readonly Instruction[]): Instruction[] => [
  instruction(JUMP_EQUAL, number, 0, body.length),
  ...body,
];

const families = (allowed: readonly number[]): Instruction[] => [
  load(argument(0)),
  ...allowed.flatMap((family) => returnIfEqual(family, ALLOW)),
  returnValue(EAFNOSUPPORT),
];
const noDevices = (modeAt: number): Instruction[] => [
  load(argument(modeAt)),
  instruction(MASK, FILE_TYPE),
  ...DEVICE_TYPES.flatMap((type) => returnIfEqual(type, EPERM)),
  returnValue(ALLOW),
];

/** Calls that are allowed with certain arguments only. */
const conditional = (): Readonly<Record<string, readonly Instruction[]>> => ({
  // Descriptors that only one thread has are not visible at its process, where open files are counted.
  clone: [
    ...[load(argument(0)), instruction(MASK, THREAD_WITH_FILES), ...returnIfEqual(THREAD, EPERM)],
    ...[load(argument(0)), instruction(MASK, NEW_NAMESPACE), ...returnIfEqual(0, ALLOW), returnValue(EPERM)],
  ],
  close_range: [
    load(argument(2)),
    instruction(MASK, CLOSE_UNSHARED),
    ...returnIfEqual(0, ALLOW),
    returnValue(EPERM),
  ],
  socket: families([AF.unix, AF.inet, AF.inet6, AF.netlink]),
  socketpair: families([AF.unix]),
  ioctl: [
    load(argument(1)),
    ...TYPING.flatMap((request) => returnIfEqual(request, EPERM)),
    returnValue(ALLOW),
  ],
  // Guards of keys such as ssh-agent hide what they have open, which would then not be counted, and do not run without.
  prctl: [
    load(argument(0)),
    instruction(JUMP_EQUAL, SET_DUMPABLE, 1, 0),
    returnValue(ALLOW),
    ...[load(argument(1)), ...returnIfEqual(0, IGNORED), returnValue(ALLOW)],
  ],
  mknod: noDevices(1),
  mknodat: noDevices(2),
});

function filterProgram(arch: Architecture): Instruction[] {
  const { audit, calls } = SYSCALLS[arch];
  const known = (name: string): number[] => (calls[name] === undefined ? [] : [calls[name]]);
  return [
    load(ARCH_OFFSET),
    instruction(JUMP_EQUAL, audit, 1, 0),
    returnValue(KILL_PROCESS),
    load(NUMBER_OFFSET),
    ...(arch === 'x64' ? [instruction(JUMP_AT_LEAST, X32_BIT, 0, 1), returnValue(ENOSYS)] : []),
    ...REFUSED_CALLS.flatMap(known).flatMap((number) => returnIfEqual(number, EPERM)),
    ...ABSENT_CALLS.flatMap(known).flatMap((number) => returnIfEqual(number, ENOSYS)),
    ...Object.entries(conditional()).flatMap(([name, body]) =>
      known(name).flatMap((number) => forCall(number, body)),
    ),
    returnValue(ALLOW),
  ];
}

/**
 * The system call filter of every sandbox as a classic BPF program, 8 bytes per instruction, for `bwrap --seccomp`.
 * Little-endian, like both architectures.
 */
export function seccompFilter(arch: Architecture): Buffer {
  const instructions = filterProgram(arch);
  const bytes = Buffer.alloc(instructions.length * 8);
  instructions.forEach(({ code, whenTrue, whenFalse, operand }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(whenTrue, index * 8 + 2);
    bytes.writeUInt8(whenFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  });
  return bytes;
}
