import { chosenOf, leftToPerson, pickable } from '../decision/index.ts';
import { whyStopped } from '../dialogue/index.ts';
import type { Candidate, RunState, Usd } from '../model/index.ts';
import { STAGES } from '../model/index.ts';
import { briefSection } from './brief-section.ts';
import { debateLine, debateSection } from './debate-section.ts';
import { commands } from './evidence-section.ts';
import { counted, dollars, elapsed, money, shortSha, tokens } from './format.ts';
import { BODY_ROOM, fill, tableRows } from './layout.ts';
import { report } from './marker.ts';
import { chosenWords, evidenceSaid, lastPick, pickedBy, votesLine } from './picked.ts';
import { waitingLine } from './question-comment.ts';
import { code, link, sentence } from './safe.ts';
import { joined } from './verdict.ts';
import type { OutcomeView, Report, RunView } from './view.ts';
import { againWords, leftNothing, unopenedWords } from './what-next.ts';
import { movedLines, weakerLines } from './where.ts';
import { CANDIDATE_WORDS, contestantName, doingWords, lineWords, stageNumber, stageOf } from './words.ts';

/** UTF-16 units of each part. */
const TABLE_ROOM = 20_000;
const BRIEF_ROOM = 10_000;
const DEBATE_ROOM = 14_000;

/** The one comment that a run edits in place: where it stands, what it costs, how to stop it; at its end, what came of it. */
export function statusComment(view: RunView): Report {
  const blocks = [
    heading(view),
    said(view),
    lineWords(view),
    waitingLine(view),
    stageLine(view),
    candidateTable(view),
    facts(view),
    ...[...(view.lowered ?? []), ...(view.leftOut ?? [])].map((text) => sentence(text, 300)),
    ...movedLines(view),
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
  awaiting_pick: 'waits for a person to pick',
  published: 'done',
  merged: 'merged',
  closed: 'the pull request was closed',
  failed: 'the run failed',
  cancelled: 'the run was cancelled',
} as const satisfies Partial<Record<RunState, string>>;

function ending(view: RunView): string {
  const { outcome, decision, state } = view;
  const chosen = chosenOf(view);
  if (state === 'closed' && outcome?.kind !== 'pull') return 'nobody was picked';
  if (state === 'published' && outcome?.kind === 'pull') return pullEnding(view, outcome);
  if (state === 'published' && unopened(view) && chosen !== null) {
    return `candidate ${chosen} won, but GitHub would not have its pull request`;
  }
  if (state === 'published' && decision?.kind === 'none' && chosen === null) return 'no candidate passed';
  return state in ENDINGS ? ENDINGS[state as keyof typeof ENDINGS] : state;
}

function pullEnding(view: RunView, { number, url }: Extract<OutcomeView, { kind: 'pull' }>): string {
  const pull = `draft pull request ${link(`#${number}`, url)}`;
  const chosen = chosenOf(view);
  if (chosen === null) return `${pull}, which nobody picked`;
  const by = pickedBy(view);
  return `${pull} with candidate ${chosen}${by === '' ? '' : `, ${by}`}`;
}

const unopened = ({ outcome }: RunView): boolean =>
  outcome?.kind === 'table' && outcome.unopened !== undefined;

function said(view: RunView): string {
  const { decision, outcome, trouble, state } = view;
  if (trouble !== undefined) {
    return `${sentence(trouble.message, 1_500)}\n\n**Next:** ${sentence(trouble.advice, 600)}`;
  }
  if (state === 'cancelled') {
    const last = view.dialogue?.inquiries.at(-1);
    const why = last?.settled?.kind === 'expired' ? `It stopped because ${whyStopped(last)}. ` : '';
    return `${why}What was written until then is kept in the record of the run. To start anew, ${sentence(againWords(view))}.`;
  }
  if (stageOf(view) !== null || decision === undefined) return '';
  if (unopened(view)) {
    const table = comparisonLink(outcome, 'The comparison with every diff');
    return joined([chosenSaid(view), unopenedWords(view, undefined), table]);
  }
  if (state === 'awaiting_pick' || (state === 'closed' && outcome?.kind !== 'pull')) return unpicked(view);
  if (decision.kind === 'none' && chosenOf(view) === null) {
    const seeComparison = comparisonLink(outcome, 'What each candidate ran into');
    return joined([sentence(decision.because, 600), `No pull request was opened. ${seeComparison}`.trim()]);
  }
  return joined([chosenSaid(view), comparisonLink(outcome, 'The comparison with every other diff')]);
}

/** Who stands as chosen, how that came, and what the evidence said. */
const chosenSaid = (view: RunView): string => `${chosenWords(view)}. ${evidenceSaid(view)}`;

function unpicked(view: RunView): string {
  const table = comparisonLink(view.outcome, 'The comparison with every diff');
  if (view.state === 'awaiting_pick') {
    const why = leftToPerson(view.decision)
      ? 'The settings leave the pick to a person.'
      : 'The evidence does not decide, so that a person should.';
    return joined([`${why} ${evidenceSaid(view)}`, votesLine(view), table]);
  }
  const pick = lastPick(view);
  const who = pick ? `${chosenWords(view)}.` : 'The run ended before anybody picked.';
  return joined([`${who} No pull request was opened.`, votesLine(view), table]);
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
    [...view.candidates]
      .sort((one, other) => (one.alias < other.alias ? -1 : 1))
      .map((one) => row(one, view.budget.candidate)),
  );
  return fill(rows, TABLE_ROOM, { separator: '\n', more: (left) => `\n(${left} more, left out for length)` });
}

const row = (candidate: Candidate, most: Usd | undefined): readonly string[] => [
  `**${candidate.alias}**`,
  code(contestantName(candidate.contestant), 80),
  state(candidate),
  elapsed(candidate.ms),
  tokens(candidate.usage.tokensIn + candidate.usage.tokensOut),
  `${money(candidate.usage.usd)}${most === undefined ? '' : ` of ${dollars(most)}`}`,
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

function whileAtWork(view: RunView): string {
  const what = view.origin.kind === 'github' && view.origin.work ? 'pull request' : 'issue';
  // The label that asked stands until the run begins.
  const label = code(view.line ? view.label : `${view.label}:running`);
  return `To cancel, comment \`/auto-dev cancel\` or remove the label ${label}. \`/auto-dev status\` brings this up to date, \`/auto-dev help\` names all commands. Later edits of the ${what} do not change this run (${code(view.id)}).`;
}

/** What the reader can do now. */
function lastLine(view: RunView): string {
  const { state, outcome } = view;
  if (stageOf(view) !== null) return whileAtWork(view);
  if (state === 'awaiting_pick') {
    const first = pickable(view)[0] ?? 'A';
    return `**Next:** tick a box in the comparison, or comment \`/auto-dev pick ${first}\` or \`/auto-dev pick none\`. The run waits without limit and holds nothing.`;
  }
  if (state === 'closed' && outcome?.kind !== 'pull') {
    return `**Next:** to start anew, ${sentence(againWords(view))}.`;
  }
  // What to do is said above, with the reason.
  if (state !== 'published' || unopened(view)) return '';
  if (outcome?.kind === 'pull' && chosenOf(view) === null) {
    const first = pickable(view)[0] ?? 'A';
    return `**Next:** close the pull request, or put a candidate there by \`/auto-dev pick ${first}\`.`;
  }
  if (chosenOf(view) !== null) {
    const others = view.candidates.length - 1;
    const branches = others > 0 ? ` The other ${counted(others, 'candidate')} can be read there too.` : '';
    const commands =
      view.origin.kind === 'github' ? ' `/auto-dev help` there names what you can ask for.' : '';
    return `**Next:** read the pull request; nothing is merged without you.${branches}${commands}`;
  }
  if (leftNothing(view)) {
    return `**Next:** read what stopped each coder, mend that (a key, a provider, a budget, a limit), then ${sentence(againWords(view))}.`;
  }
  const what = view.origin.kind === 'github' && view.origin.work ? 'what is asked for' : 'the issue';
  return `**Next:** make ${what} more precise (which behaviour, which test shows it), then ${sentence(againWords(view))}.`;
}
