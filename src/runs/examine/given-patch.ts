import { appliedForm } from '../../core/patches/index.ts';
import { tailOf } from '../../core/reports/index.ts';
import { storePatch } from '../context.ts';
import { type CheckRunner, inArea } from './areas.ts';
import type { CandidateEntry } from './candidate.ts';
import { areaId, runCommand } from './execute.ts';

/** Exit code of the script below if the text does not apply. */
const NOT_APPLIED = 3;

/**
 * Writes to the index only, so that no file needs to be read again. Prints the tree, then its diff to the base. Git
 * exits with 1 or 128 for a patch that it does not take; a higher exit code is that of a killed program.
 */
const READ_DIFF_SCRIPT = `
set -e
git apply --cached --whitespace=nowarn "-p$2" - || { code=$?; [ $code -gt 128 ] || exit ${NOT_APPLIED}; exit $code; }
tree=$(git write-tree)
printf '%s\\n' "$tree"
git diff-index --cached --raw -z --no-abbrev --no-renames "$1"`;

/** Name in a fault of the programs that read a patch. */
const PATCH_READER = 'The program that reads a given patch (git)';
const PRINT_DIFF_SCRIPT = [
  ...['-p', '--binary', '--full-index', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--diff-algorithm=myers', '--unified=3'],
];

/** Git's own words about a text without a patch advise an option that nobody can pass here. */
function whyNotApplied(said: string): string {
  const unreadable = 'the text is no patch that git can read';
  if (said.includes('No valid patches in input')) return unreadable;
  if (said.includes('without full index line'))
    return 'changes a binary file without its content, which `git diff --binary` adds';
  return `${said.includes('corrupt patch at') ? unreadable : 'does not apply to the base'}: ${tailOf(said, 5)}`;
}

/**
 * Converts a patch given as text to the form in which coders' work is collected. Git runs inside the sandbox, where no
 * candidate code has run, so only the text itself is untrusted.
 */
export async function collectText(
  runner: CheckRunner,
  alias: string,
  text: string,
): Promise<Pick<CandidateEntry, 'patch' | 'note'>> {
  const { world, task } = runner;
  const { sha } = task.base;
  if (text.trim() === '') return { note: 'changes nothing' };
  const form = appliedForm(text);
  return inArea(runner, areaId(task.runId, alias, 'given'), async (area) => {
    const taken = await runCommand(runner, area, {
      argv: ['sh', '-c', READ_DIFF_SCRIPT, 'take', sha, String(form.strip)],
      stdin: form.text,
      own: PATCH_READER,
    });
    if (taken.exitCode === NOT_APPLIED) return { note: whyNotApplied(taken.stderr) };
    const shown = await runCommand(runner, area, {
      argv: ['git', 'diff-index', '--cached', ...PRINT_DIFF_SCRIPT, sha],
      own: PATCH_READER,
    });
    const failed = [taken, shown].find(({ exitCode, truncated }) => exitCode !== 0 || truncated);
    if (failed) {
      const why = failed.truncated ? 'it is too large' : tailOf(failed.stderr, 5);
      return { note: `could not be read: ${why}` };
    }
    const end = taken.stdout.indexOf('\n');
    const raw = taken.stdout.slice(end + 1);
    if (raw === '') return { note: 'changes nothing' };
    const patch = { tree: taken.stdout.slice(0, end), raw, text: shown.stdout };
    return { note: 'given', patch: await storePatch(world.artifacts, patch) };
  });
}
