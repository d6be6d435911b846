import { appended, pytestOptions, rspecOptions } from './report-options.ts';
import type { ReportSource } from './report-source.ts';

/**
 * Reports of a command that starts its runners in an unknown way: of those that the environment can tell to write some,
 * and of those that print their results.
 */
export const anyReports = (folder: string) =>
  ({ source: 'folder', folder: `${folder}/reports`, format: 'any-reports' }) as const;

/** One file, however many processes of the runner write it: each replaces it. */
export const PYTEST_FILE = 'pytest.xml';
export const RSPEC_FILE = 'rspec.json';

/**
 * Rake's test task passes the options to the tests; `rails test` knows the option itself. Of minitest-reporters, this
 * reporter names each test.
 */
export const NAMES_OF_RUBY = { TESTOPTS: '-v', MINITEST_REPORTER: 'DefaultReporter' } as const;

/** tox passes on the variables that are configured: `TOX_OVERRIDE` since tox 4, the other one before. */
export const PASSED_BY_TOX = {
  TOX_TESTENV_PASSENV: 'PYTEST_ADDOPTS',
  TOX_OVERRIDE: 'testenv.pass_env+=PYTEST_ADDOPTS',
} as const;

/** Tests of Node that a program loads by itself, without `--test`, are printed as TAP. */
const TAP_OF_NODE = '--test-reporter=tap --test-reporter-destination=stdout';

/** How runners write their reports there, whatever starts them. */
export const anyRunnerOptions = (folder: string): Readonly<Record<string, string>> => ({
  PYTEST_ADDOPTS: pytestOptions(`${anyReports(folder).folder}/${PYTEST_FILE}`),
  ...PASSED_BY_TOX,
  SPEC_OPTS: rspecOptions(`${anyReports(folder).folder}/${RSPEC_FILE}`),
  ...NAMES_OF_RUBY,
  NODE_OPTIONS: `${TAP_OF_NODE} --require=${anyReports(folder).folder}/${OPTIONS_FILE}`,
});

const OPTIONS_FILE = 'options.cjs';
/** `FOLDER` and `PID` are those of the process. */
const OPTIONS_OF_NODE = {
  jest: appended('jest', [], 'FOLDER').replace('/report.', '/jest-PID.').split(' '),
  vitest: ['--reporter=default', '--reporter=json', '--outputFile.json=FOLDER/vitest-PID.json'],
  mocha: appended('mocha', [], 'FOLDER').replace('/report.', '/mocha-PID.').split(' '),
};

/**
 * Loaded by each program of Node before its own code: jest, vitest and mocha read no options from the environment, so
 * they get them as arguments, with a file for each process. Runners that their tests start get none: these run samples.
 * Before 9.2, mocha writes no file, so its TAP is read.
 */
const OPTIONS_SCRIPT = String.raw`
const [, program = '', ...given] = process.argv;
const bin = /node_modules[/\\](?:\.bin|(?:jest|jest-cli|mocha)[/\\]bin|vitest)[/\\]_?(jest|vitest|mocha)(?:\.[cm]?js)?$/;
const [, runner] = bin.exec(program) || [];
const says = (pattern) => given.some((word) => pattern.test(word));
const isTold = says(/^(?:-[hvV]|--help|--version|--init|--listTests|--showConfig|--clearCache|list)$/);
if (runner) process.env.NODE_OPTIONS = process.env.NODE_OPTIONS.replace('--require=' + __filename, '');
if (runner && !isTold) {
  const isOld = () => /^(?:[0-8]|9\.[01])\./.test(require(require('fs').realpathSync(program) + '/../../package.json').version);
  const options = runner === 'mocha' && isOld() ? ['--reporter', 'tap'] : ${JSON.stringify(OPTIONS_OF_NODE)}[runner];
  const hasWorkers = says(/^(?:-i|-w.*|--runInBand|--maxWorkers.*|--detectOpenHandles)$/);
  const own = options.filter((word) => !(hasWorkers && word.startsWith('--maxWorkers')));
  const end = process.argv.indexOf('--');
  const placed = own.map((word) => word.replace('FOLDER', __dirname).replace('PID', process.pid));
  process.argv.splice(end < 0 ? process.argv.length : end, 0, ...placed);
}
`;

/** Shell code before a command: removes reports of earlier ones, such as a candidate's build. */
export function freshReports(report: ReportSource | null): string {
  if (report?.source === 'file') return `rm -f ${[report.file, report.second ?? ''].join(' ').trimEnd()}; `;
  if (report?.source !== 'folder') return '';
  const script = OPTIONS_SCRIPT.replaceAll("'", String.raw`'\''`);
  return `rm -rf ${report.folder}; mkdir -p ${report.folder}; printf %s '${script}' > ${report.folder}/${OPTIONS_FILE}; `;
}
