import { found } from './emulator.ts';
import { type Inside, ownerToken, type Repository } from './inside.ts';
import { type Json, listAt, numberAt, textAt } from './json.ts';

export interface Page {
  readonly status: number;
  readonly html: string;
}

/** Nothing but the page itself and its style is loaded or run. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.8rem;border-radius:6px}
.label{background:#8883;border-radius:9px;padding:0 .5rem;margin-right:.3rem}
small{opacity:.7}`;

/** Pages to look at in a browser: repositories, and the issues and pull requests of public ones, as plain text. */
export async function pageFor(inside: Inside, path: string): Promise<Page | undefined> {
  if (path === '/') return page('Local GitHub', repositoryList(inside));
  const match = /^\/([\w.-]+\/[\w.-]+?)(?:\/(issues|pull)\/(\d+))?\/?$/.exec(path);
  const [, fullName = '', kind, number] = match ?? [];
  const repository = inside.repositories.get(fullName);
  if (!repository || repository.private) return undefined;
  if (number === undefined) return overview(inside, repository);
  const issue = kind === 'issues' ? await conversation(inside, repository, 'issues', number) : undefined;
  // As on GitHub, a pull request's number is good for the issues' address too.
  return issue ?? conversation(inside, repository, 'pulls', number);
}

function repositoryList(inside: Inside): string {
  const open = [...inside.repositories.values()].filter((repository) => !repository.private);
  return `<ul>${open.map(({ fullName }) => `<li>${link(`/${fullName}`, fullName)}</li>`).join('')}</ul>`;
}

async function overview(inside: Inside, repository: Repository): Promise<Page> {
  const read = async (kind: 'issues' | 'pulls'): Promise<readonly Json[]> => {
    const path = `/repos/${repository.fullName}/${kind}?state=all&per_page=100`;
    const items = await inside.emulator.call('GET', path, ownerToken(inside, repository));
    return listAt({ items }, 'items');
  };
  const list = (items: readonly Json[], kind: 'issues' | 'pull'): string =>
    items
      .map((item) => {
        const number = numberAt(item, 'number');
        const to = `/${repository.fullName}/${kind}/${number}`;
        return `<li>${link(to, `#${number} ${textAt(item, 'title')}`)} <small>${state(item)}</small></li>`;
      })
      .join('');
  const pulls = list(await read('pulls'), 'pull');
  const issues = list(await read('issues'), 'issues');
  return page(
    repository.fullName,
    `<h2>Pull requests</h2><ul>${pulls}</ul><h2>Issues</h2><ul>${issues}</ul>`,
  );
}

async function conversation(
  inside: Inside,
  repository: Repository,
  kind: 'issues' | 'pulls',
  number: string,
): Promise<Page | undefined> {
  const at = `/repos/${repository.fullName}`;
  const token = ownerToken(inside, repository);
  const item = await found(inside.emulator.call('GET', `${at}/${kind}/${number}`, token));
  if (item === null) return undefined;
  const comments = await inside.emulator.call('GET', `${at}/issues/${number}/comments?per_page=100`, token);
  const labels = listAt(item, 'labels').map(
    (label) => `<span class="label">${escaped(textAt(label, 'name'))}</span>`,
  );
  const branch = kind === 'pulls' ? `${textAt(item, 'head', 'ref')} → ${textAt(item, 'base', 'ref')}` : '';
  return page(
    `${textAt(item, 'title')} #${number}`,
    [
      `<p>${link(`/${repository.fullName}`, repository.fullName)} <small>${state(item)} ${escaped(branch)}</small></p>`,
      `<p>${labels.join('')}</p>`,
      said(item),
      ...listAt({ comments }, 'comments').map(said),
    ].join('\n'),
  );
}

function state(item: Json): string {
  const draft = (item as { draft?: Json }).draft === true ? 'draft ' : '';
  const merged = textAt(item, 'merged_at') ? 'merged' : textAt(item, 'state');
  return escaped(`${draft}${merged}`);
}

const said = (item: Json): string =>
  `<p><small>${escaped(`${textAt(item, 'user', 'login')}, ${textAt(item, 'created_at')}`)}</small></p>
<pre>${escaped(textAt(item, 'body'))}</pre>`;

const page = (title: string, body: string): Page => ({
  status: 200,
  html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title>
<style>${STYLE}</style><h1>${escaped(title)}</h1>${body}</html>`,
});

/** The path is ours; the text is anybody's. */
const link = (path: string, text: string): string => `<a href="${escaped(path)}">${escaped(text)}</a>`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
