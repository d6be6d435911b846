import { asFault, type FaultCode, OUTAGES } from '../../core/model/index.ts';

/**
 * Everything that can go wrong with a request. `docs/api.md` has a section for each, and the server a page, which the
 * type of a problem names.
 */
export const PROBLEMS = {
  'invalid-body': { status: 400, title: 'The body is not valid JSON' },
  unauthorised: { status: 401, title: 'Sign in with a token' },
  'verb-missing': { status: 403, title: 'The token does not allow this' },
  'write-access-missing': { status: 403, title: 'Only people with write access may do this' },
  'not-found': { status: 404, title: 'There is nothing at this address' },
  refused: { status: 409, title: 'Runoff refused the command' },
  'key-in-use': { status: 409, title: 'A request with this Idempotency-Key is being processed' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'media-type': { status: 415, title: 'The body must be JSON' },
  'invalid-request': { status: 422, title: 'The request is not valid' },
  'key-reused': { status: 422, title: 'The Idempotency-Key was used for another request' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong in Runoff' },
  'github-unavailable': { status: 503, title: 'GitHub does not answer' },
  'database-unavailable': { status: 503, title: 'The database does not answer' },
  'server-unavailable': { status: 503, title: 'The server lacks something that this needs' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;
export type ProblemName = keyof typeof PROBLEMS;

interface FieldProblem {
  /** Where: `body.candidates`, `query.limit`, `header.idempotency-key`. */
  readonly field: string;
  /** A sentence that says what is expected. */
  readonly message: string;
}

/** Where a type of problem is explained, on this server. */
export const problemPath = (name: string): string => `/api/problems/${name}`;

/** Ends a request with a problem. `detail`: sentences that say what happened here and what to do. */
export class ApiProblem extends Error {
  readonly problem: ProblemName;
  readonly fields: readonly FieldProblem[];
  /** Seconds after which another try makes sense; null if it does not by itself. */
  readonly retryAfter: number | null;
  constructor(
    problem: ProblemName,
    detail: string,
    more: { readonly fields?: readonly FieldProblem[]; readonly retryAfter?: number } = {},
  ) {
    super(detail);
    this.name = 'ApiProblem';
    this.problem = problem;
    this.fields = more.fields ?? [];
    this.retryAfter = more.retryAfter ?? null;
  }
}

/** The request cannot be used as it is; `fields` says where. */
export const invalidRequest = (fields: readonly FieldProblem[]): ApiProblem =>
  new ApiProblem('invalid-request', 'Correct the fields that `errors` names, and send the request again.', {
    fields,
  });

/** The one answer for what does not exist and for what the caller may not see. */
export const notThere = (): ApiProblem =>
  new ApiProblem(
    'not-found',
    'There is nothing at this address, or nothing that your token may see. Check the names, and the repositories of the token.',
  );

/** Seconds after which an outage is worth another try. Our default. */
const OUTAGE_SECONDS = 30;

const OUTAGE_PROBLEMS: Readonly<Partial<Record<FaultCode, ApiProblem>>> = {
  GITHUB_UNAVAILABLE: new ApiProblem(
    'github-unavailable',
    'Who may do what is read from GitHub, and GitHub does not answer at the moment. Send the request again later.',
    { retryAfter: OUTAGE_SECONDS },
  ),
  DATABASE_UNAVAILABLE: new ApiProblem(
    'database-unavailable',
    'The database does not answer at the moment. Send the request again later.',
    { retryAfter: OUTAGE_SECONDS },
  ),
};

/** Of the disk, the artifact store, or what the system gives to programs. */
const OTHER_OUTAGE = new ApiProblem(
  'server-unavailable',
  'The disk or the artifact store of the server cannot be used at the moment, or memory or open files have run out; its log says which. Send the request again later.',
  { retryAfter: OUTAGE_SECONDS },
);

/** The problem behind an error; null if it is a fault of Runoff itself. */
export function problemOf(thrown: unknown): ApiProblem | null {
  if (thrown instanceof ApiProblem) return thrown;
  const { code } = asFault(thrown);
  return OUTAGE_PROBLEMS[code] ?? (OUTAGES.has(code) ? OTHER_OUTAGE : null);
}

/** A problem in the form of RFC 9457. `instance`: the path of the request. */
export function problemResponse(
  { problem, message, fields, retryAfter }: ApiProblem,
  instance: string,
): Response {
  const { status, title } = PROBLEMS[problem];
  const body = {
    type: problemPath(problem),
    title,
    status,
    detail: message,
    instance,
    ...(fields.length > 0 ? { errors: fields } : {}),
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfter === null ? {} : { 'retry-after': String(retryAfter) }),
      ...(status === 401 ? { 'www-authenticate': 'Bearer realm="runoff"' } : {}),
    },
  });
}
