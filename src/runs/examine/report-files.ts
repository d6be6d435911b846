import type { ReportSource } from '../../core/settings/index.ts';
import type { ExecResult, WorkArea } from '../../ports/index.ts';
import { checkLimits } from '../context.ts';
import type { CheckRunner } from './areas.ts';
import { runCommand } from './execute.ts';

/** Limits of a search for reports. Our defaults. */
const BOUNDS = { entries: 200_000, depth: 30, files: 5_000, bytes: 24 * 2 ** 20 } as const;
const SEARCH_MS = 60_000;
/** Exit code of the script if a tree or its reports exceed the limits. */
const BEYOND_BOUNDS = 3;

/**
 * Walks a folder, which a candidate may have filled: follows no link, opens only regular files, and stops at
 * its limits. `remove` deletes matching files; `read` prints one JSON line per file with path and text.
 */
const SCRIPT = `
const fs = require('node:fs');
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const [mode, source, bounds, top] = process.argv.slice(1);
const { entries, depth, files, bytes } = JSON.parse(bounds);
const wanted = new RegExp(source);
const left = { entries, files, bytes };
const take = (what, count) => {
  left[what] -= count;
  if (left[what] < 0) process.exit(${BEYOND_BOUNDS});
};
const found = [];
const look = (folder, level) => {
  if (level > depth) process.exit(${BEYOND_BOUNDS});
  for (const entry of fs.readdirSync(folder || '.', { withFileTypes: true })) {
    take('entries', 1);
    const path = folder === '' ? entry.name : folder + '/' + entry.name;
    if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules') look(path, level + 1);
    else if (entry.isFile() && wanted.test(path)) found.push(path);
  }
};
look(top, 0);
for (const path of found.sort()) {
  take('files', 1);
  if (mode === 'remove') {
    fs.unlinkSync(path);
    continue;
  }
  const file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  take('bytes', fs.fstatSync(file).size);
  fs.writeSync(1, JSON.stringify([path, fs.readFileSync(file, 'utf8')]) + '\\n');
  fs.closeSync(file);
}`;

function search(
  runner: CheckRunner,
  area: WorkArea,
  mode: 'remove' | 'read',
  { pattern, folder = '' }: { readonly pattern: string; readonly folder?: string | undefined },
): Promise<ExecResult> {
  return runCommand(runner, area, {
    argv: ['/opt/toolchain/bin/node', '-e', SCRIPT, mode, pattern, JSON.stringify(BOUNDS), folder],
    limits: { ...checkLimits(runner.task), wallMs: SEARCH_MS, outputBytes: 2 * BOUNDS.bytes },
    own: 'The program that finds test reports',
    codeRan: true,
  });
}

/**
 * Removes reports of earlier commands, such as a candidate's build, which must not count as this command's. False if
 * some may be left, because the tree exceeds the limits or cannot be read.
 */
export async function removeReports(runner: CheckRunner, area: WorkArea, pattern: string): Promise<boolean> {
  return (await search(runner, area, 'remove', { pattern })).exitCode === 0;
}

/** Reports of all runners, in a folder. */
const ANY_REPORT = String.raw`\.(?:xml|json)$`;
/** Maximum bytes of a report that are read. Our default. */
export const REPORT_BYTES = 32 * 2 ** 20;
const READ_REPORT_MS = 20_000;
/** A candidate may have left a link, a pipe or a folder in place of the report. No process of it is left to swap files. */
const READ_SCRIPT = [
  'for one; do [ -f "$one" ] && [ ! -L "$one" ] || exit 1; done',
  'cat -- "$1" || exit',
  // The coverage of large repositories would make it too long.
  `[ $# = 1 ] || exec sed 's/,"coverageMap":.*/}/' -- "$2"`,
].join('; ');

type FileReport = Extract<ReportSource, { source: 'file' }>;
const reportFiles = ({ file, second }: FileReport): readonly string[] =>
  second === undefined ? [file] : [file, second];

/** Whether a report may be what the command prints. */
export const isOnStream = (report: ReportSource): boolean =>
  report.source === 'file' ? report.orStdout === true : report.source !== 'tree';

/**
 * Reads the report as the output of a command, a second one for a file: the host opens no file that a candidate could
 * have created.
 */
export async function readReport(
  runner: CheckRunner,
  area: WorkArea,
  report: ReportSource,
  result: ExecResult,
): Promise<string | null> {
  const onStream = result.truncated ? null : report.source === 'stderr' ? result.stderr : result.stdout;
  if (report.source !== 'file' && report.source !== 'tree' && report.source !== 'folder') return onStream;
  const file = await readFiles(runner, area, report);
  const printed = report.source === 'folder' ? printedReport(onStream) : '';
  if (file.exitCode === 0) return file.truncated || printed === null ? null : `${printed}${file.stdout}`;
  return report.source === 'file' && report.orStdout ? onStream : null;
}

/** Standard output as one of the reports: one without a name. */
const printedReport = (stdout: string | null): string | null =>
  stdout === null ? null : `${JSON.stringify(['', stdout])}\n`;

function readFiles(
  runner: CheckRunner,
  area: WorkArea,
  report: Extract<ReportSource, { source: 'file' | 'tree' | 'folder' }>,
): Promise<ExecResult> {
  if (report.source === 'tree') return search(runner, area, 'read', { pattern: report.pattern });
  if (report.source === 'folder')
    return search(runner, area, 'read', { pattern: ANY_REPORT, folder: report.folder });
  const limits = { ...checkLimits(runner.task), wallMs: READ_REPORT_MS, outputBytes: REPORT_BYTES };
  const own = 'The program that reads test reports';
  const argv = ['sh', '-c', READ_SCRIPT, 'read-report', ...reportFiles(report)] as const;
  return runCommand(runner, area, { argv: [...argv], limits, own, codeRan: true });
}
