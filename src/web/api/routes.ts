import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import { EndEvent, EventsQuery, LastEventHeader, RunEvent, StepsEvent } from './event-schemas.ts';
import {
  CandidatePath,
  CommandAnswer,
  CommandPath,
  IssuePath,
  KeyHeader,
  ListQuery,
  NoOptions,
  PickRequest,
  PROBLEM_NAMES,
  Problem,
  ProcessRequest,
  RepositoryPath,
  RetryRequest,
  Run,
  RunPage,
  RunPath,
  StartRequest,
  TaskPath,
  VoteRequest,
} from './schemas.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const body = <T extends z.ZodType>(schema: T, required = false) => ({ required, content: json(schema) });
const security = [{ token: [] }];

const pending = {
  description: 'Stored, and not applied yet: ask for the command again.',
  content: json(CommandAnswer),
};
const startAnswers = {
  201: { description: 'The run exists; whether it may start is decided next.', content: json(CommandAnswer) },
  202: pending,
} as const;
const commandAnswers = {
  200: { description: 'The command was applied.', content: json(CommandAnswer) },
  202: pending,
} as const;

export const startRunRoute = createRoute({
  method: 'post',
  path: '/api/repos/{owner}/{repo}/issues/{number}/runs',
  operationId: 'startRun',
  summary: 'Starts a run on an issue',
  security,
  request: { params: IssuePath, headers: KeyHeader, body: body(StartRequest) },
  responses: startAnswers,
});

export const processRoute = createRoute({
  method: 'post',
  path: '/api/tasks/{id}/process',
  operationId: 'processTask',
  summary: 'Starts a run on an issue, with alternative field names',
  security,
  request: { params: TaskPath, headers: KeyHeader, body: body(ProcessRequest) },
  responses: startAnswers,
});

export const listRunsRoute = createRoute({
  method: 'get',
  path: '/api/repos/{owner}/{repo}/runs',
  operationId: 'listRuns',
  summary: 'Lists the runs of a repository, newest first',
  security,
  request: { params: RepositoryPath, query: ListQuery },
  responses: { 200: { description: 'One page of runs.', content: json(RunPage) } },
});

export const showRunRoute = createRoute({
  method: 'get',
  path: '/api/repos/{owner}/{repo}/runs/{id}',
  operationId: 'showRun',
  summary: 'Shows all facts about a run',
  security,
  request: { params: RunPath },
  responses: { 200: { description: 'The run.', content: json(Run) } },
});

export const followRunRoute = createRoute({
  method: 'get',
  path: '/api/repos/{owner}/{repo}/runs/{id}/events',
  operationId: 'followRun',
  summary: 'Follows a run: server-sent events until it is over',
  description:
    'Events: `run` (`RunEvent`) at the beginning and after each change; with `steps`, also `steps` (`StepsEvent`); `end` when Runoff has done its work and awaits nothing. A connection that ends without `end` can be opened again with `Last-Event-ID`.',
  security,
  request: { params: RunPath, query: EventsQuery, headers: LastEventHeader },
  responses: {
    200: {
      description: 'Events, each with `id`, `event`, and `data` in JSON.',
      content: { 'text/event-stream': { schema: z.string() } },
    },
  },
});

export const showDiffRoute = createRoute({
  method: 'get',
  path: '/api/repos/{owner}/{repo}/runs/{id}/candidates/{alias}/diff',
  operationId: 'showDiff',
  summary: 'Shows the patch of a candidate against the base commit',
  security,
  request: { params: CandidatePath },
  responses: {
    200: {
      description: 'The patch, as `git apply` takes it.',
      content: { 'text/x-diff': { schema: z.string() } },
    },
  },
});

export const showCommandRoute = createRoute({
  method: 'get',
  path: '/api/repos/{owner}/{repo}/commands/{command}',
  operationId: 'showCommand',
  summary: 'Shows what became of a command',
  security,
  request: { params: CommandPath },
  responses: commandAnswers,
});

const act = <P extends string, S extends z.ZodType>(
  path: P,
  operationId: string,
  summary: string,
  schema: S,
  required = false,
) =>
  createRoute({
    method: 'post',
    path,
    operationId,
    summary,
    security,
    request: { params: RunPath, headers: KeyHeader, body: body(schema, required) },
    responses: commandAnswers,
  });

export const cancelRoute = act(
  '/api/repos/{owner}/{repo}/runs/{id}/cancel',
  'cancelRun',
  'Cancels a run; finished work stays in its record',
  NoOptions,
);
export const pickRoute = act(
  '/api/repos/{owner}/{repo}/runs/{id}/pick',
  'pickCandidate',
  'Opens the pull request with a candidate, or replaces the present one',
  PickRequest,
  true,
);
export const voteRoute = act(
  '/api/repos/{owner}/{repo}/runs/{id}/vote',
  'voteForCandidate',
  'Records your vote for a candidate',
  VoteRequest,
  true,
);
export const retryRoute = createRoute({
  method: 'post',
  path: '/api/repos/{owner}/{repo}/runs/{id}/retry',
  operationId: 'retryRun',
  summary: 'Repeats a run, or the contestant of one candidate',
  security,
  request: { params: RunPath, headers: KeyHeader, body: body(RetryRequest) },
  responses: startAnswers,
});

export const explainRoute = createRoute({
  method: 'get',
  path: '/api/problems/{name}',
  operationId: 'explainProblem',
  summary: 'Explains a type of problem',
  request: { params: z.object({ name: z.enum(PROBLEM_NAMES) }) },
  responses: {
    200: {
      description: 'Its meaning.',
      content: json(z.strictObject({ type: z.string(), title: z.string(), status: z.number() })),
    },
  },
});

export const describeRoute = createRoute({
  method: 'get',
  path: '/openapi.json',
  operationId: 'describeApi',
  summary: 'This description',
  responses: {
    200: { description: 'An OpenAPI document.', content: json(z.looseObject({ openapi: z.string() })) },
  },
});

const ROUTES = [
  startRunRoute,
  processRoute,
  listRunsRoute,
  showRunRoute,
  followRunRoute,
  showDiffRoute,
  cancelRoute,
  pickRoute,
  voteRoute,
  retryRoute,
  showCommandRoute,
  explainRoute,
  describeRoute,
] as const;

const problem = {
  description: 'What went wrong, and what to do.',
  content: { 'application/problem+json': { schema: Problem } },
};

/** The OpenAPI 3.1 description of the API, made of the schemas that parse its requests. */
export function apiDescription() {
  const described = new OpenAPIHono();
  const registry = described.openAPIRegistry;
  registry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token of Runoff (`runoff token create`), or a token of a GitHub user: for actions, a classic one with the scope `repo`.',
  });
  // OpenAPI 3.1 has no place for the data of an event: clients find its types by their names.
  registry.register('RunEvent', RunEvent);
  registry.register('StepsEvent', StepsEvent);
  registry.register('EndEvent', EndEvent);
  for (const route of ROUTES)
    registry.registerPath({ ...route, responses: { ...route.responses, default: problem } });
  return described.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Runoff',
      version: '1',
      description:
        'Starts and follows runs. A token sees the repositories that it was made for, as far as the person that it acts for may see them now; everything else does not exist for it.',
    },
    servers: [{ url: '/' }],
  });
}
