import { html } from 'hono/html';
import { type Inquiry, isAsDebated, NO_DIALOGUE } from '../../core/brief/index.ts';
import { type Alias, isOver } from '../../core/model/index.ts';
import { chosenOf, pickable } from '../../core/ranking/index.ts';
import { money, type RunView } from '../../core/reports/index.ts';
import { awaitedInquiry } from '../../runs/index.ts';
import type { Right } from '../context.ts';
import { type Html, moment, shownText } from '../layout.ts';

/** What the forms of a run depend on. */
interface ActionsView {
  readonly view: RunView;
  readonly right: Exclude<Right, 'none'>;
  /** How many picks of the run are stored, also those that no longer count. */
  readonly picks: number;
  /** Hidden field with the CSRF token. */
  readonly csrf: Html;
  /** Random; makes a form that is sent twice act once. */
  readonly key: string;
  /** Where the outcome is shown: the page of the form. */
  readonly on: ActionPage;
}

/** Pages with forms. */
export type ActionPage = 'overview' | 'debate';

/** What a writer can do now, as forms. Work without scripts. On the page of the debate: what concerns the plan. */
export function actionForms(page: ActionsView): Html {
  const { view, right, on } = page;
  if (right !== 'write') {
    const where = view.origin.kind === 'github' ? view.origin.repository : 'the repository';
    return html`<p class="muted">People with write access to ${where} can act here.</p>`;
  }
  const forms =
    on === 'debate'
      ? [questionForm(page), debateForm(page)]
      : [questionForm(page), pickForms(page), voteForm(page), debateForm(page), ...confirmedForms(page)];
  return html`<div class="actions">${forms.every((one) => one === '') ? html`<p class="muted">There is nothing to do.</p>` : forms}</div>`;
}

type Part = Html | '';

/** A form that gives one command; `fields` contains its button. */
function form({ view, csrf, key, picks, on }: ActionsView, action: string, fields: Html): Html {
  return html`<form method="post" action="/runs/${view.id}/${action}">${csrf}<input type="hidden" name="key" value="${key}"><input type="hidden" name="picks" value="${picks}"><input type="hidden" name="on" value="${on}">${fields}</form>`;
}

/** A form behind a first step that says what happens: for what costs money or cannot be undone. */
const confirmed = (
  page: ActionsView,
  action: string,
  { label, says, fields, button }: { label: string; says: string | Html; fields?: Html; button?: string },
): Html =>
  html`<details class="confirm"><summary>${label}…</summary>${form(
    page,
    action,
    html`<p>${says}</p>${fields ?? ''}<button type="submit">${button ?? label}</button>`,
  )}</details>`;

function questionForm(page: ActionsView): Part {
  const open = awaitedInquiry(page.view);
  if (!open) return '';
  return open.kind === 'approval' ? approvalForms(page, open) : answerForm(page, open);
}

const inquiryField = ({ number }: Inquiry): Html =>
  html`<input type="hidden" name="inquiry" value="${number}">`;

function answerForm(page: ActionsView, open: Extract<Inquiry, { kind: 'answer' }>): Html {
  const { text, options } = open.question;
  const choices = options.map(
    (option, at) =>
      html`<li><label><input type="radio" name="option" value="${at + 1}"> ${shownText(option)}</label></li>`,
  );
  return form(
    page,
    'answer',
    html`${inquiryField(open)}<fieldset><legend>${shownText(text)}</legend>
${options.length > 0 ? html`<ol>${choices}</ol>` : ''}
<label>${options.length > 0 ? 'Or in your own words; if you write something, it counts instead of an option' : 'Your answer'}
<textarea name="text" rows="3" maxlength="4000"></textarea></label>
<p class="muted">Open until ${moment(open.until)}.</p>
<button type="submit">Answer</button></fieldset>`,
  );
}

function approvalForms(page: ActionsView, open: Inquiry): Html {
  const budget = money(page.view.budget.run);
  const isRefined = isRefinedText(page.view);
  const approve = confirmed(page, 'approve', {
    label: isRefined ? 'Use the refined text' : 'Approve the plan',
    says: `${isRefined ? 'The coders get the text that the debate ended with, and start.' : 'The coders start.'} The run may spend up to ${budget}, what it has spent so far included.`,
    fields: inquiryField(open),
  });
  const revise = form(
    page,
    'revise',
    html`${inquiryField(open)}<label>What the plan should change
<textarea name="text" rows="3" maxlength="4000" required></textarea></label>
<button type="submit">Ask for another plan</button>`,
  );
  return html`<p>The plan waits for approval until ${moment(open.until)}.</p>${approve}${revise}`;
}

/** Whether the plan that waits is a text that a debate has changed. */
const isRefinedText = ({ debate, dialogue = NO_DIALOGUE }: RunView): boolean =>
  debate?.end !== undefined && debate.spec !== debate.original && isAsDebated(dialogue);

/** A debate of the plan that waits, or of the issue anew by another run. */
function debateForm(page: ActionsView): Part {
  const { view } = page;
  const open = awaitedInquiry(view);
  if (open?.kind === 'approval')
    return confirmed(page, 'debate', {
      label: view.debate ? 'Debate the plan again' : 'Debate the plan',
      says: `Critics debate the plan, at a cost that the settings limit to a share of the budget of ${money(view.budget.run)}. The refined text then waits for approval.`,
      fields: inquiryField(open),
    });
  if (open || view.origin.kind === 'local' || view.origin.work || !isOver(view.state)) return '';
  return confirmed(page, 'debate', {
    label: 'Debate the issue',
    says: `Another run starts with the text of the issue as it is now: it plans, critics debate the plan, and it waits for approval before coders start. It spends money of its own: this run could spend ${money(view.budget.run)}.`,
  });
}

const hasResult = ({ decision, outcome }: RunView): boolean =>
  decision !== undefined && outcome !== undefined;

/** Candidates that can be picked now, in place of the present one. */
function candidatesToPick(view: RunView): readonly Alias[] {
  const mayPick =
    view.origin.kind === 'local'
      ? isOver(view.state) && view.state !== 'refused'
      : hasResult(view) && (view.state === 'awaiting_pick' || view.state === 'published');
  if (!mayPick) return [];
  const now = view.state === 'awaiting_pick' ? null : chosenOf(view);
  return pickable(view).filter((alias) => alias !== now);
}

function pickForms(page: ActionsView): Part {
  const { view } = page;
  const choice = candidatesToPick(view);
  if (choice.length === 0) return '';
  const pull = view.outcome?.kind === 'pull' ? view.outcome.number : null;
  const effect =
    view.origin.kind === 'local'
      ? 'A pick is recorded, and this page says how to merge the branch.'
      : pull === null
        ? 'A pick opens a draft pull request with the candidate. It can be changed later.'
        : `A pick replaces the code of pull request #${pull} by a new commit on its branch.`;
  const buttons = choice.map(
    (alias) => html`<button type="submit" name="candidate" value="${alias}">Pick ${alias}</button> `,
  );
  const none = confirmed(page, 'pick', {
    label: 'Reject all candidates',
    says: pull === null ? 'The run ends without a pull request.' : `Pull request #${pull} stays open.`,
    fields: html`<input type="hidden" name="candidate" value="none">`,
  });
  return html`${form(page, 'pick', html`<p>${effect}</p><p class="buttons">${buttons}</p>`)}${none}`;
}

function voteForm(page: ActionsView): Part {
  const { view } = page;
  if (view.origin.kind !== 'github' || !hasResult(view)) return '';
  if (view.state !== 'awaiting_pick' && view.state !== 'published') return '';
  const votes = view.votes ?? [];
  const buttons = pickable(view).map((alias) => {
    const count = votes.filter((vote) => vote.alias === alias).length;
    return html`<button type="submit" name="candidate" value="${alias}">Vote ${alias}${count > 0 ? ` (${count})` : ''}</button> `;
  });
  if (buttons.length < 2) return '';
  return form(
    page,
    'vote',
    html`<p>A vote advises whoever picks. Your later vote replaces it.</p><p class="buttons">${buttons}</p>`,
  );
}

function confirmedForms(page: ActionsView): readonly Part[] {
  const { view } = page;
  const isLocal = view.origin.kind === 'local';
  const active = !isOver(view.state);
  const waitsForPick = view.state === 'awaiting_pick' && !isLocal;
  return [
    ciForm(page),
    active && !isLocal && view.base ? budgetForm(page) : '',
    active || waitsForPick
      ? confirmed(page, 'cancel', {
          label: 'Cancel the run',
          says: waitsForPick
            ? 'The run no longer waits for a pick, and ends without a pull request. This cannot be undone.'
            : 'The coders stop. Finished work stays in the record of the run. This cannot be undone.',
        })
      : '',
    !active && !isLocal && view.base ? retryForm(page) : '',
  ];
}

function ciForm(page: ActionsView): Part {
  const { outcome, ci, state } = page.view;
  if (outcome?.kind !== 'pull' || ci !== 'hold' || state !== 'published') return '';
  return confirmed(page, 'ci', {
    label: 'Start CI',
    says: `An empty commit without the CI hold is pushed to pull request #${outcome.number}, and GitHub's own CI runs the candidate's code. This cannot be undone.`,
  });
}

const budgetForm = (page: ActionsView): Html =>
  confirmed(page, 'budget', {
    label: 'Change the budget',
    says: `The run may spend ${money(page.view.budget.run)} and has spent ${money(page.view.budget.spent)}.`,
    fields: html`<p><label>US dollars for the whole run <input name="dollars" inputmode="decimal" required maxlength="12"></label></p>`,
  });

function retryForm(page: ActionsView): Html {
  const { candidates, budget } = page.view;
  const options = candidates.map(
    ({ alias }) => html`<option value="${alias}">only the contestant of candidate ${alias}</option>`,
  );
  return confirmed(page, 'retry', {
    label: 'Run it again',
    says: `Another run starts, and spends money of its own: this one could spend ${money(budget.run)}.`,
    fields: html`<p><label>What to repeat <select name="candidate"><option value="all">the whole run</option>${options}</select></label></p>`,
  });
}
