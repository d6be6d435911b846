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
 * Walks the working folder, which a candidate may have filled: follows no link, opens only regular files, and stops at
 * its limits. `remove` deletes matching files; `read` prints one JSON line per file with path and text.
 */
const SCRIPT = `
const fs = require('node:fs');
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const [mode, source, bounds] = process.argv.slice(1);
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
look('', 0);
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
  pattern: string,
): Promise<ExecResult> {
  return runCommand(runner, area, {
    argv: ['/opt/toolchain/bin/node', '-e', SCRIPT, mode, pattern, JSON.stringify(BOUNDS)],
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
  return (await search(runner, area, 'remove', pattern)).exitCode === 0;
}

/** Prints the matching reports in the working folder as JSON lines; fails beyond the limits. */
export const readReports = (runner: CheckRunner, area: WorkArea, pattern: string): Promise<ExecResult> =>
  search(runner, area, 'read', pattern);
