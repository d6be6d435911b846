// How often the static part of the gate `untampered` accuses honest work: every commit of a list becomes a patch on its
// parent, as if a candidate had written it, and is checked as in a run whose brief names no tests that must change.
//
//   node bench/honest.ts LIST --from FOLDER [--lines] [--only REPOSITORY]
//   node bench/honest.ts --choose 3 --from FOLDER --except LIST > OTHER_LIST
//
// A line of LIST: `owner/name COMMIT`; `#` begins a comment. FOLDER holds clones or bare repositories as
// `OWNER+NAME/repo`; nothing is fetched. `--choose N` takes, of each repository of FOLDER that no list of `--except`
// names, the newest N commits of the first-parent history that are no merges, whose subject says "fix" or "bug", and that
// change between 2 and 20 files, among them a source file and a test. A list that is chosen this way is for measuring:
// look at its lines only when the rules are final.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { filesToCompare, SEVERITIES, type TamperingFinding } from '../src/core/evidence/index.ts';
import { type Patch, parsePatch } from '../src/core/patches/index.ts';
import { grammarOf } from '../src/core/source/index.ts';
import { tamperingIn } from '../test/core/syntax.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string' },
    choose: { type: 'string' },
    except: { type: 'string', multiple: true, default: [] },
    only: { type: 'string' },
    lines: { type: 'boolean', default: false },
  },
});

interface Listed {
  /** `owner/name`. */
  readonly repository: string;
  readonly commit: string;
}

const listed = (file: string): readonly Listed[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [repository = '', commit = ''] = line.trim().split(/\s+/);
      return { repository, commit };
    });

const folderOf = (repository: string): string =>
  join(options.from ?? '.', repository.replace('/', '+'), 'repo');

const git = (repository: string, ...args: readonly string[]): string =>
  execFileSync('git', ['--no-pager', ...args], {
    cwd: folderOf(repository),
    encoding: 'utf8',
    maxBuffer: 256 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** What a candidate that writes this commit leaves behind; null if it is refused or has no parent here. */
function patchOf({ repository, commit }: Listed): Patch | null {
  try {
    const trees = [`${commit}^^{tree}`, `${commit}^{tree}`];
    const diff = ['diff-tree', '-r', '--no-renames'];
    const raw = git(repository, ...diff, '--raw', '-z', '--no-abbrev', ...trees);
    const parsed = parsePatch(raw, git(repository, ...diff, '-p', '--binary', '--full-index', ...trees));
    return parsed.kind === 'patch' ? parsed.patch : null;
  } catch {
    return null;
  }
}

const isSourceAndTest = ({ files }: Patch): boolean =>
  files.length <= 20 &&
  files.some(({ role }) => role === 'test') &&
  files.some(({ role, path }) => role === 'production' && grammarOf(path) !== null);

function choose(count: number): void {
  const known = new Set(options.except.flatMap(listed).map(({ repository }) => repository));
  const all = readdirSync(options.from ?? '.').filter((name) =>
    existsSync(join(options.from ?? '.', name, 'repo')),
  );
  for (const repository of all
    .map((name) => name.replace('+', '/'))
    .filter((one) => !known.has(one))
    .sort()) {
    const log = git(
      repository,
      'log',
      '--first-parent',
      '--no-merges',
      '-i',
      '-E',
      '--grep=fix|bug',
      '--format=%h %s',
      '-n',
      '2000',
    );
    let left = count;
    for (const line of log.split('\n')) {
      const [commit = '', ...subject] = line.split(' ');
      if (left === 0 || !/fix|bug/i.test(subject.join(' '))) continue;
      const patch = patchOf({ repository, commit });
      if (!patch || !isSourceAndTest(patch)) continue;
      left -= 1;
      process.stdout.write(`${repository} ${commit}\n`);
    }
  }
}

/** What a run finds in the commit; null if it is not here. */
async function findingsOf(one: Listed): Promise<readonly TamperingFinding[] | null> {
  const patch = patchOf(one);
  if (!patch) return null;
  const texts = Object.fromEntries(
    filesToCompare(patch).map((path) => [path, git(one.repository, 'show', `${one.commit}^:${path}`)]),
  );
  return tamperingIn(patch, texts);
}

async function measure(list: readonly Listed[]): Promise<void> {
  const counts = { gate: 0, question: 0, note: 0, silent: 0, missing: 0 };
  for (const one of list) {
    const findings = await findingsOf(one);
    const worst =
      findings && (SEVERITIES.find((name) => findings.some(({ severity }) => severity === name)) ?? 'silent');
    counts[worst ?? 'missing'] += 1;
    process.stdout.write(`${one.repository} ${one.commit}: ${worst ?? 'missing'}\n`);
    for (const { kind, path, line, what, severity, hunk } of findings ?? []) {
      process.stdout.write(`    ${severity} ${kind} ${path}:${line ?? ''} ${what}\n`);
      if (options.lines && hunk) process.stdout.write(`${hunk.replaceAll(/^/gm, '        ')}\n`);
    }
  }
  const { missing, ...known } = counts;
  const all = Object.values(known).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(known).map(([name, count]) => `${name} ${count}`);
  process.stdout.write(`\n${parts.join(', ')} of ${all}; ${missing} missing\n`);
}

if (options.choose !== undefined) choose(Number(options.choose));
else
  await measure(
    positionals.flatMap(listed).filter(({ repository }) => !options.only || repository === options.only),
  );
