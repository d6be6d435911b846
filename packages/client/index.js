import createClient from 'openapi-fetch';

export { followRun, RunoffProblem } from './follow.js';

export function openRunoff({ url, token, fetch: send }) {
  return createClient({
    baseUrl: url.replace(/\/+$/, ''),
    headers: { authorization: `Bearer ${token}` },
    ...(send ? { fetch: send } : {}),
  });
}
