import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

export type Schema = boolean | { readonly [keyword: string]: unknown };

export type Check = (key: string, schema: Schema, data: unknown) => readonly string[];

/** A checker of values against schemas whose `#/components/…` references resolve in `components`. */
export function checker(components: object): Check {
  // Each schema checks few values, so that to compile it takes longer than all of its checks.
  const quick = { inlineRefs: false, code: { optimize: false } };
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, ...quick });
  ajvFormats.default(ajv);
  for (const format of ['int64', 'repo.nwo', 'ssh', 'ssh-key fingerprint', 'timestamp']) {
    ajv.addFormat(format, true);
  }
  ajv.addSchema({ $id: 'github', components }, 'github');
  const compiled = new Map<string, ValidateFunction>();
  return (key, schema, data) => {
    const validate = compiled.get(key) ?? ajv.compile(rooted(schema) as Schema);
    compiled.set(key, validate);
    return validate(data) ? [] : (validate.errors ?? []).map(sentence);
  };
}

/** The same schema with references that start at the registered components. */
function rooted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rooted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string' && inner.startsWith('#')
        ? [key, `github${inner}`]
        : [key, rooted(inner)],
    ),
  );
}

function sentence(error: ErrorObject): string {
  const { allowedValues, additionalProperty } = error.params as Record<string, unknown>;
  const detail = allowedValues ? ` ${JSON.stringify(allowedValues)}` : '';
  const extra = typeof additionalProperty === 'string' ? ` (${additionalProperty})` : '';
  return `${error.instancePath || '/'} ${error.message}${detail}${extra}`;
}

/** GitHub's request schemas allow unknown fields; here they are refused, so that a misspelt one is seen. */
export function closed(schema: Schema): Schema {
  return typeof schema === 'object' && 'properties' in schema && !('additionalProperties' in schema)
    ? { ...schema, additionalProperties: false }
    : schema;
}

/** A path or query value as the type that its schema names. */
export function typed(raw: string, schema: Schema): unknown {
  const type = typeof schema === 'object' ? schema.type : undefined;
  if ((type === 'integer' || type === 'number') && raw !== '' && Number.isFinite(Number(raw)))
    return Number(raw);
  if (type === 'boolean' && (raw === 'true' || raw === 'false')) return raw === 'true';
  return raw;
}
