// Which language a file is in, and how far its grammar is trusted. Figures: docs/decisions/0023.

/** Trouble counts in every file; only where the file's own base version has none; nowhere. */
export const ALWAYS = 'always';
export const IF_PARSED = 'if-it-parsed';
export const NEVER = 'never';

/** A grammar cannot read code of which the compiler sees a part only. */
const CONDITIONAL = /^[ \t]*#[ \t]*(?:if|elif|else)\b/m;
const NOTHING = /^\b$/;

/**
 * `newer`: what the language has and this version of its grammar does not know; a file with it is never held to the
 * grammar. `counts(text, loose)`: whether what the grammar rejects is more likely broken than beyond the grammar, `loose`
 * saying that a bracket lacks its counterpart. Patterns meet hostile text: no unbounded part may begin in many places.
 */
const row = (grammar, sure, { newer = NOTHING, counts = () => true } = {}) => ({
  grammar,
  sure,
  newer,
  counts,
});

// The parser reads a lone `&` in an element's text as the start of an entity. In code `|` stands where `&` does.
const withoutAmpersands = (text) => text.replace(/(?<!&)&(?![&=]|#?\w+;)/g, '|');
/** The grammar for plain JavaScript stumbles over `class=`, so components are all read by the one for TypeScript. */
export const COMPONENT = {
  // Calls with the type of a module, `export type *`, variance, types of instances, call signatures on their own lines.
  ...row('tsx', ALWAYS, {
    newer:
      /<typeof import\(|\bexport type \*|<(?:in|out) |\btypeof [\w.]+<|^[ \t]*<[^<>\n]+(?:<[^<>\n]*>[^<>\n]*)*>\([^\n]*:/m,
  }),
  prepare: withoutAmpersands,
};
export const TYPESCRIPT = row('typescript', NEVER);
export const PYTHON = row('python', ALWAYS);

// `new` of a value (1.26).
const GO = row('go', ALWAYS, { newer: /\bnew\((?:\d|(?![\w.*[\]{}\s,]*\)))/ });
// `safe` in a foreign block (2024), macros that have the name of a type; not stable yet: `const` traits.
const RUST = row('rust', ALWAYS, {
  newer:
    /\bsafe\s+(?:fn|static)\b|\b(?:str|bool|char|[iu](?:8|16|32|64|128|size)|f32|f64)!|~const\b|\bimpl(?:<[^>]{0,200}>)?\s+const\b|\bconst\s+(?:impl|trait)\b/,
});
// Module imports and statements before `super` (25).
const JAVA = row('java', ALWAYS, { newer: /^[ \t]*import\s+module\b|[;}]\s*(?:super|this)\s*\(/m });
// `(set)` on promoted parameters (8.4), `clone` with arguments and the void cast (8.5).
const PHP = row('php', ALWAYS, { newer: /\(set\)|\bclone\s*\(|\(void\)/ });
// Methods without end whose body is a command (3.0), lines that begin with an operator (4.0), symbols like `:$"`.
const RUBY = row('ruby', ALWAYS, {
  newer:
    /\bdef\s+[\w.?!]+\s*(?:\([^)]{0,200}\))?\s*=\s*[\w.:@]+[?!]?\s+["':\w@]|^[ \t]*(?:&&|\|\||and\s|or\s)|:\$\W/m,
});
// Collections of parameters (13), extensions, assignment through `?.`, compound operators (14), a bare slice.
const CSHARP = row('c-sharp', IF_PARSED, {
  newer:
    /\bextension\s*(?:<[^>]{0,200}>)?\s*\(|\?\.[\w.]+\s*=(?![=>])|\bparams\s+[\w.]+<|\ballows\s+ref\b|\boperator\s*[-+*/%&|^]=|\[\.\.\]/,
  counts: (text, loose) => loose || !CONDITIONAL.test(text),
});
// Macros and templates need what other files define; brackets hold even so.
const CPP = row('cpp', IF_PARSED, { counts: (text, loose) => loose && !CONDITIONAL.test(text) });
// Browsers take any text for a style sheet, and its dialects are many; an open brace is a mistake in all of them.
const CSS = row('css', IF_PARSED, { counts: (_text, loose) => loose });

export const GRAMMARS = {
  '.jsx': COMPONENT,
  '.tsx': COMPONENT,
  '.go': GO,
  '.rs': RUST,
  '.java': JAVA,
  '.php': PHP,
  '.rb': RUBY,
  '.rake': RUBY,
  '.gemspec': RUBY,
  '.cs': CSHARP,
  '.c': CPP,
  '.h': CPP,
  '.cc': CPP,
  '.cpp': CPP,
  '.cxx': CPP,
  '.hh': CPP,
  '.hpp': CPP,
  '.hxx': CPP,
  '.css': CSS,
};

const PROGRAMS = { node: '.js', bash: '.sh', sh: '.sh', dash: '.sh', ruby: '.rb', php: '.php' };

/** Name of the program in the first line, without its folder and options; null when there is none. */
export function interpreter(text) {
  const [, words] = /^#!(.*)/.exec(text) ?? [];
  const last = words
    ?.trim()
    .split(/\s+/)
    .findLast((word) => !word.startsWith('-'));
  return last ? last.slice(last.lastIndexOf('/') + 1) : null;
}

/** The extension that a file without one would have; null when its first line names no program that we know. */
export function extensionByProgram(text) {
  const program = interpreter(text);
  if (program === null) return null;
  return /^python[\d.]*$/.test(program) ? '.py' : (PROGRAMS[program] ?? null);
}
