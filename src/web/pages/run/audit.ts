import { html } from 'hono/html';
import type { RunView } from '../../../core/reports/index.ts';
import type { AuditEntry, AuditRecord, Transition } from '../../../ports/index.ts';
import type { ShownWork } from '../../../runs/index.ts';
import { codeText, type Html, moment, shownLine, shownSentence } from '../../layout.ts';
import { pageSection } from './frame.ts';

/** Entries that are read for a page. A run has at most a few hundred. */
export const AUDIT_ENTRIES = 500;

type Shown = Pick<ShownWork, 'command' | 'text'>;

/**
 * Who asked for what, what was refused, what was written to GitHub, and every change of state with its cause. `shown`
 * takes out what blind mode hides.
 */
export const auditBody = (
  view: RunView,
  records: readonly AuditRecord[],
  transitions: readonly Transition[],
  shown: Shown,
): Html => html`${pageSection('changes', 'Changes of state', transitionTable(transitions, shown))}
${pageSection('entries', 'Audit log', entryTable(view, records, shown))}`;

const transitionTable = (transitions: readonly Transition[], shown: Shown): Html =>
  transitions.length === 0
    ? html`<p>There is none yet.</p>`
    : html`<div class="scroll" role="region" aria-label="Changes of state" tabindex="0"><table><caption class="hidden">Changes of state, oldest first</caption>
<thead><tr><th scope="col">Time</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Cause</th></tr></thead>
<tbody>${transitions.map(
        ({ at, from, to, cause }) =>
          html`<tr><td>${moment(at)}</td><td>${from}</td><td>${to}</td><td>${shownSentence(shown.text(cause), 600)}</td></tr>`,
      )}</tbody></table></div>`;

function entryTable(view: RunView, records: readonly AuditRecord[], shown: Shown): Html {
  if (records.length === 0) return html`<p>The audit log has no entries for this run yet.</p>`;
  const oldestFirst = records.toSorted((a, b) => a.number - b.number);
  return html`${
    records.length >= AUDIT_ENTRIES
      ? html`<p>The newest ${AUDIT_ENTRIES} entries. <code>runoff audit --run ${view.id} --limit 10000</code> prints more.</p>`
      : ''
  }<div class="scroll" role="region" aria-label="Audit log" tabindex="0"><table><caption class="hidden">Audit log, oldest first</caption>
<thead><tr><th scope="col">Time</th><th scope="col">Kind</th><th scope="col">What</th><th scope="col">Outcome</th></tr></thead>
<tbody>${oldestFirst.map(({ at, entry }) => {
    const { kind, what, outcome } = entryParts(entry, shown);
    return html`<tr><td>${moment(at)}</td><td>${kind}</td><td>${what}</td><td>${outcome}</td></tr>`;
  })}</tbody></table></div>`;
}

interface EntryParts {
  readonly kind: string;
  readonly what: Html | string;
  readonly outcome: Html | string;
}

function entryParts(entry: AuditEntry, shown: Shown): EntryParts {
  switch (entry.kind) {
    case 'command': {
      const { by, text, thread, outcome, token } = entry;
      const why = outcome.kind === 'done' ? outcome.note : outcome.why;
      return {
        kind: 'command',
        what: html`${codeText(by.login, 80)}${token === undefined ? '' : html` by token ${codeText(token, 60)}`} on #${thread}: ${codeText(shown.command(text.split('\n', 1)[0] ?? ''), 300)}`,
        outcome: html`${outcome.kind}: ${shownSentence(shown.text(why), 600)}`,
      };
    }
    case 'refusal':
      return { kind: 'refusal', what: shownSentence(shown.text(entry.cause), 600), outcome: '' };
    case 'transition':
      return {
        kind: 'change',
        what: `${entry.from} → ${entry.to}`,
        outcome: shownSentence(shown.text(entry.cause), 600),
      };
    case 'token':
      return {
        kind: 'token',
        what: html`${entry.what} ${codeText(entry.token, 60)}`,
        outcome: entry.by ? html`for ${codeText(entry.by.login, 80)}` : '',
      };
    case 'write': {
      const { what, repository, thread, branch, outcome, status } = entry;
      const thing = thread === undefined ? '' : `#${thread}`;
      const where = `${repository}${thing}${branch === undefined ? '' : ` ${branch}`}`;
      return {
        kind: 'write',
        what: html`${shownLine(what, 60)} ${codeText(where, 300)}`,
        outcome: `${outcome}${outcome === 'done' || status === undefined ? '' : `, ${status}`}`,
      };
    }
  }
}
