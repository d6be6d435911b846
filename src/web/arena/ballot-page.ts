import { html, raw } from 'hono/html';
import { type BallotQuestion, type CastVote, executedText } from '../../core/arena/index.ts';
import { counted } from '../../core/model/index.ts';
import { type DiffLineKind, diffLineKinds } from '../../core/reports/index.ts';
import type { Voting } from '../../runs/index.ts';
import type { WebContext } from '../context.ts';
import { codeText, csrfField, type Html, shownLine, shownSentence, shownText } from '../layout.ts';
import { contestAddress } from './contest-pages.ts';

interface BallotPage {
  readonly name: string;
  /** When results of what was executed are shown. */
  readonly results: 'before' | 'after';
  readonly voting: Voting;
  /** Whether there is anything to compare. */
  readonly hasPairs: boolean;
  /** Keys of the pair to ask about, and of the one that was just decided; from the address. */
  readonly pair: string | null;
  readonly after: string | null;
}

/** One blind comparison with its buttons. Nothing on it names a contestant. */
export function ballotPage(c: WebContext, page: BallotPage): Html {
  const { name, voting, pair } = page;
  const question = (pair === null ? null : voting.questionOn(pair)) ?? voting.question();
  const { done, open } = voting.progress();
  return html`<p><a href="${contestAddress(name)}">The contest</a></p>
${lastVerdict(page)}
${undoForm(c, page)}
${
  question === null
    ? nothingLeft(page)
    : html`<p role="status">Pair ${done + 1} of ${done + open}.</p>
${questionBody(question, page.results === 'before')}
${verdictForm(c, name, question)}`
}`;
}

const nothingLeft = ({ name, hasPairs }: BallotPage): Html =>
  hasPairs
    ? html`<p>You have voted on every pair. <a href="${contestAddress(name, '/report')}">See the report</a>.</p>`
    : html`<p>There are no two different answers to one task yet. <code>runoff arena gen ${shownLine(name)}</code> makes answers, and <a href="${contestAddress(name, '/report')}">the report</a> says what was left out.</p>`;

const VERDICT_TEXT = {
  left: 'You preferred A.',
  right: 'You preferred B.',
  tie: 'You called it a tie.',
  skip: 'You skipped that pair.',
} as const satisfies Record<CastVote['verdict'], string>;

/** What this person said about the pair before, and its results where they are shown after a vote. */
function lastVerdict({ voting, results, after }: BallotPage): Html | '' {
  const decided = after === null ? null : voting.verdictOn(after);
  if (after === null || decided === null) return '';
  const question = voting.decidedQuestion(after);
  const shown = results === 'after' && question ? resultsText(question) : '';
  return html`<p class="notice done">${VERDICT_TEXT[decided]} ${shown === '' ? '' : shownSentence(shown)}</p>`;
}

const resultsText = ({ left, right }: BallotQuestion): string =>
  left.verification === null && right.verification === null
    ? ''
    : `A ${executedText(left.verification)}. B ${executedText(right.verification)}.`;

function questionBody({ task, left, right }: BallotQuestion, showResults: boolean): Html {
  const statement = task.kind === 'text' ? task.prompt : task.statement;
  const reference = task.kind === 'text' ? task.reference : undefined;
  return html`<section aria-labelledby="task"><h2 id="task">Task ${codeText(task.id)}</h2>
${block(statement)}</section>
${reference === undefined ? '' : html`<details><summary>A good answer, for comparison</summary>${block(reference)}</details>`}
<div class="answers">${answer('A', left, showResults)}${answer('B', right, showResults)}</div>`;
}

const answer = (
  letter: 'A' | 'B',
  { form, answer: text, verification }: BallotQuestion['left'],
  showResults: boolean,
): Html => {
  const id = `answer-${letter.toLowerCase()}`;
  return html`<section aria-labelledby="${id}"><h2 id="${id}" tabindex="-1">Answer ${letter}</h2>
${showResults && form === 'diff' ? html`<p class="muted">${shownSentence(executedText(verification))}</p>` : ''}
${form === 'diff' ? diffBlock(text ?? '') : block(text ?? '')}</section>`;
};

/** Characters and lines of a text that are shown. Our defaults: far more than people compare. */
const MAX_ANSWER_CHARS = 200_000;
const MAX_ANSWER_LINES = 5_000;

const block = (text: string): Html => html`<pre class="answer">${shownText(text, MAX_ANSWER_CHARS)}</pre>`;

/** The lines of a diff; each is a row of its own, so that text of others cannot reorder others. */
function diffBlock(diff: string): Html {
  const lines = diff.slice(0, MAX_ANSWER_CHARS).replace(/\n+$/, '').split('\n');
  const kinds = diffLineKinds(lines);
  const more = lines.length > MAX_ANSWER_LINES || diff.length > MAX_ANSWER_CHARS;
  return html`<pre class="answer">${lines
    .slice(0, MAX_ANSWER_LINES)
    .map(
      (line, at) =>
        html`<span class="${LINE_CLASSES[kinds[at] ?? 'context']}">${shownText(line)}</span>${raw('\n')}`,
    )}</pre>${
    more
      ? html`<p class="muted">The rest is not shown here; <code>runoff arena vote</code> shows all of it.</p>`
      : ''
  }`;
}

const LINE_CLASSES = {
  header: 'muted',
  hunk: 'muted',
  added: 'added',
  removed: 'removed',
  context: 'context',
} as const satisfies Readonly<Record<DiffLineKind, string>>;

const CHOICES = [
  { verdict: 'left', key: 'a', text: 'A is better' },
  { verdict: 'tie', key: 't', text: 'Tie' },
  { verdict: 'right', key: 'b', text: 'B is better' },
  { verdict: 'skip', key: 's', text: 'Skip' },
] as const satisfies readonly {
  readonly verdict: CastVote['verdict'];
  readonly key: string;
  readonly text: string;
}[];

const verdictForm = (c: WebContext, name: string, { left, right }: BallotQuestion): Html =>
  html`<form method="post" action="${contestAddress(name, '/vote')}" class="verdicts" aria-label="Your vote">${csrfField(c)}
<input type="hidden" name="left" value="${left.id}"><input type="hidden" name="right" value="${right.id}">
${CHOICES.map(
  ({ verdict, key, text }) =>
    html`<button name="verdict" value="${verdict}" data-key="${key}" aria-keyshortcuts="${key}">${text}</button> `,
)}
<p id="ballot-keys" class="muted" hidden><label><input type="checkbox"> Vote with keys: <kbd>a</kbd> and <kbd>b</kbd> better, <kbd>t</kbd> tie, <kbd>s</kbd> skip, <kbd>u</kbd> undo, <kbd>1</kbd> and <kbd>2</kbd> to the answers</label></p></form>`;

function undoForm(c: WebContext, { name, voting }: BallotPage): Html | '' {
  const last = voting.last();
  if (last === null) return '';
  const { done } = voting.progress();
  return html`<form method="post" action="${contestAddress(name, '/undo')}">${csrfField(c)}<input type="hidden" name="vote" value="${last.id}">
<button data-key="u" aria-keyshortcuts="u">Undo your last vote</button> <span class="muted">${counted(done, 'pair')} so far</span></form>`;
}
