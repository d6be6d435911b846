import type { Suspicion } from './finding.ts';
import { squeeze } from './literals.ts';
import { type Look, lineOf, type Side, type View } from './view.ts';

/** Folders where product code stands: what defines assertions there is the product. */
const PRODUCT = /(?:^|\/)(?:src|lib|app|pkg|internal|cmd|source|main|packages|crates)\//;
/** A file that gives tests their words. */
const DEFINES =
  /\bexport\s+(?:default\s+)?(?:const|let|var|(?:async\s+)?function|class)\s+(?:expect|assert\w*|it|test|describe|suite|before(?:Each|All)?|after(?:Each|All)?)\b|\bexport\s*\{[^}]*\b(?:expect|assert|it|test|describe)\b[^}]*\}|\bmodule\.exports\s*=\s*\{[^}]*\b(?:expect|assert|it|test|describe)\b|\bexports\.(?:expect|assert|it|test|describe)\s*=|(?:from|require\()\s*['"](?:node:test|vitest|@jest\/globals|mocha|chai|tape|ava|tap|expect|uvu)(?:\/[^'"]*)?['"]|^\s*(?:import|from)\s+(?:pytest|unittest|_pytest|hypothesis)\b|^\s*require\s+['"](?:rspec|minitest|test\/unit)|^\s*import\s+(?:static\s+)?org\.(?:junit|assertj|hamcrest|testng)|^\s*using\s+(?:Xunit|NUnit)|"testing"\s*$|"github\.com\/stretchr\/testify/m;

/** Is a production file, by what stands in it on the base, made for tests? */
export const isSupport = ({ file, language, baseText }: Look): boolean =>
  file.role === 'production' &&
  file.change !== 'added' &&
  baseText !== undefined &&
  !PRODUCT.test(file.path) &&
  language !== 'prose' &&
  DEFINES.test(baseText);

/** What tests read, or build on, was changed. New parts beside the old ones are fine. */
export function changedSupport(look: Look, elsewhere: (text: string) => boolean): readonly Suspicion[] {
  const code = isCode(look);
  for (const view of look.views) {
    const { lost, known } = heirs(view, code);
    const gone = lost.find(({ text }) => !elsewhere(text))?.change;
    const found = gone ?? (code ? intrusion(view, known) : null);
    if (!found) continue;
    const what = code ? 'code that tests rest on was changed' : 'data that tests read was changed';
    // From hunks alone it cannot be told whether code belongs to a test or to what tests rest on.
    return [{ kind: 'fixture-changed', what, at: found, slight: code && look.baseText === undefined }];
  }
  return [];
}

const isCode = ({ file, language }: Look): boolean =>
  language !== 'prose' && language !== 'other' && !/\.(?:ya?ml|toml|ini|cfg)$/i.test(file.path);

type Change = NonNullable<Side['changes'][number]>;

/** Lines of the base that are nowhere in the patched file, and new lines that took the place of others. */
function heirs(
  { before, after }: View,
  code: boolean,
): { readonly lost: readonly { text: string; change: Change }[]; readonly known: ReadonlySet<string> } {
  const plain = (side: Side, index: number) =>
    code ? squeeze(lineOf(side, index)) : (side.changes[index]?.line.text ?? '').trimEnd().replace(/,$/, '');
  const fresh = after.changes.flatMap((change, index) => (change ? [plain(after, index)] : []));
  const left = new Map<string, number>();
  for (const text of fresh) left.set(text, (left.get(text) ?? 0) + 1);
  const names = new Set(before.code.match(/[A-Za-z_$][\w$]*/g));
  const alike = code ? Map.groupBy(fresh, shapeOf) : new Map<string, string[]>();
  const known = new Set<string>();
  const lost = before.changes.flatMap((change, index) => {
    const text = change ? plain(before, index) : '';
    if (!change || text === '') return [];
    const same = left.get(text) ?? 0;
    left.set(text, same - 1);
    const others = alike.get(shapeOf(text))?.slice(0, MOST_ALIKE) ?? [];
    const heir = same > 0 ? text : others.find((one) => isRenamed(text, one, names));
    if (heir !== undefined) known.add(heir);
    return heir === undefined ? [{ text, change }] : [];
  });
  return { lost, known };
}

/** Lines of one shape that a line is compared with. */
const MOST_ALIKE = 50;
/** A line without its names. */
const shapeOf = (text: string): string => text.replace(/(?<![\w$])[A-Za-z_$][\w$]*/g, 'a');

/** The same line with a name that the file did not have: what it calls is called otherwise now. */
function isRenamed(text: string, other: string, names: ReadonlySet<string>): boolean {
  const words = (line: string): readonly string[] => line.match(/[\w$]+|[^\w$]/g) ?? [];
  const [old, now] = [words(text), words(other)];
  if (now.length !== old.length || text === other) return false;
  const different = now.filter((word, i) => word !== old[i]);
  return different.every((word) => /^[A-Za-z_$][\w$]*$/.test(word) && !names.has(word));
}

/** What begins a new part of a file, rather than goes into a part that was there. */
const BEGINS =
  /^\s*(?:@|#\[|(?:export|public|private|protected|static|async|final|pub|override|open|internal)\b|(?:function|class|interface|type|enum|def|fn|func|fun|mod|module|struct|trait|impl|use|import|from|require|include|using|package|namespace|describe|it|test|macro_rules|context|let!?\(|subject|shared_examples)\b|[\w$'"-]+\s*(?::(?!:)|=>|\([^)]*\)\s*\{))|^(?:(?:const|let|var|my)\b|[A-Za-z_]\w*\s*:?=(?!=))/;
const CLOSES = /^\s*(?:[)\]}>,;]+|end|fi|done)[\s,;]*$/;

/** Added lines that go into a part of the base, or give one of its names another meaning. */
function intrusion({ before, after }: View, known: ReadonlySet<string>): Change | null {
  let depth = 0;
  for (const [index, change] of after.changes.entries()) {
    if (!change) depth = 0;
    const mask = lineOf(after, index, 'mask');
    if (!change || mask.trim() === '' || known.has(squeeze(lineOf(after, index)))) continue;
    const top = depth <= 0;
    depth += (mask.match(/[([{]/g)?.length ?? 0) - (mask.match(/[)\]}]/g)?.length ?? 0);
    const inside = /^\s/.test(mask) && after.changes[index - 1] && !top;
    if (inside || CLOSES.test(mask)) continue;
    const indented = index > 0 && after.changes[index - 1] !== null && isBelow(after, index);
    if (!indented && (!BEGINS.test(mask) || isAgain(lineOf(after, index), before))) return change;
  }
  return null;
}

/** Is the line part of what an added line above it begins, by its indent? */
function isBelow(side: Side, index: number): boolean {
  const depth = (line: string) => line.length - line.trimStart().length;
  const own = depth(lineOf(side, index, 'mask'));
  for (let i = index - 1; i >= 0 && side.changes[i]; i--) {
    const line = lineOf(side, i, 'mask');
    if (line.trim() !== '' && depth(line) < own) return BEGINS.test(line);
  }
  return false;
}

/** A name that the base gives as well: the later one wins. */
function isAgain(line: string, { code }: Side): boolean {
  const words = String.raw`^\s*(?:export\s+)?(?:async\s+)?(?:function\s+|const\s+|let\s+|var\s+|def\s+|class\s+)?`;
  const name = new RegExp(`${words}([\\w$]+)\\s*(?:[:=(])`).exec(line)?.[1];
  return (
    name !== undefined && new RegExp(`${words}${name.replace(/\$/g, '\\$')}\\s*(?:[:=(])`, 'm').test(code)
  );
}
