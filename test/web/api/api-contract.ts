import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { apiDescription } from '../../../src/web/index.ts';

interface Media {
  readonly schema: object;
}
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: object;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, Media>> }>>;
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

/** What was sent to the API, and what it answered. */
export interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly response: { readonly status: number; readonly type: string; readonly text: string };
}

export interface ApiContract {
  /** Each request that was accepted, and each answer, that the description does not allow. Unknown fields count. */
  readonly violations: string[];
  /** The operations that were called with success. */
  readonly seen: Set<string>;
  check(exchange: Exchange): void;
  /** One event of the operation `followRun`, whose data the description has under the name of the event. */
  checkEvent(name: string, data: unknown): void;
}

const EVENT_SCHEMAS: Readonly<Record<string, object>> = {
  run: { $ref: '#/components/schemas/RunEvent' },
  steps: { $ref: '#/components/schemas/StepsEvent' },
  end: { $ref: '#/components/schemas/EndEvent' },
};

type Errors = (schema: object, value: unknown) => readonly string[];

function openDescription(): { readonly description: Description; readonly errorsOf: Errors } {
  const description = JSON.parse(JSON.stringify(apiDescription())) as Description;
  const quick = { inlineRefs: false, code: { optimize: false } };
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, ...quick });
  ajv.addSchema({ $id: 'api', components: description.components }, 'api');
  const compiled = new WeakMap<object, ValidateFunction>();
  const errorsOf: Errors = (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile(rooted(schema) as object);
    compiled.set(schema, validate);
    return validate(value) ? [] : (validate.errors ?? []).map(sentence);
  };
  return { description, errorsOf };
}

/** Shared by all contracts of a process: to make and compile it takes longer than most tests. */
const described = (() => {
  let opened: ReturnType<typeof openDescription> | undefined;
  return () => {
    opened ??= openDescription();
    return opened;
  };
})();

/** Compares what goes over the wire with the description that the server publishes. */
export function openApiContract(): ApiContract {
  const { description, errorsOf } = described();
  const violations: string[] = [];
  const seen = new Set<string>();

  function requestErrors(
    operation: Operation,
    template: string,
    { path, headers, body }: Exchange,
  ): readonly string[] {
    const url = new URL(path, 'http://runoff.test');
    const values = templatePattern(template).exec(url.pathname)?.slice(1).map(decodeURIComponent) ?? [];
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const inPath = Object.fromEntries(names.map((name, i) => [name, values[i]]));
    const { parameters = [], requestBody } = operation;
    const known = new Set(parameters.filter((one) => one.in === 'query').map(({ name }) => name));
    const found = parameters.flatMap((one) => {
      const value = {
        path: inPath[one.name],
        query: url.searchParams.get(one.name) ?? undefined,
        header: headers.get(one.name) ?? undefined,
      }[one.in];
      if (value === undefined) return one.required ? [`${one.in} ${one.name} is missing`] : [];
      return errorsOf(one.schema, value).map((error) => `${one.in} ${one.name}: ${error}`);
    });
    const unknown = [...url.searchParams.keys()].filter((name) => !known.has(name));
    const media = requestBody?.content['application/json'];
    const wrongBody =
      body === undefined || body === ''
        ? requestBody?.required
          ? ['the body is missing']
          : []
        : media
          ? errorsOf(media.schema, JSON.parse(body)).map((error) => `body: ${error}`)
          : ['it takes no body'];
    return [...found, ...unknown.map((name) => `query ${name} is not described`), ...wrongBody];
  }
  function answerErrors(
    operation: Operation,
    { status, type, text }: Exchange['response'],
  ): readonly string[] {
    const answer = operation.responses[String(status)] ?? operation.responses.default;
    const media = answer?.content[type];
    if (!media) return [`answers ${status} with ${type}, which is not described`];
    const value: unknown = /\bjson$/.test(type) ? JSON.parse(text) : text;
    return errorsOf(media.schema, value).map((error) => `answers ${status}: ${error}`);
  }
  return {
    violations,
    seen,
    checkEvent(name, data) {
      seen.add('followRun');
      const schema = EVENT_SCHEMAS[name];
      const errors = schema ? errorsOf(schema, data) : ['it is not described'];
      violations.push(...errors.map((error) => `event ${name}: ${error}`));
    },
    check(exchange) {
      const { pathname } = new URL(exchange.path, 'http://runoff.test');
      const template = Object.keys(description.paths).find((one) => templatePattern(one).test(pathname));
      const operation = template && description.paths[template]?.[exchange.method.toLowerCase()];
      if (!operation) {
        if (exchange.response.status !== 404)
          violations.push(
            `${exchange.method} ${pathname} is not described, and answers ${exchange.response.status}`,
          );
        return;
      }
      const accepted = exchange.response.status < 300;
      if (accepted) seen.add(operation.operationId);
      const errors = [
        ...(accepted ? requestErrors(operation, template, exchange) : []),
        ...answerErrors(operation, exchange.response),
      ];
      violations.push(...errors.map((error) => `${operation.operationId}: ${error}`));
    },
  };
}

const templatePattern = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '([^/]+)')}$`);

/** The same schema, with references to the components of the description. */
function rooted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rooted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string' ? [key, `api${inner}`] : [key, rooted(inner)],
    ),
  );
}

function sentence({ instancePath, message, params }: ErrorObject): string {
  const { additionalProperty, allowedValues } = params as Record<string, unknown>;
  const more = [additionalProperty, allowedValues].filter((one) => one !== undefined);
  return `${instancePath || '/'} ${message ?? 'is wrong'} ${more.map((one) => JSON.stringify(one)).join(' ')}`.trim();
}
