import { expiryReason } from '../brief/index.ts';
import { type Candidate, type RunState, STAGES, type Usd } from '../model/index.ts';
import { chosenOf, leftToPerson, pickable } from '../ranking/index.ts';
import { checkCommands } from './commands.ts';
import {
  chosenText,
  evidenceText,
  joinBlocks,
  lastPick,
  noPatchAtAll,
  pickedBy,
  restartText,
  unopenedText,
  votesLine,
} from './decision-sections.ts';
import {
  activityLabel,
  CANDIDATE_STATE_LABELS,
  contestantName,
  counted,
  elapsed,
  escapedMoney,
  money,
  queueText,
  shortSha,
  stageNumber,
  stageOf,
  tokens,
} from './format.ts';
import { BODY_ROOM, code, fill, inertSentence, link, report, tableRows } from './markdown.ts';
import { waitingText } from './replies.ts';
import { briefSection, debateLine, debateSection } from './sections.ts';
import { changedSinceLines, sandboxWarnings, silenceLines } from './test-facts.ts';
import type { OutcomeView, Report, RunView } from './view.ts';

/** Maximum UTF-16 units of each part. */
const MAX_TABLE = 20_000;
const MAX_BRIEF = 10_000;
const MAX_DEBATE = 14_000;

/** The single comment that a run edits in place: its progress, cost, and how to stop it; at the end, its result. */
export function statusComment(view: RunView): Report {
  const blocks = [
    heading(view),
    outcomeText(view),
    queueText(view),
    waitingText(view),
    stageLine(view),
    candidateTable(view),
    facts(view),
    ...[...(view.lowered ?? []), ...(view.leftOut ?? [])].map((text) => inertSentence(text, 300)),
    ...silenceLines(view),
    ...changedSinceLines(view),
    ...sandboxWarnings(view),
    debateLine(view),
    nextStep(view),
    // The comparison, once it exists, contains both.
    ...(view.outcome ? [] : [briefSection(view, MAX_BRIEF), debateSection(view, MAX_DEBATE)]),
  ];
  const { marker, body } = report('status', view.id, blocks);
  return body.length <= BODY_ROOM ? { marker, body } : report('status', view.id, blocks.slice(0, 4));
}

function heading(view: RunView): string {
  const stage = stageOf(view);
  const time = elapsed(view.now - view.startedAt);
  if (stage !== null) return `### Runoff: ${stageNumber(stage)}, ${activityLabel(view, stage)} · ${time}`;
  return `### Runoff: ${ending(view)} · ${time}`;
}

const ENDINGS = {
  refused: 'run not started',
  awaiting_pick: 'please choose a candidate',
  published: 'done',
  merged: 'merged',
  closed: 'pull request closed',
  failed: 'run failed',
  cancelled: 'run cancelled',
} as const satisfies Partial<Record<RunState, string>>;

function ending(view: RunView): string {
  const { outcome, decision, state } = view;
  const chosen = chosenOf(view);
  if (state === 'closed' && outcome?.kind !== 'pull') return 'no candidate was picked';
  if (state === 'published' && outcome?.kind === 'pull') return pullEnding(view, outcome);
  if (state === 'published' && unopened(view) && chosen !== null) {
    return `candidate ${chosen} won, but GitHub refused its pull request`;
  }
  if (state === 'published' && decision?.kind === 'none' && chosen === null) return 'no candidate passed';
  return state in ENDINGS ? ENDINGS[state as keyof typeof ENDINGS] : state;
}

function pullEnding(view: RunView, { number, url }: Extract<OutcomeView, { kind: 'pull' }>): string {
  const pull = `draft pull request ${link(`#${number}`, url)}`;
  const chosen = chosenOf(view);
  if (chosen === null) return `${pull}, no candidate picked`;
  const by = pickedBy(view);
  return `${pull} with candidate ${chosen}${by === '' ? '' : `, ${by}`}`;
}

const unopened = ({ outcome }: RunView): boolean =>
  outcome?.kind === 'table' && outcome.refusedBecause !== undefined;

function outcomeText(view: RunView): string {
  const { decision, outcome, trouble, state } = view;
  if (trouble !== undefined) {
    return `${inertSentence(trouble.message, 1_500)}\n\n**Next:** ${inertSentence(trouble.advice, 600)}`;
  }
  if (state === 'cancelled') {
    const last = view.dialogue?.inquiries.at(-1);
    const why = last?.settled?.kind === 'expired' ? `It stopped because ${expiryReason(last)}. ` : '';
    return `${why}The run's record keeps all work done so far. To start again, ${inertSentence(restartText(view))}.`;
  }
  if (stageOf(view) !== null || decision === undefined) return '';
  if (unopened(view)) {
    const table = comparisonLink(outcome, 'Compare all candidates');
    return joinBlocks([chosenSummary(view), unopenedText(view, undefined), table]);
  }
  if (state === 'awaiting_pick' || (state === 'closed' && outcome?.kind !== 'pull'))
    return unpickedText(view);
  if (decision.kind === 'none' && chosenOf(view) === null) {
    const seeComparison = comparisonLink(outcome, 'Why each candidate failed');
    return joinBlocks([
      inertSentence(decision.because, 600),
      `No pull request was opened. ${seeComparison}`.trim(),
    ]);
  }
  return joinBlocks([chosenSummary(view), comparisonLink(outcome, 'Compare with the other candidates')]);
}

/** The chosen candidate, how it was chosen, and the evidence. */
const chosenSummary = (view: RunView): string => `${chosenText(view)}. ${evidenceText(view)}`;

function unpickedText(view: RunView): string {
  const table = comparisonLink(view.outcome, 'Compare all candidates');
  if (view.state === 'awaiting_pick') {
    const why = leftToPerson(view.decision)
      ? 'Your settings leave the choice to you.'
      : 'The evidence is inconclusive: please choose.';
    return joinBlocks([`${why} ${evidenceText(view)}`, votesLine(view), table]);
  }
  const pick = lastPick(view);
  const who = pick ? `${chosenText(view)}.` : 'The run ended before anyone chose.';
  return joinBlocks([`${who} No pull request was opened.`, votesLine(view), table]);
}

function comparisonLink(outcome: OutcomeView | undefined, label: string): string {
  const url = outcome?.kind === 'pull' || outcome?.kind === 'table' ? outcome.comparisonUrl : undefined;
  return url === undefined ? '' : `${link(label, url)}.`;
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
    [...view.candidates]
      .sort((one, other) => (one.alias < other.alias ? -1 : 1))
      .map((one) => row(one, view.budget.candidate)),
  );
  return fill(rows, MAX_TABLE, { separator: '\n', more: (left) => `\n(${left} more, omitted for length)` });
}

const row = (candidate: Candidate, most: Usd | undefined): readonly string[] => [
  `**${candidate.alias}**`,
  code(contestantName(candidate.contestant), 80),
  state(candidate),
  elapsed(candidate.ms),
  tokens(candidate.usage.tokensIn + candidate.usage.tokensOut),
  `${money(candidate.usage.usd)}${most === undefined ? '' : ` of ${escapedMoney(most)}`}`,
];

function state(candidate: Candidate): string {
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

function activeRunHelp(view: RunView): string {
  const what = view.origin.kind === 'github' && view.origin.work ? 'pull request' : 'issue';
  // The label stays until the run begins.
  const label = code(view.queue ? view.label : `${view.label}:running`);
  return `To cancel, comment \`/auto-dev cancel\` or remove the label ${label}. \`/auto-dev status\` updates this comment, \`/auto-dev help\` lists all commands. Editing the ${what} now does not affect this run (${code(view.id)}).`;
}

/** What the reader can do now. */
function nextStep(view: RunView): string {
  const { state, outcome } = view;
  if (stageOf(view) !== null) return activeRunHelp(view);
  if (state === 'awaiting_pick') {
    const first = pickable(view)[0] ?? 'A';
    return `**Next:** tick a box in the comparison, or comment \`/auto-dev pick ${first}\` or \`/auto-dev pick none\`. There is no deadline, and waiting costs nothing.`;
  }
  if (state === 'closed' && outcome?.kind !== 'pull') {
    return `**Next:** to start again, ${inertSentence(restartText(view))}.`;
  }
  // The advice is shown above, with the reason.
  if (state !== 'published' || unopened(view)) return '';
  if (outcome?.kind === 'pull' && chosenOf(view) === null) {
    const first = pickable(view)[0] ?? 'A';
    return `**Next:** close the pull request, or choose a candidate for it with \`/auto-dev pick ${first}\`.`;
  }
  if (chosenOf(view) !== null) {
    const others = view.candidates.length - 1;
    const branches = others > 0 ? ` Its comparison covers the other ${counted(others, 'candidate')}.` : '';
    const commands =
      view.origin.kind === 'github' ? ' Comment `/auto-dev help` there for a list of commands.' : '';
    return `**Next:** review the pull request; Runoff never merges.${branches}${commands}`;
  }
  if (noPatchAtAll(view)) {
    return `**Next:** find out what stopped each coder, fix it (a key, a provider, a budget, a limit), then ${inertSentence(restartText(view))}.`;
  }
  const what = view.origin.kind === 'github' && view.origin.work ? 'the request' : 'the issue';
  return `**Next:** describe ${what} more precisely (the expected behaviour, a test that shows it), then ${inertSentence(restartText(view))}.`;
}
