import { recognise, unreadRunner, withoutFormatter } from './command-kinds.ts';
import { inFolder } from './folder-parts.ts';
import type { TestCommandLine } from './package-scripts.ts';
import type { TestStep } from './test-steps.ts';

export interface StepRun {
  readonly step: TestStep;
  /** The `other` steps since the last tests: this step does not run without them. */
  readonly before: readonly TestStep[];
  /** The same up to here: the prerequisites for running this step alone. */
  readonly needs: readonly TestStep[];
}

/** Programs that only report how much of the code the tests before them reached, or check it against a threshold. */
const COVERAGE_REPORT =
  /^(?:npx (?:--no-install )?)?(?:(?:c8|nyc) (?:report|check-coverage)|(?:python[\d.]* -m )?coverage (?:report|combine|html|xml))\b/;

/** Fetches from a source repository: tests have no network, and what can be there was fetched before set-up. */
const FETCHES = /^git (?:fetch|pull|submodule)\b/;

export const isLeftOut = ({ command }: TestStep): boolean =>
  COVERAGE_REPORT.test(command) || FETCHES.test(command);

/**
 * In the order of the command. Reports of coverage are left out: candidates' code is run with the base's tests, which
 * cannot cover what is new. So is what git would fetch. The prerequisites of tests are put in front of them, and a
 * linter in between runs after them. After the last tests, every step counts separately, and so does a runner without a
 * report, such as karma, which needs a browser: other tests do not depend on it.
 */
export function arrangeSteps(steps: readonly TestStep[]): readonly StepRun[] {
  // Packages run separately: they share no prerequisites.
  const groups: TestStep[][] = [];
  for (const step of steps) {
    if (isLeftOut(step)) continue;
    const last = groups.at(-1);
    if (last && last[0]?.package === step.package) last.push(step);
    else groups.push([step]);
  }
  return groups.flatMap(arrangeGroup);
}

/** A runner without a report, such as karma, or a script of tests that starts an unknown program. */
const countsAlone = ({ alone, command }: TestStep): boolean =>
  alone === true || unreadRunner(command) !== null;

function arrangeGroup(steps: readonly TestStep[]): readonly StepRun[] {
  const lastTests = steps.findLastIndex(({ kind }) => kind === 'tests');
  const parts: StepRun[] = [];
  let before: TestStep[] = [];
  let waiting: StepRun[] = [];
  const needs: TestStep[] = [];
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'tests') {
      parts.push({ step, before, needs: [...needs] }, ...waiting);
      before = [];
      waiting = [];
    } else if (step.kind === 'other' && index < lastTests && !countsAlone(step)) {
      before.push(step);
      needs.push(step);
    } else (before.length > 0 ? waiting : parts).push({ step, before: [], needs: [] });
  }
  return parts;
}

/** Options of Node that a command sets itself, in front of its program. */
const SETS_NODE_OPTIONS =
  /^((?:(?:cross-env|env|\w+=(?:'[^']*'|"[^"$`\\]*"|[^\s'"$`\\]*))\s+)*NODE_OPTIONS=)(?:'([^'"$`\\]+)'|"([^"$`\\]+)"|([^\s'"$`\\]+))(?=\s)/;
/** Reporters of node:test. Ours replace them, as they replace those that a command names in its arguments. */
const REPORTERS = /(?:^| )--test-reporter(?:-destination)?[= ]\S+/g;

/**
 * Puts the options of Node that a command sets behind those that are set already: Node's own runner, and unknown ones,
 * write a report only if the environment asks for it. Other runners are asked by arguments, and their commands stay as
 * they are: a script that its package manager runs may need the manager's variables.
 */
function withNodeOptions(command: string): string {
  const runner = recognise(command)?.runner;
  if ((runner !== undefined && runner !== 'node-test') || unreadRunner(command) !== null) return command;
  return command.replace(
    SETS_NODE_OPTIONS,
    (_, before: string, ...found: readonly (string | undefined)[]) => {
      const own = found
        .find((value) => value !== undefined)
        ?.replace(REPORTERS, '')
        .trim();
      return `${before}"\${NODE_OPTIONS:+$NODE_OPTIONS }${own}"`;
    },
  );
}

/** A command of tests as it is run for its report: also without a program behind it that formats TAP. */
export const reportingCommand = (command: string): string => withNodeOptions(withoutFormatter(command));

export const isFormatted = ({ command }: TestStep): boolean => command !== withoutFormatter(command);

export const isRewritten = ({ command, kind }: TestStep): boolean =>
  kind === 'tests' && command !== reportingCommand(command);

/** A step as a command line with a single command at its end. */
export function stepCommandLine({ command, inner }: TestStep): TestCommandLine {
  const bare = reportingCommand(command);
  const plain = inner === undefined && !/[|<>]/.test(bare);
  return {
    inner: inner ?? bare,
    last: plain ? bare : null,
    joint: plain ? ' ' : null,
    direct: true,
    before: plain ? '' : null,
  };
}

/** A step with its prerequisites, for `sh -c` at the top of the repository. */
export const shellCommand = (part: StepRun, command: string = part.step.command): string =>
  `${shellBefore(part, part.before)}${inFolder(part.step.folder, command)}`;

export function shellBefore({ step }: StepRun, before: readonly TestStep[]): string {
  const all = [step, ...before];
  const composer = all.some(({ recipe }) => recipe === 'composer')
    ? 'export PATH="$PWD/vendor/bin:$PATH"; '
    : '';
  const path = all.some(({ script }) => script) ? pathOf(step.folder) : '';
  const steps = before.map((one) => `${inFolder(one.folder, one.command)} && `);
  return `${composer}${path}${steps.join('')}`;
}

/** The beginning of a step's command, with the steps that it needs: after the tests before it, and without them. */
export function beginsOf(part: StepRun): { readonly begins?: readonly [after: string, alone: string] } {
  const { before, needs } = part;
  return needs.length === 0 ? {} : { begins: [shellBefore(part, before), shellBefore(part, needs)] };
}

/** Finds programs that a script starts in the same places as its package manager. */
export const pathOf = (folder: string): string =>
  `export PATH="${folder === '' ? '' : `$PWD/${folder}/node_modules/.bin:`}$PWD/node_modules/.bin:$PATH"; `;
