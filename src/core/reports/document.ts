import { type Evidence, findingsOf } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import type { CandidateDocument, RunDocument } from './document-schema.ts';
import { contestantName } from './format.ts';
import type { CandidateView, RunView } from './view.ts';

/** What a document shows besides the view, which the caller knows. */
export type DocumentParts = Partial<
  Pick<RunDocument, 'comments' | 'issueLabels' | 'merge' | 'pull' | 'timings'>
>;

/** `timings`: default, the total and each stage of the run. */
export function runDocument(view: RunView, parts: DocumentParts = {}): RunDocument {
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
      field: fieldJson(view.sequence),
      namesHidden: view.namesHidden ?? false,
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
      judgement: judgementJson(view.judgement),
      review: view.review ?? [],
      trouble: view.trouble ?? null,
      budget: { run: view.budget.run, spent: microDollars(view.budget.spent) },
    },
    branches: view.outcome?.branches ?? {},
    merge: parts.merge ?? null,
    pull: parts.pull ?? pullJson(view.outcome),
    comments: parts.comments ?? [],
    issueLabels: parts.issueLabels ?? [],
    timings: parts.timings ?? timings(view),
  };
}

/** Sums of costs have rounding errors after the sixth digit; no cost is finer. */
const microDollars = (usd: number): number => Math.round(usd * 1e6) / 1e6;

function pullJson(outcome: RunView['outcome']): RunDocument['pull'] {
  if (outcome?.kind !== 'pull') return null;
  const { number, url, branch } = outcome;
  return { number, url, head: branch, draft: null, base: null, body: null };
}

function fieldJson(sequence: RunView['sequence']): RunDocument['run']['field'] {
  if (sequence === undefined) return null;
  const { first, of, firstUsd, allUsd, end } = sequence;
  const rounded = (usd: number | null) => (usd === null ? null : microDollars(usd));
  return {
    first,
    of,
    firstUsd: rounded(firstUsd),
    allUsd: rounded(allUsd),
    end: end ? { ...end, savedUsd: rounded(end.savedUsd) } : null,
  };
}

function decisionJson(decision: RunView['decision']): RunDocument['run']['decision'] {
  if (decision === undefined) return null;
  const { kind, decidedBy, because } = decision;
  if (decision.kind === 'none')
    return { kind, alias: null, confidence: null, chance: null, among: [], decidedBy, because, caps: [] };
  const { alias, chance, caps = [] } = decision;
  const confidence = decision.kind === 'winner' ? decision.confidence : null;
  const among = decision.kind === 'toss-up' ? decision.among : [];
  return { kind, alias, confidence, chance, among, decidedBy, because, caps };
}

function judgementJson(judgement: RunView['judgement']): RunDocument['run']['judgement'] {
  if (!judgement) return null;
  const { kind, format, because, pairs, notes, spent } = judgement;
  return { kind, format, because, pairs, notes, usd: microDollars(spent.usd) };
}

function timings(view: RunView): Readonly<Record<string, number>> {
  const stages = view.stages.flatMap(({ stage, startedAt, endedAt }) =>
    endedAt === undefined ? [] : [[stage, endedAt - startedAt] as const],
  );
  return { total: view.now - view.startedAt, ...Object.fromEntries(stages) };
}

function candidateJson(view: RunView, candidate: CandidateView): CandidateDocument {
  const { alias, contestant, patch, usage } = candidate;
  const evidence = view.evidence.find((one) => one.alias === alias);
  return {
    alias,
    contestant: contestant && contestantName(contestant),
    agent: contestant?.agent ?? null,
    model: contestant?.model ?? null,
    prompt: contestant?.prompt ?? null,
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
    tokens: usage && { in: usage.tokensIn, out: usage.tokensOut },
    usd: usage && microDollars(usage.usd),
    ms: candidate.ms,
  };
}

function scoresJson(view: RunView, alias: Alias): CandidateDocument['scores'] {
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

function checksJson(evidence: Evidence): CandidateDocument['checks'] {
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
