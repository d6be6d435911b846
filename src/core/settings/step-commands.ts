import type { TestCommandLine } from './package-scripts.ts';
import type { TestStep } from './test-steps.ts';

export interface StepRun {
  readonly step: TestStep;
  /** Steps of the kind `other` since the last tests: without them it does not run. */
  readonly before: readonly TestStep[];
  /** All of these up to here: what has to be run where this step is run alone. */
  readonly needs: readonly TestStep[];
}

/**
 * In the order of the command; what the tests need is put in front of them, and a linter that stood between runs after
 * them. Behind the last tests, every step counts for itself.
 */
export function arrangeSteps(steps: readonly TestStep[]): readonly StepRun[] {
  // Packages are run apart: what one of them needs is none of another's.
  const groups: TestStep[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last && last[0]?.package === step.package) last.push(step);
    else groups.push([step]);
  }
  return groups.flatMap(arrangeGroup);
}

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
    } else if (step.kind === 'other' && index < lastTests) {
      before.push(step);
      needs.push(step);
    } else (before.length > 0 ? waiting : parts).push({ step, before: [], needs: [] });
  }
  return parts;
}

/** Programs that print TAP for people to read; without them it is TAP. */
const FORMATTER = /\s*\|\s*(?:npx )?(?:tap-[\w-]+|faucet|colortape)(?:\s+-[\w-]+)*\s*$/;

/** A step as a line whose end is its only command. */
export function stepCommandLine({ command, inner }: TestStep): TestCommandLine {
  const bare = command.replace(FORMATTER, '');
  const plain = inner === undefined && !/[|<>]/.test(bare);
  return {
    inner: inner ?? bare,
    last: plain ? bare : null,
    joint: plain ? ' ' : null,
    direct: true,
    before: plain ? '' : null,
  };
}

/** A step with what has to run before it, for `sh -c` at the top of the repository. */
export const shellCommand = (part: StepRun, command: string = part.step.command): string =>
  `${shellBefore(part, part.before)}${inFolder(part.step, command)}`;

export function shellBefore({ step }: StepRun, before: readonly TestStep[]): string {
  const path = [step, ...before].some(({ script }) => script) ? pathOf(step.folder) : '';
  const steps = before.map((one) => `${inFolder(one, one.command)} && `);
  return `${path}${steps.join('')}`;
}

const inFolder = ({ folder }: TestStep, command: string): string =>
  folder === '' ? command : `(cd ${folder} && ${command})`;

/** What a script starts is found where its package manager would look for it. */
export const pathOf = (folder: string): string =>
  `export PATH="${folder === '' ? '' : `$PWD/${folder}/node_modules/.bin:`}$PWD/node_modules/.bin:$PATH"; `;
