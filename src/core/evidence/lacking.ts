import { hunksOf, type Patch, productionPart } from '../patches/index.ts';

/**
 * How compilers, loaders and interpreters say that a name is not there: V8 and node, esbuild and Vite, TypeScript,
 * Python, Go, Rust, Java. Each captures the name, or the path of a module.
 */
const SENTENCES: readonly RegExp[] = [
  /does not provide an export named '?([\w$]{1,100})/g,
  /Named export '([\w$]{1,100})' not found/g,
  /No matching export in "[^"\n]{1,300}" for import "([\w$]{1,100})"/g,
  /"([\w$]{1,100})" is not exported by/g,
  /Cannot find (?:module|package) '([^'\n]{1,300})'/g,
  /Failed to resolve import "([^"\n]{1,300})"/g,
  /([\w$]{1,100})(?:\)|\]|\s)? is not a (?:function|constructor)\b/g,
  /\b([\w$]{1,100}) is not defined\b/g,
  /has no exported member(?: named)? '([\w$]{1,100})'/g,
  /Property '([\w$]{1,100})' does not exist on/g,
  /Cannot find name '([\w$]{1,100})'/g,
  /cannot import name '([\w.]{1,100})'/g,
  /No module named '([\w.]{1,200})'/g,
  /has no attribute '(\w{1,100})'/g,
  /name '(\w{1,100})' is not defined/g,
  /got an unexpected keyword argument '(\w{1,100})'/g,
  /undefined: (?:\w{1,100}\.)?(\w{1,100})/g,
  /has no field or method (\w{1,100})/g,
  /cannot find [\w, ]{1,60} `([\w:]{1,200})`/g,
  /no [\w ]{1,60} named `(\w{1,100})` found/g,
  /unresolved imports? `([\w:]{1,200})`/g,
  /no `(\w{1,100})` in `/g,
  /symbol: {1,10}\w{1,20} (\w{1,100})/g,
];

/** Names that are kept of one output. */
const MOST_NAMES = 30;
/** Characters at each end of an output that are looked at. */
const LOOKED_AT = 65_536;

/** Names of which a runner's or a compiler's output says that they are not there, in order of the sentences above. */
export function lackedNames(output: string): readonly string[] {
  const text =
    output.length <= 2 * LOOKED_AT ? output : `${output.slice(0, LOOKED_AT)}\n${output.slice(-LOOKED_AT)}`;
  const names = new Set<string>();
  for (const sentence of SENTENCES) {
    for (const found of text.matchAll(sentence)) {
      if (names.size >= MOST_NAMES) return [...names];
      names.add(lastPart(found[1] as string));
    }
  }
  return [...names];
}

/** `crate::a::b`, `pkg.mod` and `../src/b.js` are all known by `b`. */
const lastPart = (name: string): string =>
  name
    .replace(/^.*(?:\/|::)/s, '')
    .replace(/\.(?:[cm]?[jt]sx?|json|vue|svelte)$/, '')
    .replace(/^.*\./s, '');

/** Names that a patch introduces: what others cannot be asked to have. */
export type Introduces = (name: string) => boolean;

/** Characters of added production code that are searched. */
const MOST_CODE = 2 ** 20;

/**
 * Does a patch bring a name along? It does with a new production file of that name, and where the name stands in an added
 * line by itself or is assigned to; a call of what something else has (`list.map(`) brings nothing along.
 */
export function introducedBy(patch: Patch): Introduces {
  const files = productionPart(patch);
  const paths = files.filter((file) => file.change === 'added').map((file) => lastPart(file.path));
  const fresh = new Set(paths);
  const code = files
    .flatMap((file) => hunksOf(file).flatMap((hunk) => hunk.lines))
    .flatMap((line) => (line.kind === 'added' ? [line.text] : []))
    .join('\n')
    .slice(0, MOST_CODE);
  return (name) => {
    if (fresh.has(name)) return true;
    if (!/^[\w$]{1,100}$/.test(name)) return false;
    const word = name.replaceAll('$', '\\$');
    return new RegExp(`(?<![\\w$.])${word}(?![\\w$])|\\.${word}\\s*=(?!=)`).test(code);
  };
}
