import { ADDED, appended, pytestOptions, rspecOptions } from './report-options.ts';
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
 * reporter names each test. One test at a time, of minitest and Rails: others would print into its line.
 */
export const NAMES_OF_RUBY = {
  TESTOPTS: '-v',
  MINITEST_REPORTER: 'DefaultReporter',
  MT_CPU: '1',
  PARALLEL_WORKERS: '1',
} as const;

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
/** `PID` is that of the process. */
const optionsOfNode = (folder: string) => ({
  jest: appended('jest', [], folder).replace('/report.', '/jest-PID.').split(' '),
  vitest: ['--reporter=default', '--reporter=json', `--outputFile.json=${folder}/vitest-PID.json`],
  mocha: appended('mocha', [], folder).replace('/report.', '/mocha-PID.').split(' '),
  ava: [ADDED.ava],
});

/**
 * Loaded by each program of Node before its own code: jest, vitest, mocha and ava read no options from the environment,
 * so they get them as arguments, with a file for each process; so do jest and mocha where a program of the repository
 * starts them through their interface. Runners that their tests start get none: these run samples. Nor does one that is
 * told to write such a report itself, which it refuses to write twice: its exit code counts. Of vitest, a file of
 * another reporter is named as that reporter's. Before 9.2, mocha writes no file, so its TAP is read, as ava's.
 */
const optionsScript = (folder: string): string => String.raw`
const [, program = '', ...given] = process.argv;
const bin = /node_modules[/\\](?:(?:\.bin|(?:jest|jest-cli|mocha)[/\\]bin|vitest)[/\\]_?(jest|vitest|mocha|ava)(?:\.[cm]?js)?|(ava)[/\\](?:entrypoints[/\\])?cli\.m?js)$/;
const runner = (bin.exec(program) || []).slice(1).find(Boolean);
const end = given.includes('--') ? given.indexOf('--') : given.length;
const words = given.slice(0, end);
const says = (pattern) => words.some((word) => pattern.test(word));
const question = /^(?:-[hvV]|--help|--version|--init|--listTests|--showConfig|--clearCache)$/;
const asksOnly = /^(?:list|init)$/.test(given[0]) || says(question);
const reporters = (' ' + words.join(' ')).match(/(?<= --reporters?[= ])\S+/g) || [];
const named = reporters.find((name) => /^(?:junit|html|blob)$/.test(name));
const isFile = /^--output-?[fF]ile(?==|$)/;
const writesOwn = {
  jest: () => says(/^--json$/) || says(isFile),
  vitest: () => reporters.includes('json') || says(/^--output-?[fF]ile\.json/) || (says(isFile) && !named),
  mocha: () => false,
  ava: () => says(/^(?:--tap|-t)$/),
};
const self = ${JSON.stringify(`--require=${folder}/${OPTIONS_FILE}`)};
const keepToItself = () => {
  process.env.NODE_OPTIONS = (process.env.NODE_OPTIONS || '').replace(self, '');
};
if (runner) keepToItself();
else tellInterfaces();
if (runner && !asksOnly && !writesOwn[runner]()) {
  const isOld = () => /^(?:[0-8]|9\.[01])\./.test(require(require('fs').realpathSync(program) + '/../../package.json').version);
  const options = runner === 'mocha' && isOld() ? ['--reporter', 'tap'] : ${JSON.stringify(optionsOfNode(folder))}[runner];
  const hasWorkers = says(/^(?:-i|-w.*|--runInBand|--maxWorkers.*|--detectOpenHandles)$/);
  const known = [hasWorkers && '--maxWorkers', reporters.length > 0 && '--reporter=default'].filter(Boolean);
  const added = options.filter((word) => !known.some((start) => word.startsWith(start)));
  const own = runner === 'vitest' ? words.map((word) => word.replace(isFile, '--outputFile.' + named)) : words;
  process.argv.splice(2, end, ...own, ...added.map((word) => word.replace('PID', process.pid)));
}${interfacesScript(folder)}`;

/** The part of it for interfaces: what they export is replaced when they are loaded. Each run writes a file. */
const interfacesScript = (folder: string): string => String.raw`
function tellInterfaces() {
  const Module = require('module');
  const { _load: load } = Module;
  const interfaces = /(?:^|node_modules[/\\])(@jest[/\\]core|mocha)(?:$|[/\\](?:build[/\\]|lib[/\\])?(?:index|mocha)\.[cm]?js$)/;
  const told = new WeakMap();
  let runs = 0;
  const nextFile = (name) => {
    keepToItself();
    runs += 1;
    return ${JSON.stringify(folder)} + '/' + name + '-' + process.pid + '-' + runs + '.json';
  };
  const tell = {
    mocha(Mocha) {
      const { run } = Mocha.prototype;
      Mocha.prototype.run = function (...args) {
        const isOld = /^(?:[0-8]|9\.[01])\./.test(this.version || '0.');
        this.reporter(isOld ? 'tap' : 'json', isOld ? {} : { output: nextFile('mocha') });
        return run.apply(this, args);
      };
      return Mocha;
    },
    core(jest) {
      const { runCLI } = jest;
      const asksOnly = (argv) => argv.json || argv.outputFile || argv.listTests || argv.showConfig || argv.clearCache;
      const toldCLI = (argv, ...more) =>
        runCLI(asksOnly(argv) ? argv : { ...argv, json: true, outputFile: nextFile('jest'), ci: true, bail: 0 }, ...more);
      const all = Object.getOwnPropertyDescriptors(jest);
      return Object.defineProperties({}, { ...all, runCLI: { value: toldCLI, enumerable: true } });
    },
  };
  Module._load = function (request, ...rest) {
    const loaded = load.call(this, request, ...rest);
    const name = (interfaces.exec(request) || [])[1];
    const isInterface = name && loaded && (name === 'mocha' ? loaded.prototype && loaded.prototype.run : loaded.runCLI);
    if (!isInterface) return loaded;
    if (!told.has(loaded)) told.set(loaded, tell[name === 'mocha' ? name : 'core'](loaded));
    return told.get(loaded);
  };
}
`;

/** Shell code before a command: removes reports of earlier ones, such as a candidate's build. */
export function freshReports(report: ReportSource | null): string {
  if (report?.source === 'file') return `rm -f ${[report.file, report.second ?? ''].join(' ').trimEnd()}; `;
  if (report?.source !== 'folder') return '';
  const script = optionsScript(report.folder).replaceAll("'", String.raw`'\''`);
  return `rm -rf ${report.folder}; mkdir -p ${report.folder}; printf %s '${script}' > ${report.folder}/${OPTIONS_FILE}; `;
}
