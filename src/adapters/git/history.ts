import { createHash } from 'node:crypto';
import type { CommitMessage } from '../../core/learning/index.ts';
import type { Sha } from '../../core/model/index.ts';
import type { RepositorySource, Workspaces } from '../../ports/index.ts';
import { gitFault } from './faults.ts';
import type { Git } from './git.ts';
import { checkedSha, type Layout } from './layout.ts';
import { openMainline } from './mainline.ts';
import type { Mirrors } from './mirrors.ts';

const MAX_COMMITS = 5_000;
const MAX_COMMIT_MESSAGE = 4_000;

type SourceReader = Pick<
  Workspaces,
  'diff' | 'fingerprint' | 'forkPoint' | 'mainline' | 'messages' | 'origin'
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
