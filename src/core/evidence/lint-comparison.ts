import { counted } from '../model/index.ts';
import type { TestRun } from './evidence.ts';
import type { BrokenRules } from './lint-rules.ts';
import { outcomeIn } from './test-runs.ts';

/** Rules of several runs together. */
export function joinedRules(runs: readonly Pick<TestRun, 'brokenRules'>[]): Pick<TestRun, 'brokenRules'> {
  const joined = new Map<string, BrokenRules>();
  for (const { brokenRules: bySteps = {} } of runs)
    for (const [step, rules] of Object.entries(bySteps)) joined.set(step, { ...joined.get(step), ...rules });
  return joined.size > 0 ? { brokenRules: Object.fromEntries(joined) } : {};
}

const rulesOf = ({ brokenRules: bySteps = {} }: Pick<TestRun, 'brokenRules'>, step: string): BrokenRules =>
  Object.hasOwn(bySteps, step) ? (bySteps[step] ?? {}) : {};

/** Rules named in a sentence. */
const MAX_NAMED_RULES = 3;

/** The base's run in which linters pass whose output names rules, with what is said about them. */
export function withKnownRules(run: TestRun): { readonly run: TestRun; readonly notes: readonly string[] } {
  const steps = (run.steps ?? []).filter(
    (id) => outcomeIn(run, id) === 'failed' && Object.keys(rulesOf(run, id)).length > 0,
  );
  if (steps.length === 0) return { run, notes: [] };
  const tests = { ...run.tests, ...Object.fromEntries(steps.map((id) => [id, 'passed' as const])) };
  const notes = steps.map((id) => {
    const rules = Object.keys(rulesOf(run, id)).sort();
    const named = rules.slice(0, MAX_NAMED_RULES).join(', ');
    const more = rules.length - MAX_NAMED_RULES;
    return `“${id}” finds ${counted(rules.length, 'rule')} broken on the base commit (${named}${more > 0 ? ` and ${more} more` : ''}), so only findings of other rules count.`;
  });
  return { run: { ...run, tests }, notes };
}

/**
 * A candidate's run in which a linter passes if it finds no rule broken that is not broken on the base commit, too. Not
 * compared by place: what is missing on this machine, such as types of packages, leads to more of the same findings.
 */
export function comparedByRules(base: Pick<TestRun, 'brokenRules'>, run: TestRun): TestRun {
  const tests = new Map(Object.entries(run.tests));
  const messages = new Map(Object.entries(run.messages ?? {}));
  for (const step of Object.keys(base.brokenRules ?? {})) {
    if (outcomeIn(run, step) !== 'failed') continue;
    const own = Object.entries(rulesOf(run, step));
    const errors = own.filter(([, { warning }]) => !warning);
    const failing = errors.length > 0 ? errors : own;
    const added = failing.filter(([rule]) => !Object.hasOwn(rulesOf(base, step), rule));
    if (own.length > 0 && added.length === 0) {
      tests.set(step, 'passed');
      messages.delete(step);
    } else if (added.length > 0) {
      messages.set(step, added.map(([rule, { text }]) => `${rule}: ${text}`).join('\n'));
    }
  }
  return {
    ...run,
    tests: Object.fromEntries(tests),
    ...(run.messages ? { messages: Object.fromEntries(messages) } : {}),
  };
}
