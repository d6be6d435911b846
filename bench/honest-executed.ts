// How often an executed examination accuses honest work: every commit of a list becomes the only candidate on its parent
// and is examined by `runoff select`, with locked assertion libraries where survivors run again. Prints, for each commit,
// the gates that it fails, what a person is asked, and how the second environment was; then the shares.
//
//   node bench/honest-executed.ts LIST --from FOLDER --how FILE [--only REPOSITORY] [--jobs 1]
//
// LIST and FOLDER are those of `bench/honest.ts`. FILE is JSON: {"owner/name": {"test": "npm test", "install": "npm
// install --ignore-scripts"}}; repositories that it does not name are left out. `install` runs on this machine, outside
// of any sandbox, once for each repository, beside package.json of its first commit's parent; what it leaves in
// `node_modules` or `.venv` is used for all its commits.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Evidence, findingText, questionsOf } from '../src/core/evidence/index.ts';
import type { DecisionRecord } from '../src/core/reports/index.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string', default: '.' },
    how: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '1' },
  },
});

interface How {
  readonly test: string;
  readonly install?: string;
}
interface Answer {
  readonly id: string;
  readonly error?: string;
  readonly explanation?: DecisionRecord;
}

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['--no-pager', ...args], { cwd, encoding: 'utf8', maxBuffer: 256 * 2 ** 20 });

const PACKAGE_FOLDERS = ['node_modules', '.venv'];

/** Installs what the tests need, once for each repository, and links it to this one. */
function linkPackages(root: string, name: string, { install }: How, repoDir: string): void {
  if (install === undefined) return;
  const folder = join(root, 'packages', name.replace('/', '+'));
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    const manifest = join(repoDir, 'package.json');
    if (existsSync(manifest)) writeFileSync(join(folder, 'package.json'), readFileSync(manifest));
    const done = spawnSync('sh', ['-c', install], { cwd: folder, encoding: 'utf8' });
    if (done.status !== 0)
      process.stderr.write(`${name}: ${install} failed.\n${done.stderr.slice(-2_000)}\n`);
  }
  for (const one of PACKAGE_FOLDERS)
    if (existsSync(join(folder, one)) && !existsSync(join(repoDir, one)))
      symlinkSync(join(folder, one), join(repoDir, one));
  writeFileSync(join(repoDir, '.git/info/exclude'), `${PACKAGE_FOLDERS.join('\n')}\n`);
}

/** The parent as a repository, with the commit as the only candidate. */
function requestOf(root: string, name: string, commit: string, how: How): string {
  const source = join(options.from, name.replace('/', '+'), 'repo');
  const repoDir = join(root, `${name.replace('/', '+')}-${commit}`);
  const shared = ['clone', '-q', '--shared', '--no-checkout', source, repoDir];
  git(root, '-c', 'safe.directory=*', ...shared);
  git(repoDir, 'checkout', '-q', '--detach', `${commit}^`);
  linkPackages(root, name, how, repoDir);
  const patch = git(repoDir, 'diff', '--binary', '--full-index', '--no-renames', `${commit}^`, commit);
  const [issue] = git(repoDir, 'log', '-1', '--format=%s', commit).split('\n');
  const candidates = [{ id: 'commit', patch }];
  return JSON.stringify({ id: `${name} ${commit}`, issue, repoDir, testCommand: how.test, candidates });
}

type Outcome = 'accused' | 'asked about' | 'nothing' | 'no tests' | 'not examined';
const counts = new Map<Outcome, number>();

/** Gates that say that a patch cheats. */
const ACCUSING: ReadonlySet<string> = new Set(['untampered', 'steady']);

function outcomeOf(one: Evidence | undefined): Outcome {
  if (!one) return 'not examined';
  const failed = one.gates.filter(({ passed }) => !passed);
  if (failed.some(({ gate }) => ACCUSING.has(gate))) return 'accused';
  if (failed.length > 0) return 'not examined';
  const { baseTests } = one;
  if (baseTests?.source !== 'report' || baseTests.passed === 0) return 'no tests';
  return questionsOf(one).length > 0 ? 'asked about' : 'nothing';
}

function suiteText({ baseTests }: Evidence): string {
  return baseTests ? `${baseTests.passed} of ${baseTests.total} tests pass` : 'not tested';
}

function linesOf(one: Evidence): readonly string[] {
  const steady = one.gates.find(({ gate, passed }) => gate === 'steady' && passed);
  return [
    ...one.gates.flatMap(({ gate, passed, because }) => (passed ? [] : [`${gate}: ${because}`])),
    ...questionsOf(one).map((finding) => `question: ${findingText(finding)}. ${finding.settled ?? ''}`),
    ...(steady ? [steady.because] : []),
  ];
}

function tell({ id, error, explanation }: Answer): void {
  const [one] = explanation?.evidence ?? [];
  const outcome = outcomeOf(one);
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const more = [...(error === undefined ? [] : [error]), ...(one ? linesOf(one) : [])];
  const lines = [
    `${id}: ${outcome}${one ? ` (${suiteText(one)})` : ''}`,
    ...more.map((line) => `    ${line}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const root = mkdtempSync(join(tmpdir(), 'runoff-honest-'));
try {
  const how: Readonly<Record<string, How>> = JSON.parse(readFileSync(options.how ?? '', 'utf8'));
  const requests = positionals
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .flatMap((line) => {
      const [name = '', commit = ''] = line.trim().split(/\s+/);
      const known = Object.hasOwn(how, name) ? how[name] : undefined;
      return known && (!options.only || options.only === name) ? [requestOf(root, name, commit, known)] : [];
    });
  const main = join(import.meta.dirname, '../src/main.ts');
  const args = [main, 'select', '--explain', '--always-pick', '--jobs', options.jobs];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) tell(JSON.parse(line) as Answer);
  });
  child.stdin.end(`${requests.join('\n')}\n`);
  const [code] = await once(child, 'close');
  if (rest !== '') throw new Error(`The last answer of \`select\` is incomplete: ${rest.slice(0, 200)}`);
  process.stdout.write(`\n${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}\n`);
  // It ends with 1 if it could not examine a request, of which its answer says why.
  if (code !== 0) {
    process.stderr.write(`\`select\` ended with exit code ${code}: not every commit was examined.\n`);
    process.exitCode = 1;
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
