import {
  descriptions,
  type Operation,
  type Parameter,
  type ResponseBody,
  type Route,
} from './descriptions.ts';
import { type Check, closed, typed } from './schemas.ts';

export interface Violation {
  /** Operation id, or webhook name such as `issues-labeled`. */
  readonly operation: string;
  /** `body`, `query.page`, `response 201`, `webhook`, … */
  readonly where: string;
  readonly message: string;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

function requestViolations(route: Route, call: Call, check: Check): readonly Violation[] {
  const { operation, parameters } = route;
  const found: Violation[] = [];
  const add = (where: string, messages: readonly string[]): void => {
    for (const message of messages) found.push({ operation: operation.id, where, message });
  };
  const value = (place: Parameter['in'], name: string, raw: string): void => {
    const parameter = parameters.find((p) => p.in === place && p.name === name);
    if (!parameter) {
      add(place, [`unknown parameter ${name}`]);
      return;
    }
    const key = `${operation.id} ${place} ${name}`;
    add(`${place}.${name}`, check(key, parameter.schema, typed(raw, parameter.schema)));
  };
  const values = route.pattern.exec(call.path)?.slice(1) ?? [];
  route.names.forEach((name, i) => {
    value('path', name, decodeURIComponent(values[i] ?? ''));
  });
  for (const [name, raw] of call.query) value('query', name, raw);
  for (const p of parameters) {
    if (p.in === 'query' && p.required && !call.query.has(p.name)) add('query', [`missing ${p.name}`]);
  }
  if (call.body !== undefined && !operation.body) add('body', ['the operation takes no body']);
  if (operation.body?.schema && (call.body !== undefined || operation.body.required)) {
    add('body', check(`${operation.id} body`, closed(operation.body.schema), call.body));
  }
  return found;
}

/** Where GraphQL is asked: of github.com, and of GitHub Enterprise Server. */
const GRAPHQL = /^(?:\/api)?\/graphql$/;
const MINIMIZE_COMMENT = {
  type: 'object',
  required: ['query', 'variables'],
  additionalProperties: false,
  properties: {
    query: {
      type: 'string',
      pattern: 'minimizeComment\\(input: \\{ subjectId: \\$subjectId, classifier: \\$classifier \\}\\)',
    },
    variables: {
      type: 'object',
      required: ['subjectId', 'classifier'],
      additionalProperties: false,
      properties: {
        subjectId: { type: 'string', minLength: 1 },
        classifier: { enum: ['ABUSE', 'DUPLICATE', 'OFF_TOPIC', 'OUTDATED', 'RESOLVED', 'SPAM'] },
      },
    },
  },
} as const;

/**
 * GitHub redirects calls that name a repository by an old name to `/repositories/{id}`; the description lacks these
 * addresses, which take and give the same.
 */
const named = (path: string): string => path.replace(/^\/repositories\/\d+(?=\/|$)/, '/repos/by-id/by-id');

export interface GitHubContract {
  /** Everything that did not fit GitHub's descriptions, in the order seen. */
  readonly violations: readonly Violation[];
  /** Operation ids and webhook names seen so far. */
  readonly seen: ReadonlySet<string>;
  /**
   * The same fetch, with request and answer of every call checked.
   * `prefix` is a base path that is not part of GitHub's description, e.g. `/api/v3`.
   */
  watch(inner: typeof fetch, prefix?: string): typeof fetch;
  webhook(event: string, payload: unknown): void;
}

/** A recorder of violations of GitHub's own REST and webhook descriptions. */
export function openGitHubContract(): GitHubContract {
  const { rest, hooks, table, checkRest, checkHook } = descriptions();
  const violations: Violation[] = [];
  const seen = new Set<string>();

  const responseBody = (operation: Operation, status: number): ResponseBody | undefined => {
    const response = operation.responses[String(status)] ?? operation.responses.default;
    if (!response || !('$ref' in response)) return response;
    return rest.components.responses?.[response.$ref.split('/').at(-1) ?? ''];
  };

  function request(call: Call): Operation | undefined {
    const route = table.find((r) => r.operation.method === call.method && r.pattern.test(call.path));
    if (!route) {
      const operation = `${call.method} ${call.path}`;
      violations.push({ operation, where: 'request', message: 'no such operation in the contract' });
      return undefined;
    }
    seen.add(route.operation.id);
    violations.push(...requestViolations(route, call, checkRest));
    return route.operation;
  }

  /** GraphQL is not part of the REST description: the one mutation that we send, by GitHub's schema of it. */
  function graphql(body: unknown): void {
    const operation = 'graphql/minimize-comment';
    seen.add(operation);
    const messages = checkRest(operation, MINIMIZE_COMMENT, body);
    for (const message of messages) violations.push({ operation, where: 'body', message });
  }

  async function response(operation: Operation, answer: Response, isConditional: boolean): Promise<void> {
    const add = (message: string): void => {
      violations.push({ operation: operation.id, where: `response ${answer.status}`, message });
    };
    // Any read may be conditional: "Best practices for using the REST API" describes it for all of them.
    if (isConditional && answer.status === 304) return;
    const described = responseBody(operation, answer.status);
    // GitHub documents few of its refusals; only an undocumented success tells of a wrong stand-in.
    if (!described && answer.status < 400) add('undocumented status');
    if (!described?.schema) return;
    const isJson = answer.headers.get('content-type')?.includes('json');
    if (!isJson) {
      add('the answer is not JSON');
      return;
    }
    const key = `${operation.id} ${answer.status}`;
    checkRest(key, described.schema, await answer.clone().json()).forEach(add);
  }

  return {
    violations,
    seen,
    watch: (inner, prefix = '') => {
      const watched: typeof fetch = async (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        const path = url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length) : url.pathname;
        const method = (init?.method ?? 'GET').toUpperCase();
        const body = typeof init?.body === 'string' && init.body ? JSON.parse(init.body) : undefined;
        if (method === 'POST' && GRAPHQL.test(url.pathname)) {
          graphql(body);
          return inner(input, init);
        }
        const operation = request({ method, path: named(path), query: url.searchParams, body });
        const answer = await inner(input, init);
        const isConditional = method === 'GET' && new Headers(init?.headers).has('if-none-match');
        if (operation) await response(operation, answer, isConditional);
        return answer;
      };
      return watched;
    },
    webhook: (event, payload) => {
      const { action } = payload as { action?: string };
      const operation = (action ? `${event}-${action}` : event).replaceAll('_', '-');
      const schema = hooks.events[operation];
      seen.add(operation);
      const messages = schema ? checkHook(operation, schema, payload) : ['no such webhook in the contract'];
      for (const message of messages) violations.push({ operation, where: 'webhook', message });
    },
  };
}
