import { Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import { arenaReport, pairKey, standingOf, VERDICTS } from '../../core/arena/index.ts';
import { asFault } from '../../core/model/index.ts';
import { mayRunContests, type Viewer, type WebContext, type WebEnv, type WebParts } from '../context.ts';
import { sendNotFound, sendPage, sendProblem, shownLine } from '../layout.ts';
import { ballotPage } from './ballot-page.ts';
import { contestAddress, contestList, contestPage, WITHHELD } from './contest-pages.ts';
import { type ContestPages, ContestWithheld, openContestPages } from './contests.ts';
import { reportPage } from './report-page.ts';

/** Answers somebody who may see contests. `name`: of a contest; empty where the path has none. */
type Handler = (c: WebContext, viewer: Viewer, name: string) => Promise<Response>;

const STYLES = ['run.css', 'arena.css'];

const SampleId = z.string().regex(/^[a-z0-9]{1,80}$/);
const BallotForm = z.object({ left: SampleId, right: SampleId, verdict: z.enum(VERDICTS) });
const UndoForm = z.object({ vote: SampleId });

/** Contests, for operators and for the person at this machine. For all others there are no such pages. */
export function arenaPages(parts: WebParts): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  if (!parts.arena) return app;
  const contests = openContestPages(parts.arena, parts);
  const seen = (handle: Handler) => async (c: WebContext) => {
    const { viewer } = c.var;
    if (!viewer || !mayRunContests(viewer)) return sendNotFound(c);
    try {
      return await handle(c, viewer, c.req.param('name') ?? '');
    } catch (thrown) {
      return sendContestFault(c, thrown);
    }
  };
  app.get(
    '/',
    seen(async (c, viewer) => {
      const body = contestList(await contests.list(viewer));
      return sendPage(c, { title: 'Arena', body, assets: STYLES });
    }),
  );
  app.get(
    '/:name',
    seen(async (c, viewer, name) => {
      const { records, voting } = await contests.votes(name, viewer);
      const body = contestPage(name, records, voting);
      return sendPage(c, { title: `Contest ${shownLine(name)}`, body, assets: STYLES });
    }),
  );
  app.get(
    '/:name/report',
    seen(async (c, viewer, name) => {
      const report = arenaReport(await contests.read(name, viewer));
      const body = reportPage(name, report);
      return sendPage(c, { title: `Report on contest ${shownLine(name)}`, body, assets: STYLES });
    }),
  );
  app.get(
    '/:name/vote',
    seen((c, viewer, name) => sendBallot(c, contests, viewer, name)),
  );
  app.post(
    '/:name/vote',
    seen((c, viewer, name) => castBallot(c, contests, viewer, name)),
  );
  app.post(
    '/:name/undo',
    seen((c, viewer, name) => undoBallot(c, contests, viewer, name)),
  );
  return app;
}

async function sendBallot(
  c: WebContext,
  contests: ContestPages,
  viewer: Viewer,
  name: string,
): Promise<Response> {
  const { records, voting } = await contests.votes(name, viewer);
  const body = ballotPage(c, {
    name,
    results: records.contest.votes.results,
    voting,
    hasPairs: standingOf(records).pairs.some(({ alike }) => !alike),
    pair: c.req.query('pair') ?? null,
    after: c.req.query('after') ?? null,
  });
  return sendPage(c, { title: `Vote in contest ${shownLine(name)}`, body, assets: [...STYLES, 'ballot.js'] });
}

async function castBallot(
  c: WebContext,
  contests: ContestPages,
  viewer: Viewer,
  name: string,
): Promise<Response> {
  const form = BallotForm.safeParse(await c.req.parseBody());
  if (!form.success) return sendIncomplete(c);
  const { left, right } = form.data;
  const pair = pairKey(left, right);
  const why = await contests.change(name, viewer, async ({ records, voting }) => {
    // The same form again: the vote is there.
    if (voting.verdictOn(pair) !== null) return null;
    return voting.record({ ...form.data, resultsShown: records.contest.votes.results === 'before' });
  });
  if (why !== null)
    return sendProblem(
      c,
      422,
      'Your vote was not stored',
      why,
      'Load the page again, and vote on what it shows.',
    );
  return c.redirect(`${contestAddress(name, '/vote')}?${new URLSearchParams({ after: pair })}`, 303);
}

async function undoBallot(
  c: WebContext,
  contests: ContestPages,
  viewer: Viewer,
  name: string,
): Promise<Response> {
  const form = UndoForm.safeParse(await c.req.parseBody());
  if (!form.success) return sendIncomplete(c);
  const pair = await contests.change(name, viewer, async ({ voting }) => {
    const last = voting.last();
    // The same form again must not take back the vote before.
    if (last?.id !== form.data.vote) return null;
    await voting.undo();
    return pairKey(last.left, last.right);
  });
  const query = pair === null ? '' : `?${new URLSearchParams({ pair })}`;
  return c.redirect(`${contestAddress(name, '/vote')}${query}`, 303);
}

const sendIncomplete = (c: WebContext): Promise<Response> =>
  sendProblem(
    c,
    400,
    'Nothing was changed',
    'The form is not complete. Go back, load the page again, and vote.',
  );

/** What is wrong with a contest is for its operators to read and fix. */
async function sendContestFault(c: WebContext, thrown: unknown): Promise<Response> {
  if (thrown instanceof ContestWithheld)
    return sendProblem(
      c,
      403,
      'This contest is not shown to you',
      WITHHELD,
      'Ask for access to that repository. If it is only on this server, use `runoff ui` there.',
    );
  const { code, message } = asFault(thrown);
  switch (code) {
    case 'CONTEST_UNKNOWN':
      return sendNotFound(c);
    case 'CONTEST_INVALID':
    case 'CONTEST_CHANGED':
      return sendPage(
        c,
        {
          title: 'This contest cannot be used',
          body: html`${message.split('\n').map((line) => html`<p>${shownLine(line, 1_000)}</p>`)}`,
        },
        422,
      );
    case 'ALREADY_RUNNING':
      return sendProblem(
        c,
        409,
        'Nothing was changed',
        'Another process works on this contest, for example `runoff arena gen`. Votes can be stored when it has ended: send the form again then.',
      );
    default:
      throw thrown;
  }
}
