import { asFault } from '../../../core/model/index.ts';
import { DEFAULT_LIMITS, type ExecResult, type ExecSpec } from '../../../ports/index.ts';
import { makeArea, removeArea } from '../areas.ts';
import { lackOfCapabilities } from '../capabilities.ts';
import type { Owner } from '../processes.ts';
import { ownFolder } from '../scratch.ts';
import { type ContainerEngine, ENGINES, type EngineName, findEngine } from './engine.ts';
import type { ContainerSetup } from './flags.ts';

type SetupFinding =
  | {
      readonly kind: 'ready';
      readonly setup: ContainerSetup;
      readonly detail: string;
      readonly weaker: readonly string[];
    }
  | SetupMissing;

interface SetupMissing {
  readonly kind: 'missing';
  readonly why: string;
  readonly remedy: string;
}

interface SetupTrial {
  readonly engine?: EngineName;
  readonly image: string;
  readonly owner: Owner | null;
  readonly scratch: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly exec: (spec: ExecSpec, setup: ContainerSetup) => Promise<ExecResult>;
  readonly sweep: (engine: ContainerEngine) => Promise<void>;
}

const missing = (why: string, remedy: string): SetupMissing => ({ kind: 'missing', why, remedy });

/** Programs that an image needs besides the repository's own: if one is missing, coders end without a patch. */
const IMAGE_PROGRAMS = [
  'cat',
  'comm',
  'cp',
  'find',
  'git',
  'grep',
  'sed',
  'sort',
  'stat',
  'tr',
  'wc',
  'xargs',
] as const;

/** A number of processes that is no default anywhere; the trial uses it to check whether its limits are enforced. */
const MARKED_PROCESSES = 487;
/**
 * Prints the limits of the container's own control group, version 2 or 1, or nothing if the engine shows none. Then
 * checks for Node, which every command behind a gateway needs, and for the shell, git and the other programs that read
 * a candidate's files.
 */
const TRIAL_SCRIPT = `cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null
for program in ${IMAGE_PROGRAMS.join(' ')}; do
  command -v $program > /dev/null || { echo "the image has no $program" >&2; exit 3; }
done
/opt/toolchain/bin/node --version > /dev/null && touch /repo/written ~/written /tmp/written`;

/** Runs a trial command like every later command, in the strongest set-up first. Never rejects. */
export async function findSetup(trial: SetupTrial): Promise<SetupFinding> {
  if (process.platform !== 'linux') {
    return missing(
      `Containers are watched from the machine that runs them; this is ${process.platform}.`,
      'Run Runoff itself in a Linux virtual machine or container, see docs/sandbox-backends.md.',
    );
  }
  if (trial.owner === null && process.getuid?.() === 0) {
    return missing(
      'Runoff runs as root without an ordinary user for its sandboxes.',
      'Start Runoff as an ordinary user.',
    );
  }
  const lack = lackOfCapabilities(trial.owner);
  if (lack !== null) return missing(lack.why, lack.remedy);
  const engine = await firstEngine(trial);
  if ('kind' in engine) return engine;
  try {
    await trial.sweep(engine);
    return (await wrongImage(trial.image, engine)) ?? (await trySetups(trial, engine));
  } catch (thrown) {
    return missing(asFault(thrown).message, `${engine.name} info`);
  }
}

async function firstEngine({
  engine,
  environment = process.env,
}: SetupTrial): Promise<ContainerEngine | SetupMissing> {
  const reasons: string[] = [];
  for (const name of engine === undefined ? ENGINES : [engine]) {
    const found = await findEngine(name, environment);
    if (!('why' in found)) return found;
    reasons.push(found.why);
  }
  const why = `No container engine can be used: ${reasons.join('; ')}.`;
  return missing(why, 'sudo apt-get install podman uidmap   (then `podman info` must work for this user)');
}

async function wrongImage(image: string, engine: ContainerEngine): Promise<SetupMissing | null> {
  const found = await engine.run(['image', 'inspect', '--format', '{{json .Config.Volumes}}', image]);
  if (found.code !== 0) {
    const why = `${engine.name} has no image ${image} for this user.`;
    return missing(why, `${engine.name} pull ${image}`);
  }
  const volumes = found.stdout.trim();
  if (engine.name === 'podman' || ['null', '{}', ''].includes(volumes)) return null;
  // Docker creates a folder of the host for each one, which no disk limit would include.
  const why = `The image ${image} has volumes of its own (${volumes}), which Docker makes outside of every limit.`;
  return missing(why, 'Build an image without VOLUME, or use podman.');
}

/** The strongest set-up first. */
function setupsOf(engine: ContainerEngine, owner: Owner | null): readonly ContainerSetup[] {
  const ids = { uid: owner?.uid ?? process.getuid?.() ?? 0, gid: owner?.gid ?? process.getgid?.() ?? 0 };
  const asRoot = { uid: 0, gid: 0, keepId: false };
  const users = !engine.rootless
    ? [{ ...ids, keepId: false }]
    : engine.name === 'podman'
      ? [{ ...ids, keepId: true }, asRoot]
      : [asRoot];
  return users.flatMap((user) =>
    [true, false].flatMap((objects) => [true, false].map((groups) => ({ engine, ...user, groups, objects }))),
  );
}

async function trySetups(trial: SetupTrial, engine: ContainerEngine): Promise<SetupFinding> {
  const refusals: string[] = [];
  for (const setup of setupsOf(engine, trial.owner)) {
    const why = await whySetupFails(trial, setup);
    if (why === null) {
      return {
        kind: 'ready',
        setup,
        detail: setupDetail(trial.image, setup, refusals),
        weaker: setupWeaknesses(setup),
      };
    }
    refusals.push(why);
  }
  return missing(
    `${engine.name} cannot run a command in ${trial.image}: ${refusals.at(-1)}`,
    `Fix what ${engine.name} reports. The image needs the GNU C library with libstdc++, a shell, ${IMAGE_PROGRAMS.join(', ')}.`,
  );
}

function setupDetail(
  image: string,
  { engine, groups, keepId, uid }: ContainerSetup,
  refusals: readonly string[],
): string {
  const mode = engine.rootless ? 'rootless' : 'as root';
  const user = uid === 0 ? `root of the container` : `user ${uid}${keepId ? ', the same inside' : ''}`;
  const limits = groups
    ? 'limits by control groups'
    : `limits by watchdogs (no control groups: ${refusals.at(-1)})`;
  return `${engine.name} ${engine.version} ${mode}, image ${image}, ${user}, full copies, ${limits}`;
}

function setupWeaknesses({ engine, groups, uid, objects }: ContainerSetup): readonly string[] {
  return [
    'Watches of files are counted for all commands of a user together, so that one can keep others from watching.',
    ...(engine.name === 'podman'
      ? []
      : ['Containers show commands the /sys of this host; the default sandbox does not.']),
    ...(groups ? ['While a command forks without end, others start late: half a minute was seen.'] : []),
    ...(objects ? [] : ['System V segments, semaphores and queues have only the bounds of this host.']),
    ...(engine.rootless
      ? []
      : [
          `${capital(engine.name)} runs as root: a flaw in it gives this machine away, where the default sandbox needs no root.`,
        ]),
    ...(uid === 0
      ? [
          'Commands are root of their container, although without any capability and as an ordinary user outside.',
        ]
      : []),
    ...(groups || engine.rootless
      ? []
      : [
          'Processes are counted for all commands together, so that one can keep others from starting theirs.',
        ]),
  ];
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Why a set-up does not work on this host; null if it does. */
async function whySetupFails(trial: SetupTrial, setup: ContainerSetup): Promise<string | null> {
  const root = ownFolder(trial.scratch, 'probe');
  try {
    const area = makeArea(root, trial.owner);
    const limits = { ...DEFAULT_LIMITS, wallMs: 60_000, processes: MARKED_PROCESSES };
    const result = await trial.exec({ area, argv: ['sh', '-c', TRIAL_SCRIPT], limits }, setup);
    if (result.stopped !== null) return 'a trial command did not end in time';
    if (result.exitCode !== 0)
      return result.stderr.trim() || `a trial command ended with exit code ${result.exitCode} and no message`;
    return setup.groups && !inForce(result.stdout) ? 'the engine takes limits but does not set them' : null;
  } catch (thrown) {
    return asFault(thrown).message;
  } finally {
    removeArea(root);
  }
}

/** The engine gets a few more than the command's own number. */
function inForce(stdout: string): boolean {
  const [shown] = stdout
    .split('\n')
    .map(Number)
    .filter((value) => value > 0);
  return shown !== undefined && shown >= MARKED_PROCESSES && shown < MARKED_PROCESSES + 100;
}
