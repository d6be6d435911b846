import { basename } from 'node:path';
import { asFault, OUTAGES } from '../../../core/model/index.ts';
import {
  type FoundTool,
  parseVersion,
  type RuntimeLanguage,
  satisfies,
  type WantedManager,
  type WantedTools,
  type WantedVersion,
} from '../../../core/settings/index.ts';
import type { Log, ProvidedTools, Toolchains, Tools } from '../../../ports/index.ts';
import { INSIDE } from '../filesystem.ts';
import type { Owner } from '../processes.ts';
import { findHostTool, fits, hostChoice, NAMES, VERSION_COMMANDS, versionTextOf } from './host.ts';
import { isReachable, lendTool, markUsed, pruneTools } from './lend.ts';
import { type AskInside, type InstallPackage, npmRangeFor, packagedTool, releasedYarn } from './packages.ts';
import { findService, type PostgresCopy } from './services.ts';

export { credentialIn, credentialsInUsr } from './credentials.ts';
export { findHostTool } from './host.ts';
export type { InstallPackage } from './packages.ts';

export interface ToolchainsOptions {
  /** Folder for copies and packages; created if it does not exist. The sandboxes' user must be able to reach it. */
  readonly dir: string;
  readonly owner: Owner | null;
  /** Whether sandboxes run the operator's programs: not in a container, which has an image. */
  readonly host: boolean;
  /** Where the operator's programs are (PATH, HOME, PYENV_ROOT, …). */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Version of the Node in /opt/toolchain. */
  readonly nodeVersion: string;
  readonly ask: AskInside;
  readonly install: InstallPackage;
  /** A Postgres for tests that need one, in a folder that the sandboxes' user can read; absent: none. */
  readonly postgres?: PostgresCopy;
  /** Default: nothing is logged. */
  readonly log?: Pick<Log, 'warn'>;
}

/** Search result for one language or program. */
interface Finding extends Pick<Awaited<ReturnType<typeof packagedTool>>, 'node'> {
  readonly tools?: Tools;
  readonly found?: readonly FoundTool[];
  readonly missing?: readonly string[];
}

const NONE: Tools = { mounts: [], path: [] };

/** The toolchains of this machine, and of the registry that its npm uses. */
export function openToolchains(options: ToolchainsOptions): Toolchains {
  const inside = rememberAnswers(options.ask);
  const parts: Parts = { ...options, inside };
  const provided = new Map<string, ProvidedTools>();
  const provide: Toolchains['provide'] = async (wanted, signal) => {
    const key = JSON.stringify(wanted, (_, value) => (value instanceof Map ? [...value] : value));
    const known = provided.get(key);
    if (known !== undefined && (await markUsed(options.dir, known.tools))) return known;
    const findings: Finding[] = [];
    for (const [language, file] of wanted.languages) {
      const version = wanted.versions.get(language);
      const find = async (asked: WantedVersion | undefined): Promise<readonly Finding[]> =>
        language === 'node'
          ? findNode(parts, wanted, asked, signal)
          : [await findLanguage(parts, language, file, asked)];
      const found = await find(version);
      // A version that nobody names may as well be another one: nothing is missing.
      const isOther = version?.isNearest && found.some(({ missing = [] }) => missing.length > 0);
      findings.push(...(isOther ? await find(undefined) : found));
    }
    for (const [program, file] of wanted.programs)
      findings.push(await findProgram(parts, wanted, program, file));
    for (const service of wanted.services) findings.push(await findService(parts, service));
    const all = together(findings);
    // Another process has just removed one of them: it is made again.
    if (!(await markUsed(options.dir, all.tools))) return provide(wanted, signal);
    // Only complete results are cached: missing tools may be available next time.
    if (all.missing.length === 0) provided.set(key, all);
    return all;
  };
  return { provide, prune: (before) => pruneTools(options.dir, before) };
}

interface Parts extends ToolchainsOptions {
  /** `ask` for what the sandbox itself has; answers are cached. */
  readonly inside: (argv: Parameters<AskInside>[0]) => Promise<string | null>;
}

/** Caches answers: the sandbox's own tools do not change while Runoff runs. */
function rememberAnswers(ask: AskInside): Parts['inside'] {
  const answers = new Map<string, Promise<string | null>>();
  return (argv) => {
    const key = argv.join('\0');
    const answer = answers.get(key) ?? ask(argv);
    answers.set(key, answer);
    answer.catch(() => answers.delete(key));
    return answer;
  };
}

function together(findings: readonly Finding[]): ProvidedTools {
  const mounts = new Map(
    findings.flatMap(({ tools = NONE }) => tools.mounts.map((mount) => [mount.to, mount])),
  );
  const services = findings.flatMap(({ tools = NONE }) => tools.services ?? []);
  return {
    tools: {
      mounts: [...mounts.values()],
      path: [...new Set(findings.flatMap(({ tools = NONE }) => tools.path))],
      ...(services.length > 0 ? { services } : {}),
    },
    found: findings.flatMap(({ found = [] }) => found),
    missing: findings.flatMap(({ missing = [] }) => missing),
  };
}

async function findLanguage(
  parts: Parts,
  language: RuntimeLanguage,
  file: string,
  wanted: WantedVersion | undefined,
): Promise<Finding> {
  const [program, flag] = VERSION_COMMANDS[language];
  const { tools, refused } = parts.host
    ? hostChoice(language, parts.environment)
    : { tools: [], refused: [] };
  const system = await parts.inside([program, flag]);
  const own = fits(language, wanted, system, null);
  // The one that PATH leads to comes first, as in the operator's shell; a copy, which is large, only if it is needed.
  for (const tool of tools) {
    if (own && !(tool === tools[0] && (await isReachable(tool, parts.owner)))) continue;
    const text = await versionTextOf(tool, flag);
    if (!fits(language, wanted, text, tool.root)) continue;
    const lent = await lendTool(tool, parts);
    if (lent !== null) return { tools: lent, found: [toolOf('machine', NAMES[language], text)] };
  }
  if (own) return { found: [toolOf('sandbox', NAMES[language], system)] };
  const asked =
    wanted === undefined ? `needs ${NAMES[language]} (${file})` : askedFor(NAMES[language], wanted);
  const [first] = tools;
  const lent = system === null && first ? await lendTool(first, parts) : null;
  const text = lent && first ? await versionTextOf(first, flag) : system;
  return {
    ...(lent ? { tools: lent } : {}),
    found: text === null ? [] : [toolOf(lent ? 'machine' : 'sandbox', NAMES[language], text)],
    missing: [missingSentence(asked, text, program, refused)],
  };
}

async function findProgram(
  parts: Parts,
  { broughtBySetup }: WantedTools,
  program: string,
  file: string,
): Promise<Finding> {
  // These two take seconds to print their version.
  const isSlow = program === 'gradle' || program === 'mvn';
  const own = isSlow ? null : await parts.inside([program, '--version']);
  if (own !== null) return { found: [toolOf('sandbox', program, own)] };
  const found = parts.host ? findHostTool(program, parts.environment) : null;
  if (found !== null && 'program' in found) {
    const tools = await lendTool(found, parts);
    if (tools !== null) return { tools, found: [toolOf('machine', program, null)] };
  }
  if ((await parts.inside(['sh', '-c', `command -v ${program}`])) !== null)
    return { found: [toolOf('sandbox', program, null)] };
  if (broughtBySetup.includes(program)) return { found: [{ name: program, from: 'registry' }] };
  const refused = found !== null && 'refused' in found ? [found.refused] : [];
  return { missing: [missingSentence(`needs ${program} (${file})`, null, program, refused)] };
}

/** Node in the wanted version, and the package manager of the repository. */
async function findNode(
  parts: Parts,
  { manager }: WantedTools,
  wanted: WantedVersion | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly Finding[]> {
  const found: Finding = manager === null ? {} : await findManager(parts, manager, signal);
  const { node: needed } = found;
  const node =
    (needed === undefined ? null : await nodeFor(parts, wanted, needed, signal)) ??
    (await nodeFor(parts, wanted, ANY, signal));
  // The manager first: Node's folder may contain another version of it.
  return [found, node ?? {}];
}

/** The range that contains every version. */
const ANY = '';

/**
 * A Node in the wanted version that a package manager runs on as well (`needed`, a range): pnpm 11 does not start on Node
 * 20, which many repositories allow. Null if there is none for both.
 */
async function nodeFor(
  parts: Parts,
  wanted: WantedVersion | undefined,
  needed: string,
  signal: AbortSignal | undefined,
): Promise<Finding | null> {
  const suits = (text: string | null): boolean =>
    fits('node', wanted, text, null) && satisfies(parseVersion(text ?? '') ?? [0, 0, 0], needed);
  const system = await parts.inside(['node', '--version']);
  const own = suits(system);
  const { tools } = parts.host ? hostChoice('node', parts.environment) : { tools: [] };
  for (const tool of tools) {
    if (own && !(await isReachable(tool, parts.owner))) continue;
    const text = await versionTextOf(tool, '--version');
    const lent = suits(text) ? await lendTool(tool, parts) : null;
    if (lent !== null) return { tools: lent, found: [toolOf('machine', 'Node', text)] };
  }
  if (own) return { found: [toolOf('sandbox', 'Node', system)] };
  if (suits(parts.nodeVersion)) {
    const path = [INSIDE.node.replace(/\/node$/, '')];
    return { tools: { mounts: [], path }, found: [toolOf('runoff', 'Node', parts.nodeVersion)] };
  }
  if (wanted === undefined) return null;
  try {
    const { version, tools: packaged } = await packagedTool(
      { name: 'node', range: wanted.range },
      parts,
      signal,
    );
    if (!satisfies(parseVersion(version) ?? [0, 0, 0], needed)) return null;
    const range = npmRangeFor(parseVersion(version) ?? [0, 0, 0]);
    const npm = await packagedTool({ name: 'npm', range }, parts, signal);
    return { tools: joined(packaged, npm.tools), found: [toolOf('registry', 'Node', version)] };
  } catch (thrown) {
    const why = excuse(thrown, signal);
    if (needed !== ANY) return null;
    return { missing: [missingSentence(askedFor('Node', wanted), system, 'node', [why])] };
  }
}

async function findManager(
  parts: Parts,
  { name, range, file, release }: WantedManager,
  signal: AbortSignal | undefined,
): Promise<Finding> {
  if (release !== undefined) {
    const { version, tools } = await releasedYarn(release, parts);
    return { tools, found: [toolOf('repository', 'yarn', version)] };
  }
  const has = await parts.inside([name, '--version']);
  const version = has === null ? null : parseVersion(has);
  if (version !== null && satisfies(version, range)) return { found: [toolOf('sandbox', name, has)] };
  const reasons: string[] = [];
  // Some versions of Yarn are on its own host only. Other patches of the same version read the same lock files.
  const minor = /^(\d+\.\d+)\.\d+$/.exec(range)?.[1];
  for (const one of minor === undefined ? [range] : [range, `~${minor}`]) {
    try {
      const { version: installed, ...packaged } = await packagedTool({ name, range: one }, parts, signal);
      return { ...packaged, found: [toolOf('registry', name, installed)] };
    } catch (thrown) {
      reasons.push(excuse(thrown, signal));
    }
  }
  const asked = range === '' ? `needs ${name} (${file})` : askedFor(name, { range, file });
  return { missing: [missingSentence(asked, has, name, reasons.slice(0, 1))] };
}

/** Explains why a package is unavailable. Rethrows errors unrelated to the package. */
function excuse(thrown: unknown, signal: AbortSignal | undefined): string {
  signal?.throwIfAborted();
  const fault = asFault(thrown);
  if (OUTAGES.has(fault.code) || fault.code === 'INTERNAL') throw fault;
  return fault.message;
}

const joined = (first: Tools, second: Tools): Tools => ({
  mounts: [...first.mounts, ...second.mounts],
  path: [...first.path, ...second.path],
});

const askedFor = (name: string, { range, file }: WantedVersion): string =>
  `asks for ${name} ${range} (${file})`;

function missingSentence(
  asked: string,
  has: string | null,
  program: string,
  reasons: readonly string[],
): string {
  const have =
    has === null ? 'sandboxes here have none' : `sandboxes here have ${has}, which is used instead`;
  return [
    `The repository ${asked}, and ${have}.`,
    ...reasons,
    `Install it on this machine, so that \`${basename(program)}\` is on PATH of the user who starts Runoff,`,
    'or set RUNOFF_SANDBOX=container with an image that has it.',
  ].join(' ');
}

const toolOf = (from: FoundTool['from'], name: string, text: string | null): FoundTool => ({
  name: `${name} ${parseVersion(text ?? '')?.join('.') ?? ''}`.trim(),
  from,
});
