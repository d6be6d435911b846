import { counted } from '../model/index.ts';
import type { TestRun } from './evidence.ts';
import type { BrokenRules, LintFinding } from './lint-rules.ts';
import { outcomeIn } from './test-runs.ts';

/** Rules of several runs together. */
export function joinedRules(runs: readonly Pick<TestRun, 'brokenRules'>[]): Pick<TestRun, 'brokenRules'> {
  const joined = new Map<string, BrokenRules>();
  for (const { brokenRules: bySteps = {} } of runs)
    for (const [step, rules] of Object.entries(bySteps)) joined.set(step, { ...joined.get(step), ...rules });
  return joined.size > 0 ? { brokenRules: Object.fromEntries(joined) } : {};
}

type RuleFinding = readonly [rule: string, finding: LintFinding];

/** The rules whose findings fail the command: those of errors, or of warnings if there is no error. */
function failingRules(
  { brokenRules: bySteps = {} }: Pick<TestRun, 'brokenRules'>,
  step: string,
): RuleFinding[] {
  const all = Object.entries(Object.hasOwn(bySteps, step) ? (bySteps[step] ?? {}) : {});
  const errors = all.filter(([, { warning }]) => !warning);
  return errors.length > 0 ? errors : all;
}

/** Rules named in a sentence, and in the message of a step. */
const MAX_NAMED_RULES = 3;
const MAX_MESSAGE_RULES = 10;

/** The base's run in which linters pass whose output names rules, with what is said about them. */
export function withKnownRules(run: TestRun): { readonly run: TestRun; readonly notes: readonly string[] } {
  const steps = (run.steps ?? []).filter(
    (id) => outcomeIn(run, id) === 'failed' && failingRules(run, id).length > 0,
  );
  if (steps.length === 0) return { run, notes: [] };
  const notes = steps.map((id) => {
    const rules = failingRules(run, id)
      .map(([rule]) => rule)
      .sort();
    const named = rules.slice(0, MAX_NAMED_RULES).join(', ');
    const more = rules.length - MAX_NAMED_RULES;
    return `“${id}” finds ${counted(rules.length, 'rule')} broken on the base commit (${named}${more > 0 ? ` and ${more} more` : ''}), so only findings of other rules count.`;
  });
  return { run: withPassed(run, steps), notes };
}

/**
 * A candidate's run in which a linter that fails on the base commit, too, fails only if it finds what the base breaks,
 * and another rule as well. Not compared by place: what is missing on this machine, such as types of packages, leads to
 * more of the same findings. If a rule of the base is no longer broken, findings may show that were hidden behind it,
 * such as those of a file that could not be parsed, or of the next linter.
 */
export function comparedByRules(base: Pick<TestRun, 'brokenRules'>, run: TestRun): TestRun {
  const failed = Object.keys(base.brokenRules ?? {}).filter((step) => outcomeIn(run, step) === 'failed');
  const added = new Map(failed.map((step) => [step, addedRules(base, run, step)]));
  const excused = failed.filter((step) => added.get(step)?.length === 0);
  const messages = failed.flatMap((step): [string, string][] => {
    const rules = added.get(step) ?? [];
    const lines = rules.slice(0, MAX_MESSAGE_RULES).map(([rule, { text }]) => `${rule}: ${text}`);
    return rules.length > 0 ? [[step, lines.join('\n')]] : [];
  });
  const rest = withPassed(run, excused);
  return messages.length > 0
    ? { ...rest, messages: { ...rest.messages, ...Object.fromEntries(messages) } }
    : rest;
}

function addedRules(
  base: Pick<TestRun, 'brokenRules'>,
  run: Pick<TestRun, 'brokenRules'>,
  step: string,
): readonly RuleFinding[] {
  const [before, after] = [failingRules(base, step), failingRules(run, step)];
  const keys = new Set(after.map(([rule]) => familyOfRule(rule)));
  if (before.some(([rule]) => !keys.has(familyOfRule(rule)))) return [];
  const { brokenRules: bySteps = {} } = base;
  const known = new Set(Object.keys(bySteps[step] ?? {}).map(familyOfRule));
  return after.filter(([rule]) => !known.has(familyOfRule(rule)));
}

/**
 * Rules that all fail for one cause: an expression whose type is not known, because a package or its types are missing,
 * and a package that cannot be found.
 */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [
    /^@typescript-eslint\/(?:no-unsafe-|no-redundant-type|restrict-|await-thenable|no-confusing-void)/,
    'types',
  ],
  [/^(?:import|import-x|i|n|node)\/(?:no-|named$|default$|namespace$|export$)/, 'imports'],
];

const familyOfRule = (rule: string): string => FAMILIES.find(([form]) => form.test(rule))?.[1] ?? rule;

/** The run in which these steps pass. */
function withPassed(run: TestRun, steps: readonly string[]): TestRun {
  if (steps.length === 0) return run;
  const passed = new Set(steps);
  const messages = Object.entries(run.messages ?? {}).filter(([id]) => !passed.has(id));
  return {
    ...run,
    tests: { ...run.tests, ...Object.fromEntries(steps.map((id) => [id, 'passed' as const])) },
    ...(run.messages ? { messages: Object.fromEntries(messages) } : {}),
  };
}
