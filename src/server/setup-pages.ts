import type { Kept } from './keeper.ts';
import type { Manifest } from './manifest.ts';
import { escapeHtml, FORM_TO_GITHUB, type Page, page } from './page.ts';

const TITLE = 'Set up Runoff';
const paragraph = (text: string): string => `<p>${escapeHtml(text)}</p>`;
const note = (text: string): string => `<p class="note">${escapeHtml(text)}</p>`;

/** A page that only says what is wrong and what to do next. */
export const setupProblem = (status: number, ...sentences: readonly string[]): Page =>
  page(status, TITLE, sentences.map(paragraph).join(''));

/** Asks for what the manifest needs; answered by loading the page again with it. */
const askForm = (token: string): string =>
  '<form method="get" action="/setup">' +
  `<input type="hidden" name="token" value="${escapeHtml(token)}">` +
  '<p><label>Address at which GitHub reaches this server<br>' +
  '<input name="publicUrl" type="url" size="40" placeholder="https://runoff.example.com"></label></p>' +
  '<p><label>Login of the organisation that will own the App (empty: your own account)<br>' +
  '<input name="organization" size="40" maxlength="80"></label></p>' +
  '<button type="submit">Go on</button></form>';

/** Without an address for GitHub's events there is nothing to register yet. */
export const setupAsk = (token: string, problem: string | null): Page =>
  page(
    problem === null ? 200 : 400,
    TITLE,
    (problem === null ? '' : note(problem)) +
      paragraph(
        'GitHub must know where to send its events. A reverse proxy with TLS, or a tunnel, will do.',
      ) +
      askForm(token),
  );

const LOCAL =
  'That address is on this machine only. GitHub will refuse it, unless GitHub runs on this machine too.';

export interface FormFacts {
  readonly manifest: Manifest;
  /** Where the form goes, on GitHub. */
  readonly action: string;
  readonly token: string;
  /** Login of the organisation that will own the App; absent: the person's own account. */
  readonly organization?: string;
  /** GitHub cannot reach this address from outside. */
  readonly local: boolean;
}

export function setupForm(facts: FormFacts): Page {
  const { manifest, organization } = facts;
  const rights = Object.entries(manifest.default_permissions).map(
    ([name, level]) => `<li><code>${escapeHtml(name)}</code>: ${escapeHtml(level)}</li>`,
  );
  const hook = manifest.hook_attributes.url;
  const owner = organization === undefined ? 'your own account' : `the organisation ${organization}`;
  const body = [
    paragraph(`GitHub will register an App for ${owner}, with these rights and no others:`),
    `<ul>${rights.join('')}</ul>`,
    `<p>GitHub will send its events to <code>${escapeHtml(hook)}</code>.</p>`,
    ...(facts.local ? [note(LOCAL)] : []),
    `<form method="post" action="${escapeHtml(facts.action)}">`,
    `<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(manifest))}">`,
    '<button type="submit">Register on GitHub</button></form>',
    paragraph('App names are unique on GitHub: if this one is taken, type another on the next page.'),
    '<h2>Not like this?</h2>',
    askForm(facts.token),
  ];
  return page(200, TITLE, body.join(''), FORM_TO_GITHUB);
}

/** After registration. `appUrl` was checked to be an http address. */
export function setupDone(app: { readonly name: string; readonly appUrl: string }, kept: Kept): Page {
  const install = `${app.appUrl.replace(/\/+$/, '')}/installations/new`;
  const body = [
    paragraph(`GitHub has registered the App “${app.name}”.`),
    `<p>The private key is in <code>${escapeHtml(kept.keyFile)}</code>, the rest in <code>${escapeHtml(kept.envFile)}</code>. Only this user can read them.</p>`,
    '<ol>',
    `<li><a href="${escapeHtml(install)}" rel="noreferrer">Install it on the repositories</a> that it may work on.</li>`,
    '<li>Start Runoff again: it reads the new settings when it starts.</li>',
    '</ol>',
  ];
  return page(200, TITLE, body.join(''));
}

/** GitHub has registered the App, but its key did not reach our disk; GitHub does not show it a second time. */
export const setupNotKept = (appUrl: string, why: string): Page =>
  page(
    500,
    TITLE,
    paragraph(`GitHub has registered the App, but its key could not be written: ${why}`) +
      `<p>GitHub shows the key only once. Open <a href="${escapeHtml(appUrl)}" rel="noreferrer">the App</a>, ` +
      'then its settings: delete it under “Advanced” and begin again, or make a new private key and a new webhook ' +
      'secret there and set <code>APP_ID</code>, <code>PRIVATE_KEY_PATH</code> and <code>WEBHOOK_SECRET</code> by hand.</p>',
  );
