/** A browser of a few lines: keeps cookies by host, follows no redirect by itself, and sends what browsers send. */
export interface Browser {
  readonly cookies: Map<string, string>;
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Sends a form of a page of the same origin. */
  post(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
}

export function openBrowser(): Browser {
  const cookies = new Map<string, string>();
  async function send(
    url: string,
    init: RequestInit & { headers: Record<string, string> },
  ): Promise<Response> {
    const { host } = new URL(url);
    const own = [...cookies].filter(([key]) => key.startsWith(`${host} `));
    const cookie = own.map(([key, value]) => `${key.slice(host.length + 1)}=${value}`).join('; ');
    const headers = { ...(cookie ? { cookie } : {}), ...init.headers };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0/i.test(line)) cookies.delete(`${host} ${name}`);
      else cookies.set(`${host} ${name}`, value);
    }
    return response;
  }
  return {
    cookies,
    get: (url, headers = {}) => send(url, { headers: { ...headers } }),
    post: (url, fields, headers = {}) =>
      send(url, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: new URL(url).origin,
          'sec-fetch-site': 'same-origin',
          ...headers,
        },
      }),
  };
}

/** The value of a hidden field of a page. */
export const fieldOf = (page: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`)
    .exec(page)?.[1]
    ?.replaceAll('&#38;', '&')
    .replaceAll('&amp;', '&') ?? '';

/** Signs in at the local GitHub as this user; resolves with the answer to the return, and the address returned to. */
export async function signIn(
  browser: Browser,
  url: string,
  login: string,
  to = '/runs',
): Promise<{ readonly back: string; readonly response: Response }> {
  const start = await browser.get(`${url}/sign-in?${new URLSearchParams({ to })}`);
  const authorize = start.headers.get('location') ?? '';
  const page = await (await browser.get(authorize)).text();
  const names = ['client_id', 'redirect_uri', 'state', 'code_challenge'];
  const fields = Object.fromEntries(
    names.map((name) => [name, new URL(authorize).searchParams.get(name) ?? '']),
  );
  if (!page.includes(`value="${login}"`)) throw new Error(`GitHub has no button for ${login}.`);
  const given = await browser.post(`${new URL(authorize).origin}/login/oauth/authorize`, {
    ...fields,
    login,
  });
  const back = given.headers.get('location') ?? '';
  return { back, response: await browser.get(back) };
}
