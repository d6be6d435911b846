import { lexicalSyntaxOf } from '../lexing/index.ts';
import { READ_LIMITS, readDiff, roleOf } from '../patches/index.ts';
import { type ClassifiedFile, classifyFiles } from './file-kinds.ts';
import { isBeyondLimits, type TokenizedLine, tokenizeHunk } from './profile.ts';

/** One place that a patch changes, without differences that only formatting causes. */
interface ChangeRun {
  /** Where the last unchanged code before it is in the base. */
  readonly after: BasePlace;
  readonly removed: PlacedToken[];
  readonly added: PlacedToken[];
}

interface OpenRun extends ChangeRun {
  /** The unchanged code before it, back to the previous run or the start of the hunk. */
  readonly before: readonly PlacedToken[];
}

/** A line of the base, and how many of its tokens are before this place; 0 for all, as between lines. */
type BasePlace = readonly [line: number, tokens: number];

interface PlacedToken {
  readonly text: string;
  readonly place: BasePlace;
}

/** Commas do not count: the last one may go with a line break. */
function placedTokens({ tokens, base }: TokenizedLine): readonly PlacedToken[] {
  const all = tokens.filter((text) => text !== ',').length;
  let count = 0;
  return tokens.map((text) => {
    if (text !== ',') count += 1;
    return { text, place: [base, count === all ? 0 : count] };
  });
}

/** Lock files follow from the manifest, and any installation changes them. */
const LOCK_FILE = /(?:^|\/)(?:[\w.-]+\.lock|[\w.-]*-lock\.(?:json|ya?ml)|go\.sum|npm-shrinkwrap\.json)$/i;

/**
 * The class key of a patch. Two patches have the same key if their production files differ only in comments, blanks,
 * quotes, trailing commas, line breaks, or lines that one of them removes and adds again. Tests, docs, lock files and
 * scratch files are ignored. A moved line is a change, and the same code at another place of the base, or of a line, is a
 * different change. Empty for a patch without production changes; a patch that exceeds the limits of comparison is
 * its own key.
 */
export const changeKey = (patchText: string): string =>
  changeKeyOf(patchText, classifyFiles(readDiff(patchText)));

/** The same for a patch whose files were classified. */
export function changeKeyOf(patchText: string, classified: readonly ClassifiedFile[]): string {
  const files = classified.filter(isProduction);
  if (patchText.length > READ_LIMITS.characters || isBeyondLimits(files)) return patchText;
  return files
    .map(fileKey)
    .filter((key) => key !== '')
    .sort()
    .join('\n');
}

const isProduction = ({ path, fileKind }: ClassifiedFile): boolean =>
  fileKind === 'source' || (fileKind === 'config' && roleOf(path) === 'production' && !LOCK_FILE.test(path));

function fileKey(file: ClassifiedFile): string {
  const indented = lexicalSyntaxOf(file.path)?.indented === true;
  const runs = file.hunks
    .flatMap((hunk) => changeRuns(tokenizeHunk(file, hunk), indented))
    .flatMap(trimmedRun);
  const whole = [
    file.created && 'created',
    file.deleted && 'deleted',
    file.binary && 'binary',
    file.from !== null && `from ${file.from}`,
  ].filter(Boolean);
  if (runs.length === 0 && whole.length === 0) return '';
  const texts = (tokens: readonly PlacedToken[]) => tokens.map(({ text }) => text);
  return JSON.stringify([
    file.path,
    ...whole,
    ...runs.map(({ after, removed, added }) => [after, texts(removed), texts(added)]),
  ]);
}

/** Changed lines without code between them form one run. */
function changeRuns(lines: readonly TokenizedLine[], indented: boolean): readonly OpenRun[] {
  const runs: OpenRun[] = [];
  const sides = { old: new Indents(indented), now: new Indents(indented) };
  let before: PlacedToken[] = [];
  let open: OpenRun | null = null;
  for (const line of lines.filter(({ tokens }) => tokens.length > 0)) {
    const marks = {
      removed: line.kind === 'added' ? [] : sides.old.read(line),
      added: line.kind === 'removed' ? [] : sides.now.read(line),
    };
    const tokens = placedTokens(line);
    if (line.kind === 'context') {
      // The code after a change has another indentation: in indentation-sensitive languages that is part of the
      // change.
      if (open && marks.removed.join() !== marks.added.join()) addIndentTokens(open, marks, line.base);
      if (open) before = [];
      before.push(...tokens);
      open = null;
      continue;
    }
    if (!open) {
      open = { after: before.at(-1)?.place ?? [line.base - 1, 0], removed: [], added: [], before };
      runs.push(open);
    }
    addIndentTokens(open, marks, line.base);
    appendTokens(open[line.kind], tokens);
  }
  return runs;
}

function addIndentTokens(
  run: ChangeRun,
  marks: Readonly<Record<'removed' | 'added', readonly string[]>>,
  base: number,
): void {
  run.removed.push(...marks.removed.map((text): PlacedToken => ({ text, place: [base, 0] })));
  run.added.push(...marks.added.map((text): PlacedToken => ({ text, place: [base, 0] })));
}

/** A comma before a closing bracket is irrelevant, on one line or across two; but not that of a tuple or a hole. */
function appendTokens(to: PlacedToken[], tokens: readonly PlacedToken[]): void {
  for (const token of tokens) {
    if (/^[)\]}]$/.test(token.text) && to.at(-1)?.text === ',' && isFreeComma(to, token.text)) to.pop();
    to.push(token);
  }
  // A value on the next line is not returned.
  const last = to.at(-1);
  if (last && ENDS_STATEMENT.test(last.text)) to.push({ ...last, text: '\n' });
}

const ENDS_STATEMENT = /^(?:return|throw|raise|break|continue|yield)$/;
/** Words before a bracket that is no call's. */
const BEFORE_TUPLE =
  /^(?:return|in|not|and|or|if|elif|else|yield|await|lambda|is|for|assert|del|match|case)$/;

/** The comma is the last of these tokens. In `(1,)` and `x[1,]` it makes a tuple, in `[,]` a hole. */
function isFreeComma(tokens: readonly PlacedToken[], close: string): boolean {
  if (/^[,[]$/.test(tokens.at(-2)?.text ?? '')) return false;
  if (close === '}') return true;
  let depth = 0;
  for (let at = tokens.length - 2; at >= 0; at--) {
    const text = tokens[at]?.text as string;
    if (/^[)\]}]$/.test(text)) depth++;
    else if (/^[([{]$/.test(text) && depth-- === 0) {
      const before = tokens[at - 1]?.text ?? '';
      const follows = /^[\p{L}\p{N}_$)\]]/u.test(before) && !BEFORE_TUPLE.test(before);
      return follows === (text === '(');
    } else if (text === ',' && depth === 0) return true;
  }
  return false;
}

/** Indentation relative to the preceding code line, outside brackets; empty in languages where it is free. */
class Indents {
  readonly #counts: boolean;
  #last: number | null = null;
  #depth = 0;

  constructor(counts: boolean) {
    this.#counts = counts;
  }

  read({ text, tokens }: TokenizedLine): readonly string[] {
    if (!this.#counts) return [];
    const indent = text.length - text.trimStart().length;
    const step = this.#depth > 0 || this.#last === null ? 0 : indent - this.#last;
    if (this.#depth === 0) this.#last = indent;
    for (const token of tokens) {
      if (/^[([{]$/.test(token)) this.#depth++;
      else if (/^[)\]}]$/.test(token)) this.#depth = Math.max(0, this.#depth - 1);
    }
    return step === 0 ? [] : [`indent ${step}`];
  }
}

/** The run without the common start and end of both sides, moved up as far as possible; empty if nothing is left. */
function trimmedRun({ after, removed, added, before }: OpenRun): readonly ChangeRun[] {
  let from = 0;
  while (from < removed.length && removed[from]?.text === added[from]?.text) from++;
  let [end, stop] = [removed.length, added.length];
  while (end > from && stop > from && removed[end - 1]?.text === added[stop - 1]?.text) {
    end--;
    stop--;
  }
  if (end === from && stop === from) return [];
  const shared = removed.slice(0, from);
  const run = {
    after: shared.at(-1)?.place ?? after,
    removed: removed.slice(from, end),
    added: added.slice(from, stop),
  };
  return [slidUp(run, [...before, ...shared])];
}

/**
 * Of two equal lines, diff tools may mark the first or the second as new. Moving the run up as far as possible gives
 * one normal form.
 */
function slidUp(run: ChangeRun, before: readonly PlacedToken[]): ChangeRun {
  const moving = run.removed.length === 0 ? run.added : run.added.length === 0 ? run.removed : [];
  let steps = 0;
  const length = moving.length;
  const at = (i: number) => (i >= 0 ? moving[i] : before[before.length + i])?.text;
  while (
    length > 0 &&
    steps < before.length &&
    at(length - 1 - steps) === before[before.length - 1 - steps]?.text
  )
    steps++;
  if (steps === 0) return run;
  const turned = Array.from(
    { length },
    (_, i): PlacedToken => ({
      text: at(i - steps) as string,
      place: [0, 0],
    }),
  );
  const above = before[before.length - 1 - steps]?.place ?? [0, 0];
  return { after: above, removed: run.removed.length ? turned : [], added: run.added.length ? turned : [] };
}
