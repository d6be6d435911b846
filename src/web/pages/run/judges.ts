import { html } from 'hono/html';
import type {
  JudgedPair,
  Judgement,
  JudgeRecord,
  Objection,
  WinnerReview,
} from '../../../core/judging/index.ts';
import {
  counted,
  criticText,
  money,
  OBJECTION_RESULT_LABELS,
  type RunView,
  reviewOutcome,
} from '../../../core/reports/index.ts';
import { codeText, type Html, shownSentence, shownText } from '../../layout.ts';
import { facts, list, pageSection, runAddress } from './frame.ts';

/** What models said about the candidates: an opinion, apart from what was executed. */
export const judgesAndReview = (
  view: RunView,
): Html => html`${pageSection('judges', 'Blind judges', view.judgement ? judgementText(view, view.judgement) : '')}
${pageSection('review', 'Review of the winner', reviewText(view.review ?? []))}`;

function judgementText(view: RunView, judgement: Judgement): Html {
  const { because, quorum, spent, format, judges, notes, injections, pairs } = judgement;
  return html`<p>Judges compared the undecided candidates without knowing who wrote them. These are opinions, not executed evidence; they never make a candidate win that failed a gate.</p>
<p>${shownSentence(because, 600)} ${quorum.answered} of ${counted(quorum.asked, 'judge')} answered, for ${money(spent.usd)}.</p>
${standingTable(judgement)}
<h3>Judges</h3>${list(judges.map(judgeLine))}
${list(notes.map((note) => shownSentence(note, 400)))}
${list(
  injections.map(
    ({ alias, file, line, what }) =>
      html`<strong>Review ${alias} closely:</strong> ${codeText(`${file}:${line}`)} ${shownSentence(what, 300)} The judges were not shown it.`,
  ),
)}
<h3>Comparisons (${format === 'knockout' ? 'a tournament' : 'each with each'})</h3>
<div class="grid">${pairs.map((pair) => pairCard(view, pair))}</div>`;
}

const standingTable = ({ standings }: Judgement): Html | '' =>
  standings.length === 0
    ? ''
    : html`<div class="scroll" role="region" aria-label="Strength by the judges" tabindex="0"><table><caption>Strength by the judges (log-odds, with its standard error)</caption>
<thead><tr><th scope="col">Candidate</th><th scope="col">Strength</th><th scope="col">Wins</th><th scope="col">Ties</th><th scope="col">Losses</th></tr></thead>
<tbody>${standings.map(
        ({ alias, strength, error, wins, ties, losses }) =>
          html`<tr><th scope="row">${alias}</th><td class="number">${strength.toFixed(2)} ± ${error.toFixed(2)}</td><td class="number">${wins}</td><td class="number">${ties}</td><td class="number">${losses}</td></tr>`,
      )}</tbody></table></div>`;

const judgeLine = ({ judge, model, asked, answered, discarded, ownFamily, problems }: JudgeRecord): Html =>
  html`${judge} (${codeText(model, 100)}): ${answered} of ${counted(asked, 'answer')} usable${
    ownFamily ? '; a candidate comes from its own model family' : ''
  }${discarded === undefined ? '' : html`. Discarded: ${shownSentence(discarded, 300)}`}${list(
    problems.map((problem) => shownSentence(problem, 300)),
  )}`;

function pairCard(view: RunView, { a, b, byJudge, alike }: JudgedPair): Html {
  const address = runAddress(view.id, `/compare/${encodeURIComponent(a)}/${encodeURIComponent(b)}`);
  const won = { a: `prefers ${a}`, b: `prefers ${b}`, tie: 'sees no difference' } as const;
  return html`<article class="card"><h4>${a} and ${b}</h4>
${alike ? html`<p>Their changes are the same, so no judge was asked.</p>` : ''}
${byJudge.map(
  ({ judge, outcome, consistent, because, cited }) =>
    html`<p><strong>${judge}</strong> ${won[outcome]}${
      consistent ? '' : ' (its answer changed with the order, so it counts as a tie)'
    }: ${shownText(because, 1_000)}</p>${list(
      cited.map(({ alias, file, line }) => html`cites ${alias} ${codeText(`${file}:${line}`)}`),
    )}`,
)}
<p class="links"><a href="${address}">Compare ${a} with ${b}</a></p></article>`;
}

const reviewText = (review: readonly WinnerReview[]): Html | '' =>
  review.length === 0
    ? ''
    : html`${review.map(
        (one) => html`<h3>${one.alias}</h3>
<p>Reviewed by ${counted(one.critics.length, 'critic')}, who saw neither its author nor other reviews. ${shownSentence(reviewOutcome(one, review) || 'Nothing was decided on it.', 800)}</p>
<div class="grid">${one.critics.map(
          (report) => html`<article class="card"><h4>${shownText(report.critic, 60)} ${
            report.kind === 'failed' ? '' : html`<span class="muted">${shownText(report.model, 100)}</span>`
          }</h4><p>It ${shownSentence(criticText(report), 600)}</p>
${'objections' in report ? report.objections.map(objectionText) : ''}</article>`,
        )}</div>`,
      )}`;

const objectionText = ({ file, line, input, expected, got, outcome, because }: Objection): Html =>
  html`<p><strong>${OBJECTION_RESULT_LABELS[outcome]}</strong>: ${codeText(`${file}:${line}`)}</p>${facts([
    ['Input', codeText(input)],
    ['Expected', codeText(expected)],
    ['Got', codeText(got)],
    ['Why', outcome === 'refuted' ? '' : shownText(because, 600)],
  ])}`;
