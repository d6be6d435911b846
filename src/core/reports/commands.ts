import { HOW_STOPPED } from '../evidence/index.ts';
import { SETTINGS_FILE } from '../model/index.ts';
import { COMMAND_NAMES, type StopReason, SUGGESTED, shownSetup } from '../settings/index.ts';
import { MAX_LINE } from './failure-lines.ts';
import { code } from './markdown.ts';
import type { ChecksView, RunView } from './view.ts';
import { cut, visible } from './visible.ts';

/** The commands for set-up, build and tests, the files that define them, and what failed before. */
export function checkCommands(checks: ChecksView): string {
  const shown = COMMAND_NAMES.flatMap((name) => {
    const command = checks[name];
    const failed = checks.instead?.[name];
    if (!command && failed === undefined) return [];
    const notes = [
      ...(command ? originNotes(checks.from?.[name]) : []),
      ...(failed === undefined ? [] : [`${code(shownSetup(failed), 200)} failed`]),
    ];
    const text = command ? `${name} ${code(shownSetup(command), 200)}` : `no ${name}`;
    return [{ text, note: notes.length === 0 ? '' : ` (${notes.join('; ')})` }];
  });
  if (checks.types) {
    const [origin] = originNotes(checks.from?.types);
    shown.push({
      text: `types ${code(checks.types, 200)}`,
      note: origin === undefined ? '' : ` (${origin})`,
    });
  }
  const notes = new Set(shown.map(({ note }) => note));
  if (notes.size > 1) return shown.map(({ text, note }) => `${text}${note}`).join(', ');
  return `${shown.map(({ text }) => text).join(', ')}${shown[0]?.note ?? ''}`;
}

/** What a reader should know about the commands, as sentences of plain text. */
export const commandNotes = (view: Pick<RunView, 'checks'>): readonly string[] =>
  [replacedCommands(view), lentNote(view)].filter((note) => note !== null);

/** Which detected commands failed, and their replacements, as one sentence of plain text; null if none failed. */
function replacedCommands({ checks = {} }: Pick<RunView, 'checks'>): string | null {
  const replaced = COMMAND_NAMES.flatMap((name) => {
    const [failed, command] = [checks.instead?.[name], checks[name]];
    if (failed === undefined) return [];
    if (command === undefined) return [`${quotedCode(shownSetup(failed))} failed and is left out`];
    const by = checks.from?.[name] === SUGGESTED ? ` (${SUGGESTED})` : '';
    return [`${quotedCode(shownSetup(failed))} failed, and ${quotedCode(shownSetup(command))} is used${by}`];
  });
  return replaced.length === 0 ? null : `On the base commit, ${replaced.join('; ')}.`;
}

/** What became of the packages that are installed in the working tree, as a sentence of plain text; null: nothing. */
export function lentNote({ checks = {} }: Pick<RunView, 'checks'>): string | null {
  const { lent } = checks;
  if (lent === undefined) return null;
  if (lent.kind === 'unused')
    return `The packages that are installed in the working tree were not used: ${lent.why}.`;
  const folders = lent.folders.map(quotedCode).join(', ');
  const instead =
    lent.instead === undefined ? '' : `, and ${quotedCode(shownSetup(lent.instead))} was not run`;
  return `Base and candidates used a read-only copy of ${folders} of the working tree${instead}. Name \`checks.setup\` in the settings to install packages anew.`;
}

/** The origin of a command; empty if unknown. */
function originNotes(file: string | undefined): readonly string[] {
  if (file === undefined) return [];
  if (file === SUGGESTED) return [SUGGESTED];
  return [file === SETTINGS_FILE ? 'settings' : `detected from ${code(file, 100)}`];
}

/** A command of the repository that failed on the base commit. */
interface FailedCommand {
  readonly step: 'set-up' | 'build' | 'tests';
  readonly command: string;
  /** `exit code 1`, or another way of ending. */
  readonly how: string;
  /** The limit that it exceeded; absent or null: none. */
  readonly stopped?: StopReason | null | undefined;
  /** The lines of its output that explain the failure, selected by `failureLines`. */
  readonly lines: readonly string[];
  /** Sentences that stand before this one, such as about a missing tool: they are not repeated as a remedy. */
  readonly told?: readonly string[];
  /** Sentences about the remedy, if it is known; absent: what the output suggests. */
  readonly remedy?: string | null;
}

const STEPS = {
  'set-up': 'set-up command',
  build: 'build',
  tests: 'test command',
} as const satisfies Record<FailedCommand['step'], string>;

/** A sentence about the failed step with its command and the relevant lines, and a sentence about the remedy. */
export function commandFailure(failed: FailedCommand): string {
  const { step, command, how, lines, stopped, told } = failed;
  const reason = lines.length === 0 ? ', without any output.' : `: ${lines.map(quotedCode).join(', ')}.`;
  const hint = failed.remedy ?? (stopped ? limitHelp(stopped, step) : failureHint(lines, step, told));
  return `The ${STEPS[step]} ${quotedCode(command)} failed on the base commit (${how})${reason}${hint === null ? '' : ` ${hint}`}`;
}

/** What to do about a command that exceeded a limit; null if it was cancelled. */
export function limitHelp(stopped: StopReason, step: FailedCommand['step']): string | null {
  const less = step === 'tests' ? 'set `checks.test` to a smaller part of the tests' : 'let it do less';
  switch (stopped) {
    case 'wall':
      return `Raise \`timeout.check\`, or ${less}.`;
    case 'silence':
      return 'It may wait for input, for a server that does not answer, or for a process that could not be started (docs/sandbox.md, Limits). If it was still working, make it print progress.';
    case 'memory':
      return `It needs more memory than a sandbox has: start fewer processes at a time, ${less}, or give sandboxes more by RUNOFF_SANDBOX_MEMORY in Runoff's own settings.`;
    case 'disk':
      return `It writes more than a sandbox may hold: ${less}.`;
    case 'cancelled':
      return null;
  }
}

/** How a command ended, after “failed” or in brackets. */
export const howEnded = ({
  exitCode,
  stopped,
}: {
  readonly exitCode: number | null;
  readonly stopped?: StopReason | null | undefined;
}): string =>
  stopped ? HOW_STOPPED[stopped] : exitCode === null ? 'ended by a signal' : `exit code ${exitCode}`;

/** Inline code for a Markdown sentence. */
export const quotedCode = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

/** Tools that are installed on a machine, not by a repository's packages. */
const MACHINE_TOOLS =
  /^(?:cargo|rustc|rustup|go|mvn|gradle|javac?|node|npm|npx|pnpm|yarn|bun|deno|corepack|python3?|pip3?|uv|poetry|pdm|hatch|tox|nox|ruby|gem|bundle|rake|php|composer|dotnet|make|cmake|ctest|meson|autoreconf|ninja|gcc|g\+\+|cc|clang|git|docker|psql|jq|curl)$/;

/** What shells and make say about a program that is not there. */
const NOT_FOUND =
  /^\S{1,60}: (?:line )?(?:\d+: )?([\w.+-]{1,60}): (?:command )?not found$|^make(?:\[\d+\])?: ([\w.+-]{1,60}): No such file or directory$/m;

/** A remedy in one sentence; null if the lines do not suggest one, or if it was `told` before. */
export function failureHint(
  outputLines: readonly string[],
  step: FailedCommand['step'],
  told: readonly string[] = [],
): string | null {
  const lines = outputLines.join('\n');
  const missing = NOT_FOUND.exec(lines)
    ?.slice(1)
    .find((name) => name !== undefined);
  if (missing !== undefined && told.some((sentence) => sentence.includes(`\`${missing}\``))) return null;
  if (missing !== undefined && MACHINE_TOOLS.test(missing)) {
    return `${quotedCode(missing)} is missing: install it on the machine that runs Runoff, or use an image that has it (\`RUNOFF_SANDBOX=container\`, \`RUNOFF_SANDBOX_IMAGE\`).`;
  }
  if (/can only install with an existing package-lock/.test(lines))
    return 'Commit the lock file, or set `checks.setup: npm install`.';
  if (/can only install packages when your package\.json and package-lock\.json/.test(lines))
    return 'Update the lock file, or set `checks.setup: npm install`.';
  if (NO_NETWORK.test(lines)) return NETWORK_HELP[step];
  if (missing === undefined && NO_PROCESS.test(lines))
    return 'It reached the number of processes that a sandbox may have (docs/sandbox.md, Limits): let it start fewer at a time, for example with fewer workers in the test runner.';
  if (/\b(?:E403|403 Forbidden|HTTP 403|status code:? 403)\b/.test(lines))
    return 'The registry or a proxy refused the request: name the registry in `network.allow` (within NETWORK_ALLOW), or use one that this machine may reach.';
  if (missing !== undefined)
    return `${quotedCode(missing)} is missing: let \`checks.setup\` install it, or install it on the machine that runs Runoff.`;
  const missingPackage = /(?:No module named|Cannot find (?:module|package)) '([^'\n]{1,200})'/.exec(
    lines,
  )?.[1];
  if (missingPackage !== undefined && !/^[./]/.test(missingPackage))
    return `${quotedCode(missingPackage)} is not installed: set \`checks.setup\` to the command that installs the packages.`;
  return null;
}

/** Messages of Node, shells, make, libc, Java, Go and Python about a process or thread that could not be started. */
const NO_PROCESS =
  /\bspawn \S+ EAGAIN\b|\b(?:v?fork|pthread_create): Resource temporarily unavailable|: Cannot fork$|unable to create (?:new )?native thread|failed to create new OS thread|can't start new thread/m;

const NO_NETWORK =
  /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b|Temporary failure in name resolution|Could not (?:resolve (?:host|dependencies)|transfer artifact)|no such host|failed to lookup address|Unknown ?Host/i;

const NETWORK_HELP = {
  'set-up': "Name the host in `network.allow`, within the operator's NETWORK_ALLOW.",
  build:
    'Builds have no network: let `checks.setup` fetch what they need, or set `network.checks: true` with the hosts in `network.allow`.',
  tests:
    'Tests have no network: leave those that need it out of `checks.test`, or set `network.checks: true` with the hosts in `network.allow`.',
} as const;

/**
 * Messages of package clients about a response that says "later", or about no response. Requests are encrypted, so
 * these messages are the only source.
 */
const LATER: readonly RegExp[] = [
  /\b(?:429 Too Many Requests|500 Internal Server Error|502 Bad Gateway|503 Service (?:Temporarily )?Unavailable|504 Gateway Time-?out)\b/i,
  /\b(?:status(?: code)?|HTTP(?:\/[\d.]+)?(?: error)?|response code|got|indicate success)[: ]{1,3}(?:429|5\d\d)\b/i,
  /\b(?:429|5\d\d) Server Error\b/,
  /\b(?:code E|ERR_PNPM_FETCH_)(?:429|5\d\d)\b/,
  /\b(?:ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|ReadTimeoutError|TLS handshake timeout|i\/o timeout)\b/,
];

/** Failed attempts that were retried: the command may have failed for another reason. */
const REPEATED = /^(?:npm (?:http|warn|info|verb|sill)\b|warn|\s*\S*warning\b|.{0,80}\bretry(?:ing)?\b)/i;

/** Characters at the end of the output that are searched: clients print the final error last. */
const MAX_CHARS = 8_000;

/**
 * Why a set-up command failed, if a package registry is down, slow or overloaded: completes "could not get its
 * packages: …". Null for any other failure, including a blocked host, which waiting does not fix.
 */
export function registryOutage(failed: {
  readonly tail: string;
  readonly refusedHosts: readonly string[];
  readonly failedHosts: readonly { readonly host: string; readonly why: string }[];
  /** Whether it had network access. */
  readonly hasNetwork: boolean;
}): string | null {
  if (failed.refusedHosts.length > 0 || !failed.hasNetwork) return null;
  if (failed.failedHosts.length > 0)
    return failed.failedHosts
      .slice(0, 3)
      .map(({ host, why }) => `${host.replace(/:443$/, '')} ${why}`)
      .join(', ');
  const line = visible(failed.tail.slice(-MAX_CHARS))
    .split('\n')
    .find((one) => !REPEATED.test(one) && LATER.some((pattern) => pattern.test(one)));
  return line === undefined ? null : `\`${cut(line.trim(), { codePoints: MAX_LINE }).replaceAll('`', "'")}\``;
}
