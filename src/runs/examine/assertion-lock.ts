import {
  type AssertionRecords,
  readAssertionRecords,
  UNREADABLE_RECORDS,
} from '../../core/evidence/index.ts';
import { asInUsual, USUAL_SURROUNDINGS } from '../../core/model/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { checkLimits } from '../context.ts';
import type { CheckRunner } from './areas.ts';
import { runCommand } from './execute.ts';

/** Programs that lock assertion libraries, where they are installed. */
const PRELOAD = '/opt/toolchain/checks/assertions';
/** Records of these programs, below the home folder. */
const RECORDS = '.cache/checks';

/**
 * Shell code before a test command, if its runner locks assertions: Node and Python then load the programs before any
 * other code. What was recorded before, by a build or by a candidate, is removed.
 */
export function lockingPrefix(
  { locksAssertions }: Pick<CheckRunner, 'locksAssertions'>,
  { env }: Pick<TestCommand, 'env'>,
): string {
  if (!locksAssertions) return '';
  const joined = (name: string, by: string, value: string) =>
    `export ${name}="\${${name}:+$${name}${by}}${value}"`;
  const pytest = env.PYTEST_ADDOPTS === undefined ? [] : [joined('PYTEST_ADDOPTS', ' ', '-p assertion_lock')];
  const settings = [
    joined('NODE_OPTIONS', ' ', `--require=${PRELOAD}/load.cjs`),
    `export PYTHONPATH="${PRELOAD}\${PYTHONPATH:+:$PYTHONPATH}"`,
    ...pytest,
  ];
  return `rm -rf "$HOME/${RECORDS}"; mkdir -p "$HOME/${RECORDS}"; if [ -d ${PRELOAD} ]; then ${settings.join('; ')}; fi; `;
}

const MAX_RECORD_FILES = 5_000;
const RECORD_BYTES = 8 * 2 ** 20;
const READ_MS = 20_000;

/** Code of a candidate may have put links or pipes in place of records. */
const READ_SCRIPT = `
const fs = require('node:fs');
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const folder = process.argv[1];
const write = (text) => {
  const bytes = Buffer.from(text + '\\n');
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(1, bytes, at);
};
const isPlain = fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
const entries = isPlain ? fs.readdirSync(folder, { withFileTypes: true }) : [];
if (!isPlain || entries.length > ${MAX_RECORD_FILES}) write('["capped","all"]');
for (const entry of entries.slice(0, ${MAX_RECORD_FILES})) {
  if (!entry.isFile()) continue;
  const file = fs.openSync(folder + '/' + entry.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  write(fs.readFileSync(file, 'utf8'));
  fs.closeSync(file);
}`;

/** What was recorded in an area; null if nothing was locked or recorded. */
export async function readRecords(runner: CheckRunner, area: WorkArea): Promise<AssertionRecords | null> {
  if (!runner.locksAssertions) return null;
  const { home } = runner.surroundings ?? USUAL_SURROUNDINGS;
  const result = await runCommand(runner, area, {
    argv: ['/opt/toolchain/bin/node', '-e', READ_SCRIPT, `${home}/${RECORDS}`],
    limits: { ...checkLimits(runner.task), wallMs: READ_MS, outputBytes: RECORD_BYTES },
    own: 'The program that reads records about assertions',
    codeRan: true,
  });
  if (result.exitCode !== 0 || result.truncated) return UNREADABLE_RECORDS;
  if (result.stdout.trim() === '') return null;
  const { surroundings } = runner;
  return readAssertionRecords(surroundings ? asInUsual(result.stdout, surroundings) : result.stdout);
}
