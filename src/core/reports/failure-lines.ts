import { cut, visible } from './visible.ts';

/** Maximum lines of a failed command's output that are shown. */
const MAX_LINES = 3;
/** Maximum code points of a line. */
export const MAX_LINE = 240;
/** Characters of a line that are read. Lines that are longer are code, such as a bundle in a stack trace. */
const MAX_READ = 4 * MAX_LINE;
/** Characters at the start and at the end of the output that are searched. */
const MAX_OUTPUT_END = 200_000;

/** What package managers and TAP print before the output of a command itself. */
const PREAMBLE = /^(?:> \S|TAP version \d+$|\$ \S)/;

/** Lines that npm, Maven and pytest print on every failure, and stack frames: they never name the cause. */
const NOISE: readonly RegExp[] = [
  PREAMBLE,
  /^\s*error: (?:'test failed'|\|-)$/,
  /^npm (?:ERR!|error) code EUSAGE$/,
  /^\s*[\^~]+\s*$/,
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
  const all = linesOf(output);
  const short = all.filter((line) => line.length < MAX_READ);
  const lines = short.length > 0 ? short : all;
  const relevant = lines.filter((line) => !matches(line, NOISE)).map(withWhatItAnnounces);
  const causes = distinct(relevant.filter((line) => matches(line, CAUSES))).slice(0, most);
  if (causes.length > 0) return causes.map(shortLine);
  const symptoms = distinct(relevant.filter((line) => matches(line, SYMPTOMS))).slice(0, most);
  const last = relevant.length > 0 ? relevant : lines.filter((line) => !PREAMBLE.test(line));
  return (symptoms.length > 0 ? symptoms : distinct(last).slice(-most)).map(shortLine);
}

/** A cause that ends with a colon says little without the indented line below it. */
function withWhatItAnnounces(line: string, at: number, all: readonly string[]): string {
  const next = all[at + 1] ?? '';
  const announces =
    line.endsWith(':') && /^\s+\S/.test(next) && matches(line, CAUSES) && !matches(next, CAUSES);
  return announces ? `${line} ${next.trim()}` : line;
}

function linesOf(output: string): readonly string[] {
  const read =
    output.length > 2 * MAX_OUTPUT_END
      ? `${output.slice(0, MAX_OUTPUT_END)}\n${output.slice(-MAX_OUTPUT_END)}`
      : output;
  const lines = visible(read)
    .split('\n')
    // Output of a test is a comment in TAP.
    .map((line) =>
      line
        .replace(/^# (?=\S)/, '')
        .trimEnd()
        .slice(0, MAX_READ),
    )
    .filter((line, at, all) => line !== '' && !/^\s*[\^~]+$/.test(all[at + 1] ?? ''));
  // The usage message of npm begins here.
  const usage = lines.findIndex((line) => /^npm (?:ERR!|error) Usage:$/.test(line));
  const end = lines.findLastIndex((line) => /^npm (?:ERR!|error)/.test(line));
  return usage < 0 ? lines : [...lines.slice(0, usage), ...lines.slice(end + 1)];
}

const distinct = (lines: readonly string[]): readonly string[] => [
  ...new Map(lines.map((line) => [line.trim(), line])).values(),
];

const shortLine = (line: string): string => cut(line.trim(), { codePoints: MAX_LINE });
