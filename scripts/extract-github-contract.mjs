// Cuts the operations and webhooks that Runoff uses out of GitHub's own machine-readable descriptions, as plain JSON
// Schema, into packages/local-github/contract/. The descriptions are 400 MB on disk, so they are no dependency of this package.
//
// To refresh, or to add an operation to the lists below, in an empty folder outside this repository:
//
//   npm install --ignore-scripts @octokit/openapi@23.0.2 @octokit/openapi-webhooks@12.1.0
//   node <this repository>/scripts/extract-github-contract.mjs .
//
// and delete that folder again.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const OPERATIONS = [
  'apps/create-installation-access-token',
  'apps/get-authenticated',
  'apps/get-installation',
  'apps/get-repo-installation',
  'apps/get-user-installation',
  'apps/list-installations',
  'apps/list-repos-accessible-to-installation',
  'apps/list-webhook-deliveries',
  'apps/redeliver-webhook-delivery',
  'apps/revoke-installation-access-token',
  'checks/create',
  'checks/get',
  'checks/list-for-ref',
  'checks/update',
  'git/create-ref',
  'git/delete-ref',
  'git/get-commit',
  'git/get-ref',
  'git/update-ref',
  'issues/add-labels',
  'issues/create',
  'issues/create-comment',
  'issues/create-label',
  'issues/get',
  'issues/get-comment',
  'issues/get-label',
  'issues/list-comments',
  'issues/list-events',
  'issues/list-for-repo',
  'issues/list-labels-for-repo',
  'issues/list-labels-on-issue',
  'issues/remove-label',
  'issues/set-labels',
  'issues/update',
  'issues/update-comment',
  'pulls/create',
  'pulls/create-review',
  'pulls/create-review-comment',
  'pulls/get',
  'pulls/list',
  'pulls/list-commits',
  'pulls/list-files',
  'pulls/list-review-comments',
  'pulls/list-reviews',
  'pulls/merge',
  'pulls/update',
  'rate-limit/get',
  'reactions/create-for-issue',
  'reactions/create-for-issue-comment',
  'reactions/create-for-pull-request-review-comment',
  'reactions/list-for-issue',
  'reactions/list-for-issue-comment',
  'reactions/list-for-pull-request-review-comment',
  'repos/compare-commits-with-basehead',
  'repos/create-commit-status',
  'repos/get',
  'repos/get-branch',
  'repos/get-collaborator-permission-level',
  'repos/get-combined-status-for-ref',
  'repos/get-content',
  'repos/update',
  'users/get-authenticated',
  'users/get-by-username',
];

const WEBHOOKS = [
  'installation-created',
  'installation-deleted',
  'installation-repositories-added',
  'installation-repositories-removed',
  'installation-suspend',
  'installation-unsuspend',
  'issue-comment-created',
  'issue-comment-deleted',
  'issue-comment-edited',
  'issues-closed',
  'issues-deleted',
  'issues-edited',
  'issues-labeled',
  'issues-opened',
  'issues-reopened',
  'issues-transferred',
  'issues-unlabeled',
  'ping',
  'pull-request-closed',
  'pull-request-converted-to-draft',
  'pull-request-edited',
  'pull-request-labeled',
  'pull-request-opened',
  'pull-request-ready-for-review',
  'pull-request-reopened',
  'pull-request-review-comment-created',
  'pull-request-synchronize',
  'pull-request-unlabeled',
];

/** Keywords that explain but do not assert. */
const DROPPED = new Set([
  'default',
  'deprecated',
  'description',
  'discriminator',
  'example',
  'examples',
  'externalDocs',
  'nullable',
  'readOnly',
  'summary',
  'title',
  'writeOnly',
  'x-github',
  'x-multi-segment',
  'x-octokit',
  'xml',
]);
/** Keywords whose value is data, not a schema. */
const VERBATIM = new Set(['const', 'enum', 'format', 'pattern', 'required', 'type']);

const from = join(process.argv[2] ?? '.', 'node_modules', '@octokit');
const to = new URL('../packages/local-github/contract/', import.meta.url);
const readJson = (...path) => JSON.parse(readFileSync(join(from, ...path), 'utf8'));

/** OpenAPI 3.0 schema to JSON Schema 2020-12; the names of components it refers to are added to `used`. */
function toJsonSchema(schema, used) {
  if (Array.isArray(schema)) return schema.map((item) => toJsonSchema(item, used));
  if (!schema || typeof schema !== 'object') return schema;
  if (typeof schema.$ref === 'string') {
    used.add(schema.$ref.replace(/^#\/components\//, ''));
    return { $ref: schema.$ref };
  }
  const result = {};
  for (const [key, value] of Object.entries(schema)) {
    if (DROPPED.has(key)) continue;
    if (key === 'properties' || key === 'patternProperties') {
      result[key] = Object.fromEntries(Object.entries(value).map(([k, v]) => [k, toJsonSchema(v, used)]));
    } else result[key] = VERBATIM.has(key) ? value : toJsonSchema(value, used);
  }
  return schema.nullable === true ? orNull(result) : result;
}

function orNull(schema) {
  if (Object.keys(schema).length === 0) return schema;
  if (typeof schema.type !== 'string' || schema.oneOf || schema.anyOf || schema.allOf) {
    return { anyOf: [{ type: 'null' }, schema] };
  }
  const withNull = { ...schema, type: [schema.type, 'null'] };
  if (schema.enum && !schema.enum.includes(null)) withNull.enum = [...schema.enum, null];
  return withNull;
}

const jsonBody = (content, used) =>
  content?.['application/json']?.schema ? toJsonSchema(content['application/json'].schema, used) : undefined;

function parameterOrResponse(value, used) {
  if (value.$ref) return toJsonSchema(value, used);
  if (!value.in) return { schema: jsonBody(value.content, used) ?? null };
  const { name, required = false } = value;
  return { name, in: value.in, required, schema: toJsonSchema(value.schema, used) };
}

/** Everything that the used components refer to in turn. */
function closure(document, used) {
  const components = {};
  const todo = [...used].sort();
  const seen = new Set(todo);
  for (const name of todo) {
    const [kind, id] = name.split('/');
    const found = new Set();
    const value = document.components[kind][id];
    components[kind] ??= {};
    components[kind][id] =
      kind === 'schemas' ? toJsonSchema(value, found) : parameterOrResponse(value, found);
    for (const next of found) {
      if (seen.has(next)) continue;
      seen.add(next);
      todo.push(next);
    }
  }
  return components;
}

/** One line for each entry, so that a refresh gives a readable diff. */
function write(file, source, name, entries, components) {
  const line = (key, value) => `${key === null ? '' : `${JSON.stringify(key)}:`}${JSON.stringify(value)}`;
  const list = Array.isArray(entries)
    ? `[\n${entries.map((entry) => line(null, entry)).join(',\n')}\n]`
    : `{\n${Object.entries(entries)
        .map(([key, value]) => line(key, value))
        .join(',\n')}\n}`;
  const kinds = Object.entries(components).map(
    ([kind, members]) =>
      `${JSON.stringify(kind)}:{\n${Object.entries(members)
        .map(([key, value]) => line(key, value))
        .join(',\n')}\n}`,
  );
  const text = `{"source":${JSON.stringify(source)},\n"${name}":${list},\n"components":{${kinds.join(',')}}}\n`;
  JSON.parse(text);
  writeFileSync(new URL(file, to), text);
  console.log(file, Math.round(text.length / 1024), 'KiB');
}

/** The schema of an answer, where GitHub's own says what its answers and its other descriptions contradict. */
const CORRECTED = {
  // An account is described as a user and an enterprise at once; the component says: one of them.
  'apps/list-installations': { type: 'array', items: { $ref: '#/components/schemas/installation' } },
};

function extractOperations() {
  const document = readJson('openapi', 'generated', 'api.github.com.json');
  // A label without a description is sent with null, as the descriptions of an issue and of a single pull request say.
  document.components.schemas['pull-request-simple'].properties.labels.items.properties.description.nullable =
    true;
  const used = new Set();
  const operations = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!OPERATIONS.includes(operation.operationId)) continue;
      operations.push({
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        parameters: (operation.parameters ?? []).map((p) => parameterOrResponse(p, used)),
        body: operation.requestBody
          ? {
              required: operation.requestBody.required ?? false,
              schema: jsonBody(operation.requestBody.content, used) ?? null,
            }
          : null,
        responses: Object.fromEntries(
          Object.entries(operation.responses).map(([status, r]) => [
            status,
            CORRECTED[operation.operationId] && status === '200'
              ? { schema: toJsonSchema(CORRECTED[operation.operationId], used) }
              : parameterOrResponse(r, used),
          ]),
        ),
      });
    }
  }
  const missing = OPERATIONS.filter((id) => !operations.some((o) => o.id === id));
  if (missing.length > 0) throw new Error(`GitHub describes no operation ${missing.join(', ')}`);
  const { version } = readJson('openapi', 'package.json');
  write('rest.json', `@octokit/openapi ${version} (MIT)`, 'operations', operations, closure(document, used));
}

function extractWebhooks() {
  const document = readJson('openapi-webhooks', 'generated', 'api.github.com.json');
  const used = new Set();
  const events = {};
  for (const name of WEBHOOKS) {
    const webhook = document.webhooks[name];
    if (!webhook) throw new Error(`GitHub describes no webhook ${name}`);
    events[name] = jsonBody(webhook.post.requestBody.content, used);
  }
  const { version } = readJson('openapi-webhooks', 'package.json');
  write(
    'webhooks.json',
    `@octokit/openapi-webhooks ${version} (MIT)`,
    'events',
    events,
    closure(document, used),
  );
}

extractOperations();
extractWebhooks();
