import { describe, expect, test } from 'vitest';
import { openGitHub } from '../../../src/adapters/github/index.ts';
import { newAppKey } from '../../world/app-key.ts';
import { silent } from '../../world/silent-log.ts';

const API = 'https://api.example.org';
const PAGE = 100;
const privateKey = newAppKey();

const commentOf = (id: number) => ({
  id,
  user: { id: 9, login: 'alice', type: 'User' },
  author_association: 'OWNER',
  body: `comment ${id}`,
  html_url: `https://example.org/o/r/issues/7#issuecomment-${id}`,
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-02T03:04:05Z',
});

const REPOSITORY = {
  id: 5,
  full_name: 'o/r',
  private: false,
  archived: false,
  default_branch: 'main',
  html_url: 'https://example.org/o/r',
};

/** GitHub with one issue of so many comments, numbered from 1; notes which pages were asked for. */
function issueWith(total: number, instead?: () => Response) {
  const pages: number[] = [];
  const last = Math.ceil(total / PAGE);
  const listed = (url: URL): Response => {
    const page = Number(url.searchParams.get('page'));
    expect(url.searchParams.get('per_page')).toBe(String(PAGE));
    pages.push(page);
    if (instead) return instead();
    const first = (page - 1) * PAGE;
    const count = Math.max(0, Math.min(PAGE, total - first));
    const link = (to: number, rel: string): string =>
      `<${API}/repositories/5/issues/7/comments?per_page=${PAGE}&page=${to}>; rel="${rel}"`;
    const links = page < last ? [link(page + 1, 'next'), link(last, 'last')] : [];
    if (page > 1) links.unshift(link(page - 1, 'prev'), link(1, 'first'));
    const body = Array.from({ length: count }, (_, at) => commentOf(first + at + 1));
    return Response.json(body, { headers: links.length > 0 ? { link: links.join(', ') } : {} });
  };
  const answer = async (input: string | URL | Request): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.pathname === '/repos/o/r/issues/7/comments') return listed(url);
    if (url.pathname === '/repositories/5') return Response.json(REPOSITORY);
    return Response.json({ token: 'ghs_read', expires_at: '2099-01-01T00:00:00Z' }, { status: 201 });
  };
  const github = openGitHub({
    appId: 1,
    privateKey,
    apiUrl: API,
    gitUrl: 'https://example.org',
    fetch: answer,
    throttle: false,
    log: silent,
  });
  const handle = { installationId: 2, repositoryId: 5, owner: 'o', name: 'r' };
  const read = async (most: number) => {
    const found: number[] = [];
    for await (const page of (await github.reader(handle)).commentPages(7)) {
      found.unshift(...page.map(({ id }) => id));
      if (found.length >= most) break;
    }
    return found;
  };
  return { read, pages };
}

const span = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

test("an answer that is longer than any of GitHub's is not read to its end", async () => {
  let sent = 0;
  const part = new Uint8Array(2 ** 20).fill(32);
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += part.length;
      controller.enqueue(part);
    },
  });
  const headers = { 'content-type': 'application/json' };
  const issue = issueWith(1, () => new Response(endless, { headers }));
  await expect(issue.read(200)).rejects.toMatchObject({ code: expect.stringMatching(/^GITHUB_|^INTERNAL$/) });
  expect(sent).toBeLessThan(80 * 2 ** 20);
});

describe('the comments of a busy issue', () => {
  test.each([
    { total: 0, ids: [], pages: [1] },
    { total: 1, ids: span(1, 1), pages: [1] },
    { total: 100, ids: span(1, 100), pages: [1] },
    { total: 101, ids: span(1, 101), pages: [1, 2] },
    { total: 201, ids: span(1, 201), pages: [1, 3, 2] },
    { total: 301, ids: span(101, 301), pages: [1, 4, 3, 2] },
    { total: 1234, ids: span(1001, 1234), pages: [1, 13, 12, 11] },
  ])('($total) are read backwards until there are enough', async ({ total, ids, pages }) => {
    const issue = issueWith(total);
    expect(await issue.read(200)).toEqual(ids);
    expect(issue.pages).toEqual(pages);
  });
});
