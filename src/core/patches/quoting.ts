const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/**
 * The path behind git's C-style quoting (`"a/\303\266.txt"`), quotes included; null when it is not well-formed.
 * Octal escapes are bytes of UTF-8.
 */
export function unquote(quoted: string): string | null {
  if (quoted.length < 2 || !quoted.startsWith('"') || !quoted.endsWith('"')) return null;
  const bytes: number[] = [];
  const inner = quoted.slice(1, -1);
  for (let i = 0; i < inner.length; ) {
    const char = inner[i] as string;
    if (char === '"') return null;
    if (char !== '\\') {
      const point = String.fromCodePoint(inner.codePointAt(i) as number);
      bytes.push(...new TextEncoder().encode(point));
      i += point.length;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(i + 1, i + 4))?.[0];
    const byte = octal === undefined ? ESCAPES[inner[i + 1] ?? ''] : Number.parseInt(octal, 8);
    if (byte === undefined) return null;
    bytes.push(byte);
    i += 1 + (octal?.length ?? 1);
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** Does a header field (`a/x` or `"a/\303…"`) name `prefix` + `path`? */
export const names = (field: string, prefix: string, path: string): boolean =>
  field === prefix + path || (field.startsWith('"') && unquote(field) === prefix + path);

/** Does `diff --git A B` name this path on both sides? Git quotes either side only if it has to, so both alike. */
export function headerNames(line: string, path: string): boolean {
  const rest = line.slice('diff --git '.length);
  if (rest === `a/${path} b/${path}`) return true;
  const middle = rest.indexOf('" "');
  if (middle < 0) return false;
  return names(rest.slice(0, middle + 1), 'a/', path) && names(rest.slice(middle + 2), 'b/', path);
}
