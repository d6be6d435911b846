import { Hono } from 'hono';
import { html } from 'hono/html';
import {
  commandNotes,
  contestedQuestion,
  differingInputs,
  lookAtNotes,
  lookAtText,
  type Matrix,
  matrixOf,
  type RunView,
  testNotes,
} from '../../../core/reports/index.ts';
import { loadTestTable, shownWork, viewOf } from '../../../runs/index.ts';
import { actions } from '../../actions/index.ts';
import type { WebContext, WebEnv, WebParts } from '../../context.ts';
import { type Html, type PageContent, sendNotFound, sendPage, shownSentence } from '../../layout.ts';
import { structureOf } from '../../live/index.ts';
import { AUDIT_ENTRIES, auditBody } from './audit.ts';
import { behaviourBody } from './behaviour.ts';
import { candidateTable, reasonCards } from './candidates.ts';
import { costBody } from './cost.ts';
import { briefAndDebate } from './debate.ts';
import { diffBody } from './diff.ts';
import { diffParts } from './diff-files.ts';
import { DIFF_VIEWS } from './diff-table.ts';
import { list, pageSection, pageTitle, RUN_PAGES, type RunPageName, runAddress, runFrame } from './frame.ts';
import { judgesAndReview } from './judges.ts';
import { type LoadedDiff, loadComparison, loadDiff, loadTestOutputs } from './load.ts';
import { MATRIX_FILTERS, type MatrixQuery, matrixPage } from './matrix.ts';
import { pageNumber } from './paging.ts';
import { factsOfRun, stageList, summaryBox } from './summary.ts';
import { commandFacts, matrixBody, matrixTable, testBody } from './tests.ts';

/** Styles of all pages of a run, and those with what colours code. */
const STYLES = ['run.css'];
const DIFF_ASSETS = ['diff2html.css', 'run.css', 'highlight.js', 'diff2html-ui.js', 'diff.js'];

/** The pages below `/runs/:id`, of a run that the viewer may see. */
export function runPages({ world }: WebParts): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  const page = async (c: WebContext, name: RunPageName, body: (view: RunView) => Promise<Html> | Html) => {
    const view = await viewOf(world, c.var.visible.run);
    const title = name === 'overview' ? pageTitle(view) : pageTitle(view, RUN_PAGES[name].title);
    return sendRunPage(c, view, { name, title, body: await body(view) });
  };
  app.get('/:id', (c) =>
    page(c, 'overview', async (view) => {
      const table = view.evidence.length > 0 ? await loadTestTable(world, c.var.visible.run) : null;
      return overviewBody(view, matrixOf(view, table), await actions(c, view));
    }),
  );
  app.get('/:id/tests', (c) =>
    page(c, 'tests', async (view) => {
      const table = await loadTestTable(world, c.var.visible.run);
      return html`${commandFacts(view)}${matrixBody(view, matrixOf(view, table), matrixQuery(c))}`;
    }),
  );
  app.get('/:id/tests/:key', async (c) => {
    const { run } = c.var.visible;
    const view = await viewOf(world, run);
    const table = await loadTestTable(world, run);
    const outputs = await loadTestOutputs(world, run);
    const body = testBody(view, c.req.param('key'), { matrix: matrixOf(view, table), outputs });
    return body
      ? sendRunPage(c, view, { name: 'tests', title: pageTitle(view, 'Test'), body })
      : sendNotFound(c);
  });
  app.get('/:id/behaviour', (c) =>
    page(c, 'behaviour', async (view) =>
      behaviourBody(
        view,
        differingInputs(view, await loadTestTable(world, c.var.visible.run)),
        pageNumber(c.req.query('page')),
      ),
    ),
  );
  app.get('/:id/debate', (c) =>
    page(c, 'debate', async (view) => briefAndDebate(view, await actions(c, view, 'debate'))),
  );
  app.get('/:id/judges', (c) => page(c, 'judges', judgesAndReview));
  app.get('/:id/cost', (c) =>
    page(c, 'cost', async (view) => {
      const work = await shownWork(world.store, c.var.visible.run);
      return costBody(view, await work.spending());
    }),
  );
  app.get('/:id/audit', (c) =>
    page(c, 'audit', async (view) => {
      const records = await world.store.audited({ run: view.id, limit: AUDIT_ENTRIES });
      const work = await shownWork(world.store, c.var.visible.run);
      return auditBody(view, records, await world.store.transitions(view.id), work);
    }),
  );
  app.get('/:id/candidates/:alias', async (c) => {
    const { alias } = c.req.param();
    const view = await viewOf(world, c.var.visible.run);
    const found = await loadDiff(world, view, alias);
    const path = `/candidates/${encodeURIComponent(alias)}`;
    return found ? sendDiff(c, view, { found, path, what: `Diff of ${alias}` }) : sendNotFound(c);
  });
  app.get('/:id/compare/:a/:b', async (c) => {
    const { a, b } = c.req.param();
    const view = await viewOf(world, c.var.visible.run);
    const found = await loadComparison(world, view, [a, b]);
    const path = `/compare/${encodeURIComponent(a)}/${encodeURIComponent(b)}`;
    return found ? sendDiff(c, view, { found, path, what: `From ${a} to ${b}` }) : sendNotFound(c);
  });
  return app;
}

interface RunPageContent extends Pick<PageContent, 'title' | 'body'> {
  readonly name: RunPageName | null;
  readonly assets?: readonly string[];
}

const sendRunPage = (
  c: WebContext,
  view: RunView,
  { name, title, body, assets = name === 'debate' ? ['diff2html.css', ...STYLES] : STYLES }: RunPageContent,
): Promise<Response> => {
  const structure = structureOf(c.var.visible.run, view);
  return sendPage(c, { title, body: runFrame(view, { current: name, structure }, body), assets });
};

function sendDiff(
  c: WebContext,
  view: RunView,
  { found, path, what }: { readonly found: LoadedDiff; readonly path: string; readonly what: string },
): Promise<Response> {
  const asked = c.req.query('view');
  const body = diffBody({
    files: found.files,
    parts: diffParts(found.files),
    part: pageNumber(c.req.query('part')),
    view: DIFF_VIEWS.find((name) => name === asked) ?? 'split',
    address: runAddress(view.id, path),
    notes: found.notes,
  });
  return sendRunPage(c, view, { name: null, title: pageTitle(view, what), body, assets: DIFF_ASSETS });
}

function matrixQuery(c: WebContext): MatrixQuery {
  const show = c.req.query('show');
  return {
    show: MATRIX_FILTERS.find((name) => name === show) ?? 'differs',
    text: (c.req.query('q') ?? '').slice(0, 200),
    page: pageNumber(c.req.query('page')),
  };
}

/** Rows of the matrix on the overview. */
const OVERVIEW_ROWS = 10;

function overviewBody(view: RunView, matrix: Matrix, forms: Html): Html {
  const differing = matrixPage(matrix, { show: 'differs', text: '', page: 1 }, OVERVIEW_ROWS);
  const tests =
    differing.found === 0
      ? ''
      : html`${matrixTable(view, matrix, differing)}<p class="links"><a href="${runAddress(view.id, '/tests')}">All ${differing.found} tests with different results, and the others</a></p>`;
  return html`<div id="overview" data-live>${summaryBox(view, forms)}
${stageList(view)}
${factsOfRun(view)}
${pageSection('candidates', 'Candidates', candidateTable(view))}
${pageSection('notes', 'Please look at', list(questionsFor(view)))}
${pageSection('tests', 'Tests on which candidates differ', tests)}
${pageSection('reasons', 'Why', reasonCards(view))}
${pageSection('remarks', 'Notes', list(remarks(view)))}</div>`;
}

const questionsFor = (view: RunView): readonly Html[] =>
  [contestedQuestion(view) ?? [], lookAtNotes(view).map(lookAtText)]
    .flat()
    .map((text) => shownSentence(text));

const remarks = (view: RunView): readonly Html[] =>
  [view.lowered ?? [], view.leftOut ?? [], commandNotes(view), testNotes(view)]
    .flat()
    .map((text) => shownSentence(text, 600));
