import { Hono } from 'hono';
import { html, raw } from 'hono/html';
import { z } from 'zod';
import { asFault, fullNameOf } from '../../core/model/index.ts';
import type { RepositoryHandle } from '../../ports/index.ts';
import type { Person, VisibleRepositories, WebContext, WebEnv, WebParts } from '../context.ts';
import { csrfField, type Html, sendNotFound, sendPage, sendProblem, shownText } from '../layout.ts';
import { FormKey, noSuchRepository, writableRepositories } from '../people/index.ts';
import { OUTCOME_WAIT_MS, outcomeNotice, sentCommand } from './outcome.ts';

/** What a new run begins with, as the command of a comment. */
const STARTS = {
  run: { text: '/auto-dev run', label: 'Start a run', says: 'Coders start as soon as the brief is written.' },
  debate: {
    text: '/auto-dev debate',
    label: 'Debate the issue first',
    says: 'Critics debate the plan, which then waits for approval before coders start.',
  },
} as const;

const StartForm = z.object({
  key: FormKey,
  repository: z.string().trim().min(1).max(200),
  // As people copy it: also `#7`.
  issue: z
    .string()
    .trim()
    .regex(/^#?[1-9]\d{0,8}$/)
    .transform((text) => Number(text.replace('#', ''))),
  start: z.enum(['run', 'debate']),
});

/** The page that starts a run on any issue, also on one that had none. The same as the comment on the issue. */
export function newRunPages(parts: WebParts): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  app.get('/', async (c) => {
    const { viewer } = c.var;
    if (viewer?.kind !== 'github') return sendNotFound(c);
    return sendForm(c, await writableRepositories(parts, viewer));
  });
  app.post('/', async (c) => {
    const { viewer } = c.var;
    return viewer?.kind === 'github' ? start(c, parts, viewer) : sendNotFound(c);
  });
  return app;
}

async function start(c: WebContext, parts: WebParts, { id, login }: Person): Promise<Response> {
  const form = StartForm.safeParse(await c.req.parseBody());
  if (!form.success)
    return sendRefusal(
      c,
      400,
      'The form is incomplete. Go back and enter a repository as owner/name and the number of an issue.',
    );
  const { key, repository, issue, start: how } = form.data;
  const found = await writable(parts, { kind: 'github', id, login, operator: false }, repository);
  if (typeof found === 'string') return sendRefusal(c, 422, found);
  const by = { id, login };
  const about = { repository: found, thread: issue };
  try {
    const { commands } = parts;
    const taken = await commands.onPage({ via: 'page', key, by, text: STARTS[how].text, about });
    if (taken.kind !== 'recorded') return sendRefusal(c, 422, taken.why);
    const command = await commands.outcome(taken.command, OUTCOME_WAIT_MS);
    return command?.outcome?.kind === 'done' && command.runId !== undefined
      ? c.redirect(`/runs/${encodeURIComponent(command.runId)}`, 303)
      : c.redirect(`/new?outcome=${key}#outcome`, 303);
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
    return sendRefusal(c, 422, `${repository} has no issue ${issue} that Runoff can read. Check its number.`);
  }
}

const sendRefusal = (c: WebContext, status: 400 | 422, why: string): Promise<Response> =>
  sendProblem(c, status, 'No run was started', why);

/** The repository of a name, or a sentence: one that the person may not see is as one that does not exist (decision 127). */
async function writable(
  { access }: Pick<WebParts, 'access'>,
  person: Person,
  name: string,
): Promise<RepositoryHandle | string> {
  const { repository: found, renamed } = await access.visibleNamed(person, name, 'now');
  if (!found) return noSuchRepository(name, renamed);
  return (await access.right(person, found)) === 'write'
    ? found
    : `You have no write access to ${name}. Ask somebody who has.`;
}

async function sendForm(c: WebContext, choice: VisibleRepositories): Promise<Response> {
  const sent = await sentCommand(c);
  const { repo = '', issue = '' } = c.req.query();
  const key = c.var.parts.world.random.nonce();
  const [only] = choice.repositories.length === 1 ? choice.repositories : [];
  const repository = repo === '' && only ? fullNameOf(only) : repo.slice(0, 200);
  const body = html`${sent && sent.page === undefined ? outcomeNotice(sent) : ''}
<p>A run starts with the text of the issue as it is now, as if you had commented on it. It spends money, up to the budget in the settings of the repository.</p>
<div class="actions"><form method="post" action="/new">${csrfField(c)}<input type="hidden" name="key" value="${key}">
${repositoryField(choice, repository)}
<p><label>Number of the issue <input name="issue" inputmode="numeric" required maxlength="10" pattern="#?[0-9]+" value="${issue.slice(0, 10)}"></label></p>
<fieldset><legend>Begin with</legend><ul class="choices">${Object.entries(STARTS).map(
    ([name, { label, says }]) =>
      html`<li><label><input type="radio" name="start" value="${name}"${name === 'run' ? raw(' checked') : ''}> ${label}</label> <span class="muted">${says}</span></li>`,
  )}</ul></fieldset>
<p><button type="submit">Start</button></p></form></div>`;
  return sendPage(c, { title: 'Start a run on an issue', body });
}

function repositoryField(choice: VisibleRepositories, value: string): Html {
  const known = choice.repositories.map((one) => html`<option value="${fullNameOf(one)}"></option>`);
  return html`<p><label>Repository, as owner/name <input name="repository" required maxlength="200" list="writable" autocomplete="off" value="${value}"></label></p>
<datalist id="writable">${known}</datalist>
${choice.repositories.length > 0 ? html`<p class="muted">You may write to ${writableText(choice)}.</p>` : html`<p class="muted">Runoff knows no repository with runs that you may write to.</p>`}`;
}

/** Repositories that the page names. Our default. */
const NAMED_ON_PAGE = 10;

function writableText({ repositories, complete }: VisibleRepositories): Html {
  const more = repositories.length - NAMED_ON_PAGE;
  const named = repositories.slice(0, NAMED_ON_PAGE).map(fullNameOf).join(', ');
  return html`${shownText(named)}${more > 0 ? `, and ${more} more` : ''}${complete ? '' : ', and perhaps others'}`;
}
