import { expectedLeft } from '../learning/index.ts';
import { byAlias, type CandidateState, STAGES, type Usd } from '../model/index.ts';
import { checkCommands } from './commands.ts';
import { joinBlocks, pageLine } from './decision-sections.ts';
import {
  CANDIDATE_STATE_LABELS,
  contestantName,
  costText,
  counted,
  elapsed,
  escapedMoney,
  shortSha,
  spentSentence,
  stageOf,
} from './format.ts';
import { BODY_ROOM, code, details, fill, inertSentence, report, tableRows } from './markdown.ts';
import { overlapLine } from './overlaps.ts';
import { briefSection, debateLine, debateSection } from './sections.ts';
import { sequencePlan } from './sequence.ts';
import { runSummary } from './summary.ts';
import type { CandidateView, Report, RunView } from './view.ts';

/** Maximum UTF-16 units of each part. */
const MAX_TABLE = 15_000;
const MAX_NAME_LIST = 5_000;
const MAX_BRIEF = 10_000;
const MAX_DEBATE = 14_000;

/** The single comment that a run edits in place: its progress, cost, and how to stop it; at the end, its result. */
export function statusComment(view: RunView): Report {
  const { title, outcome, comparison, waits, warnings, next } = runSummary(view);
  const course = [
    candidateTable(view),
    facts(view),
    ...[...(view.lowered ?? []), ...(view.leftOut ?? [])].map((text) => inertSentence(text, 300)),
    debateLine(view),
    overlapLine(view.brief?.overlaps),
  ];
  const isActive = stageOf(view) !== null;
  const blocks = [
    `### Runoff: ${title}${leftText(view)}${timeLimitText(view)}`,
    joinBlocks([...outcome, comparison]),
    ...waits,
    ...warnings,
    ...(isActive ? course : []),
    pageLine(view),
    next,
    isActive ? namesFold(view) : courseFold(view, joinBlocks([stageLine(view), ...course])),
    // The comparison, once it exists, contains both.
    ...(view.outcome ? [] : [briefSection(view, MAX_BRIEF), debateSection(view, MAX_DEBATE)]),
  ];
  const { marker, body } = report('status', view.id, blocks);
  return body.length <= BODY_ROOM
    ? { marker, body }
    : report('status', view.id, blocks.slice(0, 2 + waits.length));
}

/** Milliseconds, from earlier runs, while nobody is waited for; null if they do not tell. */
function leftMs(view: RunView): number | null {
  const stage = stageOf(view);
  if (view.times === undefined || stage === null || !isUnderWay(view)) return null;
  const since = view.stages.find((one) => one.stage === stage)?.startedAt ?? view.now;
  return expectedLeft(view.times, { stage, inStageMs: view.now - since });
}

/** `, about 6 min left`; empty if it is unknown. */
function leftText(view: RunView): string {
  const left = leftMs(view);
  if (left === null) return '';
  const minutes = Math.round(left / 60_000);
  return minutes < 1 ? ', less than a minute left' : `, about ${minutes} min left`;
}

/** It is active, and neither waits in the queue nor for people. */
function isUnderWay(view: RunView): boolean {
  const { state, queue } = view;
  if (stageOf(view) === null || queue !== undefined) return false;
  return state !== 'queued' && state !== 'awaiting_answer' && state !== 'awaiting_approval';
}

/** How long the coders may take, beside how long the run has taken; the other stages name their own limits. */
function timeLimitText(view: RunView): string {
  const limit = view.candidateMs;
  return stageOf(view) === 'code' && limit !== undefined ? ` (coders have at most ${elapsed(limit)})` : '';
}

/** How a run went that has ended: nobody waits for it any more. */
function courseFold(view: RunView, course: string): string {
  if (view.state === 'refused' || course === '') return '';
  return details('How the run went', joinBlocks([course, namesList(view)]));
}

const namesFold = (view: RunView): string => {
  const names = namesList(view);
  return names === '' ? '' : details('Who writes them', names);
};

/** Not in the table: names are long, and they do not change. */
function namesList(view: RunView): string {
  if (view.namesHidden) return '';
  const lines = view.candidates
    .toSorted(byAlias)
    .map(({ alias, contestant }) => `- **${alias}**: ${code(contestantName(contestant), 80)}`);
  return fill(lines, MAX_NAME_LIST, {
    separator: '\n',
    more: (left) => `- (${left} more, omitted for length)`,
  });
}

/** The stages of a run with their durations: `admit 0.4 s · brief 4.1 s · code 1m 02s`. */
function stageLine(view: RunView): string {
  return STAGES.map((stage) => {
    const timing = view.stages.find((one) => one.stage === stage);
    return timing?.endedAt === undefined ? stage : `${stage} ${elapsed(timing.endedAt - timing.startedAt)}`;
  }).join(' · ');
}

function candidateTable(view: RunView): string {
  if (view.candidates.length === 0) return '';
  const rows = tableRows(
    ['', 'state', 'cost'],
    'llr',
    view.candidates.toSorted(byAlias).map((one) => row(one, view.budget.candidate)),
  );
  return fill(rows, MAX_TABLE, { separator: '\n', more: (left) => `\n(${left} more, omitted for length)` });
}

const row = (candidate: CandidateView, most: Usd | undefined): readonly string[] => [
  `**${candidate.alias}**`,
  state(candidate),
  `${costText(candidate.usage)}${most === undefined || candidate.usage === null ? '' : ` of ${escapedMoney(most)}`}`,
];

const UNDER_WAY: ReadonlySet<CandidateState> = new Set(['queued', 'coding']);

function state(candidate: CandidateView): string {
  // A time that ticks would be no news.
  const took = UNDER_WAY.has(candidate.state) || candidate.ms <= 0 ? '' : ` (${elapsed(candidate.ms)})`;
  const word = `${CANDIDATE_STATE_LABELS[candidate.state]}${took}`;
  const note = candidate.note.trim();
  return note === '' || note === CANDIDATE_STATE_LABELS[candidate.state]
    ? word
    : `${word}: ${inertSentence(candidate.note, 120)}`;
}

function facts(view: RunView): string {
  const base = view.base ? `Base commit ${code(shortSha(view.base.sha))} (${code(view.base.ref)}).` : '';
  const checks = view.checks ? `Checks: ${checkCommands(view.checks)}.` : '';
  const forecast = forecastText(view);
  const plan = sequencePlan(view, escapedMoney) ?? '';
  const times =
    view.times && leftMs(view) !== null
      ? `The time left is estimated from ${counted(view.times.runs, 'earlier run')} here.`
      : '';
  return [spentSentence(view), forecast, times, plan, base, checks].filter((part) => part !== '').join(' ');
}

/** For an active run: an estimate from the planner's size of the work and the models' prices. */
function forecastText(view: RunView): string {
  const cost = view.brief?.forecast;
  return cost === undefined || stageOf(view) === null
    ? ''
    : `Expected cost: ${escapedMoney(cost.least)} to ${escapedMoney(cost.most)}.`;
}
