import { type LexicalSyntax, lexicalSyntaxOf, PLAIN_SYNTAX } from '../lexing/index.ts';
import type { DiffLine, Hunk, ReadFile } from '../patches/index.ts';
import type { ClassifiedFile } from './file-kinds.ts';
import { Lexer, openBefore, withoutEmptyElements } from './lexer.ts';

/** How often each element occurs, and the total; weighted if elements have weights. */
export interface Bag {
  readonly counts: ReadonlyMap<string, number>;
  readonly whole: number;
}

/** From first to last line of the base, both included. */
export type LineRange = readonly [number, number];

/** The features by which two patches are compared, without comments, blanks and moved lines. */
export interface PatchProfile {
  readonly files: readonly ClassifiedFile[];
  /** Whether source is compared; without source changes, everything except scratch files is. */
  readonly hasSource: boolean;
  /** Added lines, each with its path; duplicates count once. */
  readonly added: Bag;
  /** Tokens with more (`+x`) or fewer (`-x`) occurrences than before. */
  readonly delta: Bag;
  /** Three added tokens in a row. */
  readonly trigrams: Bag;
  /** Changed ranges of the base, by path: only files with relevant changes. */
  readonly ranges: ReadonlyMap<string, readonly LineRange[]>;
  /** `path: heading` of the functions around the changes. */
  readonly functions: ReadonlySet<string>;
  /** Hunks whose change closes more brackets than it opens, or fewer. */
  readonly unbalanced: number;
  readonly changedLines: number;
}

/** Limits of comparison for each patch. Defaults: far above what people review, so that the cost is bounded. */
const PROFILE_LIMITS = {
  /** Lines of compared files, including context, and the UTF-16 code units in them. */
  lines: 10_000,
  characters: 500_000,
  /** Added tokens, and removed ones. */
  tokens: 10_000,
} as const;

export function profileOf(files: readonly ClassifiedFile[]): PatchProfile {
  const source = files.filter((file) => file.fileKind === 'source');
  const compared = source.length > 0 ? source : files.filter((file) => file.fileKind !== 'scratch');
  const added = new Set<string>();
  const sides = { added: [] as string[], removed: [] as string[] };
  const bases = new Map<string, readonly number[]>();
  const functions = new Set<string>();
  let unbalanced = 0;
  let changedLines = 0;
  for (const file of linesWithinLimits(compared)) {
    const hunks = file.hunks.map((hunk) => tokenizeHunk(file, hunk));
    unbalanced += hunks.filter(isUnbalanced).length;
    const changes = effectiveChanges(hunks.flat());
    for (const { kind, tokens } of changes) {
      if (kind === 'added') added.add(`${file.path}|${tokens.join('')}`);
      sides[kind].push(...tokens);
    }
    if (changes.length > 0 || file.deleted || file.binary || file.from !== null) {
      bases.set(file.path, [...(bases.get(file.path) ?? []), ...changes.map(({ base }) => base)]);
    }
    for (const name of functionsOf(file, hunks, changes)) functions.add(name);
    changedLines += changes.length;
  }
  const tokens = sides.added.slice(0, PROFILE_LIMITS.tokens);
  const gone = sides.removed.slice(0, PROFILE_LIMITS.tokens);
  return {
    files,
    hasSource: source.length > 0,
    added: bagOf(countsOf([...added])),
    delta: bagOf(deltaOf(countsOf(tokens), countsOf(gone))),
    trigrams: bagOf(countsOf(tokens.slice(2).map((token, i) => `${tokens[i]}\0${tokens[i + 1]}\0${token}`))),
    ranges: new Map([...bases].map(([path, lines]) => [path, rangesOf(lines)])),
    functions,
    unbalanced,
    changedLines,
  };
}

export const isBeyondLimits = (files: readonly ClassifiedFile[]): boolean => {
  const lines = files.flatMap(({ hunks }) => hunks).flatMap((hunk) => hunk.lines);
  const characters = lines.reduce((total, { text }) => total + text.length, 0);
  return lines.length > PROFILE_LIMITS.lines || characters > PROFILE_LIMITS.characters;
};

/** The first lines of the files, as many as the limits allow. */
function linesWithinLimits(files: readonly ClassifiedFile[]): readonly ClassifiedFile[] {
  let { lines, characters }: { lines: number; characters: number } = PROFILE_LIMITS;
  const fits = ({ text }: DiffLine): boolean => {
    lines--;
    characters -= text.length;
    return lines >= 0 && characters >= 0;
  };
  return files.map((file) => ({
    ...file,
    hunks: file.hunks
      .map((hunk) => ({ ...hunk, lines: hunk.lines.filter(fits) }))
      .filter((hunk) => hunk.lines.length > 0),
  }));
}

interface ChangedLine extends TokenizedLine {
  readonly kind: 'added' | 'removed';
}

/** The relevant changed lines, without those that were only moved within the file. */
function effectiveChanges(lines: readonly TokenizedLine[]): readonly ChangedLine[] {
  const changed = lines.flatMap((line) => {
    if (line.kind === 'context' || isIdle(line.tokens)) return [];
    const tokens = line.tokens.at(-1) === ',' ? line.tokens.slice(0, -1) : line.tokens;
    return [{ ...line, kind: line.kind, tokens }];
  });
  const key = ({ tokens }: TokenizedLine) => tokens.join('\0');
  const count = (kind: ChangedLine['kind']) =>
    countsOf(changed.filter((line) => line.kind === kind).map(key));
  const [more, fewer] = [count('added'), count('removed')];
  const spare = { added: new Map(fewer), removed: new Map(more) };
  return changed.filter((line) => {
    const left = spare[line.kind].get(key(line)) ?? 0;
    spare[line.kind].set(key(line), left - 1);
    return left <= 0;
  });
}

/** Nothing, a comma, or a lone string, which in most languages is a comment in disguise. */
const isIdle = ([first, ...rest]: readonly string[]): boolean =>
  rest.length === 0 && (first === undefined || first === ',' || /^(?:"|'.)/.test(first));

type TokenCounts = ReadonlyMap<string, number>;

function countsOf(things: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const thing of things) counts.set(thing, (counts.get(thing) ?? 0) + 1);
  return counts;
}

const bagOf = (counts: TokenCounts): Bag => ({
  counts,
  whole: [...counts.values()].reduce((sum, n) => sum + n, 0),
});

/** Signs carry less information than words. Default. */
const SIGN_WEIGHT = 0.25;
const weightOf = (token: string): number => (/^(?:["`\p{L}\p{N}_$]|[/'#].)/u.test(token) ? 1 : SIGN_WEIGHT);

function deltaOf(more: TokenCounts, fewer: TokenCounts): TokenCounts {
  const delta = new Map<string, number>();
  const put = (sign: string, from: TokenCounts, less: TokenCounts) => {
    for (const [token, n] of from) {
      const rest = n - (less.get(token) ?? 0);
      if (rest > 0) delta.set(sign + token, weightOf(token) * rest);
    }
  };
  put('+', more, fewer);
  put('-', fewer, more);
  return delta;
}

/** Changes with at most one unchanged line between them are one place. */
function rangesOf(lines: readonly number[]): readonly LineRange[] {
  const places: [number, number][] = [];
  for (const line of lines.toSorted((a, b) => a - b)) {
    const last = places.at(-1);
    if (last && line <= last[1] + 2) last[1] = line;
    else places.push([line, line]);
  }
  return places;
}

/** A token's kind of bracket, and its effect on the depth. */
const BRACKETS: ReadonlyMap<string, readonly [number, 1 | -1]> = new Map([
  ['(', [0, 1]],
  [')', [0, -1]],
  ['[', [1, 1]],
  [']', [1, -1]],
  ['{', [2, 1]],
  ['}', [2, -1]],
]);

function isUnbalanced(hunk: readonly TokenizedLine[]): boolean {
  const depth = [0, 0, 0];
  for (const { kind, tokens } of hunk) {
    if (kind === 'context') continue;
    for (const token of tokens) {
      const bracket = BRACKETS.get(token);
      if (bracket)
        depth[bracket[0]] = (depth[bracket[0]] as number) + (kind === 'added' ? bracket[1] : -bracket[1]);
    }
  }
  return depth.some((n) => n !== 0);
}

const DEFINITION_LINE =
  /^\s*(?:(?:export|pub(?:\([^)]*\))?|public|private|protected|internal|static|async|default|abstract|final|override|unsafe)\s+)*(?:def|class|fn|func|function\*?|impl|trait|struct|enum|interface|module|mod)\b/;
const MAX_FUNCTION_NAME_CHARS = 120;

/** The nearest line above a change that looks like a definition, or the text of the hunk's header. */
function functionsOf(
  file: ReadFile,
  hunks: readonly (readonly TokenizedLine[])[],
  changes: readonly ChangedLine[],
): readonly string[] {
  const lines = new Set(changes.map(({ base }) => base));
  return hunks.flatMap((hunk, i) => {
    let around = file.hunks[i]?.heading ?? '';
    return hunk.flatMap(({ kind, text, base }) => {
      if (kind !== 'added' && DEFINITION_LINE.test(text)) around = text.trim();
      return kind !== 'context' && around && lines.has(base)
        ? [`${file.path}: ${around.slice(0, MAX_FUNCTION_NAME_CHARS)}`]
        : [];
    });
  });
}

/** A line of a hunk as code. */
export interface TokenizedLine extends DiffLine {
  /** Empty for a comment or a blank line. On a context line: as in the new file. */
  readonly tokens: readonly string[];
}

/** Tokenizes both sides of a hunk separately: a token opened on one side must not swallow the other. */
export function tokenizeHunk(file: ReadFile, hunk: Hunk): readonly TokenizedLine[] {
  const syntax = lexicalSyntaxOf(file.path) ?? PLAIN_SYNTAX;
  return tokenizeLines(hunk.lines, syntax, false) ?? tokenizeLines(hunk.lines, syntax, true) ?? [];
}

/**
 * Null if a changed line is in a comment or literal that does not end in these lines: it may be the end of one that
 * began before them, and the lines before it its content.
 */
function tokenizeLines(
  lines: readonly DiffLine[],
  syntax: LexicalSyntax,
  doubtful: boolean,
): readonly TokenizedLine[] | null {
  const base = lines.filter((line) => line.kind !== 'added').map((line) => line.text);
  const open = openBefore(base, syntax);
  const before = new Lexer(syntax, open, doubtful);
  const after = new Lexer(syntax, open, doubtful);
  let changedIn: readonly unknown[] = [];
  const sides = lines.map((line) => {
    const old = line.kind === 'added' ? [] : before.line(line.text);
    const now = line.kind === 'removed' ? [] : after.line(line.text);
    if (line.kind !== 'context') changedIn = [before.open, after.open];
    return { old, now };
  });
  const unclosed = [before.open, after.open].some((block) => block !== null && changedIn.includes(block));
  if (unclosed && !doubtful) return null;
  const [old, now] = [sides.map((side) => side.old), sides.map((side) => side.now)].map((side) =>
    syntax.elements ? withoutEmptyElements(side) : side,
  );
  return lines.map((line, i) => {
    const tokens = (line.kind === 'removed' ? old : now)?.[i] ?? [];
    return { ...line, tokens: withoutFreeSemicolon(tokens, syntax) };
  });
}

const withoutFreeSemicolon = (
  tokens: readonly string[],
  { freeSemicolons }: LexicalSyntax,
): readonly string[] => (freeSemicolons && tokens.at(-1) === ';' ? tokens.slice(0, -1) : tokens);
