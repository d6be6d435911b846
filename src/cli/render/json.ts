import { type Evidence, findingsOf, type TamperingFinding } from '../../core/evidence/index.ts';
import type { JudgedStanding } from '../../core/judging/index.ts';
import type { Alias, Candidate } from '../../core/model/index.ts';
import type { Ranked } from '../../core/ranking/index.ts';
import { contestantName, type RunView } from '../../core/reports/index.ts';
import { mergeCommand } from './commands.ts';

/** One check of a candidate: a gate, the base tests, or the tests of another survivor. */
interface CheckJson {
  readonly name: string;
  readonly passed: boolean;
  readonly detail: string;
  readonly exitCode?: number | null;
  readonly ms?: number;
}

interface CandidateJson {
  readonly alias: Alias;
  readonly contestant: string;
  readonly agent: string;
  readonly model: string;
  readonly prompt: string;
  /** As the agent reports it; null if it did not start. */
  readonly coderVersion: string | null;
  readonly state: Candidate['state'];
  readonly note: string;
  readonly place: number | null;
  readonly survivor: boolean;
  readonly patch: {
    readonly files: number;
    readonly additions: number;
    readonly deletions: number;
    readonly sha256: string;
  } | null;
  readonly checks: readonly CheckJson[];
  /** Places of the patch that fail the gate `untampered`, or that a person should look at. */
  readonly findings: readonly Omit<TamperingFinding, 'change'>[];
  readonly behaviour: Evidence['behaviour'] | null;
  /** How similar its source changes are to those of the other survivors, 0 to 1. */
  readonly agreement: number | null;
  /** Each strategy's score; null before the decision. */
  readonly scores: ScoresJson | null;
  readonly tokens: { readonly in: number; readonly out: number };
  readonly usd: number;
  /** Wall time of the coder, milliseconds. */
  readonly ms: number;
}

interface ScoresJson {
  /** Executed evidence: natural logarithm of odds, of use only within the run. */
  readonly evidence: number;
  /** Ratios 0 to 1, `total` 0 to 100. */
  readonly metrics: Ranked['metrics'];
  /** Model families whose candidates made the same change. */
  readonly votes: number;
  /** Static score of the patch, 0 to 120, with a sentence for each rule that applied. */
  readonly patch: NonNullable<Evidence['staticScore']> | null;
  /** Blind judges; null if they did not compare it. */
  readonly judges: JudgedStanding | null;
  /** Weighted mean of the standardised scores; null without such weights. */
  readonly weighted: number | null;
  readonly because: string;
}

interface PullJson {
  readonly number: number;
  readonly url: string;
  readonly draft: boolean;
  readonly head: string;
  readonly base: string;
  readonly body: string;
}
interface CommentJson {
  readonly id: number;
  /** Number of the issue or pull request that the comment is on. */
  readonly on: number;
  readonly body: string;
}

/** Parts of a run that are shown on GitHub; the caller reads them from GitHub. */
interface GitHubParts {
  readonly pull?: PullJson | null;
  readonly comments?: readonly CommentJson[];
  readonly issueLabels?: readonly string[];
  /** Milliseconds. Default: the total and each stage of the run. */
  readonly timings?: Readonly<Record<string, number>>;
}

/** The one document that `--json` prints. What a local run does not have is null or an empty list. */
export interface RunJson {
  readonly issue: { readonly repository: string; readonly number: number; readonly title: string } | null;
  readonly run: {
    readonly id: string;
    readonly title: string;
    readonly state: RunView['state'];
    readonly base: RunView['base'] | null;
    readonly checks: RunView['checks'] | null;
    readonly sandbox: RunView['sandbox'] | null;
    /** Its position in the queue; null if the run is not queued. */
    readonly queue: NonNullable<RunView['queue']> | null;
    /** A sentence for each setting of the repository that the operator's limits lowered. */
    readonly lowered: readonly string[];
    /** What earlier runs of the repository changed in this one, one sentence each. */
    readonly learned: readonly string[];
    /** Times in milliseconds since 1970 UTC. */
    readonly stages: readonly {
      readonly stage: string;
      readonly startedAt: number;
      readonly endedAt: number | null;
      readonly ms: number | null;
    }[];
    readonly candidates: readonly CandidateJson[];
    /** The brief that every coder got; null before the planner has answered. */
    readonly brief: RunView['brief'] | null;
    readonly debate: RunView['debate'] | null;
    /** Questions about the brief and the replies; times in milliseconds since 1970 UTC. */
    readonly dialogue: RunView['dialogue'] | null;
    readonly decision: DecisionJson | null;
    /** Reviews of the candidates that were first, in order. */
    readonly review: NonNullable<RunView['review']>;
    readonly trouble: RunView['trouble'] | null;
    readonly budget: { readonly run: number; readonly spent: number };
  };
  readonly branches: Readonly<Record<Alias, string>>;
  /** The command that merges the winner; null if there is a pull request. */
  readonly merge: string | null;
  readonly pull: PullJson | null;
  readonly comments: readonly CommentJson[];
  readonly issueLabels: readonly string[];
  readonly timings: Readonly<Record<string, number>>;
}

interface DecisionJson {
  readonly kind: 'winner' | 'toss-up' | 'none';
  readonly alias: Alias | null;
  readonly confidence: 'clear' | 'likely' | null;
  /** Estimated chance that the pick is right, 0 to 1. */
  readonly chance: number | null;
  /** For a toss-up: the candidates from which a person should pick. */
  readonly among: readonly Alias[];
  readonly decidedBy: string;
  readonly because: string;
  /** Upper limits of the chance, each with a sentence. */
  readonly caps: readonly { readonly most: number; readonly because: string }[];
}

export function runJson(view: RunView, github: GitHubParts = {}): RunJson {
  const { origin } = view;
  return {
    issue:
      origin.kind === 'github'
        ? { repository: origin.repository, number: origin.issue, title: view.title }
        : null,
    run: {
      id: view.id,
      title: view.title,
      state: view.state,
      base: view.base ?? null,
      checks: view.checks ?? null,
      sandbox: view.sandbox ?? null,
      queue: view.queue ?? null,
      lowered: view.lowered ?? [],
      learned: view.learned ?? [],
      stages: view.stages.map(({ stage, startedAt, endedAt }) => ({
        stage,
        startedAt,
        endedAt: endedAt ?? null,
        ms: endedAt === undefined ? null : endedAt - startedAt,
      })),
      candidates: view.candidates.map((candidate) => candidateJson(view, candidate)),
      brief: view.brief ?? null,
      debate: view.debate ?? null,
      dialogue: view.dialogue ?? null,
      decision: decisionJson(view.decision),
      review: view.review ?? [],
      trouble: view.trouble ?? null,
      budget: { run: view.budget.run, spent: microDollars(view.budget.spent) },
    },
    branches: view.outcome?.branches ?? {},
    merge: mergeCommand(view),
    pull: github.pull ?? null,
    comments: github.comments ?? [],
    issueLabels: github.issueLabels ?? [],
    timings: github.timings ?? timings(view),
  };
}

/** Sums of prices have rounding errors after the sixth digit; no price is finer. */
const microDollars = (usd: number): number => Math.round(usd * 1e6) / 1e6;

function decisionJson(decision: RunView['decision']): DecisionJson | null {
  if (decision === undefined) return null;
  const { kind, decidedBy, because } = decision;
  if (decision.kind === 'none')
    return { kind, alias: null, confidence: null, chance: null, among: [], decidedBy, because, caps: [] };
  const { alias, chance, caps = [] } = decision;
  const confidence = decision.kind === 'winner' ? decision.confidence : null;
  const among = decision.kind === 'toss-up' ? decision.among : [];
  return { kind, alias, confidence, chance, among, decidedBy, because, caps };
}

function timings(view: RunView): Readonly<Record<string, number>> {
  const stages = view.stages.flatMap(({ stage, startedAt, endedAt }) =>
    endedAt === undefined ? [] : [[stage, endedAt - startedAt] as const],
  );
  return { total: view.now - view.startedAt, ...Object.fromEntries(stages) };
}

function candidateJson(view: RunView, candidate: Candidate): CandidateJson {
  const { alias, contestant, patch, usage } = candidate;
  const evidence = view.evidence.find((one) => one.alias === alias);
  return {
    alias,
    contestant: contestantName(contestant),
    agent: contestant.agent,
    model: contestant.model,
    prompt: contestant.prompt,
    coderVersion: candidate.coderVersion ?? null,
    state: candidate.state,
    note: candidate.note,
    place: view.ranking.find((ranked) => ranked.alias === alias)?.place ?? null,
    survivor: evidence?.survivor ?? false,
    patch: patch
      ? { files: patch.files, additions: patch.additions, deletions: patch.deletions, sha256: patch.sha256 }
      : null,
    findings: evidence ? findingsOf(evidence).map(({ change: _, ...finding }) => finding) : [],
    behaviour: evidence?.behaviour ?? null,
    agreement: evidence?.agreement ?? null,
    scores: scoresJson(view, alias),
    checks: evidence ? checksJson(evidence) : [],
    tokens: { in: usage.tokensIn, out: usage.tokensOut },
    usd: microDollars(usage.usd),
    ms: candidate.ms,
  };
}

function scoresJson(view: RunView, alias: Alias): ScoresJson | null {
  const ranked = view.ranking.find((one) => one.alias === alias);
  if (!ranked) return null;
  const { support, metrics, votes, weighted = null, because } = ranked;
  return {
    evidence: support,
    metrics,
    votes,
    patch: view.evidence.find((one) => one.alias === alias)?.staticScore ?? null,
    judges: view.judgement?.standings.find((one) => one.alias === alias) ?? null,
    weighted,
    because,
  };
}

function checksJson(evidence: Evidence): readonly CheckJson[] {
  const tests = evidence.baseTests;
  return [
    ...evidence.gates.map(({ gate, passed, because }) => ({ name: gate, passed, detail: because })),
    ...(tests && (!tests.silent || tests.fixed.length > 0)
      ? [
          {
            name: 'base-tests',
            passed: tests.regressions.length === 0,
            detail: `${tests.passed}/${tests.total} passed, ${tests.regressions.length} broken, ${tests.fixed.length} fixed`,
            exitCode: tests.exitCode,
            ms: tests.ms,
          },
        ]
      : []),
    ...(evidence.independentTests
      ? [
          {
            name: 'independent-tests',
            passed: evidence.independentTests.passed === evidence.independentTests.total,
            detail: `${evidence.independentTests.passed}/${evidence.independentTests.total} passed`,
          },
        ]
      : []),
    ...evidence.peerTests.map((run) => ({
      name: `peer-tests-of-${run.author}`,
      passed: run.passed === run.total,
      detail: `${run.passed}/${run.total} passed`,
    })),
  ];
}

/** Text for standard output. Control and invisible characters are written as escapes; the values stay the same. */
export const jsonText = (document: unknown): string => escapedJson(JSON.stringify(document, null, 2));

/** The same on one line. */
export const jsonLine = (document: unknown): string => escapedJson(JSON.stringify(document));

function escapedJson(json: string): string {
  return json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
