/** Names that a file takes from another one of its repository. */
export interface Import {
  /** As written: `../src/csv.js`, `pkg.csv`. */
  readonly from: string;
  readonly names: readonly string[];
  /** Paths at which the module may stand, best first. */
  readonly paths: readonly string[];
}

const NAMES = '\\{([^{}]{0,2000})\\}';
const JS: readonly RegExp[] = [
  new RegExp(`\\bimport\\s+(?:[\\w$]+\\s*,\\s*)?${NAMES}\\s*from\\s*['"](\\.[^'"\\n]{0,300})['"]`, 'g'),
  new RegExp(
    `\\b(?:const|let|var)\\s+${NAMES}\\s*=\\s*(?:await\\s+import|require)\\s*\\(\\s*['"](\\.[^'"\\n]{0,300})['"]`,
    'g',
  ),
];
const PYTHON = /^[ \t]*from[ \t]+([\w.]{1,300})[ \t]+import[ \t]+(?:\(([^()]{0,2000})\)|([^\n#(]{1,2000}))/gm;

/** Named imports from files of the repository itself; other languages and other ways of importing give none. */
export function importsOf(path: string, text: string, baseFiles: readonly string[]): readonly Import[] {
  if (/\.[cm]?[jt]sx?$/.test(path)) {
    return JS.flatMap((form) => [...text.matchAll(form)]).map(([, names = '', from = '']) => ({
      from,
      names: split(names.replace(/\btype\s+/g, ''), /\s+as\s+|\s*:\s*/),
      paths: beside(path, from),
    }));
  }
  if (!path.endsWith('.py')) return [];
  return [...text.matchAll(PYTHON)].flatMap(([, from = '', within, plain = '']) => {
    const paths = modulePaths(path, from, baseFiles);
    return paths.length > 0 ? [{ from, names: split(within ?? plain, /\s+as\s+/), paths }] : [];
  });
}

/** `a, b as c` → `a`, `b`. */
const split = (names: string, alias: RegExp): readonly string[] =>
  names
    .split(',')
    .map((name) => (name.trim().split(alias)[0] ?? '').trim())
    .filter((name) => /^[\w$]+$/.test(name) && name !== 'default');

const JS_ENDS = ['', '.ts', '.js', '.tsx', '.jsx', '.mts', '.cts', '.mjs', '.cjs', '/index.ts', '/index.js'];

function beside(path: string, from: string): readonly string[] {
  const at = joined(path.split('/').slice(0, -1), from.split('/'));
  if (at === null) return [];
  // TypeScript sources are imported under the name that they are compiled to.
  const source = /\.([cm]?)jsx?$/.exec(at);
  const typed = source ? [at.replace(/\.([cm]?)js(x?)$/, '.$1ts$2'), at.replace(/\.jsx?$/, '.tsx')] : [];
  return [...JS_ENDS.map((end) => `${at}${end}`), ...typed];
}

/** Null where it climbs out of the repository. */
function joined(folder: readonly string[], parts: readonly string[]): string | null {
  const at = [...folder];
  for (const part of parts) {
    if (part === '..') {
      if (at.pop() === undefined) return null;
    } else if (part !== '.' && part !== '') at.push(part);
  }
  return at.join('/');
}

/** Empty for a module that is not of this repository. */
function modulePaths(path: string, from: string, baseFiles: readonly string[]): readonly string[] {
  const dots = /^\.*/.exec(from)?.[0].length ?? 0;
  const folder = path.split('/').slice(0, -1);
  const parts = from.slice(dots).split('.').filter(Boolean);
  const roots = dots > 0 ? [folder.slice(0, Math.max(0, folder.length - dots + 1))] : [[], ['src'], ['lib']];
  const ends = ['.py', '/__init__.py'];
  return roots.flatMap((root) => {
    const at = [...root, ...parts].join('/');
    const first = [...root, parts[0] ?? ''].join('/');
    const ours = dots > 0 || baseFiles.some((file) => file === `${first}.py` || file.startsWith(`${first}/`));
    return ours ? ends.map((end) => `${at}${end}`) : [];
  });
}
