import { html, raw } from 'hono/html';
import { isOver } from '../../../core/model/index.ts';
import type { RunView } from '../../../core/reports/index.ts';
import { codeText, type Html, shownLine } from '../../layout.ts';

/** The pages of a run, in the order of their links. */
export const RUN_PAGES = {
  overview: { title: 'Overview', path: '' },
  tests: { title: 'Tests', path: '/tests' },
  behaviour: { title: 'Behaviour', path: '/behaviour' },
  debate: { title: 'Brief and debate', path: '/debate' },
  judges: { title: 'Judges and review', path: '/judges' },
  cost: { title: 'Cost', path: '/cost' },
  audit: { title: 'Audit', path: '/audit' },
} as const;
export type RunPageName = keyof typeof RUN_PAGES;

/** Markup that `core/reports` made with `PAGE`, which escapes everything that others wrote. */
export const markedUp = (marked: string): Html => raw(marked);

export const runAddress = (id: string, path = ''): string => `/runs/${encodeURIComponent(id)}${path}`;

/** The title of a run's page; the overview has the run's own. */
export const pageTitle = ({ title, id }: Pick<RunView, 'id' | 'title'>, of?: string): string =>
  of === undefined ? shownLine(title) || id : `${of}: ${shownLine(title) || id}`;

/**
 * Where the run comes from, and links to its pages. `current` null: a page below one of them. `structure`: of the run as
 * the page shows it.
 */
export function runFrame(
  view: RunView,
  { current, structure }: { readonly current: RunPageName | null; readonly structure: string },
  body: Html,
): Html {
  const { origin } = view;
  const where =
    origin.kind === 'github'
      ? `${origin.repository} ${origin.work ? 'pull request ' : ''}#${origin.issue}`
      : origin.path;
  return html`<p class="run-origin" data-live-structure="${structure}">Run <code>${view.id}</code> · ${codeText(where, 300)}</p>
<nav class="run-pages" aria-label="Pages of this run"><ul>${Object.entries(RUN_PAGES)
    .filter(([name]) => hasPage(view, name as RunPageName))
    .map(
      ([name, { title, path }]) =>
        html`<li><a href="${runAddress(view.id, path)}"${name === current ? raw(' aria-current="page"') : ''}>${title}</a></li>`,
    )}</ul></nav>
${body}`;
}

/** Pages without content are not linked. */
function hasPage(view: RunView, name: RunPageName): boolean {
  switch (name) {
    case 'tests':
      return view.evidence.length > 0;
    case 'behaviour':
      return view.evidence.some(({ behaviour }) => behaviour !== undefined);
    case 'debate':
      return (
        !isOver(view.state) ||
        view.brief !== undefined ||
        view.debate !== undefined ||
        view.dialogue !== undefined
      );
    case 'judges':
      return view.judgement !== undefined || (view.review ?? []).length > 0;
    default:
      return true;
  }
}

/** A part of a page with its heading; empty if it has no content. `id` is Runoff's own. */
export const pageSection = (id: string, title: string, content: Html | ''): Html | '' =>
  content === ''
    ? ''
    : html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${content}</section>`;

export const list = (items: readonly Html[]): Html | '' =>
  items.length === 0 ? '' : html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;

/** Pairs of a term and its value; pairs with an empty value are left out. */
export const facts = (pairs: readonly (readonly [string, Html | string | number])[]): Html =>
  html`<dl class="facts">${pairs
    .filter(([, value]) => value !== '')
    .map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
