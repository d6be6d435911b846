import type { Patch, PatchFile } from '../patches/index.ts';
import { type AssertionChange, type ChangedFunction, PLUG_IN } from './assertion-records.ts';
import { excerpt, type TamperingFinding } from './integrity/index.ts';

/** Maximum findings for one candidate; code that replaces every function of a library has one for each. */
const MAX_ASSERTION_FINDINGS = 20;

/**
 * The findings of the gate `untampered` for these changes, with the lines of the patch that cause them, if they can be
 * told. A replaced function of an assertion library is a gate; another replaced function, and one that an installed
 * package replaces, is one if the patch contains what replaces it.
 */
export function assertionFindings(
  changes: readonly AssertionChange[],
  patch: Patch,
): readonly TamperingFinding[] {
  const findings = changes.map((change): TamperingFinding => {
    const found = change.function ? replacingLines(change.function, patch) : null;
    const path = found?.path ?? patch.production[0]?.path ?? patch.files[0]?.path ?? '';
    const isGate =
      !change.unsure &&
      (change.kind === 'unused' ||
        change.kind === 'source' ||
        change.function?.locked === true ||
        found !== null);
    return {
      kind: 'assertions-patched',
      path,
      ...(found?.line === undefined ? {} : { line: found.line }),
      what: clauseOf(change),
      ...(found?.hunk === undefined ? {} : { hunk: found.hunk }),
      severity: isGate ? 'gate' : 'question',
    };
  });
  // Otherwise many questions would push out what fails the gate.
  const gatesFirst = findings.toSorted(
    (a, b) => Number(b.severity === 'gate') - Number(a.severity === 'gate'),
  );
  return gatesFirst.slice(0, MAX_ASSERTION_FINDINGS);
}

function clauseOf({ kind, name, function: changed }: AssertionChange): string {
  switch (kind) {
    case 'changed':
      if (name.startsWith(PLUG_IN))
        return `when the tests run, pytest calls hooks of ${name.slice(PLUG_IN.length)}, unlike on the base commit`;
      return changed?.locked
        ? `when the tests run, it replaces ${name}, which the base commit does not`
        : `when the tests run, ${name} is replaced, unlike on the base commit`;
    case 'rewritten':
      return `when the tests run, ${name} is replaced from code of an installed package, unlike on the base commit`;
    case 'unrecorded':
      return 'the tests left no records about assertions; on the base commit they leave some';
    case 'source':
      return `when the tests run, the source of ${name} differs from that on the base commit`;
    case 'unused':
      return `the tests pass without calling ${name}, which they call on the base commit`;
    case 'not-compared':
      return `${name} ended without comparing the assertion functions; on the base commit it compares them`;
  }
}

interface FoundLines {
  readonly path: string;
  readonly line?: number;
  readonly hunk?: string;
}

/** Where the patch replaces the function: by the places on the stack, else by the text of the replacement. */
function replacingLines({ name, text: source, places }: ChangedFunction, patch: Patch): FoundLines | null {
  for (const place of places) {
    const [, path = '', number] = /^(.*):(\d+)$/.exec(place) ?? [];
    const file = patch.production.find((one) => path === one.path || path.endsWith(`/${one.path}`));
    if (!file) continue;
    const line = Number(number);
    // Compiled code has other lines than its source.
    const at = addedLine(file, (one, text) => one === line && mayReplace(text, name, source));
    return at ?? byText(file, name, source) ?? { path: file.path };
  }
  for (const file of patch.production) {
    const at = source === '' ? null : byText(file, null, source);
    if (at) return at;
  }
  return null;
}

const functionName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

const mayReplace = (text: string, name: string, source: string): boolean =>
  /[=({,[]/.test(text) || text.includes(functionName(name)) || text.includes(firstSourceLine(source));

const firstSourceLine = (text: string): string => text.trim().split('\n', 1)[0]?.trim() ?? '';

/** The first line of a function without a name, as `() => {`. */
const OPENING = /^(?:async\b\s*)?(?:function\b\s*\*?)?\s*\(?[\w$,.\s]*\)?\s*(?:=>)?\s*\{$/;
/** Sources of functions that say nothing about where they come from. */
const isDistinctive = (line: string): boolean =>
  line.length > 3 && !line.includes('[native code]') && !OPENING.test(line);

function byText(file: PatchFile, name: string | null, source: string): FoundLines | null {
  const line = firstSourceLine(source);
  const own = isDistinctive(line) ? addedLine(file, (_, text) => text.includes(line)) : null;
  if (own || name === null) return own;
  const word = functionName(name);
  return addedLine(file, (_, text) => text.includes(word));
}

function addedLine(file: PatchFile, isIt: (line: number, text: string) => boolean): FoundLines | null {
  for (const hunk of file.hunks) {
    const at = hunk.lines.findIndex(({ kind, line, text }) => kind === 'added' && isIt(line, text));
    const line = hunk.lines[at]?.line;
    if (line !== undefined) return { path: file.path, line, hunk: excerpt(hunk, at) };
  }
  return null;
}
