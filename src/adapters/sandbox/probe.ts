import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { asFault } from '../../core/model/index.ts';
import { DEFAULT_LIMITS, type ExecResult, type ExecSpec } from '../../ports/index.ts';
import { makeArea, removeArea } from './areas.ts';
import { lackOfCapabilities } from './capabilities.ts';
import type { Delegation } from './control-groups.ts';
import type { Variant } from './launch.ts';
import { type Owner, runCommand } from './processes.ts';
import { ownFolder } from './scratch.ts';
import { SYSCALLS } from './syscalls.ts';

type ProbeFinding =
  | {
      readonly kind: 'ready';
      readonly variant: Variant;
      readonly detail: string;
      readonly weaker: readonly string[];
    }
  | { readonly kind: 'missing'; readonly why: string; readonly remedy: string };

interface ProbeTrial {
  readonly owner: Owner | null;
  readonly scratch: string;
  /** False: overlay mounts are not tried. */
  readonly overlay: boolean;
  /** False: if this host allows only a weaker step, it has no sandbox. */
  readonly allowWeaker: boolean;
  readonly delegation: () => Promise<Delegation>;
  /** Files and folders in /usr that commands find empty. */
  readonly hidden: () => Promise<readonly string[]>;
  readonly exec: (spec: ExecSpec, variant: Variant) => Promise<ExecResult>;
}

/** 0.8 introduced --disable-userns; without it a command could create its own namespaces. */
const OLDEST_BWRAP = [0, 8] as const;
const TOO_SLOW = 'A trial command did not end in time.';
const INSTALL_REMEDY = 'sudo apt-get install bubblewrap util-linux';

/** Runs `true` like every later command, in the strongest variant first. Never rejects. */
export async function findVariant(trial: ProbeTrial): Promise<ProbeFinding> {
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
  const lack = lackOfCapabilities(trial.owner);
  if (lack !== null) return { kind: 'missing', ...lack };
  const version = await runCommand(['bwrap', '--version'], trial.owner);
  const found = /(\d+)\.(\d+)/.exec(version.stdout);
  if (found === null) {
    return { kind: 'missing', why: 'bubblewrap (bwrap) is not installed.', remedy: INSTALL_REMEDY };
  }
  const [major, minor] = [Number(found[1]), Number(found[2])];
  if (major === OLDEST_BWRAP[0] && minor < OLDEST_BWRAP[1]) {
    return {
      kind: 'missing',
      why: `bubblewrap ${found[0]} is too old: version ${OLDEST_BWRAP.join('.')} or newer is needed.`,
      remedy: INSTALL_REMEDY,
    };
  }
  return (await unreachable(trial)) ?? (await tryVariants(trial, version.stdout.trim()));
}

/** The finding for a scratch folder that does not exist or that the sandboxes' user cannot reach; null if it is fine. */
async function unreachable({ scratch, owner }: ProbeTrial): Promise<ProbeFinding | null> {
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

async function tryVariants(trial: ProbeTrial, version: string): Promise<ProbeFinding> {
  const delegation = await trial.delegation();
  const host = { groups: delegation.kind === 'ready', overlay: trial.overlay };
  const strong = await firstThatWorks(trial, variantsOf(STRONG, host));
  if (strong.variant !== null) {
    const detail =
      variantDetail(version, strong.variant, strong.refusals, delegation) + (await hiddenDetail(trial));
    return { kind: 'ready', variant: strong.variant, detail, weaker: [] };
  }
  const weak = await firstThatWorks(
    trial,
    WEAKER_STEPS.flatMap((step) => variantsOf(step, host)),
  );
  if (weak.variant === null) {
    // The plainest variant of the strong step shows best what is missing.
    const why = strong.refusals.at(-1)?.why ?? '';
    return { kind: 'missing', why, remedy: remedyFor(why) };
  }
  if (!trial.allowWeaker) return { kind: 'missing', ...onlyWeaker() };
  const detail =
    variantDetail(version, weak.variant, weak.refusals, delegation) + (await hiddenDetail(trial));
  return { kind: 'ready', variant: weak.variant, detail, weaker: variantWeaknesses(weak.variant) };
}

interface Tries {
  /** Null if none works. */
  readonly variant: Variant | null;
  readonly refusals: readonly { readonly variant: Variant; readonly why: string }[];
}

async function firstThatWorks(trial: ProbeTrial, variants: readonly Variant[]): Promise<Tries> {
  const refusals: { variant: Variant; why: string }[] = [];
  for (const variant of variants) {
    const why = await whyVariantFails(trial, variant);
    if (why === null) return { variant, refusals };
    refusals.push({ variant, why });
    // A host that is too slow for `true` is not tried for minutes.
    if (why === TOO_SLOW) break;
  }
  return { variant: null, refusals };
}

function variantDetail(
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

/** Without their names: reports show it. */
async function hiddenDetail({ hidden }: ProbeTrial): Promise<string> {
  const { length } = await hidden();
  if (length === 0) return '';
  return `, ${length === 1 ? 'one file' : `${length} files`} of /usr hidden that may hold a credential`;
}

const ENDED_BY_SIGNAL = 'A trial command was ended by a signal.';
/**
 * Trials of one variant. Our default: a kernel that forbids something always does; somebody who kills programs does
 * not.
 */
const MAX_TRIALS = 3;

/** Why a variant does not work on this host; null if it does. */
async function whyVariantFails(trial: ProbeTrial, variant: Variant): Promise<string | null> {
  for (let left = MAX_TRIALS; left > 1; left -= 1) {
    const why = await whyTrialFails(trial, variant);
    if (why !== ENDED_BY_SIGNAL) return why;
  }
  return whyTrialFails(trial, variant);
}

async function whyTrialFails(trial: ProbeTrial, variant: Variant): Promise<string | null> {
  const root = ownFolder(trial.scratch, 'probe');
  try {
    const area = makeArea(root, trial.owner);
    const limits = { ...DEFAULT_LIMITS, wallMs: 20_000 };
    const result = await trial.exec({ area, argv: ['true'], limits }, variant);
    if (result.exitCode === 0) return null;
    if (result.stopped === 'wall') return TOO_SLOW;
    return result.exitCode === null
      ? ENDED_BY_SIGNAL
      : result.stderr.trim() || 'A trial command failed without a message.';
  } catch (thrown) {
    const fault = asFault(thrown);
    return fault.code === 'PROGRAM_KILLED' ? ENDED_BY_SIGNAL : fault.message;
  } finally {
    removeArea(root);
  }
}

/** Kernel settings that disable user namespaces, each with the value that does so. */
const KERNEL_SWITCHES = [
  { file: 'user/max_user_namespaces', off: '0', fix: 'sudo sysctl -w user.max_user_namespaces=15000' },
  {
    file: 'kernel/unprivileged_userns_clone',
    off: '0',
    fix: 'sudo sysctl -w kernel.unprivileged_userns_clone=1',
  },
  {
    file: 'kernel/apparmor_restrict_unprivileged_userns',
    off: '1',
    fix: 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  },
] as const;

function remedyFor(why: string): string {
  if (/ENOENT|not found/.test(why)) return INSTALL_REMEDY;
  const off = KERNEL_SWITCHES.find(({ file, off }) => {
    const path = `/proc/sys/${file}`;
    return existsSync(path) && readFileSync(path, 'utf8').trim() === off;
  });
  if (off !== undefined) return off.fix;
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

/** How a command sees processes and is prevented from creating namespaces, the strongest first. */
type VariantStep = Pick<Variant, 'proc' | 'lockNamespaces'>;

const STRONG: VariantStep = { proc: 'own', lockNamespaces: true };

/** In the order in which they are tried if the strong step is refused. */
const WEAKER_STEPS: readonly VariantStep[] = [
  { proc: 'outer', lockNamespaces: true },
  { proc: 'outer', lockNamespaces: false },
];

/** All ways to take a step: control groups before watchdogs, overlay mounts before copies. */
function variantsOf(
  step: VariantStep,
  host: { readonly groups: boolean; readonly overlay: boolean },
): readonly Variant[] {
  const either = (possible: boolean): readonly boolean[] => (possible ? [true, false] : [false]);
  return either(host.groups).flatMap((group) =>
    either(host.overlay).flatMap((overlay) =>
      [true, false].map((hostname) => ({ ...step, group, overlay, hostname })),
    ),
  );
}

/** What a command can do in this variant but not in the strong one, as reports say it. */
function variantWeaknesses({ proc, lockNamespaces }: VariantStep): readonly string[] {
  return [
    ...(proc === 'own'
      ? []
      : [
          'Commands in the sandbox see the names and arguments of other processes of this host or container, though not their environment or memory.',
        ]),
    ...(lockNamespaces
      ? []
      : ['Only the system call filter keeps commands in the sandbox from making namespaces of their own.']),
  ];
}

/** For a host on which only a weaker step works, which the operator has not allowed. */
const onlyWeaker = (): { readonly why: string; readonly remedy: string } => ({
  why: 'A sandbox cannot have a /proc of its own here: parts of the outer one are covered or read-only, as container engines and some options of systemd make them.',
  remedy: `${uncover()} Or set RUNOFF_SANDBOX_WEAKER=true: commands then see the names and arguments of all processes, and every report says so.`,
});

const uncover = (): string =>
  existsSync('/run/systemd/system')
    ? 'Take options that cover parts of /proc out of the unit, such as ProtectProc= and ProcSubset=.'
    : 'Start the container with --security-opt systempaths=unconfined (Podman: --security-opt unmask=ALL).';
