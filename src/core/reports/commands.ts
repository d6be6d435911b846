import { SETTINGS_FILE } from '../model/index.ts';
import { COMMAND_NAMES, SUGGESTED, shownSetup } from '../settings/index.ts';
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

/** What became of the packages that are installed in the work tree, as a sentence of plain text; null: nothing. */
export function lentNote({ checks = {} }: Pick<RunView, 'checks'>): string | null {
  const { lent } = checks;
  if (lent === undefined) return null;
  if (lent.kind === 'unused')
    return `The packages that are installed in the work tree were not used: ${lent.why}.`;
  const folders = lent.folders.map(quotedCode).join(', ');
  const instead =
    lent.instead === undefined ? '' : `, and ${quotedCode(shownSetup(lent.instead))} was not run`;
  return `Base and candidates used a read-only copy of ${folders} of the work tree${instead}. Name \`checks.setup\` in the settings to install packages anew.`;
}

/** The origin of a command; empty if unknown. */
function originNotes(file: string | undefined): readonly string[] {
  if (file === undefined) return [];
  if (file === SUGGESTED) return [SUGGESTED];
  return [file === SETTINGS_FILE ? 'settings' : `detected from ${code(file, 100)}`];
}

/** Maximum lines of a failed command's output that are shown. */
const MAX_LINES = 3;
/** Maximum code points of a line. */
const MAX_LINE = 240;
/** Characters at the start and at the end of the output that are searched. */
const MAX_OUTPUT_END = 200_000;

/** Lines that npm, Maven and pytest print on every failure, and stack frames: they never name the cause. */
const NOISE: readonly RegExp[] = [
  /^\s*at\s/,
  /^npm (?:ERR!|error)(?: network| 403| 404)?\s*$/,
  /^npm (?:ERR!|error) (?:errno|syscall|path|signal|workspace|location|Lifecycle script|A complete log|Or, |For a full|Did you mean|npm help)\b/,
  /^npm (?:ERR!|error) (?:network|403|404) (?:This is a problem|In most cases|'?proxy'?|a package version|on a server|Note that|If you are)/,
  /^\[ERROR\]\s*(?:$|-> \[Help|To see the full|Re-run Maven|For more information|\[Help|After correcting|mvn )/,
  /^(?:go: )?(?:downloading|extracting|finding) /,
  /^error: (?:test failed, to rerun|process didn't exit|aborting due to|could not compile|script ")/,
  /^error Command failed with exit code|\bELIFECYCLE\b|\bERR_PNPM_RECURSIVE/,
  /^\s*(?:code|errno|syscall|hostname|address|port): /,
  /^\s*(?:0 errors?|\d+ (?:passed|warnings?))\b/i,
];

/** Lines that name a cause, by tool: npm and other package managers, compilers, interpreters, shells, the network. */
const CAUSES: readonly RegExp[] = [
  /^npm (?:ERR!|error) /,
  /\bERR_PNPM_\w+/,
  /\bYN\d{4}:.{0,80}\b(?:error|not found|failed|forbidden)/i,
  /^ERROR: /,
  /^\s*(?:fatal|error|panic)(?:\[\w+\])?: /i,
  /\bpanicked at\b/,
  /^error /,
  /\berror TS\d+:/,
  /^E {2,}\S/,
  /^\[ERROR\] /,
  /^\[?(?:✘ )?\[ERROR\] /,
  /:\d+(?::\d+)?: (?:fatal )?error:/,
  /^\S+\.go:\d+:\d+: /,
  /^go: \S/,
  /^(?:Uncaught )?(?:[A-Za-z_][\w.$]*)?(?:Error|Exception|Exit)\b[^\n]{0,40}(?::|$)/,
  /^Caused by: /,
  /^\S{1,200}: (?:line )?(?:\d+: )?\S{1,200}: (?:(?:command )?not found|No such file or directory|Permission denied)$/,
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT|ENOSPC|ENOMEM)\b/,
  /(?:Could not resolve|Temporary failure in name resolution|Executable doesn't exist|Could not find Chrom)/,
];

/** Names of failing tests, and lines around a cause: shown if there is nothing better. */
const SYMPTOMS: readonly RegExp[] = [
  /^\s*not ok \d+/,
  /^\s*(?:● |✖ |✗ |--- FAIL: |FAIL(?:ED)?[ :\t])/,
  /^ERROR\b/,
  /\b(?:error|failed|failure|cannot|unable to)\b/i,
];

const matches = (line: string, patterns: readonly RegExp[]): boolean =>
  patterns.some((pattern) => pattern.test(line));

/**
 * The lines of a failed command's output that explain the failure, in their order: the first lines that name a cause,
 * otherwise the first that look like a failure, otherwise the last ones. Sanitized for display, each at most 240 code
 * points; empty for empty output.
 */
export function failureLines(output: string, most = MAX_LINES): readonly string[] {
  const lines = linesOf(output);
  const telling = lines.filter((line) => !matches(line, NOISE));
  const causes = distinct(telling.filter((line) => matches(line, CAUSES))).slice(0, most);
  if (causes.length > 0) return causes.map(shortLine);
  const symptoms = distinct(telling.filter((line) => matches(line, SYMPTOMS))).slice(0, most);
  return (symptoms.length > 0 ? symptoms : telling.slice(-most)).map(shortLine);
}

function linesOf(output: string): readonly string[] {
  const read =
    output.length > 2 * MAX_OUTPUT_END
      ? `${output.slice(0, MAX_OUTPUT_END)}\n${output.slice(-MAX_OUTPUT_END)}`
      : output;
  const lines = visible(read)
    .split('\n')
    .map((line) => line.trimEnd().slice(0, 4 * MAX_LINE))
    .filter((line) => line !== '');
  // The usage message of npm begins here.
  const usage = lines.findIndex((line) => /^npm (?:ERR!|error) Usage:$/.test(line));
  const end = lines.findLastIndex((line) => /^npm (?:ERR!|error)/.test(line));
  return usage < 0 ? lines : [...lines.slice(0, usage), ...lines.slice(end + 1)];
}

const distinct = (lines: readonly string[]): readonly string[] => [
  ...new Map(lines.map((line) => [line.trim(), line])).values(),
];

const shortLine = (line: string): string => cut(line.trim(), { codePoints: MAX_LINE });

/** A command of the repository that failed on the base commit. */
interface FailedCommand {
  readonly step: 'set-up' | 'build' | 'tests';
  readonly command: string;
  /** `exit code 1`, or another way of ending. */
  readonly how: string;
  /** The lines of its output that explain the failure, selected by `failureLines`. */
  readonly lines: readonly string[];
}

const STEPS = {
  'set-up': 'set-up command',
  build: 'build',
  tests: 'test command',
} as const satisfies Record<FailedCommand['step'], string>;

/** A sentence about the failed step with its command and the relevant lines, and a sentence about the remedy. */
export function commandFailure({ step, command, how, lines }: FailedCommand): string {
  const reason = lines.length === 0 ? ', without any output.' : `: ${lines.map(quotedCode).join(', ')}.`;
  const hint = failureHint(lines, step);
  return `The ${STEPS[step]} ${quotedCode(command)} failed on the base commit (${how})${reason}${hint === null ? '' : ` ${hint}`}`;
}

const LIMITS = {
  wall: 'stopped at its time limit',
  silence: 'stopped after a long time without output',
  memory: 'stopped at its memory limit',
  disk: 'stopped at its disk limit',
  cancelled: 'cancelled',
} as const;

/** How a command ended, after “failed” or in brackets. */
export const howEnded = ({
  exitCode,
  stopped,
}: {
  readonly exitCode: number | null;
  readonly stopped?: keyof typeof LIMITS | null | undefined;
}): string => (stopped ? LIMITS[stopped] : exitCode === null ? 'ended by a signal' : `exit code ${exitCode}`);

/** Inline code for a Markdown sentence. */
export const quotedCode = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

/** Tools that are installed on a machine, not by a repository's packages. */
const MACHINE_TOOLS =
  /^(?:cargo|rustc|rustup|go|mvn|gradle|javac?|node|npm|npx|pnpm|yarn|bun|deno|corepack|python3?|pip3?|uv|poetry|pdm|hatch|tox|nox|ruby|gem|bundle|rake|php|composer|dotnet|make|cmake|ninja|gcc|g\+\+|cc|clang|git|docker|psql|jq|curl)$/;

/** A remedy in one sentence; null if the lines do not suggest one. */
export function failureHint(outputLines: readonly string[], step: FailedCommand['step']): string | null {
  const lines = outputLines.join('\n');
  const missing = /^\S{1,60}: (?:line )?(?:\d+: )?([\w.+-]{1,60}): (?:command )?not found$/m.exec(lines)?.[1];
  if (missing !== undefined && MACHINE_TOOLS.test(missing)) {
    return `${quotedCode(missing)} is missing: install it on the machine that runs Runoff, or use an image that has it (\`RUNOFF_SANDBOX=container\`, \`RUNOFF_SANDBOX_IMAGE\`).`;
  }
  if (/can only install with an existing package-lock/.test(lines))
    return 'Commit the lock file, or set `checks.setup: npm install`.';
  if (/can only install packages when your package\.json and package-lock\.json/.test(lines))
    return 'Update the lock file, or set `checks.setup: npm install`.';
  if (NO_NETWORK.test(lines)) return NETWORK_HELP[step];
  if (/\b(?:E403|403 Forbidden|HTTP 403|status code:? 403)\b/.test(lines))
    return 'The registry or a proxy refused the request: name the registry in `network.allow` (within NETWORK_ALLOW), or use one that this machine may reach.';
  const missingPackage =
    missing ?? /(?:No module named|Cannot find (?:module|package)) '([^'\n]{1,200})'/.exec(lines)?.[1];
  if (missingPackage !== undefined && !/^[./]/.test(missingPackage))
    return `${quotedCode(missingPackage)} is not installed: set \`checks.setup\` to the command that installs the packages.`;
  return null;
}

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
