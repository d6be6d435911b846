import { numberAt } from './json.ts';
import { fixResponse } from './response-fixes.ts';
import { errorResponse, type RestRequest, type RestResponse, type Route, repositoryRoute } from './route.ts';
import { installations, isInstalled } from './routes-app.ts';
import type { GitHubState, Repository } from './state.ts';

/** Scopes of the tokens that users have here: those of a classic token with all rights on repositories. */
const USER_SCOPES = 'repo, read:org';

async function person(state: GitHubState, request: RestRequest): Promise<RestResponse> {
  const { holder, token = '' } = request;
  if (holder && token.startsWith('ghu_')) {
    const data = await state.emulator.call('GET', '/user', state.emulator.ownToken(holder.login));
    return { status: 200, data: await fixResponse(state, data) };
  }
  const answer = await request.pass();
  return { ...answer, headers: { ...answer.headers, 'x-oauth-scopes': USER_SCOPES } };
}

/** The installation on a repository; the App asks with a token of its own. */
async function installation(
  state: GitHubState,
  _request: RestRequest,
  repository: Repository,
): Promise<RestResponse> {
  const all = isInstalled(state, repository) ? await installations(state) : [];
  const found = all.find((one) => numberAt(one, 'id') === repository.installationId);
  return found ? { status: 200, data: found } : errorResponse(404, 'Not Found');
}

export const peopleRoutes: readonly Route[] = [
  { method: 'GET', pattern: /^\/user$/, answer: person },
  repositoryRoute('GET', '/installation', installation),
];
