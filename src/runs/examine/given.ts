import { tailOf } from '../../core/reports/index.ts';
import { storePatch } from '../store-patch.ts';
import { areaId, type Bench, runCommand } from './execute.ts';
import { inArea } from './in-area.ts';
import type { Entry } from './one.ts';

/** Into the index alone: no file is written, so none has to be read again. Prints the tree, then what differs from the base. */
const TAKE = `
git apply --cached --whitespace=nowarn - || exit 1
tree=$(git write-tree) && printf '%s\\n' "$tree" &&
git diff-index --cached --raw -z --no-abbrev --no-renames "$1" || exit 2`;
const SHOW = [
  ...['-p', '--binary', '--full-index', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--diff-algorithm=myers', '--unified=3'],
];

/**
 * A patch that was given as text, in the form in which a coder's work is collected. Nothing of a candidate has run where
 * git reads it, inside the sandbox, so that the text itself is all there is to distrust.
 */
export async function collectText(
  bench: Bench,
  alias: string,
  text: string,
): Promise<Pick<Entry, 'patch' | 'note'>> {
  const { world, task } = bench;
  const { sha } = task.base;
  if (text.trim() === '') return { note: 'changes nothing' };
  return inArea(bench, areaId(task.runId, alias, 'given'), async (area) => {
    const taken = await runCommand(bench, area, { argv: ['sh', '-c', TAKE, 'take', sha], stdin: text });
    if (taken.exitCode === 1) return { note: `does not apply to the base: ${tailOf(taken.stderr, 5)}` };
    const shown = await runCommand(bench, area, { argv: ['git', 'diff-index', '--cached', ...SHOW, sha] });
    const failed = [taken, shown].find(({ exitCode, truncated }) => exitCode !== 0 || truncated);
    if (failed) {
      const why = failed.truncated ? 'it is too big' : tailOf(failed.stderr, 5);
      return { note: `could not be read: ${why}` };
    }
    const end = taken.stdout.indexOf('\n');
    const raw = taken.stdout.slice(end + 1);
    if (raw === '') return { note: 'changes nothing' };
    const patch = { tree: taken.stdout.slice(0, end), raw, text: shown.stdout };
    return { note: 'given', patch: await storePatch(world.artifacts, patch) };
  });
}
