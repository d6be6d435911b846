import type { PatchFile } from '../../patches/index.ts';
import { DETECTION, EXITS, type Mark, PATCHED_ASSERTIONS, PATCHED_GROUND, TEST_EXITS } from './code-marks.ts';
import type { Change, Suspicion } from './finding.ts';
import { type Look, lineOf, type Side } from './view.ts';

/** Programs of their own end themselves with an exit code; tests do not load them. */
const ENTRY =
  /(?:^|\/)(?:bin|scripts|tools)\/|(?:^|\/)(?:cli|main|__main__|manage|setup)\.\w+$|(?:^|\/)(?:cli|cmd|commands?)\//;
/** Folders of tests that hold programs and data, not tests. */
const SAMPLES = /(?:^|\/)(?:fixtures?|__fixtures__|testdata|samples?|examples?|resources|data|assets)\//;
/** What is only run as a program, or when somebody asks for it. */
const ASKED_FOR =
  /__name__\s*==|\brequire\.main\s*===?\s*module\b|\bimport\.meta\.main\b|\bprocess\.(?:on|once)\(\s*['"`]SIG|\bsignal\.(?:signal|Notify)\(|\b(?:async\s+)?(?:function|def|fn|func)\s+(?:main|cli)\b|\b(?:const|let)\s+(?:main|cli)\s*=|\bSIG(?:INT|TERM)\b/;

/** At most this many are named of one file. */
const MOST_NAMED = 3;
const PIECE = 4_000;
const OVERLAP = 400;
/** Lines that are read together: a trick may stand on several. */
const TOGETHER = 4;

/** What was added to a file that tells tests from real use, ends the process, or replaces what tests rest on. */
export function suspiciousCode(
  { file, language, views }: Look,
  moved: (text: string) => boolean,
): readonly Suspicion[] {
  if (file.change === 'deleted' || language === 'prose' || file.role === 'runner') return [];
  const marks = marksFor(file);
  const own = marks.filter(
    ({ languages }) => languages === undefined || language === 'other' || languages.includes(language),
  );
  const subject = file.role === 'production' ? 'production code' : 'a file of the tests';
  const found: Suspicion[] = [];
  for (const { before, after } of views) {
    const entry = ENTRY.test(file.path) || (after.tree?.text ?? after.code).startsWith('#!');
    const known = own.filter(({ usual }) => !(entry && usual));
    // A line that asked for the same before is only written in another way; one that moved is known by its text.
    const texts = new Set(after.changes.flatMap((change) => (change ? [change.line.text.trim()] : [])));
    const was = hits(known, before)
      .filter(({ change }) => !texts.has(change.line.text.trim()))
      .map(({ mark }) => mark);
    for (const { mark, index, change } of hits(known, after)) {
      if (found.length === MOST_NAMED) break;
      if (moved(change.line.text) || (mark.kind === 'exit-trick' && askedFor(after, index))) continue;
      const old = was.indexOf(mark);
      if (old >= 0) was.splice(old, 1);
      else found.push({ kind: mark.kind, what: `${subject} ${mark.what}`, at: change });
    }
  }
  return found;
}

interface Hit {
  readonly mark: Mark;
  readonly index: number;
  readonly change: Change;
}

/** Marks on the lines that the patch touches. */
const hits = (marks: readonly Mark[], side: Side): readonly Hit[] =>
  side.changes.flatMap((change, index) => {
    const mark = change ? firstMark(marks, side, index) : undefined;
    return change && mark ? [{ mark, index, change }] : [];
  });

function marksFor(file: PatchFile): readonly Mark[] {
  if (file.role === 'production') return [...PATCHED_ASSERTIONS, ...PATCHED_GROUND, ...DETECTION, ...EXITS];
  return SAMPLES.test(file.path) ? [] : [...PATCHED_ASSERTIONS, ...TEST_EXITS];
}

/** The first mark that begins on this line, outside of strings. What follows may stand on the next added lines. */
function firstMark(marks: readonly Mark[], side: Side, index: number): Mark | undefined {
  const first = lineOf(side, index);
  if (!/\w/.test(first)) return undefined;
  const rest: string[] = [];
  for (let i = index + 1; i < index + TOGETHER && side.changes[i]; i++) rest.push(lineOf(side, i));
  const parts = pieces([first, ...rest].join('\n'));
  const start = side.starts[index] as number;
  return marks.find(({ pattern, quoted = false }) =>
    parts.some(({ from, piece }) => {
      const match = pattern.exec(piece);
      if (!match || from + match.index >= first.length) return false;
      const at = start + from + match.index + Math.max(0, match[0].search(/\S/));
      return quoted || side.mask[at] === side.code[at] || EVALUATES.test(first.slice(0, PIECE));
    }),
  );
}

/** Runs a text as code. */
const EVALUATES = /\b(?:eval|Function|exec|runIn\w+)\s*\(/;

/** A long line in overlapping pieces: our patterns take at worst the square of a piece's length. */
function pieces(text: string): readonly { readonly from: number; readonly piece: string }[] {
  if (text.length <= PIECE) return [{ from: 0, piece: text }];
  const count = Math.ceil((text.length - OVERLAP) / (PIECE - OVERLAP));
  return Array.from({ length: count }, (_, i) => {
    const from = i * (PIECE - OVERLAP);
    return { from, piece: text.slice(from, from + PIECE) };
  });
}

/** Lines above that are looked at for what the line belongs to. */
const ABOVE = 25;

/** Does the line, or one that it stands below, say that this runs as a program or on a signal? */
function askedFor(side: Side, index: number): boolean {
  const depth = (line: string) => line.length - line.trimStart().length;
  const own = lineOf(side, index);
  if (ASKED_FOR.test(own.slice(0, PIECE))) return true;
  let least = depth(own);
  for (let i = index - 1; i >= Math.max(0, index - ABOVE) && least > 0; i--) {
    const line = lineOf(side, i).slice(0, PIECE);
    if (line.trim() === '' || depth(line) >= least) continue;
    if (ASKED_FOR.test(line)) return true;
    least = depth(line);
  }
  return false;
}
