/** A JSON object. */
export type Body = Record<string, unknown>;

export const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What was found while a body was read. */
export interface Findings {
  /** Why the body may not be sent: the first reason. Of our own words only, never of the client's. */
  refusal: string | null;
  /** Names of fields that are on no list and were left out. */
  readonly unknown: Set<string>;
  /** A tool was left out that the provider would run. */
  hostedTools: boolean;
}

/** Returns what is sent on of a value; undefined: nothing. What may not be sent at all is noted in `findings`. */
export type Rule = (value: unknown, findings: Findings) => unknown;

function reject(findings: Findings, why: string): undefined {
  findings.refusal ??= why;
  return undefined;
}

const UNEXPECTED = 'a field whose value has another type than its protocol says';

/** JSON has no infinity, though 1e999 reads as it: it would be sent on as null. */
const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));

/** A text, number, boolean or null. Halves of characters, which many providers refuse, are replaced. */
export const scalar: Rule = (value, findings) => {
  if (typeof value === 'string') return value.toWellFormed();
  return isScalar(value) ? value : reject(findings, UNEXPECTED);
};

/** A text or null. */
export const text: Rule = (value, findings) =>
  typeof value === 'string' || value === null ? scalar(value, findings) : reject(findings, UNEXPECTED);

/** A boolean or null: what a server makes of other values is its own affair. */
export const flag: Rule = (value, findings) =>
  typeof value === 'boolean' || value === null ? value : reject(findings, UNEXPECTED);

/** Any JSON: arguments of tools, and schemas. Nothing in it means anything to a provider. */
export const json: Rule = (value, findings) => {
  if (Array.isArray(value)) return value.map((item) => json(item, findings));
  if (!isObject(value)) return scalar(value, findings);
  // fromEntries defines properties and never assigns them: `__proto__` stays a name like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), json(item, findings)]),
  );
};

/** Known, and left out: it costs more, or a provider keeps something. */
export const omit: Rule = () => undefined;

/** Refused where it is set. To leave it out would answer another question than the client asked. */
export const refuse =
  (why: string): Rule =>
  (value, findings) => {
    const unset =
      value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0);
    return unset ? undefined : reject(findings, why);
  };

/** One of these values; any other is left out. */
export const only =
  (...values: readonly unknown[]): Rule =>
  (value) =>
    values.includes(value) ? value : undefined;

/** By what kind of JSON it is. Without a rule for a kind it is refused; null is sent on. */
export const either =
  (rules: { readonly string?: Rule; readonly array?: Rule; readonly object?: Rule }): Rule =>
  (value, findings) => {
    if (value === null) return null;
    const kind = Array.isArray(value) ? 'array' : typeof value;
    const rule = kind === 'string' || kind === 'array' || kind === 'object' ? rules[kind] : undefined;
    return rule ? rule(value, findings) : reject(findings, UNEXPECTED);
  };

/** Items that may not be sent are left out. */
export const list =
  (of: Rule): Rule =>
  (value, findings) =>
    Array.isArray(value)
      ? value.map((item) => of(item, findings)).filter((item) => item !== undefined)
      : value === null
        ? null
        : reject(findings, UNEXPECTED);

type Fields = Readonly<Record<string, Rule>>;

/** The fields on the list; any other is left out. `rename` gives the name under which a field stands on the list. */
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

/** By the object's field `type`; a type without a rule is refused. `absent`: the type of one that names none. */
export const byType =
  (types: Readonly<Record<string, Rule>>, why: string, absent = ''): Rule =>
  (value, findings) => {
    if (!isObject(value)) return reject(findings, UNEXPECTED);
    const type = value.type ?? absent;
    const rule = typeof type === 'string' && Object.hasOwn(types, type) ? types[type] : undefined;
    return rule ? rule(value, findings) : reject(findings, why);
  };

export const BY_REFERENCE = 'content by reference; put the content itself into the body';

/** Content that stands in the body, as a data address. */
export const dataAddress: Rule = (value, findings) =>
  value === null || (typeof value === 'string' && value.startsWith('data:'))
    ? scalar(value, findings)
    : reject(findings, BY_REFERENCE);

/** Base 64, or a data address. No other address passes for base 64: it has no colon and no dot. */
export const bytes: Rule = (value, findings) =>
  value === null || (typeof value === 'string' && /^(?:data:|[\w+/=\s-]*$)/.test(value))
    ? scalar(value, findings)
    : reject(findings, BY_REFERENCE);

export const reference = refuse(BY_REFERENCE);

/** A tool that the client runs itself; undefined for the types of those that run at the provider, which has a network. */
export type ToolTypes = (type: unknown) => Rule | undefined;

/** Left out where it would run at the provider. */
export const tool =
  (types: ToolTypes): Rule =>
  (value, findings) => {
    const kept = isObject(value) ? types(value.type ?? undefined)?.(value, findings) : undefined;
    if (kept === undefined) findings.hostedTools = true;
    return kept;
  };

/** Agents declare hosted tools, web search above all, in every request: to refuse would be to refuse the agent. */
export const tools =
  (types: ToolTypes): Rule =>
  (value, findings) =>
    value === null ? undefined : list(tool(types))(Array.isArray(value) ? value : [value], findings);

/** Some agents send it with every protocol. */
export const cacheControl = object({ type: only('ephemeral'), ttl: only('5m', '1h') });
