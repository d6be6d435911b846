import { pickOf } from '../decision/index.ts';
import { whyStopped } from '../dialogue/index.ts';
import type { Candidate, RunState } from '../model/index.ts';
import { STAGES } from '../model/index.ts';
import { briefSection } from './brief-section.ts';
import { debateLine, debateSection } from './debate-section.ts';
import { commands } from './evidence-section.ts';
import { counted, dollars, elapsed, money, shortSha, tokens } from './format.ts';
import { BODY_ROOM, fill, tableRows } from './layout.ts';
import { report } from './marker.ts';
import { waitingLine } from './question-comment.ts';
import { code, link, sentence } from './safe.ts';
import type { OutcomeView, Report, RunView } from './view.ts';
import { weakerLines } from './where.ts';
import { CANDIDATE_WORDS, contestantName, doingWords, stageNumber, stageOf, verdictWords } from './words.ts';

/** UTF-16 units of each part. */
const TABLE_ROOM = 20_000;
const BRIEF_ROOM = 10_000;
const DEBATE_ROOM = 14_000;

/** The one comment that a run edits in place: where it stands, what it costs, how to stop it; at its end, what came of it. */
export function statusComment(view: RunView): Report {
  const blocks = [
    heading(view),
    explanation(view),
    waitingLine(view),
    stageLine(view),
    candidateTable(view),
    facts(view),
    ...(view.lowered ?? []).map((text) => sentence(text, 300)),
    ...weakerLines(view),
    debateLine(view),
    lastLine(view),
    // Once there is a comparison, it holds both.
    ...(view.outcome ? [] : [briefSection(view, BRIEF_ROOM), debateSection(view, DEBATE_ROOM)]),
  ];
  const { marker, body } = report('status', view.id, blocks);
  return body.length <= BODY_ROOM ? { marker, body } : report('status', view.id, blocks.slice(0, 4));
}

function heading(view: RunView): string {
  const stage = stageOf(view);
  const time = elapsed(view.now - view.startedAt);
  if (stage !== null) return `### Runoff: ${stageNumber(stage)}, ${doingWords(view, stage)} · ${time}`;
  return `### Runoff: ${ending(view)} · ${time}`;
}

const ENDINGS = {
  refused: 'no run was started',
  published: 'done',
  merged: 'merged',
  closed: 'the pull request was closed',
  failed: 'the run failed',
  cancelled: 'the run was cancelled',
} as const satisfies Partial<Record<RunState, string>>;

function ending(view: RunView): string {
  const { outcome, decision } = view;
  if (outcome?.kind === 'pull' && view.state === 'published' && pickOf(decision) !== null) {
    return `draft pull request ${link(`#${outcome.number}`, outcome.url)} with candidate ${pickOf(decision)}`;
  }
  if (view.state === 'published' && decision?.kind === 'none') return 'no candidate passed';
  return view.state in ENDINGS ? ENDINGS[view.state as keyof typeof ENDINGS] : view.state;
}

function explanation(view: RunView): string {
  const { decision, outcome, trouble } = view;
  if (trouble !== undefined) {
    return `${sentence(trouble.message, 1_500)}\n\n**Next:** ${sentence(trouble.advice, 600)}`;
  }
  if (view.state === 'cancelled') {
    const last = view.dialogue?.inquiries.at(-1);
    const why = last?.settled?.kind === 'expired' ? `It stopped because ${whyStopped(last)}. ` : '';
    return `${why}What was written until then is kept in the record of the run. To start afresh, set the label ${code(view.label)} again.`;
  }
  if (stageOf(view) !== null || decision === undefined) return '';
  if (decision.kind === 'none') {
    const seeComparison = comparisonLink(outcome, 'What each candidate ran into');
    return [`${sentence(decision.because, 600)}`, `No pull request was opened. ${seeComparison}`]
      .join('\n\n')
      .trim();
  }
  const verdict = `**${decision.alias}** — ${verdictWords(decision)}. ${sentence(decision.because, 600)}`;
  return `${verdict}\n\n${comparisonLink(outcome, 'The comparison with every other diff')}`.trim();
}

function comparisonLink(outcome: OutcomeView | undefined, label: string): string {
  const url = outcome?.kind === 'pull' || outcome?.kind === 'table' ? outcome.comparisonUrl : undefined;
  return url === undefined ? '' : `${link(label, url)}.`;
}

/** The way of a run, what is done with the time it took: `admit 0.4s · brief 4.1s · **code** · examine · judge · publish`. */
function stageLine(view: RunView): string {
  const current = stageOf(view);
  if (view.state === 'refused') return '';
  return STAGES.map((stage) => {
    const timing = view.stages.find((one) => one.stage === stage);
    if (stage === current) return `**${stage}**`;
    return timing?.endedAt === undefined ? stage : `${stage} ${elapsed(timing.endedAt - timing.startedAt)}`;
  }).join(' · ');
}

function candidateTable(view: RunView): string {
  if (view.candidates.length === 0) return '';
  const rows = tableRows(
    ['candidate', 'contestant', 'state', 'time', 'tokens', 'cost'],
    'lllrrr',
    [...view.candidates].sort((one, other) => (one.alias < other.alias ? -1 : 1)).map(row),
  );
  return fill(rows, TABLE_ROOM, { separator: '\n', more: (left) => `\n(${left} more, left out for length)` });
}

const row = (candidate: Candidate): readonly string[] => [
  `**${candidate.alias}**`,
  code(contestantName(candidate.contestant), 80),
  state(candidate),
  elapsed(candidate.ms),
  tokens(candidate.usage.tokensIn + candidate.usage.tokensOut),
  money(candidate.usage.usd),
];

function state(candidate: Candidate): string {
  const word = CANDIDATE_WORDS[candidate.state];
  return candidate.note.trim() === '' ? word : `${word}: ${sentence(candidate.note, 120)}`;
}

function facts(view: RunView): string {
  const base = view.base ? `Base commit ${code(shortSha(view.base.sha))} (${code(view.base.ref)}).` : '';
  const checks = view.checks ? `Checks: ${commands(view.checks)}.` : '';
  const budget =
    view.budget.run > 0 ? `Spent ${money(view.budget.spent)} of ${dollars(view.budget.run)}.` : '';
  const forecast = expected(view);
  return [budget, forecast, base, checks].filter((part) => part !== '').join(' ');
}

/** Of a run that is at work: what the planner's size of the work and the models' prices make probable. */
function expected(view: RunView): string {
  const cost = view.brief?.forecast;
  return cost === undefined || stageOf(view) === null
    ? ''
    : `Expected: ${dollars(cost.least)} to ${dollars(cost.most)} dollars.`;
}

/** What the reader can do now. */
function lastLine(view: RunView): string {
  if (stageOf(view) !== null) {
    return `To cancel, remove the label ${code(view.label)}. Later edits of the issue do not change this run (${code(view.id)}).`;
  }
  if (view.state === 'published' && pickOf(view.decision) !== null) {
    const others = view.candidates.length - 1;
    const branches = others > 0 ? ` The other ${counted(others, 'candidate')} can be read there too.` : '';
    return `**Next:** read the pull request; nothing is merged without you.${branches}`;
  }
  if (view.state === 'published') {
    return `**Next:** make the issue more precise (which behaviour, which test shows it), then remove the label ${code(view.label)} and set it again.`;
  }
  return '';
}
