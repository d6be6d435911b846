import type { ExecResult, ExecSpec, Sandbox, WorkArea } from '../../../src/ports/index.ts';
import { type HostEnd, LIMITS, type Workbench } from '../../adapters/sandbox/workbench.ts';
import type { Answers } from './answers.ts';

/** What the app that starts the sandboxes must never pass on: it stands in its environment and in what it holds open. */
export const DIRT = 'dirt-of-the-app-4be1';

/** A host with something to steal, and a sandbox that stands between it and an attack. */
export interface EscapeWorld extends Pick<Workbench, 'owner' | 'area' | 'folder' | 'unboxed' | 'root'> {
  /** Started by an app whose environment, open folders and working folder hold `DIRT`. */
  readonly sandbox: Sandbox;
  /** The working folder of that app; also a descriptor that its sandboxes would inherit. */
  readonly dirty: string;
  /** How this backend says no. */
  readonly answers: Answers;
  close(): void | Promise<void>;
}

export type OpenWorld = () => Promise<EscapeWorld>;
export type Argv = readonly [string, ...string[]];

/** A shell line that calls its target `$1`. */
export const line = (text: string, target = ''): Argv => ['sh', '-c', text, 'sh', target];

/** A Perl program with arguments; Perl is on every Debian and makes any system call without a compiler. */
export const perl = (source: string, ...args: readonly (string | number)[]): Argv => [
  'perl',
  '-e',
  source,
  ...args.map(String),
];

/** A program that makes one system call and prints the errno, 0 when it succeeded. */
export const call = (number: number, ...args: readonly number[]): Argv =>
  perl(`$! = 0; my $r = syscall(${[number, ...args].join(', ')}); print $r == -1 ? $!+0 : 0`);

export const boxed = (
  { sandbox }: Pick<EscapeWorld, 'sandbox'>,
  area: WorkArea,
  argv: Argv,
  more: Partial<ExecSpec> = {},
): Promise<ExecResult> => sandbox.exec({ area, argv, limits: LIMITS, ...more });

const all = ({ stdout, stderr }: HostEnd | ExecResult): string => stdout + stderr;

/** All that a program says, on the host as the sandboxes' user and in a sandbox. */
export async function both(
  world: EscapeWorld,
  argv: Argv,
  area: WorkArea = world.area(),
): Promise<{ readonly free: string; readonly held: string }> {
  const free = await world.unboxed(argv);
  return { free: all(free), held: all(await boxed(world, area, argv)) };
}

/** What the backend's probe says is weaker in it. */
export async function weaknesses({ sandbox }: Pick<EscapeWorld, 'sandbox'>): Promise<string> {
  const probe = await sandbox.probe();
  return probe.kind === 'ready' ? probe.weaker.join('\n') : '';
}

/** The number of the user that a command sees itself as, a line of `id -u`. */
export async function userInside(world: EscapeWorld): Promise<string> {
  if (world.answers.user === 'one for all') return '1000\n';
  // Root of its container, a command may only be where the operator is told.
  if (/are root of their container/.test(await weaknesses(world))) return '0\n';
  return `${world.owner?.uid ?? process.getuid?.()}\n`;
}

export const isRoot = process.getuid?.() === 0;
