import { PARTS, Tried } from './tried.ts';

/** A line of docs/reliability.md, and the file that holds its test: a path from the project's folder. */
export type Row = Tried & { readonly file: string };

/** What stands above the tables is written by hand. */
const BEGIN = '<!-- From here on written by the tests that these lines name. -->';

/** Between these stands the last result of `npm run chaos -- --write`; it is above the tables, which a test run leaves alone. */
const SOAK_BEGIN = '<!-- Written by `npm run chaos -- --write`. -->';
const SOAK_END = '<!-- End of what it wrote. -->';

/** The document with this result in place of the last one. */
export function withSoak(text: string, section: string): string {
  const [before, rest] = text.split(SOAK_BEGIN);
  const after = rest?.split(SOAK_END)[1];
  if (before === undefined || after === undefined)
    throw new Error('docs/reliability.md has no place for the result.');
  return `${before}${SOAK_BEGIN}\n${section}\n${SOAK_END}${after}`;
}

const HEAD = ['| name | fault | result | test |', '|---|---|---|---|'];

function line({ id, what, held, more, only, file }: Row): string {
  const gate = more ? `; all of it with \`${more}\`` : only ? `; only with \`${only}\`` : '';
  return `| \`${id}\` | ${what} | ${held} | [${file.replace('test/', '')}](../${file})${gate} |`;
}

/** The rows by their names, each with the heading that it stands under. */
export function rowsOf(text: string): ReadonlyMap<string, { readonly part: string; readonly line: string }> {
  const found = new Map<string, { part: string; line: string }>();
  let part = '';
  for (const row of (text.split(BEGIN)[1] ?? '').split('\n')) {
    part = /^## (.+)$/.exec(row)?.[1] ?? part;
    const id = /^\| `([a-z0-9-]+)` \|/.exec(row)?.[1];
    if (id) found.set(id, { part, line: row });
  }
  return found;
}

/** The document with these rows in place of those of the same names; all others stay as they are. */
export function withRows(text: string, rows: readonly Row[]): string {
  const all = new Map(rowsOf(text));
  for (const row of rows) all.set(row.id, { part: row.part, line: line(row) });
  const tables = PARTS.flatMap((part) => {
    const lines = [...all]
      .filter(([, row]) => row.part === part)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, row]) => row.line);
    return lines.length === 0 ? [] : [['', `## ${part}`, '', ...HEAD, ...lines].join('\n')];
  });
  return `${text.split(BEGIN)[0]}${BEGIN}\n${tables.join('\n')}\n`;
}

const CALL = /\btried\(\{([\s\S]*?)\}\);/g;
const FIELD = /\b(\w+):\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g;

/** The rows that a test file declares. */
export function declaredIn(file: string, text: string): readonly Row[] {
  return [...text.matchAll(CALL)].map(([, body = '']) => {
    const fields = [...body.matchAll(FIELD)].map(([, name = '', single, double]) => [
      name,
      (single ?? double ?? '').replace(/\\(.)/g, '$1'),
    ]);
    return { ...Tried.parse(Object.fromEntries(fields)), file };
  });
}
