import { Hono } from 'hono';
import { html, raw } from 'hono/html';
import { z } from 'zod';
import { type MadeToken, makeTokenFor, revokeToken } from '../../commands/index.ts';
import { fullNameOf, openBoundedMap } from '../../core/model/index.ts';
import {
  type ApiToken,
  MAX_TOKEN_NAME,
  MAX_TOKEN_REPOSITORIES,
  TOKEN_DAYS,
  TOKEN_VERBS,
  type TokenVerb,
  tokenState,
} from '../../core/tokens/index.ts';
import type { RepositoryHandle } from '../../ports/index.ts';
import type { Person, VisibleRepositories, WebContext, WebEnv, WebParts } from '../context.ts';
import { csrfField, type Html, moment, sendNotFound, sendPage, sendProblem, shownText } from '../layout.ts';
import { listCursor, readListCursor } from '../list-cursor.ts';
import { FormKey, noSuchRepository, writableRepositories } from '../people/index.ts';

/** Tokens on one page: valid ones, and ended ones, which are only shown for what they were used for. Our defaults. */
const VALID_ON_A_PAGE = 100;
const MAX_ENDED = 50;
/** Valid tokens of a person above which this page makes none. Our default. */
const MAX_VALID = 50;
/** Forms that were sent lately, so that one that is sent again makes no second token. Our default. */
const MAX_SENT = 2_000;

const VERB_WORDS = {
  read: 'see runs and follow them',
  run: 'start and repeat runs',
  act: 'pick, vote, cancel',
} as const satisfies Record<TokenVerb, string>;

const personOf = (c: WebContext): Person | null => (c.var.viewer?.kind === 'github' ? c.var.viewer : null);

/** Where people make, see and revoke their own tokens of the API. The rules are those of `runoff token`. */
export function tokenPages(parts: WebParts): Hono<WebEnv> {
  const { world } = parts;
  const app = new Hono<WebEnv>();
  const sent = openBoundedMap<true>(MAX_SENT);

  app.get('/', async (c) => {
    const person = personOf(c);
    if (!person) return sendNotFound(c);
    const choice = await writableRepositories(parts, person);
    const body = html`${newTokenForm(c, choice, world.random.nonce())}
${await ownTokens(c, parts, person)}`;
    return sendPage(c, { title: 'Tokens of the API', body });
  });
  app.post('/', async (c) => {
    const person = personOf(c);
    if (!person) return sendNotFound(c);
    const form = TokenForm.safeParse(await tokenFields(c));
    if (!form.success)
      return sendRefused(c, 'The form was not filled in. Go back, name the token, and choose repositories.');
    const known = `${person.id} ${form.data.key}`;
    if (sent.get(known))
      return sendRefused(
        c,
        'This form was sent before. Revoke the token that it made if you did not keep its text.',
      );
    // Before anything is awaited: the same form can arrive twice at once.
    sent.set(known, true);
    let made: MadeToken | null = null;
    try {
      made = await makeFromForm(parts, person, form.data);
    } finally {
      if (made?.kind !== 'made') sent.delete(known);
    }
    return made.kind === 'refused' ? sendRefused(c, made.why) : sendMade(c, made);
  });
  app.post('/:id/revoke', async (c) => {
    const person = personOf(c);
    const token = await world.store.token(c.req.param('id'));
    if (!person || token?.by.id !== person.id) return sendNotFound(c);
    await revokeToken(world, token.id, { id: person.id, login: person.login });
    return c.redirect('/tokens', 303);
  });
  return app;
}

async function makeFromForm(
  parts: WebParts,
  person: Person,
  { repositories, names, verbs, days, name }: z.infer<typeof TokenForm>,
): Promise<MadeToken> {
  const { store, clock } = parts.world;
  const valid = await store.tokens({ userId: person.id, validAt: clock.now(), limit: MAX_VALID });
  if (valid.length >= MAX_VALID)
    return {
      kind: 'refused',
      why: `You have ${MAX_VALID} valid tokens or more. Revoke those that are not needed.`,
    };
  const found = await chosenRepositories(parts, person, { ids: repositories, names });
  if ('missing' in found) return { kind: 'refused', why: noSuchRepository(found.missing, found.renamed) };
  return makeTokenFor(parts.world, person, found.repositories, { verbs, days, name });
}

const TokenForm = z.object({
  key: FormKey,
  name: z.string().trim().min(1).max(MAX_TOKEN_NAME),
  days: z.coerce.number().int(),
  verbs: z.array(z.enum(TOKEN_VERBS)),
  /** Ids of those that the page listed. */
  repositories: z.array(z.coerce.number().int()).max(MAX_TOKEN_REPOSITORIES),
  /** Others, as `owner/name`. */
  names: z.array(z.string().max(200)).max(MAX_TOKEN_REPOSITORIES),
});

async function tokenFields(c: WebContext): Promise<object> {
  const form = await c.req.formData();
  const names = String(form.get('others') ?? '').split(/[\s,]+/);
  return {
    key: form.get('key'),
    name: form.get('name'),
    days: form.get('days'),
    verbs: form.getAll('verb'),
    repositories: form.getAll('repository'),
    names: names.filter((name) => name !== ''),
  };
}

const sendRefused = (c: WebContext, why: string): Promise<Response> =>
  sendProblem(c, 422, 'No token was made', why);

/** All valid ones, a page at a time: what is not listed cannot be revoked here. Then those that ended lately. */
async function ownTokens(c: WebContext, { world }: WebParts, { id: userId }: Person): Promise<Html> {
  const { store, clock } = world;
  const [now, after] = [clock.now(), readListCursor(c.req.query('after') ?? '')];
  const place = after ? { after } : {};
  const found = await store.tokens({ userId, validAt: now, limit: VALID_ON_A_PAGE + 1, ...place });
  const valid = found.slice(0, VALID_ON_A_PAGE);
  const last = found.length > valid.length ? valid.at(-1) : undefined;
  const newest = after ? [] : await store.tokens({ userId, limit: VALID_ON_A_PAGE + MAX_ENDED });
  const ended = newest.filter((one) => tokenState(one, now) !== 'valid').slice(0, MAX_ENDED);
  return html`<h2 id="valid">${after ? 'Your older valid tokens' : 'Your valid tokens'}</h2>
${valid.length > 0 ? tokenTable(c, { title: 'valid', tokens: valid }, now) : html`<p>You have ${after ? 'no more' : 'none'}.</p>`}
${last ? html`<p><a rel="next" href="/tokens?after=${listCursor(last)}#valid">Older valid tokens</a></p>` : ''}
${after ? html`<p><a href="/tokens#valid">The newest tokens</a></p>` : ''}
${ended.length > 0 ? html`<h2 id="ended">Expired or revoked</h2>${tokenTable(c, { title: 'ended', tokens: ended }, now)}` : ''}`;
}

interface MissingRepository {
  readonly missing: string;
  /** What it is called now. */
  readonly renamed?: string;
}

/**
 * Only repositories that the person may see are found, whatever the form says: one that they may not see is treated as one
 * that does not exist (decision 127). Whether they may write is asked when the token is made.
 */
async function chosenRepositories(
  { access }: WebParts,
  person: Person,
  { ids, names }: { readonly ids: readonly number[]; readonly names: readonly string[] },
): Promise<{ readonly repositories: readonly RepositoryHandle[] } | MissingRepository> {
  const listed = ids.length > 0 ? (await access.visibleRepositories(person)).repositories : [];
  const chosen = new Map<number, RepositoryHandle>();
  for (const id of ids) {
    const found = listed.find(({ repositoryId }) => repositoryId === id);
    if (!found) return { missing: 'One of the repositories that you chose' };
    chosen.set(id, found);
  }
  for (const name of new Set(names)) {
    const { repository: found, renamed } = await access.visibleNamed(person, name, 'now');
    if (!found) return { missing: name, ...(renamed === undefined ? {} : { renamed }) };
    chosen.set(found.repositoryId, found);
  }
  const handles = [...chosen.values()].map(({ installationId, repositoryId, owner, name }) => ({
    ...{ installationId, repositoryId, owner, name },
  }));
  return { repositories: handles };
}

const sendMade = (c: WebContext, { token, text }: Extract<MadeToken, { readonly kind: 'made' }>) =>
  sendPage(c, {
    title: 'Your new token',
    body: html`<p role="status" class="notice done">Copy it now: it is shown only here, and only its hash is stored.</p>
<pre tabindex="0" id="token">${text}</pre>
<p>Token <code>${token.id}</code> for ${places(token)} acts for you until ${moment(token.expiresAt)}. Send it as <code>Authorization: Bearer …</code>.</p>
<p><a href="/tokens">All your tokens</a></p>`,
  });

const places = ({ repositories }: Pick<ApiToken, 'repositories'>): Html =>
  html`${repositories.map((one, at) => html`${at > 0 ? ', ' : ''}${shownText(fullNameOf(one), 200)}`)}`;

function newTokenForm(c: WebContext, { repositories, complete }: VisibleRepositories, key: string): Html {
  const boxes = repositories.map(
    (one) =>
      html`<li><label><input type="checkbox" name="repository" value="${one.repositoryId}"> ${shownText(fullNameOf(one), 200)}</label></li>`,
  );
  const verbs = TOKEN_VERBS.map(
    (verb) =>
      html`<li><label><input type="checkbox" name="verb" value="${verb}"${verb === 'read' ? raw(' checked') : ''}> ${verb}: ${VERB_WORDS[verb]}</label></li>`,
  );
  return html`<p>A program with a token acts for you in the repositories that you choose. It can never do more than you: your rights are read from GitHub at each use.</p>
<div class="actions"><details class="confirm"><summary>Make a token…</summary>
<form method="post" action="/tokens">${csrfField(c)}<input type="hidden" name="key" value="${key}">
<p><label>Name, after what uses it <input name="name" required maxlength="${MAX_TOKEN_NAME}"></label></p>
<fieldset><legend>Repositories that you may write to</legend>
${boxes.length > 0 ? html`<ul class="choices">${boxes}</ul>` : html`<p class="muted">You can write to no repository that has runs.</p>`}
${complete ? '' : html`<p class="muted">Some may be missing: GitHub is asked about a few a minute.</p>`}
<label>Others, as owner/name, separated by commas <input name="others" maxlength="2000"></label></fieldset>
<fieldset><legend>What it may do</legend><ul class="choices">${verbs}</ul></fieldset>
<p><label>Days until it expires, at most ${TOKEN_DAYS.most} <input type="number" name="days" min="1" max="${TOKEN_DAYS.most}" value="${TOKEN_DAYS.usual}" required></label></p>
<button type="submit">Make the token</button></form></details></div>`;
}

function tokenTable(
  c: WebContext,
  { title, tokens }: { readonly title: 'ended' | 'valid'; readonly tokens: readonly ApiToken[] },
  now: number,
): Html {
  const isValid = title === 'valid';
  const rows = tokens.map(
    (token) => html`<tr><td><code>${token.id}</code></td><td>${shownText(token.name, MAX_TOKEN_NAME)}</td>
<td>${places(token)}</td><td>${token.verbs.join(', ')}</td><td>${isValid ? moment(token.expiresAt) : tokenState(token, now)}</td>
<td>${token.lastUsedAt === undefined ? 'never' : moment(token.lastUsedAt)}</td>${isValid ? html`<td>${revokeForm(c, token)}</td>` : ''}</tr>`,
  );
  return html`<div class="wide" tabindex="0" role="region" aria-labelledby="${title}"><table>
<thead><tr><th scope="col">Id</th><th scope="col">Name</th><th scope="col">Repositories</th><th scope="col">May</th><th scope="col">${isValid ? 'Expires' : 'State'}</th><th scope="col">Last use</th>${isValid ? html`<th scope="col">Revoke</th>` : ''}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

const revokeForm = (c: WebContext, { id }: ApiToken): Html =>
  html`<form method="post" action="/tokens/${id}/revoke">${csrfField(c)}<button type="submit" aria-label="Revoke ${id}">Revoke</button></form>`;
