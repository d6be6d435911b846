import { z } from 'zod';
import { commaSeparated, publicAddress, yesNo } from './environment-values.ts';

/** Where people sign in, and where GitHub sends them back to, below the origin of the pages. */
export const SIGN_IN_PATH = '/sign-in';
export const SIGN_IN_CALLBACK_PATH = `${SIGN_IN_PATH}/callback`;

/** The part of the operator's environment that is about pages. */
export const PAGE_VARIABLES = {
  GITHUB_CLIENT_ID: z
    .string()
    .regex(/^[\w.-]{1,80}$/, 'write the client id that GitHub shows on the page of the App')
    .optional()
    .describe(
      'Client id of the GitHub App, for signing in to the pages; with GITHUB_CLIENT_SECRET and PUBLIC_URL.',
    ),
  GITHUB_CLIENT_SECRET: z
    .string()
    .min(16, 'needs at least 16 characters; make one on the page of the App')
    .optional()
    .describe('A client secret of the GitHub App, for signing in to the pages.'),
  PUBLIC_URL: publicAddress
    .optional()
    .describe(
      'Address of the pages for browsers, such as https://runoff.example.com, without a path. Needed for signing in; must be https unless it is on this machine. Default: none; nobody can sign in. See docs/pages.md.',
    ),
  RUNOFF_OPERATORS: commaSeparated
    .pipe(
      z.array(
        z
          .string()
          .regex(/^(\d{1,15}|[A-Za-z0-9][\w-]{0,79})$/, 'write logins or numeric ids, with commas between'),
      ),
    )
    .describe(
      'GitHub users who may see the status page of the installation: numeric ids or logins, comma-separated; digits alone are an id. An id stays with its person, while a login can pass to another. Default: nobody.',
    ),
  PUBLIC_PAGES: yesNo(false).describe(
    'true: runs of public repositories are shown to anybody, without signing in. Default: false.',
  ),
};
const PageVariables = z.object(PAGE_VARIABLES);

/** Who may see which pages. */
export interface PagesSettings {
  /** Origin of the pages for browsers; absent: nobody can sign in. */
  readonly publicUrl?: string;
  /** The App's user flow; absent: nobody can sign in. */
  readonly signIn?: { readonly clientId: string; readonly clientSecret: string };
  /** Variables that signing in needs and that are not set. */
  readonly lacks: readonly string[];
  /** Numeric ids, or logins in lower case. */
  readonly operators: readonly string[];
  /** Whether runs of public repositories are shown to anybody. */
  readonly publicRepositories: boolean;
}

export function pagesOf(env: z.output<typeof PageVariables>): PagesSettings {
  const { PUBLIC_URL, GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET } = env;
  const needed = { PUBLIC_URL, GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET };
  return {
    ...(PUBLIC_URL === undefined ? {} : { publicUrl: PUBLIC_URL }),
    ...(GITHUB_CLIENT_ID !== undefined && GITHUB_CLIENT_SECRET !== undefined
      ? { signIn: { clientId: GITHUB_CLIENT_ID, clientSecret: GITHUB_CLIENT_SECRET } }
      : {}),
    lacks: Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : [])),
    operators: env.RUNOFF_OPERATORS.map((one) => one.toLowerCase()),
    publicRepositories: env.PUBLIC_PAGES,
  };
}
