import { choiceNotes } from './chosen-tests.ts';
import { type Recognised, recognise } from './command-kinds.ts';
import { forModules, modulesBuiltBy } from './maven-modules.ts';
import { type TestCommandLine, testCommandLine } from './package-scripts.ts';
import { endingCommand, endingLine, hintFor } from './report-options.ts';
import { PASSED_BY_TOX } from './reports-of-any-runner.ts';
import {
  type FocusForm,
  focusForm,
  mavenReport,
  type ReportPlace,
  type RunnerForm,
  runnerForm,
} from './runner-forms.ts';
import {
  arrangeSteps,
  beginsOf,
  isFormatted,
  isLeftOut,
  isRewritten,
  pathOf,
  reportingCommand,
  type StepRun,
  shellBefore,
  shellCommand,
  stepCommandLine,
} from './step-commands.ts';
import { exiting, otherForms, plainCommand, type TestCommand, unknownCommand } from './test-command.ts';
import { type TestStep, testSteps } from './test-steps.ts';

/** How to run the tests so that they write a structured report. */
export interface ReportPlan {
  /** The whole suite: all of them in this order, whatever the earlier results. */
  readonly commands: readonly TestCommand[];
  /** A command that is split into steps, unsplit; null for others. */
  readonly otherwise: ReportPlan | null;
  /** Why only exit codes count, and which report would help: a sentence. Absent if the runner's report is read. */
  readonly hint?: string;
  /**
   * Commands that run the tests in these files, by path from the top of the repository, and if possible no others:
   * additional tests are recognizable by their ids. Files without tests of this runner are skipped. Null if unknown,
   * or if no file is left: then the whole command has to be run.
   */
  focus(files: readonly string[]): readonly TestCommand[] | null;
  /** The text of the command whose tests `focus` runs; absent: it is null. */
  readonly focused?: string;
  /** Modules that the only command tests together; absent if it cannot test some of them. */
  readonly modules?: TestModules;
  /** What people should know about changes in the command, as sentences. */
  readonly notes?: readonly string[];
}

/** Modules of a build that one command tests. */
interface TestModules {
  readonly folders: readonly string[];
  /** Tests only these modules, and leaves reports of no others. */
  only(folders: readonly string[]): TestCommand;
}

/**
 * Plans the report of a test command. `files` are texts of the base commit (`stepFiles`), which define `npm test` or
 * `make test`. `folder` is the report's folder inside the sandbox; the command must be able to write there.
 * An unknown command may start known runners, which the environment tells to write reports, or print TAP or the like;
 * if nothing is found, only the exit code counts.
 * Steps in `apart` are left out: they are run separately.
 */
export function reportPlan(
  testCommand: string,
  files: Readonly<Record<string, string>> = {},
  folder = '/out',
  apart: (step: TestStep) => boolean = () => false,
): ReportPlan {
  const steps = testSteps(testCommand, files);
  const line = testCommandLine(testCommand, files['package.json']);
  const inner = line.last ?? line.inner;
  const found = recognise(inner);
  const form = found && runnerForm(found, line, { folder, files });
  if (steps && isComposite(steps, form !== null && reaches(line, form))) {
    const chosen = steps.filter((step) => !apart(step));
    return stepsPlan(testCommand, chosen, { folder, files });
  }
  const hint = found ? {} : hintFor(inner);
  const as = { otherwise: null, ...hint };
  const otherwise = otherForms(testCommand, found, folder);
  if (!found || !form) {
    const unknown = unknownCommand(endingLine(testCommand, line), folder);
    return { ...as, commands: [{ ...unknown, otherwise }], focus: () => null };
  }
  const plan = { ...planOf(testCommand, { line, form, folder }), otherwise };
  const focused = plan.report && focusForm(found, { folder, files });
  const focus: ReportPlan['focus'] = (paths) => (focused ? focusOn(line, { plan, focused }, paths) : null);
  const ofFocus = focused ? { focused: plan.command } : {};
  const isMaven = found.runner === 'maven' && line.direct && line.before === '';
  const modules = isMaven ? mavenOnly(plan, found.words, files) : null;
  return { ...as, ...ofFocus, commands: [plan], focus, ...(modules ? { modules } : {}) };
}

/** The modules of a Maven build; null for one without, and for a command that selects some itself. */
function mavenOnly(
  plan: TestCommand,
  words: readonly string[],
  files: Readonly<Record<string, string>>,
): TestModules | null {
  const folders = modulesBuiltBy(words, files);
  const only = (chosen: readonly string[]): TestCommand => ({
    ...plan,
    command: forModules(plan.command, folders, chosen),
    report: mavenReport(chosen),
  });
  return folders.length > 1 ? { folders, only } : null;
}

const wholeCommand = (command: string): ReportPlan => ({
  commands: [plainCommand(command)],
  otherwise: null,
  focus: () => null,
});

/**
 * Whether it consists of more than tests and their prerequisites. `reached`: report options reach the tests of the
 * unchanged command.
 */
function isComposite(steps: readonly TestStep[], reached: boolean): boolean {
  const tests = steps.filter(({ kind }) => kind === 'tests');
  const last = steps.at(-1);
  return (
    tests.length > 1 ||
    steps.some((step) => step.taken !== undefined || isLeftOut(step) || isRewritten(step)) ||
    steps.some((step) => step.package !== undefined || step.folder !== '') ||
    last?.kind !== 'tests' ||
    steps.some(({ kind }) => kind === 'lint' || kind === 'types') ||
    (!reached && canBeReached(last))
  );
}

/** Whether report options reach the tests of the expanded command. */
function canBeReached(step: TestStep): boolean {
  const line = stepCommandLine(step);
  const found = step.script || step.recipe ? recognise(line.inner) : null;
  const form = found && runnerForm(found, line, { folder: '', files: {} });
  return form !== null && reaches(line, form);
}

/** Each step as a command of its own. */
function stepsPlan(testCommand: string, steps: readonly TestStep[], place: ReportPlace): ReportPlan {
  const parts = arrangeSteps(steps).map((part) => ({ part, planned: plannedStep(part, place) }));
  const commandOf = ({ part, planned }: (typeof parts)[number]): TestCommand => {
    const { step } = part;
    const others = step.kind === 'tests' ? otherForms(shellCommand(part), planned.found, place.folder) : [];
    const inPackage = step.package === undefined ? {} : { package: step.package };
    const placed = { ...inPackage, ...beginsOf(part) };
    const otherwise = others.map((one) => ({ ...one, ...placed }));
    return { ...planned.command, ...placed, ...(otherwise.length > 0 ? { otherwise } : {}) };
  };
  const last = parts.findLast(({ planned }) => planned.focused !== null);
  const ofFocus = last ? { focused: last.planned.command.command } : {};
  const unread = parts.find(
    ({ part: { step }, planned }) => step.kind === 'tests' && !planned.found && !isFormatted(step),
  );
  const taken = steps.flatMap((step) => step.taken ?? []);
  // As it stands, the command would choose some of the tests again, or succeed in any case.
  const whole = steps.every((step) => step.taken === undefined) ? wholeCommand(testCommand) : null;
  return {
    commands: withUniqueNames(parts.map(commandOf)),
    otherwise: whole,
    ...ofFocus,
    ...(unread ? hintFor(unread.part.step.command) : {}),
    notes: choiceNotes(taken),
    focus(files) {
      const { focused, command } = last?.planned ?? {};
      if (!last || !focused || !command || last.part.step.folder !== '') return null;
      const line = { ...stepCommandLine(last.part.step), before: shellBefore(last.part, last.part.needs) };
      return focusOn(line, { plan: command, focused }, files);
    },
  };
}

interface PlannedStep {
  readonly command: TestCommand;
  readonly found: Recognised | null;
  readonly focused: FocusForm | null;
}

function plannedStep(part: StepRun, place: ReportPlace): PlannedStep {
  const { step } = part;
  const { folder } = place;
  if (step.kind !== 'tests') {
    const label = step.kind === 'other' ? 'step' : step.kind;
    const check = `${label}: ${step.folder === '' ? '' : `${step.folder} `}${step.command.slice(0, MAX_CHECK_NAME_CHARS)}`;
    const plain = plainCommand(shellCommand(part, endingCommand(step.command)));
    const lints = step.kind === 'lint' ? ({ lints: true } as const) : {};
    return { command: { ...plain, check, ...lints }, found: null, focused: null };
  }
  const line = stepCommandLine(step);
  const found = recognise(line.inner);
  const form = found && runnerForm(found, line, place);
  if (!form) {
    const command = unknownCommand(shellCommand(part, reportingCommand(step.command)), folder);
    return { command, found, focused: null };
  }
  const { command, exit, ...plan } = planOf(line.last ?? step.command, { line, form, folder });
  const focused = plan.report && line.last !== null ? focusForm(found, place) : null;
  const env = /\btox\b/.test(step.command) ? { ...plan.env, ...PASSED_BY_TOX } : plan.env;
  return {
    command: {
      ...plan,
      env,
      command: shellCommand(part, command),
      ...(exit === undefined ? {} : { exit: shellCommand(part, exit) }),
      prefix: step.folder,
    },
    found,
    focused,
  };
}

/** Maximum characters of a step's command in its name. */
const MAX_CHECK_NAME_CHARS = 80;

/** Steps with the same name, as in two hooks, are numbered. */
function withUniqueNames(commands: readonly TestCommand[]): readonly TestCommand[] {
  const counts = new Map<string, number>();
  return commands.map((command) => {
    if (command.check === undefined) return command;
    const count = (counts.get(command.check) ?? 0) + 1;
    counts.set(command.check, count);
    return count === 1 ? command : { ...command, check: `${command.check} #${count}` };
  });
}

/** Whether the form's options reach the runner. */
const reaches = (line: TestCommandLine, form: RunnerForm): boolean =>
  form.rewritten !== undefined
    ? line.direct && line.before !== null
    : form.append === '' || (line.last !== null && line.joint !== null);

interface Planning {
  readonly line: TestCommandLine;
  readonly form: RunnerForm;
  readonly folder: string;
}

/** Appends arguments if they reach the runner; rewrites a command that is not a script. */
function planOf(testCommand: string, { line, form, folder }: Planning): TestCommand {
  const plain = { ...plainCommand(testCommand), env: form.env, report: form.report };
  const isTold = form.rewritten === undefined && form.append === '';
  if (!isTold && !reaches(line, form)) return unknownCommand(testCommand, folder);
  if (form.rewritten !== undefined) return { ...plain, ...exiting(`${line.before}${form.rewritten}`, form) };
  if (isTold) return { ...plain, ...exiting(testCommand, form) };
  return { ...plain, ...exiting(`${testCommand}${line.joint}${form.append}`, form) };
}

interface Focusing {
  readonly plan: TestCommand;
  readonly focused: FocusForm;
}

/** Maximum files that are run one by one; with more, the whole command is run. */
const MAX_SEPARATE_FOLDERS = 8;

function focusOn(
  line: TestCommandLine,
  { plan, focused }: Focusing,
  files: readonly string[],
): readonly TestCommand[] | null {
  if (line.before === null) return null;
  const names = files.filter((file) => focused.takes.test(file));
  if (names.length === 0 || !names.every(isPlainPath)) return null;
  const path = line.direct ? '' : pathOf('');
  const command = `${path}${line.before}${focused.command}`;
  const report = focused.report ?? plan.report;
  if (!focused.apart) {
    const args = focused.argsOf?.(names) ?? names;
    // Steps before the tests would run for each of several groups of files.
    const together = line.before === '' ? focused.inOneProcess : undefined;
    return [
      {
        ...plan,
        ...exiting(command, focused),
        report,
        args,
        ...(together && { inOneProcess: path + together }),
      },
    ];
  }
  if (names.length > MAX_SEPARATE_FOLDERS) return null;
  const prefixOf = (file: string) => (report?.source === 'file' ? '' : file);
  return names.map((file) => ({
    ...plan,
    ...exiting(command, focused),
    report,
    args: [file],
    prefix: prefixOf(file),
  }));
}

/** A path that no runner interprets as an option or a pattern. */
const isPlainPath = (path: string): boolean => /^[^-\p{Cc}*?[\]{}()!|\\][^\p{Cc}*?[\]{}()!|\\]*$/u.test(path);
