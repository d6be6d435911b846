import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { CommitMessage } from '../../core/learning/index.ts';
import type { HistoryChange } from '../../core/mining/index.ts';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { RepositorySource, Workspaces } from '../../ports/index.ts';
import { patchText, rawDiff } from './diff-trees.ts';
import { gitFault } from './faults.ts';
import type { Git } from './git.ts';
import { checkedSha, exists, isSha, type Layout, temporaryPath } from './layout.ts';
import type { Mirrors } from './mirrors.ts';
import { inUserRepository, NO_PARENT_REPOSITORY, realOf } from './sources.ts';
import { removeTree } from './trees.ts';

const MAX_COMMITS = 5_000;
const MAX_COMMIT_MESSAGE = 4_000;

type SourceReader = Pick<
  Workspaces,
  | 'diff'
  | 'fingerprint'
  | 'forkPoint'
  | 'listFiles'
  | 'mainline'
  | 'messages'
  | 'origin'
  | 'readFile'
  | 'resolve'
>;

interface HistoryParts {
  readonly git: Git;
  readonly layout: Layout;
  readonly mirrors: Mirrors;
  /** The same work, on folders that exist. */
  readonly prepared: <A extends readonly unknown[], R>(
    work: (...args: A) => Promise<R>,
  ) => (...args: A) => Promise<R>;
}

/** Reads commits of a source in its mirror. Messages are data: only core looks at them. */
export function openHistory({ git, layout, mirrors, prepared }: HistoryParts): SourceReader {
  async function read(key: string, what: string, args: readonly string[]): Promise<string> {
    const done = await git({ cwd: layout.mirror(key), args });
    if (done.exitCode !== 0) throw gitFault(`Reading ${what}`, done);
    return done.stdout;
  }
  const holding = <T>(
    source: RepositorySource,
    shas: readonly Sha[],
    work: (key: string) => Promise<T>,
  ): Promise<T> =>
    mirrors.using(source, async (key) => {
      for (const sha of shas) await mirrors.hold(source, checkedSha(sha));
      return work(key);
    });

  const mainline = openMainline({ git, layout, mirrors });
  return {
    resolve: prepared(mirrors.resolve),
    readFile: prepared(mirrors.readFile),
    listFiles: prepared(mirrors.listFiles),
    mainline: prepared(mainline.mainline),
    diff: prepared(mainline.diff),
    origin: prepared(mainline.origin),
    fingerprint: prepared(fingerprints(mirrors)),
    messages: prepared((source: RepositorySource, sha: Sha, since: number) =>
      holding(source, [sha], async (key) => {
        const after = Math.floor(since / 1000);
        const format = '--format=%H %ct%x00%B%x00';
        // A bare number below 10^8 is no time to git, but words for "now" or a day of this month.
        const limits = [`--max-count=${MAX_COMMITS}`, `--since=@${after} +0000`];
        const text = await read(key, 'the history', ['log', ...limits, format, sha]);
        return messagesIn(text).toReversed();
      }),
    ),
    forkPoint: prepared((source: RepositorySource, merge: Sha, head: Sha) =>
      holding(source, [merge, head], async (key) => {
        const done = await git({ cwd: layout.mirror(key), args: ['merge-base', `${merge}^1`, head] });
        // 1: no common commit; 128: the first commit of all has no parent.
        if (done.exitCode === 1 || /not a valid (?:object|commit) name/i.test(done.stderr)) return null;
        if (done.exitCode !== 0) throw gitFault('Reading a merge', done);
        return done.stdout.trim();
      }),
    ),
  };
}

function messagesIn(text: string): readonly CommitMessage[] {
  const fields = text.split('\0');
  const found: CommitMessage[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [sha = '', seconds = ''] = (fields[i] ?? '').trim().split(' ');
    const message = (fields[i + 1] ?? '').slice(0, MAX_COMMIT_MESSAGE);
    found.push({ sha, message, at: 1000 * Number(seconds) });
  }
  return found;
}

/** Git's own names for the contents say when they change, without reading them. */
const fingerprints =
  (mirrors: Mirrors): Workspaces['fingerprint'] =>
  async (source, sha, paths) => {
    const wanted = new Set(paths);
    const all = await mirrors.using(source, async () =>
      mirrors.entries(await mirrors.hold(source, sha), sha),
    );
    const found = all.filter(({ path }) => wanted.has(path)).map(({ mode, oid, path }) => [path, mode, oid]);
    return createHash('sha256').update(JSON.stringify(found)).digest('hex');
  };

/** Commits that are read at most, and characters of a message. Our defaults. */
const MAX_MAINLINE_COMMITS = 20_000;
const MAX_MAINLINE_MESSAGE = 20_000;

/**
 * Reads the history of a local repository, which may be a stranger's: with plumbing only, which starts no program that
 * its settings name, and compares commits in our own mirror, which has settings of ours alone.
 */
function openMainline({
  git,
  layout,
  mirrors,
}: Omit<HistoryParts, 'prepared'>): Pick<Workspaces, 'diff' | 'mainline' | 'origin'> {
  const quiet = inUserRepository(git);

  async function isShallow(path: string): Promise<boolean> {
    const done = await quiet({ cwd: path, args: ['rev-parse', '--is-shallow-repository'] });
    if (done.exitCode !== 0) throw gitFault(`Reading ${path}`, done);
    return done.stdout.trim() === 'true';
  }

  return {
    async mainline({ path }, head, { since }) {
      const listing = [
        ...['rev-list', '--first-parent', '--encoding=UTF-8', `--max-count=${MAX_MAINLINE_COMMITS}`],
        ...[
          `--max-age=${Math.floor(since / 1000)}`,
          '--format=%x00%H%x00%P%x00%ct%x00%B%x00',
          checkedSha(head),
        ],
      ];
      const listed = await quiet({ cwd: path, args: listing });
      if (listed.exitCode !== 0) throw gitFault(`Reading the history of ${path}`, listed);
      const commits = commitsIn(listed.stdout);
      const files = await filesOf(quiet, path, commits);
      return {
        changes: commits.map((one) => ({ ...one, files: files.get(one.commit) ?? [] })),
        shallow: await isShallow(path),
      };
    },

    async origin(path) {
      if (!(await exists(path))) return null;
      const cwd = await realOf(path);
      // A repository that encloses the folder is not this one.
      const done = await quiet({
        cwd,
        args: ['config', '--get', 'remote.origin.url'],
        env: NO_PARENT_REPOSITORY,
      });
      return done.exitCode === 0 ? done.stdout.trim() : null;
    },

    async diff(source, from, to, paths) {
      return mirrors.using(source, async (key) => {
        await mirrors.hold(source, checkedSha(from));
        await mirrors.hold(source, checkedSha(to));
        const scratch = temporaryPath(layout.mirror(key));
        await mkdir(scratch, { mode: 0o700 });
        try {
          const cwd = layout.mirror(key);
          const between = { base: from, tree: to, paths, scratch };
          const raw = await rawDiff(git, cwd, between);
          const text = isUtf8(raw) ? await patchText(git, cwd, { ...between, raw }) : null;
          return text === null ? null : { raw: raw.toString('utf8'), text };
        } finally {
          await removeTree(scratch);
        }
      });
    },
  };
}

type Commit = Omit<HistoryChange, 'files'>;

/** Fields of one commit in the output, with the line before it. A message has no NUL: git ends it there. */
const FIELDS = 5;

function commitsIn(text: string): readonly Commit[] {
  const fields = text.split('\0');
  const found: Commit[] = [];
  for (let at = 1; at + FIELDS - 1 <= fields.length; at += FIELDS) {
    const [commit = '', parents = '', seconds = '', message = ''] = fields.slice(at, at + FIELDS - 1);
    if (!isSha(commit)) throw new Fault('INTERNAL', 'The list of commits is unreadable.');
    found.push({
      commit,
      parents: parents.split(' ').filter(isSha),
      at: 1000 * Number(seconds),
      message: message.slice(0, MAX_MAINLINE_MESSAGE),
    });
  }
  return found;
}

/** Files that each commit changes, compared with its first parent. Contents are not read. */
async function filesOf(
  git: Git,
  cwd: string,
  commits: readonly Commit[],
): Promise<ReadonlyMap<Sha, HistoryChange['files']>> {
  const found = new Map<Sha, HistoryChange['files'][number][]>();
  const pairs = commits.flatMap(({ commit, parents: [base] }) =>
    base === undefined ? [] : [`${commit} ${base}\n`],
  );
  if (pairs.length === 0) return found;
  const format = ['--raw', '-z', '--no-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv'];
  const done = await git({
    cwd,
    args: ['diff-tree', '-r', '-m', '--stdin', ...format],
    input: pairs.join(''),
  });
  if (done.exitCode !== 0) throw gitFault(`Reading the changes of ${cwd}`, done);
  let files: HistoryChange['files'][number][] = [];
  const tokens = done.stdout.split('\0');
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    if (!token.startsWith(':')) {
      files = [];
      if (isSha(token)) found.set(token, files);
      continue;
    }
    at += 1;
    const status = token.at(-1);
    if (status === 'A' || status === 'M' || status === 'D' || status === 'T')
      files.push({ path: tokens[at] ?? '', status });
  }
  return found;
}
