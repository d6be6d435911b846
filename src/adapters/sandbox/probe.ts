import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asFault } from '../../core/model/index.ts';
import { DEFAULT_LIMITS, type ExecResult, type ExecSpec, type WorkArea } from '../../ports/index.ts';
import { runCommand } from './command.ts';
import type { Delegation } from './delegation.ts';
import type { Variant } from './launch.ts';
import type { Owner } from './owner.ts';
import { SYSCALLS } from './syscalls.ts';
import { onlyWeaker, STRONG, variantsOf, WEAKER_STEPS, weaknesses } from './variants.ts';

export type Finding =
  | {
      readonly kind: 'ready';
      readonly variant: Variant;
      readonly detail: string;
      readonly weaker: readonly string[];
    }
  | { readonly kind: 'missing'; readonly why: string; readonly remedy: string };

interface Trial {
  readonly owner: Owner | null;
  readonly scratch: string;
  /** False: overlay mounts are not tried. */
  readonly overlay: boolean;
  /** False: a host that allows only a weaker step has no sandbox. */
  readonly allowWeaker: boolean;
  readonly delegation: () => Promise<Delegation>;
  readonly exec: (spec: ExecSpec, variant: Variant) => Promise<ExecResult>;
}

/** 0.8 brought --disable-userns; without it a command could make namespaces of its own. */
const OLDEST = [0, 8] as const;
const TOO_SLOW = 'A trial command did not end in time.';
const INSTALL = 'sudo apt-get install bubblewrap util-linux';

/** Runs `true` the way every command will run, in the strongest variant first. Never rejects. */
export async function findVariant(trial: Trial): Promise<Finding> {
  if (process.platform !== 'linux' || !(process.arch in SYSCALLS)) {
    return {
      kind: 'missing',
      why: `The sandbox needs Linux on x64 or arm64; this is ${process.platform} on ${process.arch}.`,
      remedy: 'Run Runoff in a Linux container or virtual machine.',
    };
  }
  const uid = trial.owner?.uid ?? process.getuid?.();
  if (uid === 0) {
    return {
      kind: 'missing',
      why: 'Runoff runs as root without an ordinary user for its sandboxes; as root they could write kernel settings.',
      remedy: 'Start Runoff as an ordinary user.',
    };
  }
  const version = await runCommand(['bwrap', '--version'], trial.owner);
  const found = /(\d+)\.(\d+)/.exec(version.stdout);
  if (found === null) {
    return { kind: 'missing', why: 'bubblewrap (bwrap) is not installed.', remedy: INSTALL };
  }
  const [major, minor] = [Number(found[1]), Number(found[2])];
  if (major === OLDEST[0] && minor < OLDEST[1]) {
    return {
      kind: 'missing',
      why: `bubblewrap ${found[0]} is too old: version ${OLDEST.join('.')} or newer is needed.`,
      remedy: INSTALL,
    };
  }
  return (await unreachable(trial)) ?? (await tryVariants(trial, version.stdout.trim()));
}

/** The finding for a scratch folder that is not there or that the sandboxes' user has no way to; null when all is well. */
async function unreachable({ scratch, owner }: Trial): Promise<Finding | null> {
  try {
    mkdirSync(scratch, { recursive: true, mode: 0o755 });
  } catch (thrown) {
    const remedy = 'Set RUNOFF_DATA to a folder that Runoff can write.';
    return { kind: 'missing', why: asFault(thrown).message, remedy };
  }
  if (owner === null || (await runCommand(['test', '-x', scratch], owner)).code === 0) return null;
  return {
    kind: 'missing',
    why: `The sandboxes' user (uid ${owner.uid}) cannot reach ${scratch}: a folder above it is closed to other users.`,
    remedy: 'Set RUNOFF_DATA to a folder that other users may enter, such as /var/lib/runoff.',
  };
}

async function tryVariants(trial: Trial, version: string): Promise<Finding> {
  const delegation = await trial.delegation();
  const host = { groups: delegation.kind === 'ready', overlay: trial.overlay };
  const strong = await firstThatWorks(trial, variantsOf(STRONG, host));
  if (strong.variant !== null) {
    const detail = detailOf(version, strong.variant, strong.refusals, delegation);
    return { kind: 'ready', variant: strong.variant, detail, weaker: [] };
  }
  const weak = await firstThatWorks(
    trial,
    WEAKER_STEPS.flatMap((step) => variantsOf(step, host)),
  );
  if (weak.variant === null) {
    // The plainest variant of the strong step tells best what is missing altogether.
    const why = strong.refusals.at(-1)?.why ?? '';
    return { kind: 'missing', why, remedy: remedyFor(why) };
  }
  if (!trial.allowWeaker) return { kind: 'missing', ...onlyWeaker() };
  const detail = detailOf(version, weak.variant, weak.refusals, delegation);
  return { kind: 'ready', variant: weak.variant, detail, weaker: weaknesses(weak.variant) };
}

interface Tries {
  /** Null when none works. */
  readonly variant: Variant | null;
  readonly refusals: readonly { readonly variant: Variant; readonly why: string }[];
}

async function firstThatWorks(trial: Trial, variants: readonly Variant[]): Promise<Tries> {
  const refusals: { variant: Variant; why: string }[] = [];
  for (const variant of variants) {
    const why = await refusalOf(trial, variant);
    if (why === null) return { variant, refusals };
    refusals.push({ variant, why });
    // A host too slow for `true` is not tried for minutes.
    if (why === TOO_SLOW) break;
  }
  return { variant: null, refusals };
}

function detailOf(
  version: string,
  chosen: Variant,
  refusals: Tries['refusals'],
  delegation: Delegation,
): string {
  const refused = (by: 'overlay' | 'group'): string =>
    refusals.findLast(({ variant }) => variant[by] && !chosen[by])?.why ?? 'turned off';
  const files = chosen.overlay ? 'overlay mounts' : `full copies (no overlay mounts: ${refused('overlay')})`;
  const why = delegation.kind === 'none' ? delegation.why : refused('group');
  const limits = chosen.group
    ? 'limits by control groups'
    : `limits by watchdogs (no control groups: ${why})`;
  return `${version}, ${files}, ${limits}`;
}

const ENDED_BY_SIGNAL = 'A trial command was ended by a signal.';
/** Trials of one variant, our default: a kernel that forbids something does so each time, whoever kills programs does not. */
const TRIALS = 3;

/** Why a variant does not work here; null when it does. */
async function refusalOf(trial: Trial, variant: Variant): Promise<string | null> {
  for (let left = TRIALS; left > 1; left -= 1) {
    const why = await refusalOnce(trial, variant);
    if (why !== ENDED_BY_SIGNAL) return why;
  }
  return refusalOnce(trial, variant);
}

async function refusalOnce(trial: Trial, variant: Variant): Promise<string | null> {
  const root = join(trial.scratch, `probe-${randomBytes(6).toString('hex')}`);
  try {
    const area = makeArea(root, trial.owner);
    const limits = { ...DEFAULT_LIMITS, wallMs: 20_000 };
    const result = await trial.exec({ area, argv: ['true'], limits }, variant);
    if (result.exitCode === 0) return null;
    if (result.stopped === 'wall') return TOO_SLOW;
    return result.exitCode === null ? ENDED_BY_SIGNAL : result.stderr.trim() || 'A trial command failed.';
  } catch (thrown) {
    const fault = asFault(thrown);
    return fault.code === 'PROGRAM_KILLED' ? ENDED_BY_SIGNAL : fault.message;
  } finally {
    removeArea(root);
  }
}

export function makeArea(root: string, owner: Owner | null): WorkArea {
  const area: WorkArea = {
    id: 'probe',
    lowers: [join(root, 'lower')],
    upper: join(root, 'upper'),
    work: join(root, 'work'),
    merged: join(root, 'merged'),
    home: join(root, 'home'),
  };
  for (const path of [...area.lowers, area.upper, area.work, area.merged, area.home]) {
    mkdirSync(path, { recursive: true, mode: 0o755 });
    if (owner !== null) chownSync(path, owner.uid, owner.gid);
  }
  return area;
}

export function removeArea(root: string): void {
  // The kernel makes these folders, closed to everyone.
  const closed = [join(root, 'work', 'work'), join(root, 'work', 'home', 'work')];
  for (const path of closed) if (existsSync(path)) chmodSync(path, 0o700);
  rmSync(root, { recursive: true, force: true });
}

/** Kernel settings that turn user namespaces off, each with the value that does. */
const SWITCHES = [
  { file: 'user/max_user_namespaces', off: '0', mend: 'sudo sysctl -w user.max_user_namespaces=15000' },
  {
    file: 'kernel/unprivileged_userns_clone',
    off: '0',
    mend: 'sudo sysctl -w kernel.unprivileged_userns_clone=1',
  },
  {
    file: 'kernel/apparmor_restrict_unprivileged_userns',
    off: '1',
    mend: 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  },
] as const;

function remedyFor(why: string): string {
  if (/ENOENT|not found/.test(why)) return INSTALL;
  const off = SWITCHES.find(({ file, off }) => {
    const path = `/proc/sys/${file}`;
    return existsSync(path) && readFileSync(path, 'utf8').trim() === off;
  });
  if (off !== undefined) return off.mend;
  if (inUnit()) {
    return 'Take RestrictNamespaces=, SystemCallFilter= and PrivateUsers= out of the unit that starts Runoff.';
  }
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) {
    return 'Start the container with --security-opt systempaths=unconfined and a seccomp profile that allows user namespaces.';
  }
  return 'unshare --user --map-root-user --mount true   (must work for the user Runoff runs sandboxes as)';
}

const inUnit = (): boolean =>
  existsSync('/run/systemd/system') && /\.service(?:\/|$)/m.test(readFileSync('/proc/self/cgroup', 'utf8'));
