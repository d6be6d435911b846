import { html, raw } from 'hono/html';
import { debatesAskedFor, type Inquiry } from '../../../core/brief/index.ts';
import {
  type CriticTurn,
  type Debate,
  type DebateRound,
  type LedgerEntry,
  specDiff,
} from '../../../core/debate/index.ts';
import { type Brief, isOver } from '../../../core/model/index.ts';
import { type Hunk, readDiff } from '../../../core/patches/index.ts';
import {
  counted,
  debateSummary,
  elapsed,
  money,
  overlapGap,
  overlapLines,
  PAGE,
  personFirst,
  type RunView,
  tokens,
} from '../../../core/reports/index.ts';
import { codeText, type Html, moment, shownSentence, shownText } from '../../layout.ts';
import { diffTable } from './diff-table.ts';
import { facts, list, markedUp, pageSection } from './frame.ts';

/** The brief, what people were asked, and the debate, which are one story. */
export const briefAndDebate = (
  view: RunView,
  forms: Html,
): Html => html`<div id="debate-actions" data-live>${forms}</div>
<div id="brief-and-debate" data-live>${pageSection('brief', 'The brief', view.brief ? briefText(view.brief, view) : awaitedBrief(view))}
${pageSection('questions', 'Questions and replies', questions(view))}
${pageSection('debate', 'The debate', debateSection(view))}</div>`;

const awaitedBrief = ({ state }: RunView): Html | '' =>
  isOver(state)
    ? ''
    : html`<p class="muted">The planner has not written it yet. It appears here when it is written.</p>`;

/** Also before the first round has ended: critics take minutes. */
function debateSection({ debate, state, dialogue }: RunView): Html | '' {
  const asked = dialogue ? debatesAskedFor(dialogue) > (dialogue.debatesHeld ?? 0) : false;
  const isHeld = state === 'admitted' && (asked || (debate !== undefined && debate.end === undefined));
  const round = debate && !debate.end ? debate.rounds.length + 1 : 1;
  const now = isHeld
    ? html`<p role="status">Round ${round} is under way: critics read the text. It appears here when it ends.</p>`
    : '';
  return debate ? html`${now}${debateText(debate)}` : now;
}

const briefText = (brief: Brief, { checks }: RunView): Html => html`<p>${shownSentence(brief.goal, 2_000)}</p>
${briefList('Definition of done', brief.definitionOfDone)}
${briefList('Plan', brief.plan)}
${briefList('Assumptions', brief.assumptions)}
${briefList(
  'Open questions',
  brief.questions.map(({ text, assume }) => `${text} Proposed: ${assume}`),
)}
${briefList('Acceptance tests from critics of the brief', brief.acceptance ?? [])}
${briefList('Files likely to change', brief.files, (path) => codeText(path, 300))}
${briefList('Tests that must change', brief.changedTests ?? [], (path) => codeText(path, 300))}
${overlapsText(brief.overlaps)}
${briefList("Omitted from the planner's answer", brief.notes ?? [])}
${facts([
  ['Risk', brief.risk ? html`${brief.risk.level}: ${shownText(brief.risk.because)}` : ''],
  ['Size', brief.size ?? ''],
  ['Tests run by', checks?.test ? codeText(checks.test, 200) : ''],
])}`;

function overlapsText(overlaps: Brief['overlaps']): Html | '' {
  const lines = overlapLines(overlaps, PAGE);
  const gap = overlapGap(overlaps, PAGE);
  return html`${briefList('Open pull requests that change the same files', lines, raw)}${gap === '' ? '' : html`<p>${raw(gap)}</p>`}`;
}

const briefList = (
  title: string,
  items: readonly string[],
  shown: (item: string) => Html = (item) => shownSentence(item, 2_000),
): Html | '' => (items.length === 0 ? '' : html`<h3>${title}</h3>${list(items.map(shown))}`);

function questions({ dialogue }: RunView): Html | '' {
  const inquiries = dialogue?.inquiries ?? [];
  if (inquiries.length === 0) return '';
  return html`<ol class="inquiries">${inquiries.map(
    (
      inquiry,
    ) => html`<li><p>${inquiry.kind === 'approval' ? 'Approval of the plan' : shownText(inquiry.question.text)}</p>
${inquiry.kind === 'answer' ? list(inquiry.question.options.map((option) => shownText(option))) : ''}
<p class="muted">Asked ${moment(inquiry.askedAt)}, open for ${elapsed(inquiry.until - inquiry.askedAt)}.</p>
<p>${replyText(inquiry)}</p></li>`,
  )}</ol>`;
}

function replyText({ settled }: Inquiry): Html {
  switch (settled?.kind) {
    case undefined:
      return html`<strong>Waits for a reply.</strong>`;
    case 'answered':
      return html`${markedUp(personFirst(settled.by, PAGE))} answered: ${shownText(settled.text)}`;
    case 'approved':
      return html`${markedUp(personFirst(settled.by, PAGE))} approved the plan.`;
    case 'debated':
      return html`${markedUp(personFirst(settled.by, PAGE))} asked for a debate of the plan.`;
    case 'revised':
      return html`${markedUp(personFirst(settled.by, PAGE))} asked for a different plan: ${shownText(settled.text)}`;
    case 'assumed':
      return html`Nobody answered in time; the run continued with this assumption: ${shownText(settled.text)}`;
    case 'expired':
      return html`Nobody answered in time, so the run stopped.`;
  }
}

/** A line for each round, a card for each critique, the fate of each issue, and how the text changed. */
export const debateText = (
  debate: Debate,
): Html => html`<p>Debate of the brief: ${markedUp(debateSummary(debate, (critic) => PAGE.code(critic, 41)))}</p>
${debate.end ? html`<p>${shownSentence(debate.end.because, 600)}</p>` : ''}
<ol class="rounds">${debate.rounds.map((round) => roundItem(round, debate.ledger))}</ol>
${issueTable(debate.ledger)}
${briefList(
  'Acceptance tests',
  debate.acceptance.map(({ given, expect, catches }) => `Given ${given}: ${expect} (catches: ${catches})`),
)}
<h3>The whole change of the text</h3>${specChange(specDiff(debate.original, debate.spec).text)}
<details><summary>The final text</summary><pre tabindex="0">${shownText(debate.spec)}</pre></details>`;

const roundItem = (round: DebateRound, ledger: readonly LedgerEntry[]): Html => html`<li>
<h3>Round ${round.roundNumber + 1}: ${round.hasConsensus ? 'consensus' : 'no consensus yet'}</h3>
<p class="muted">${money(round.cost.usd)}, ${tokens(round.cost.inputTokens + round.cost.outputTokens)} tokens; ${Math.round(round.changed * 100)}% of the lines changed.</p>
<div class="grid">${round.critiques.map((turn) => critiqueCard(turn, ledger))}</div>
${round.synthesis ? synthesisText(round.synthesis) : ''}
${round.diffFromPrevious === '' ? '' : html`<details><summary>What this round changed</summary>${specChange(round.diffFromPrevious)}</details>`}
</li>`;

function critiqueCard(turn: CriticTurn, ledger: readonly LedgerEntry[]): Html {
  const issue = (id: string) => ledger.find((one) => one.id === id);
  const head = html`<h4>${shownText(turn.critic, 60)} <span class="muted">${shownText(turn.model, 100)}</span></h4>`;
  if (turn.kind === 'failed')
    return html`<article class="card">${head}<p>Failed: ${shownSentence(turn.why, 300)}</p></article>`;
  if (turn.kind === 'stands')
    return html`<article class="card">${head}<p><span class="mark-p" aria-hidden="true">✓</span> Approved before; nothing that concerns it has changed.</p></article>`;
  const named = (ids: readonly string[]) =>
    list(
      ids.map((id) => {
        const found = issue(id);
        return found
          ? html`${id}: ${found.severity}, ${found.status.kind}: ${shownText(found.title, 120)}`
          : html`${id}`;
      }),
    );
  return html`<article class="card">${head}
<p>${turn.approved ? html`<span class="mark-p" aria-hidden="true">✓</span> Approves` : html`<span class="mark-f" aria-hidden="true">✗</span> Does not approve`}${
    turn.checks.length > 0 ? ', when challenged' : ''
  }.</p>
${turn.raised.length > 0 ? html`<p>Raises:</p>${named(turn.raised)}` : ''}
${turn.upheldIssues.length > 0 ? html`<p>Insists on:</p>${named(turn.upheldIssues)}` : ''}
${turn.checks.length > 0 ? html`<details><summary>${counted(turn.checks.length, 'check')}</summary>${list(turn.checks.map((check) => shownText(check, 400)))}</details>` : ''}
</article>`;
}

const synthesisText = ({ model, refused, failed }: NonNullable<DebateRound['synthesis']>): Html =>
  html`<p>Synthesis by ${codeText(model, 100)}${failed === undefined ? '' : html` failed: ${shownSentence(failed, 300)}`}</p>${list(
    refused.map((why) => html`An edit was not applied: ${shownSentence(why, 300)}`),
  )}`;

const issueTable = (ledger: readonly LedgerEntry[]): Html | '' =>
  ledger.length === 0
    ? ''
    : html`<h3>Issues</h3><ul class="issues">${ledger.map(
        ({
          id,
          critic,
          severity,
          title,
          quote,
          scenario,
          edit,
          status,
          upheld,
          loweredBecause,
        }) => html`<li><p><strong>${id}</strong> ${severity}, <strong>${status.kind}</strong>, by ${shownText(critic, 60)}: ${shownText(title, 200)}</p>
<details><summary>Details and outcome</summary>${facts([
          ['Quote', shownText(quote, 600)],
          ['Case', scenario.trim() === '' ? '' : shownText(scenario, 1_000)],
          ['Proposed', shownText(edit, 1_000)],
          ['Answer', status.kind === 'open' ? '' : shownText(status.because, 600)],
          ['Insisted', upheld === 0 ? '' : counted(upheld, 'time')],
          ['Severity lowered', loweredBecause === undefined ? '' : shownText(loweredBecause, 400)],
        ])}</details></li>`,
      )}</ul>`;

/** Lines of a text's diff that are shown; a spec is at most a few hundred. */
const MAX_SPEC_LINES = 400;

/** A unified diff without names of files. */
function specChange(diff: string): Html {
  const [read] = readDiff(`--- a/brief.md\n+++ b/brief.md\n${diff}`);
  const hunks = firstLines(read?.hunks ?? []);
  if (!read || hunks.length === 0) return html`<p class="muted">Nothing.</p>`;
  const file = { path: 'brief.md', label: 'changed', notes: [], additions: 0, deletions: 0, hunks } as const;
  return html`<div class="d2h-wrapper d2h-auto-color-scheme">${diffTable({ number: 0, file, hunks, isContinued: false }, 'unified')}</div>`;
}

function firstLines(hunks: readonly Hunk[]): readonly Hunk[] {
  let left = MAX_SPEC_LINES;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, left);
    left -= lines.length;
    return lines.length === 0 ? [] : [{ ...hunk, lines }];
  });
}
