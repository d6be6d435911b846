/** Commands of a line that run in the same folder. */
interface FolderPart {
  /** Relative to the folder of the line; empty for that one. */
  readonly folder: string;
  readonly line: string;
}

const CD = String.raw`cd (?:\.\/)?([\w@][\w@.-]*(?:\/[\w@][\w@.-]*)*)\/?`;
const GROUP = RegExp(`^\\(\\s*${CD} && (.*)\\)$`, 's');
const LEADING = RegExp(`^${CD} && (.*)$`, 's');

/**
 * The parts of a chain by `&&` in which `(cd FOLDER && …)` may occur, and of one behind `cd FOLDER`. A part may hold
 * anything else, brackets too: whoever reads it decides.
 */
export function folderParts(line: string): readonly FolderPart[] {
  const parts: FolderPart[] = [];
  for (const segment of segmentsOf(line.trim())) {
    const [, folder, inner = ''] = GROUP.exec(segment) ?? [];
    const last = parts.at(-1);
    if (folder !== undefined) parts.push({ folder, line: inner.trim() });
    else if (last?.folder === '')
      parts[parts.length - 1] = { folder: '', line: `${last.line} && ${segment}` };
    else parts.push({ folder: '', line: segment });
  }
  const [first] = parts;
  const [, into, rest = ''] = (parts.length === 1 && LEADING.exec(first?.line ?? '')) || [];
  return into === undefined ? parts : [{ folder: into, line: rest }];
}

/** A command that runs in a folder, as `folderParts` reads it; empty for the top. */
export const inFolder = (folder: string, command: string): string =>
  folder === '' ? command : `(cd ${folder} && ${command})`;

/** Split at each `&&` outside of quotes and brackets. */
function segmentsOf(line: string): readonly string[] {
  const segments = [''];
  let depth = 0;
  for (const [token] of line.matchAll(/'[^']*'|"(?:[^"\\]|\\.)*"|\\.|&&|[\s\S]/g)) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === '&&' && depth === 0) segments.push('');
    else segments[segments.length - 1] += token;
  }
  return segments.map((segment) => segment.trim());
}
