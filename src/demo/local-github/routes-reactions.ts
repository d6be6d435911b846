import { Refusal } from './emulator.ts';
import { type Inside, ownerToken, type Repository } from './inside.ts';
import { type Json, objectIn, textAt } from './json.ts';
import { simpleUser } from './push.ts';
import { pullAt, repaired } from './repairs.ts';
import { type Answer, type Asked, forbidden, type Route, refused, repositoryRoute } from './route.ts';

const REACTIONS: ReadonlySet<string> = new Set([
  '+1',
  '-1',
  'laugh',
  'confused',
  'heart',
  'hooray',
  'rocket',
  'eyes',
]);

/** What a reaction is put on, by the path that it is put there with. */
const TARGETS: Readonly<Record<string, string>> = {
  issues: 'issues',
  'issues/comments': 'comments',
  'pulls/comments': 'review-comments',
};

/** Who may see an issue or comment may react to it; an App needs the right to write issues. */
async function react(
  inside: Inside,
  asked: Asked,
  repository: Repository,
  kind = '',
  id = '',
): Promise<Answer> {
  const target = `${TARGETS[kind] ?? ''}/${id}`;
  const missing = await unseen(inside, asked, repository, kind, id);
  if (missing) return missing;
  const right = kind === 'pulls/comments' ? 'pull_requests' : 'issues';
  if (asked.holder?.permissions && asked.holder.permissions[right] !== 'write') return forbidden();
  const content = textAt(objectIn(asked.body), 'content');
  if (!REACTIONS.has(content)) return refused(422, 'Validation Failed');
  const login = asked.holder?.login ?? '';
  const mine = inside.reactions.find(
    (r) =>
      r.repository === repository.fullName &&
      r.target === target &&
      r.content === content &&
      r.login === login,
  );
  if (mine) return { status: 200, data: mine.shown };
  const account = await inside.emulator.call(
    'GET',
    `/users/${encodeURIComponent(login)}`,
    ownerToken(inside, repository),
  );
  const shown = {
    id: inside.reactions.length + 1,
    node_id: `REA_${inside.reactions.length + 1}`,
    user: await repaired(inside, simpleUser(account)),
    content,
    created_at: new Date().toISOString(),
  };
  inside.reactions.push({ repository: repository.fullName, target, content, login, shown });
  return { status: 201, data: shown };
}

async function reactions(
  inside: Inside,
  asked: Asked,
  repository: Repository,
  kind = '',
  id = '',
): Promise<Answer> {
  const missing = await unseen(inside, asked, repository, kind, id);
  if (missing) return missing;
  const target = `${TARGETS[kind] ?? ''}/${id}`;
  const all = inside.reactions.filter((r) => r.repository === repository.fullName && r.target === target);
  return { status: 200, data: all.map((r) => r.shown) };
}

/** The refusal that whoever asks gets for an issue or comment that is not there for them. */
async function unseen(
  inside: Inside,
  asked: Asked,
  repository: Repository,
  kind: string,
  id: string,
): Promise<Answer | undefined> {
  if (asked.token === undefined) return refused(401, 'Requires authentication');
  const at = `/repos/${repository.fullName}`;
  try {
    await inside.emulator.call('GET', `${at}/${kind}/${id}`, asked.token);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const isPull = kind === 'issues' && (await pullAt(inside, repository, Number(id))) !== null;
    return isPull ? undefined : { status: error.status, data: error.data as Json };
  }
}

const PATH = '/(issues|issues/comments|pulls/comments)/(\\d+)/reactions';

export const reactionRoutes: readonly Route[] = [
  repositoryRoute('POST', PATH, react),
  repositoryRoute('GET', PATH, reactions),
];
