/** A JSON object. */
export type Body = Record<string, unknown>;

export const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What was found while reading a body. */
export interface Findings {
  /** The first reason why the body may not be sent. It contains only our own words, never the client's. */
  refusal: string | null;
  /** Names of fields that are on no list and were dropped. */
  readonly unknown: Set<string>;
  /** Whether a tool was dropped that the provider would run. */
  hostedTools: boolean;
}

/**
 * Returns what is passed on of a value; undefined: nothing. If the body may not be sent at all, this is noted in
 * `findings`.
 */
export type Rule = (value: unknown, findings: Findings) => unknown;

function reject(findings: Findings, why: string): undefined {
  findings.refusal ??= why;
  return undefined;
}

const UNEXPECTED = 'a field whose value has another type than its protocol says';

/** JSON has no infinity, but 1e999 parses as infinity and would be passed on as null. */
const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));

/** A string, number, boolean or null. Unpaired surrogates, which many providers reject, are replaced. */
export const scalar: Rule = (value, findings) => {
  if (typeof value === 'string') return value.toWellFormed();
  return isScalar(value) ? value : reject(findings, UNEXPECTED);
};

/** A string or null. */
export const text: Rule = (value, findings) =>
  typeof value === 'string' || value === null ? scalar(value, findings) : reject(findings, UNEXPECTED);

/** A boolean or null; servers treat other values differently. */
export const flag: Rule = (value, findings) =>
  typeof value === 'boolean' || value === null ? value : reject(findings, UNEXPECTED);

/** Any JSON: arguments of tools, and schemas. Providers do not interpret it. */
export const jsonValue: Rule = (value, findings) => {
  if (Array.isArray(value)) return value.map((item) => jsonValue(item, findings));
  if (!isObject(value)) return scalar(value, findings);
  // fromEntries defines properties and never assigns them, so `__proto__` is a name like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), jsonValue(item, findings)]),
  );
};

/** Known, and dropped: it costs more, or the provider stores something. */
export const omit: Rule = () => undefined;

/** Rejected if it is set: without it, the answer would be to another question than the client's. */
export const mustBeUnset =
  (why: string): Rule =>
  (value, findings) => {
    const unset =
      value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0);
    return unset ? undefined : reject(findings, why);
  };

/** One of these values; any other is dropped. */
export const only =
  (...values: readonly unknown[]): Rule =>
  (value) =>
    values.includes(value) ? value : undefined;

/** By the kind of JSON value. A kind without a rule is rejected; null is passed on. */
export const either =
  (rules: { readonly string?: Rule; readonly array?: Rule; readonly object?: Rule }): Rule =>
  (value, findings) => {
    if (value === null) return null;
    const kind = Array.isArray(value) ? 'array' : typeof value;
    const rule = kind === 'string' || kind === 'array' || kind === 'object' ? rules[kind] : undefined;
    return rule ? rule(value, findings) : reject(findings, UNEXPECTED);
  };

/** Items that may not be sent are dropped. */
export const listOf =
  (of: Rule): Rule =>
  (value, findings) =>
    Array.isArray(value)
      ? value.map((item) => of(item, findings)).filter((item) => item !== undefined)
      : value === null
        ? null
        : reject(findings, UNEXPECTED);

type Fields = Readonly<Record<string, Rule>>;

/** The fields on the list; all others are dropped. `rename` returns the name under which a field is on the list. */
export const object =
  (fields: Fields, rename: (key: string) => string = (key) => key): Rule =>
  (value, findings) => {
    if (value === null) return null;
    if (!isObject(value)) return reject(findings, UNEXPECTED);
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, item]) => {
        const name = rename(key);
        const rule = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (!rule) findings.unknown.add(name);
        const kept = rule?.(item, findings);
        return kept === undefined ? [] : [[name, kept]];
      }),
    );
  };

/** The same rule for several fields. */
export const each = (names: readonly string[], rule: (name: string) => Rule): Fields =>
  Object.fromEntries(names.map((name) => [name, rule(name)]));

/** By the object's field `type`; a type without a rule is rejected. `absent`: the type of an object without one. */
export const byType =
  (types: Readonly<Record<string, Rule>>, why: string, absent = ''): Rule =>
  (value, findings) => {
    if (!isObject(value)) return reject(findings, UNEXPECTED);
    const type = value.type ?? absent;
    const rule = typeof type === 'string' && Object.hasOwn(types, type) ? types[type] : undefined;
    return rule ? rule(value, findings) : reject(findings, why);
  };

export const BY_REFERENCE = 'content by reference; put the content itself into the body';

/** Content in the body itself, as a data URL. */
export const dataAddress: Rule = (value, findings) =>
  value === null || (typeof value === 'string' && value.startsWith('data:'))
    ? scalar(value, findings)
    : reject(findings, BY_REFERENCE);

/** Base64, or a data URL. No other URL passes as Base64, which has no colon and no dot. */
export const bytes: Rule = (value, findings) =>
  value === null || (typeof value === 'string' && /^(?:data:|[\w+/=\s-]*$)/.test(value))
    ? scalar(value, findings)
    : reject(findings, BY_REFERENCE);

export const reference = mustBeUnset(BY_REFERENCE);

/**
 * The rule of a tool that the client runs itself; undefined for types that run at the provider, which has network
 * access.
 */
export type ToolTypes = (type: unknown) => Rule | undefined;

/** Dropped if it would run at the provider. */
export const tool =
  (types: ToolTypes): Rule =>
  (value, findings) => {
    const kept = isObject(value) ? types(value.type ?? undefined)?.(value, findings) : undefined;
    if (kept === undefined) findings.hostedTools = true;
    return kept;
  };

/** Agents declare hosted tools, above all web search, in every request; rejecting these would reject the agent. */
export const tools =
  (types: ToolTypes): Rule =>
  (value, findings) =>
    value === null ? undefined : listOf(tool(types))(Array.isArray(value) ? value : [value], findings);

/** Some agents send it with every protocol. */
export const cacheControl = object({ type: only('ephemeral'), ttl: only('5m', '1h') });
