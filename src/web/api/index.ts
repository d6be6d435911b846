import { OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi';
import type { Context, TypedResponse } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { problemsOf } from '../../core/settings/index.ts';
import type { WebEnv, WebParts } from '../context.ts';
import { openCallers } from './callers.ts';
import { openCommandRequests } from './commands.ts';
import { followRun } from './events.ts';
import { openRepeatable } from './idempotency.ts';
import {
  ApiProblem,
  invalidRequest,
  notThere,
  PROBLEMS,
  problemOf,
  problemPath,
  problemResponse,
} from './problems.ts';
import { type ApiParts, admitCaller, pageOfRuns, patchText, runIn } from './reading.ts';
import * as routes from './routes.ts';
import { TASK_ID } from './schemas.ts';

export { PROBLEMS } from './problems.ts';
export { apiDescription } from './routes.ts';

/** Longest body of a request, bytes: many times what all options need. Our default. */
const MAX_BODY_BYTES = 64 * 1_024;

/** The REST API, at its full paths. It reads tokens, and no cookie of a browser. */
export function openApi(
  { access, commands, names, world }: WebParts,
  live: ApiParts['live'],
): OpenAPIHono<WebEnv> {
  const parts: ApiParts = { access, commands, world, live, callers: openCallers(world, names) };
  const app = new OpenAPIHono<WebEnv>();
  app.onError((error, c) => answerError(parts, error, c));
  app.use('/api/*', bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }));
  addReading(app, parts);
  addCommands(app, parts);
  let document: ReturnType<typeof routes.apiDescription> | undefined;
  app.get(routes.describeRoute.path, (c) => {
    document ??= routes.apiDescription();
    return c.json(document);
  });
  app.all('/api/*', (c) => problemResponse(notThere(), c.req.path));
  return app;
}

function addReading(app: OpenAPIHono<WebEnv>, parts: ApiParts): void {
  const { listRunsRoute, showRunRoute, followRunRoute, showDiffRoute, explainRoute } = routes;
  app.openapi(
    listRunsRoute,
    async (c) => {
      const { repository } = await admitCaller(parts, c.req.raw, c.req.valid('param'), 'read');
      return c.json(await pageOfRuns(parts, repository, c.req.valid('query')), 200);
    },
    hookOf(listRunsRoute),
  );
  app.openapi(
    showRunRoute,
    async (c) => {
      const { repository } = await admitCaller(parts, c.req.raw, c.req.valid('param'), 'read');
      return sent(Response.json(await runIn(parts, repository, c.req.valid('param').id)));
    },
    hookOf(showRunRoute),
  );
  app.openapi(
    followRunRoute,
    async (c) =>
      sent(await followRun(parts, c, { ...c.req.valid('param'), steps: c.req.valid('query').steps })),
    hookOf(followRunRoute),
  );
  app.openapi(
    showDiffRoute,
    async (c) => {
      const { repository } = await admitCaller(parts, c.req.raw, c.req.valid('param'), 'read');
      const { id, alias } = c.req.valid('param');
      const headers = { 'content-type': 'text/x-diff; charset=utf-8' };
      return sent(new Response(await patchText(parts, repository, id, alias), { headers }));
    },
    hookOf(showDiffRoute),
  );
  app.openapi(
    explainRoute,
    (c) => {
      const { name } = c.req.valid('param');
      return c.json({ type: problemPath(name), ...PROBLEMS[name] }, 200);
    },
    hookOf(explainRoute),
  );
}

function addCommands(app: OpenAPIHono<WebEnv>, parts: ApiParts): void {
  const requests = openCommandRequests(parts, openRepeatable(parts.world));
  const { startRunRoute, processRoute, retryRoute, cancelRoute, pickRoute, voteRoute, showCommandRoute } =
    routes;
  app.openapi(
    startRunRoute,
    async (c) => {
      const { number, ...place } = c.req.valid('param');
      return sent(await requests.start(c, { ...place, issue: Number(number) }, c.req.valid('json')));
    },
    hookOf(startRunRoute),
  );
  app.openapi(
    processRoute,
    async (c) => {
      const [, owner = '', repo = '', number = ''] = TASK_ID.exec(c.req.valid('param').id) ?? [];
      const { multiAgent = true, coderCount, ...options } = c.req.valid('json');
      const candidates = multiAgent ? coderCount : 1;
      return sent(
        await requests.start(c, { owner, repo, issue: Number(number) }, { ...options, candidates }),
      );
    },
    hookOf(processRoute),
  );
  app.openapi(
    retryRoute,
    async (c) => sent(await requests.act(c, c.req.valid('param'), 'retry', c.req.valid('json').candidate)),
    hookOf(retryRoute),
  );
  app.openapi(
    cancelRoute,
    async (c) => sent(await requests.act(c, c.req.valid('param'), 'cancel')),
    hookOf(cancelRoute),
  );
  app.openapi(
    pickRoute,
    async (c) =>
      sent(await requests.act(c, c.req.valid('param'), 'pick', c.req.valid('json').candidate ?? 'none')),
    hookOf(pickRoute),
  );
  app.openapi(
    voteRoute,
    async (c) => sent(await requests.act(c, c.req.valid('param'), 'vote', c.req.valid('json').candidate)),
    hookOf(voteRoute),
  );
  app.openapi(
    showCommandRoute,
    async (c) => sent(await requests.show(c, c.req.valid('param'))),
    hookOf(showCommandRoute),
  );
}

/** A response whose form the description tells, and the tests compare with it. */
type Sent = Response & TypedResponse<never, never, never>;
const sent = (response: Response): Sent => response as Sent;

/** Names each field that is wrong, with the name that was probably meant. */
function hookOf({ request }: Pick<RouteConfig, 'request'>) {
  return (result: { readonly target: string; readonly success: boolean; readonly error?: z.ZodError }) => {
    if (result.success || !result.error) return undefined;
    const { target, error } = result;
    const place = PLACES[target] ?? target;
    const fields = problemsOf(error, { schema: schemaAt(request, target), kind: 'field' });
    throw invalidRequest(fields.map(({ path, message }) => ({ field: [place, ...path].join('.'), message })));
  };
}

/** Names of the parts of a request, where the library has others than OpenAPI. */
const PLACES: Readonly<Record<string, string>> = { json: 'body', param: 'path' };

function schemaAt(request: RouteConfig['request'], target: string): z.ZodType {
  const media = request?.body?.content['application/json'];
  const json = media && 'schema' in media ? media.schema : undefined;
  const found = { json, param: request?.params, query: request?.query, header: request?.headers }[target];
  return found as z.ZodType;
}

const tooLarge = (): never => {
  throw new ApiProblem(
    'body-too-large',
    `A body has at most ${MAX_BODY_BYTES / 1_024} KiB. The task itself stands in the issue.`,
  );
};

/** What others can cause is answered with its problem; everything else is logged, and says nothing of the inside. */
function answerError({ world }: ApiParts, error: Error, c: Context<WebEnv>): Response {
  const known = error instanceof HTTPException ? ofLibrary(error) : problemOf(error);
  const path = c.req.path.slice(0, 200);
  if (known?.problem === 'server-unavailable')
    world.log.warn({ path, err: error }, 'a request to the API has to be sent again later');
  if (known) return problemResponse(known, c.req.path);
  world.log.error({ path, err: error }, 'a request to the API failed');
  const problem = new ApiProblem(
    'internal',
    'The log of the server says what happened. Tell the person who runs it.',
  );
  return problemResponse(problem, c.req.path);
}

const ofLibrary = ({ status }: HTTPException): ApiProblem | null => {
  if (status === 415)
    return new ApiProblem('media-type', 'Send the body as `Content-Type: application/json`, or none.');
  return status === 400
    ? new ApiProblem('invalid-body', 'The body cannot be parsed. Send one JSON object.')
    : null;
};
