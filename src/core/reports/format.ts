import type { Stop } from '../debate/index.ts';
import type { GateName } from '../evidence/index.ts';
import {
  type Alias,
  type CandidateState,
  type Contestant,
  counted,
  formatList,
  type RunId,
  type RunState,
  STAGES,
  type Stage,
  type Usage,
  type Usd,
} from '../model/index.ts';
import { type Picked, roundText, type Separator } from '../ranking/index.ts';
import type { FoundTool } from '../settings/index.ts';
import type { Markup } from './markup.ts';
import type { RunView } from './view.ts';

export { counted };

/** `0.4 s`, `42 s`, `3m 12s`, `1h 04m`; `–` for nothing. */
export function elapsed(ms: number): string {
  if (!Number.isFinite(ms) || ms <= 0) return '–';
  if (ms < 9_950) return `${(Math.max(ms, 50) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${pad(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`;
}

const pad = (n: number): string => String(n).padStart(2, '0');

/** Dollars without the sign: two decimals, or four if two would show zero. */
export function dollars(usd: Usd): string {
  if (!Number.isFinite(usd) || usd <= 0) return '0.00';
  if (usd >= 0.01) return usd.toFixed(2);
  return usd < 0.0001 ? '0.0001' : usd.toFixed(4);
}

/** `$0.42`. At most one in a line of Markdown: GitHub may render text between two dollar signs as a formula. */
export const money = (usd: Usd): string => `$${dollars(usd)}`;

/** `$0.42` in Markdown, for a line that has a dollar sign already. */
export const escapedMoney = (usd: Usd): string => `<span>$</span>${dollars(usd)}`;

/** `812`, `12.3k`, `1.2M`. */
export function tokens(count: number): string {
  if (!Number.isFinite(count) || count <= 0) return '0';
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Each text once, in order, with all candidates that it is about: equal patches have equal faults. */
export function byText<T extends { readonly alias: Alias; readonly text: string }>(
  all: readonly T[],
): readonly (T & { readonly aliases: readonly Alias[] })[] {
  const found = new Map<string, T & { aliases: Alias[] }>();
  for (const one of all) {
    const same = found.get(one.text);
    if (same) same.aliases.push(one.alias);
    else found.set(one.text, { ...one, aliases: [one.alias] });
  }
  return [...found.values()];
}

/** `**A** and **C**`. */
export const strongList = (aliases: readonly Alias[]): string =>
  formatList(aliases.map((alias) => `**${alias}**`));

/** `**A**`, or `**A** (likewise **B** and **C**)` before a sentence about one of them that is true of all. */
export const strongLikewise = ([first = '', ...others]: readonly Alias[]): string =>
  `**${first}**${others.length === 0 ? '' : ` (likewise ${strongList(others)})`}`;

/** `+12 −3`. */
export const plusMinus = (change: { readonly additions: number; readonly deletions: number }): string =>
  `+${change.additions} −${change.deletions}`;

/** The first twelve digits: enough to identify a commit. */
export const shortSha = (sha: string): string => sha.slice(0, 12);

/** The branch of a candidate's commit on GitHub, e.g. `auto-dev/7/r7k2m9q4xa/B`. Contains no text of the issue. */
export const branchName = (issue: number, run: RunId, alias: Alias): string =>
  `${branchPrefix(issue, run)}${alias}`;

/** What the branches of all candidates of a run on GitHub begin with. */
export const branchPrefix = (issue: number, run: RunId): string => `auto-dev/${issue}/${run}/`;

/** The branch of a candidate's commit in a local repository, e.g. `runoff/r7k2m9q4xa/B`. */
export const localBranch = (run: RunId, alias: Alias): string => `${LOCAL_BRANCHES}${run}/${alias}`;

/** What the branches of all runs in a local repository begin with. */
export const LOCAL_BRANCHES = 'runoff/';

/** Whose branch a name of `localBranch` is; null for other branches. */
export function readLocalBranch(name: string): { readonly run: RunId; readonly alias: Alias } | null {
  const [, run, alias] = /^runoff\/([0-9a-z]+)\/([A-Z]\d*)$/.exec(name) ?? [];
  return run === undefined || alias === undefined ? null : { run, alias };
}

/** The branch created for a candidate; null if there is none (yet). */
export const branchOf = (view: RunView, alias: Alias): string | null => view.outcome?.branches[alias] ?? null;

/**
 * The command that takes over a branch of a local run. A merge would collide with the uncommitted changes that the run
 * started from, so only what the candidate changed is applied to them. `git`: the program, and where it works.
 */
export const branchMerge = (
  { base }: { readonly base?: RunView['base'] | undefined },
  branch: string,
  git = 'git',
): string =>
  base?.uncommitted ? `${git} diff --binary ${base.sha} ${branch} | ${git} apply` : `${git} merge ${branch}`;

/** What decided, after "decided by". */
export const SEPARATOR_LABELS = {
  gates: 'the gates',
  regressions: 'existing tests',
  objections: "a critic's test",
  fixed: 'failing existing tests that it fixes',
  independent: 'independent tests',
  tests: 'new tests',
  behaviour: 'behaviour',
  agreement: 'agreement',
  judges: 'blind judges',
  vote: 'votes',
  score: 'patch score',
  metrics: 'metrics (tests, size, speed)',
  weights: 'the weighted mean of all scores',
  alike: 'nothing: the same change',
  types: 'type errors',
  tie: 'nothing: a tie',
} as const satisfies Record<Separator, string>;

/** Why a candidate failed a gate: a few words for a table. */
export const GATE_FAILURE_LABELS = {
  collected: 'left no usable patch',
  content: 'lacks the content asked for',
  safe: 'contains an unsafe file',
  scope: 'changes protected files',
  untampered: 'tampers with tests',
  parses: 'does not parse',
  builds: 'does not build',
  types: 'adds type errors',
  'tests-run': 'prevents the tests from running',
  steady: 'behaves otherwise elsewhere',
} as const satisfies Record<GateName, string>;

export const CANDIDATE_STATE_LABELS = {
  queued: 'waiting',
  coding: 'coding',
  coded: 'coded',
  examining: 'examining',
  examined: 'examined',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<CandidateState, string>;

/** The stage that a run in this state is in or enters next; null when its work is finished. */
const STAGE_OF = {
  queued: 'admit',
  admitted: 'brief',
  awaiting_answer: 'brief',
  awaiting_approval: 'brief',
  refused: null,
  briefed: 'code',
  coded: 'examine',
  examined: 'judge',
  judged: 'publish',
  awaiting_pick: null,
  published: null,
  merged: null,
  closed: null,
  failed: null,
  cancelled: null,
} as const satisfies Record<RunState, Stage | null>;

export const stageOf = (view: RunView): Stage | null => STAGE_OF[view.state];

/** `1st`, `2nd`, `11th`. */
export function ordinal(n: number): string {
  const teen = n % 100 > 10 && n % 100 < 14;
  return `${n}${teen ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')}`;
}

/** Why a run has not started yet, in one to three sentences; empty for a run that is not queued. */
export function queueText({ queue }: Pick<RunView, 'queue'>, to: Pick<Markup, 'sentence'>): string {
  if (!queue) return '';
  const { position, of, why } = queue;
  const where = position === 1 ? 'next in line' : `${ordinal(position)} of ${of} in line`;
  return `Queued, ${where}. It starts when a running one finishes.${why ? ` ${to.sentence(why)}` : ''}`;
}

const TOOL_ORIGINS = {
  sandbox: 'in the sandbox',
  machine: 'of this machine',
  registry: 'from the package registry',
  repository: 'part of the repository',
  runoff: "Runoff's own",
} as const satisfies Record<FoundTool['from'], string>;

/** `Node 22.14.0 (from the package registry), uv 0.5.1 (in the sandbox)`. */
export const toolsText = (tools: readonly FoundTool[]): string =>
  tools.map(({ name, from }) => `${name} (${TOOL_ORIGINS[from]})`).join(', ');

export const stageNumber = (stage: Stage): string => `stage ${STAGES.indexOf(stage) + 1} of ${STAGES.length}`;

/** Maximum characters of an agent's name; a custom program's command line can be long. */
const MAX_PROGRAM_CHARACTERS = 60;

/** What stands in the place of a name, cost or number of tokens that blind mode hides. */
export const HIDDEN = 'hidden';

/**
 * `builtin × anthropic/claude-sonnet-4-5 (careful)`; null: hidden. Names come from settings and must be escaped for
 * Markdown.
 */
export const contestantName = (who: Contestant | null): string =>
  who === null
    ? HIDDEN
    : `${[who.agent, ...(who.argv ?? [])].join(' ').slice(0, MAX_PROGRAM_CHARACTERS)} × ${who.model} (${who.prompt}${who.seed ? `, seed ${who.seed}` : ''}${who.round ? `, ${roundText(who.round)}` : ''})`;

/**
 * Short names: only the parts of agent, model and prompt that distinguish these contestants, such as `codex`, `codex
 * gpt-6-sol` or `gpt-6-sol (careful)`. In input order.
 */
export function shortContestantNames(those: readonly (Contestant | null)[]): readonly string[] {
  const all = those.filter((who) => who !== null);
  if (all.length < those.length) return those.map(() => HIDDEN);
  const differs = (part: (who: Contestant) => string): boolean => new Set(all.map(part)).size > 1;
  const modelOf = ({ model }: Contestant): string => model.split('/').at(-1) || model;
  const agentOf = (who: Contestant): string =>
    [who.agent, ...(who.argv ?? [])].join(' ').slice(0, MAX_PROGRAM_CHARACTERS);
  const [agents, models] = [differs(agentOf), differs(modelOf)];
  const prompts = differs(({ prompt }) => prompt) || !(agents || models);
  return all.map((who) =>
    [
      ...(agents ? [agentOf(who)] : []),
      ...(models || !agents ? [modelOf(who)] : []),
      ...(prompts ? [`(${who.prompt})`] : []),
    ].join(' '),
  );
}

/** Dollars of a candidate; null: hidden. */
export const costText = (usage: Pick<Usage, 'usd'> | null): string => (usage ? money(usage.usd) : HIDDEN);

/** Tokens of a candidate, in and out; null: hidden. */
export const tokensText = (usage: Pick<Usage, 'tokensIn' | 'tokensOut'> | null): string =>
  usage ? tokens(usage.tokensIn + usage.tokensOut) : HIDDEN;

/** `LIKELY, decided by peer tests`. */
export function decisionLabel(decision: Picked): string {
  const by = SEPARATOR_LABELS[decision.decidedBy];
  if (decision.kind === 'winner') return `${decision.confidence.toUpperCase()}, decided by ${by}`;
  if (decision.among.length < 2) return `TOSS-UP: please decide; ranked first by ${by}`;
  const among = ` between ${decision.among.join(', ')}`;
  return decision.decidedBy === 'tie'
    ? `TOSS-UP${among}, which are tied: please choose`
    : `TOSS-UP${among}: please choose; ranked first by ${by}`;
}

/** How a debate ended. */
export const DEBATE_STOP_LABELS = {
  consensus: 'consensus',
  rounds: 'no consensus',
  repeated: 'no consensus, no new arguments',
  budget: 'stopped at its budget limit',
  growth: 'stopped because the brief grew too long',
  failed: 'failed',
} as const satisfies Record<Stop, string>;

/** Empty without a budget. A call that is under way counts with its maximum cost, as the gateway reserves it. */
export function spentSentence({ budget, candidates }: Pick<RunView, 'budget' | 'candidates'>): string {
  const most = candidates.some((one) => one.state === 'coding') ? 'at most ' : '';
  return budget.run > 0 ? `Spent ${most}${money(budget.spent)} of ${escapedMoney(budget.run)}.` : '';
}
