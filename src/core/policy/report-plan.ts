import { readPackage } from './package-json.ts';

export type ReportFormat = 'junit' | 'jest-json' | 'mocha-json';

/** How to run the tests so that they leave a structured report. */
export interface ReportPlan {
  /** For `sh -c`. */
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  /** Null: this runner is not known, so its exit code is all there is. */
  readonly report: { readonly file: string; readonly format: ReportFormat } | null;
}

/**
 * Plans the report of a test command. `packageJson` is the text of the base commit's file: it says what `npm test`
 * runs. `folder` is where the report goes, as the sandbox sees it; the command must be able to write there.
 */
export function reportPlan(testCommand: string, packageJson?: string, folder = '/out'): ReportPlan {
  const plain: ReportPlan = { command: testCommand, env: {}, report: null };
  // After `cd`, it is another package.json that counts.
  const here = /(?:^|\s)cd\s/.test(testCommand) ? undefined : packageJson;
  const script = scriptOf(lastOf(testCommand) ?? testCommand, here);
  const inner = (script?.text ?? testCommand).slice(0, LONGEST);
  const xml = `${folder}/report.xml`;
  const json = `${folder}/report.json`;
  // These two are told by the environment, so it does not matter where in the line they stand.
  if (runs('pytest', inner)) {
    // xunit1 is the flavour that names each test's file.
    const options = `--junitxml=${xml} -o junit_family=xunit1`;
    return { ...plain, env: { PYTEST_ADDOPTS: options }, report: { file: xml, format: 'junit' } };
  }
  if (runs('node', inner)) {
    if (/--test-reporter/.test(inner)) return plain;
    return { ...plain, env: nodeOptions(xml), report: { file: xml, format: 'junit' } };
  }
  // Arguments end up behind the last command of a line, so that must be the runner.
  const last = lastOf(inner);
  if (last === null || lastOf(testCommand) === null) return plain;
  const joint = script?.manager === 'npm' || script?.manager === 'node' ? ' -- ' : ' ';
  const append = (args: string, report: ReportPlan['report']): ReportPlan => ({
    ...plain,
    command: `${testCommand}${joint}${args}`,
    report,
  });
  if (runs('vitest', last)) {
    const args = `--reporter=default --reporter=junit --outputFile.junit=${xml}`;
    return append(args, { file: xml, format: 'junit' });
  }
  if (runs('jest', last))
    return append(`--ci --json --outputFile=${json}`, { file: json, format: 'jest-json' });
  if (runs('mocha', last)) {
    return append(`--reporter json --reporter-option output=${json}`, { file: json, format: 'mocha-json' });
  }
  return plain;
}

/** Characters of a command that are looked at. */
const LONGEST = 4_000;

/** The last command of a chain by `&&` or `;`; null for a line with pipes, redirections or substitutions. */
function lastOf(command: string): string | null {
  const parts = command.split(/&&|;/);
  return parts.some((part) => /[&|\n<>`]|\$\(/.test(part)) ? null : (parts.at(-1) as string).trim();
}

/** Both Node 20 and later accept these through NODE_OPTIONS, so they also reach a runner behind `npm test`. */
const nodeOptions = (file: string): Record<string, string> => ({
  NODE_OPTIONS: [
    `--test-reporter=junit --test-reporter-destination=${file}`,
    '--test-reporter=tap --test-reporter-destination=stdout',
  ].join(' '),
});

interface Script {
  readonly manager: string;
  readonly text: string;
}

/** The script that `npm test`, `pnpm run x`, `node --run x` … starts; null for a command of its own. */
function scriptOf(command: string, packageJson: string | undefined): Script | null {
  const words = command.trim().split(/\s+/);
  const manager = words[0] ?? '';
  if (!['npm', 'pnpm', 'yarn', 'bun', 'node'].includes(manager)) return null;
  const rest = words.slice(1).filter((word) => !/^(?:-s|--silent)$/.test(word));
  const name = scriptName(manager, rest);
  const text = name ? readPackage(packageJson ?? '')?.scripts.get(name) : undefined;
  return text === undefined ? null : { manager, text };
}

function scriptName(manager: string, words: readonly string[]): string | null {
  const [verb, name, ...more] = words;
  if (manager === 'node') return verb === '--run' && name && more.length === 0 ? name : null;
  if ((verb === 'run' || verb === 'run-script') && name && more.length === 0) return name;
  if (name !== undefined) return null;
  if (verb === 'test' || (verb === 't' && manager === 'npm')) return manager === 'bun' ? null : 'test';
  return manager === 'yarn' || manager === 'pnpm' ? (verb ?? null) : null;
}

const RUNNERS = {
  vitest: /(?:^|[\s/])vitest(?:\.mjs)?(?=\s|$)/,
  jest: /(?:^|[\s/])(?:jest(?:\.js)?|react-scripts\s+test)(?=\s|$)/,
  mocha: /(?:^|[\s/])_?mocha(?:\.js)?(?=\s|$)/,
  pytest: /(?:^|[\s/])(?:pytest|py\.test)(?=\s|$)/,
  node: /(?:^|[\s/])(?:node|tsx|c8|nyc)\s(?:.*\s)?--test(?=\s|$)/,
} as const;

const runs = (runner: keyof typeof RUNNERS, command: string): boolean => RUNNERS[runner].test(command);
