import { byAlias, STAGES, type Usd } from '../model/index.ts';
import { checkCommands } from './commands.ts';
import { joinBlocks, pageLine } from './decision-sections.ts';
import {
  CANDIDATE_STATE_LABELS,
  contestantName,
  costText,
  elapsed,
  escapedMoney,
  money,
  shortSha,
  stageOf,
  tokensText,
} from './format.ts';
import { BODY_ROOM, code, fill, inertSentence, report, tableRows } from './markdown.ts';
import { briefSection, debateLine, debateSection } from './sections.ts';
import { runSummary } from './summary.ts';
import type { CandidateView, Report, RunView } from './view.ts';

/** Maximum UTF-16 units of each part. */
const MAX_TABLE = 20_000;
const MAX_BRIEF = 10_000;
const MAX_DEBATE = 14_000;

/** The single comment that a run edits in place: its progress, cost, and how to stop it; at the end, its result. */
export function statusComment(view: RunView): Report {
  const { title, outcome, waits, warnings, next } = runSummary(view);
  const blocks = [
    `### Runoff: ${title}`,
    joinBlocks(outcome),
    ...waits,
    stageLine(view),
    candidateTable(view),
    facts(view),
    ...[...(view.lowered ?? []), ...(view.leftOut ?? [])].map((text) => inertSentence(text, 300)),
    ...warnings,
    debateLine(view),
    pageLine(view),
    next,
    // The comparison, once it exists, contains both.
    ...(view.outcome ? [] : [briefSection(view, MAX_BRIEF), debateSection(view, MAX_DEBATE)]),
  ];
  const { marker, body } = report('status', view.id, blocks);
  return body.length <= BODY_ROOM
    ? { marker, body }
    : report('status', view.id, blocks.slice(0, 2 + waits.length));
}

/** The stages of a run with their durations: `admit 0.4 s · brief 4.1 s · **code** · examine · judge · publish`. */
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
    view.candidates.toSorted(byAlias).map((one) => row(one, view.budget.candidate)),
  );
  return fill(rows, MAX_TABLE, { separator: '\n', more: (left) => `\n(${left} more, omitted for length)` });
}

const row = (candidate: CandidateView, most: Usd | undefined): readonly string[] => [
  `**${candidate.alias}**`,
  code(contestantName(candidate.contestant), 80),
  state(candidate),
  elapsed(candidate.ms),
  tokensText(candidate.usage),
  `${costText(candidate.usage)}${most === undefined || candidate.usage === null ? '' : ` of ${escapedMoney(most)}`}`,
];

function state(candidate: CandidateView): string {
  const word = CANDIDATE_STATE_LABELS[candidate.state];
  return candidate.note.trim() === '' ? word : `${word}: ${inertSentence(candidate.note, 120)}`;
}

function facts(view: RunView): string {
  const base = view.base ? `Base commit ${code(shortSha(view.base.sha))} (${code(view.base.ref)}).` : '';
  const checks = view.checks ? `Checks: ${checkCommands(view.checks)}.` : '';
  const budget =
    view.budget.run > 0 ? `Spent ${money(view.budget.spent)} of ${escapedMoney(view.budget.run)}.` : '';
  const forecast = forecastText(view);
  return [budget, forecast, base, checks].filter((part) => part !== '').join(' ');
}

/** For an active run: an estimate from the planner's size of the work and the models' prices. */
function forecastText(view: RunView): string {
  const cost = view.brief?.forecast;
  return cost === undefined || stageOf(view) === null
    ? ''
    : `Expected cost: ${escapedMoney(cost.least)} to ${escapedMoney(cost.most)}.`;
}
