import createClient from 'openapi-fetch';

export function openRunoff({ url, token, fetch: send }) {
  return createClient({
    baseUrl: url.replace(/\/+$/, ''),
    headers: { authorization: `Bearer ${token}` },
    ...(send ? { fetch: send } : {}),
  });
}
