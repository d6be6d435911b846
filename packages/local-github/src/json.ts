export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json | undefined;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object in a text; an empty object where the text is empty, not JSON, or JSON of another kind. */
export function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The string at a path of keys; empty where there is none. */
export function textAt(value: unknown, ...keys: readonly string[]): string {
  const found = at(value, ...keys);
  return typeof found === 'string' ? found : '';
}

export function numberAt(value: unknown, ...keys: readonly string[]): number | undefined {
  const found = at(value, ...keys);
  return typeof found === 'number' ? found : undefined;
}

export function listAt(value: unknown, ...keys: readonly string[]): readonly Json[] {
  const found = at(value, ...keys);
  return Array.isArray(found) ? found : [];
}

export function objectAt(value: unknown, ...keys: readonly string[]): JsonObject {
  const found = at(value, ...keys);
  return isObject(found) ? found : {};
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}
