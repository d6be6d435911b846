import { sectionsOf } from './recipes.ts';

/** Requirements by the name of the extra that lists them; empty where they are not written as literals. */
export type Extras = ReadonlyMap<string, readonly string[]>;

/** The extras that a project declares: in these tables of pyproject.toml, in setup.cfg and in setup.py. */
export function extrasOf(
  tables: readonly Readonly<Record<string, unknown>>[],
  read: Readonly<Record<string, string>>,
): Extras {
  const legacy = sectionsOf((read['setup.cfg'] ?? '').slice(0, 64 * 1024)).get('options.extras_require');
  return new Map([
    ...tables.flatMap((table) =>
      Object.entries(table).map(([name, list]) => [name, requirementsIn(list)] as const),
    ),
    ...[...(legacy ?? [])].map(([name, lines]) => [name, lines.split('\n')] as const),
    ...extrasOfSetup(read['setup.py'] ?? ''),
  ]);
}

const requirementsIn = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];

/** Maximum characters of setup.py that are read, and of a table of its extras. */
const MAX_SETUP_CHARS = 64 * 1024;
const MAX_EXTRAS_CHARS = 8_000;
/** Maximum tables of extras in setup.py; real files have one. */
const MAX_TABLES = 4;

/** Extras that setup.py writes as literals: `extras_require={"tests": …}`, `extras_require["tests"] = …`. */
function extrasOfSetup(text: string): Extras {
  const read = text.slice(0, MAX_SETUP_CHARS);
  const single = [...read.matchAll(/\bextras_require\[["']([\w.-]+)["']\]\s*=/gi)].map(
    ([, name = '']): readonly [string, readonly string[]] => [name, []],
  );
  const tables = [...read.matchAll(/\bextras_require\s*=\s*\{/gi)]
    .slice(0, MAX_TABLES)
    .flatMap(({ index }) => [...listsOf(read.slice(index, index + MAX_EXTRAS_CHARS))]);
  return new Map([...single, ...tables]);
}

/** The keys of the first literal dictionary of Python in a text, with the texts in their values. */
function listsOf(text: string): Extras {
  const lists = new Map<string, string[]>();
  let list: string[] = [];
  let depth = 0;
  for (const [token, , one, colon] of text.matchAll(/(["'])([^"'\n]*)\1(\s*:)?|[[{(\])}]|#[^\n]*/g)) {
    if (/^[[{(]/.test(token)) depth++;
    else if (/^[\])}]/.test(token) && --depth === 0) break;
    else if (one !== undefined && colon === undefined) list.push(one);
    else if (one !== undefined && depth === 1) {
      list = [];
      lists.set(one, list);
    }
  }
  return lists;
}
