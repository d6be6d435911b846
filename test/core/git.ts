import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { type Patch, parsePatch } from '../../src/core/patches/index.ts';

/** A file: its text or bytes, an executable, or a link with its target. */
export type Entry = string | Buffer | { readonly executable: string } | { readonly link: string };
export type Tree = Readonly<Record<string, Entry>>;

export interface RealPatch {
  readonly raw: string;
  readonly text: string;
}

/**
 * One program, because to start one from a process of many modules takes longer than git. Samples of hooks take longer
 * to copy and remove than the rest of a repository.
 */
const DIFF = `set -e
git init -q --bare --template= .
git fast-import --quiet --force
set -- --no-renames 'refs/heads/a^{tree}' 'refs/heads/b^{tree}'
git diff-tree -r --raw -z --no-abbrev "$@" > raw
git diff-tree -r -p --binary --full-index "$@"`;

/** A throw-away repository of real git, away from the user's configuration. */
export class Git implements Disposable {
  readonly #dir = mkdtempSync(join(tmpdir(), 'runoff-git-'));

  /** What a candidate that turns `before` into `after` leaves behind, by the same commands as in a run. */
  diff(before: Tree, after: Tree): RealPatch {
    const text = this.#start('sh', ['-c', DIFF], Buffer.concat([commit('a', before), commit('b', after)]));
    return { raw: readFileSync(join(this.#dir, 'raw'), 'utf8'), text };
  }

  /** The tree that `git apply` makes of `before` (from the last `diff`). */
  apply(patch: string): string {
    this.run(['read-tree', 'refs/heads/a^{tree}']);
    if (patch !== '') this.run(['apply', '--cached', '--whitespace=nowarn', '-'], Buffer.from(patch));
    return this.run(['write-tree']).trim();
  }

  tree(of: 'a' | 'b'): string {
    return this.run(['rev-parse', `refs/heads/${of}^{tree}`]).trim();
  }

  run(args: readonly string[], input?: Buffer): string {
    return this.#start('git', args, input);
  }

  #start(program: string, args: readonly string[], input: Buffer | undefined): string {
    return execFileSync(program, args, {
      cwd: this.#dir,
      env: {
        PATH: process.env.PATH,
        HOME: this.#dir,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
      },
      ...(input ? { input } : {}),
      maxBuffer: 64 * 2 ** 20,
      stdio: ['pipe', 'pipe', 'pipe'],
    }).toString('utf8');
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/** The parsed patch between two trees; fails when it is refused. */
export function patchBetween(before: Tree, after: Tree): Patch {
  const { raw, text } = plainDiff(before, after) ?? gitDiff(before, after);
  const parsed = parsePatch(raw, text);
  if (parsed.kind === 'refused') throw new Error(parsed.reasons.join('\n'));
  return parsed.patch;
}

function gitDiff(before: Tree, after: Tree): RealPatch {
  using git = new Git();
  return git.diff(before, after);
}

const isPlain = ([path, entry]: readonly [string, Entry]): boolean =>
  typeof entry === 'string' && !entry.includes('\0') && /^[\w./@-]+$/.test(path);

/**
 * What git would write about plain texts, without starting it a thousand times for rules that only read patches. Null
 * for other files. `git.test.ts` compares both.
 */
export function plainDiff(before: Tree, after: Tree): RealPatch | null {
  if (![...Object.entries(before), ...Object.entries(after)].every(isPlain)) return null;
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const files = paths.flatMap((path) => plainFile(path, before[path] as string, after[path] as string) ?? []);
  return { raw: files.map(({ raw }) => raw).join(''), text: files.map(({ text }) => text).join('') };
}

const NO_BLOB = '0'.repeat(40);
const blobId = (text: string | undefined): string =>
  text === undefined
    ? NO_BLOB
    : createHash('sha1')
        .update(`blob ${Buffer.byteLength(text)}\0${text}`)
        .digest('hex');

function plainFile(path: string, before: string | undefined, after: string | undefined): RealPatch | null {
  if (before === after) return null;
  const [from, to] = [blobId(before), blobId(after)];
  const modes = `${before === undefined ? '000000' : '100644'} ${after === undefined ? '000000' : '100644'}`;
  const change = before === undefined ? 'A' : after === undefined ? 'D' : 'M';
  const kind = { A: 'new file mode 100644\n', D: 'deleted file mode 100644\n', M: '' }[change];
  const [old, now] = [change === 'A' ? '/dev/null' : `a/${path}`, change === 'D' ? '/dev/null' : `b/${path}`];
  const patch = structuredPatch(old, now, before ?? '', after ?? '', '', '', { context: 3 });
  const hunks = patch.hunks.length > 0 ? formatPatch(patch, FILE_HEADERS_ONLY) : '';
  return {
    raw: `:${modes} ${from} ${to} ${change}\0${path}\0`,
    text: `diff --git a/${path} b/${path}\n${kind}index ${from}..${to}${change === 'M' ? ' 100644' : ''}\n${hunks}`,
  };
}

function commit(branch: string, tree: Tree): Buffer {
  const files = Object.entries(tree).map(([path, entry]) => {
    const { mode, content } = blob(entry);
    return Buffer.concat([
      Buffer.from(`M ${mode} inline ${quoted(path)}\ndata ${content.length}\n`),
      content,
      Buffer.from('\n'),
    ]);
  });
  return Buffer.concat([
    Buffer.from(`commit refs/heads/${branch}\ncommitter t <t@example.com> 0 +0000\ndata 0\ndeleteall\n`),
    ...files,
  ]);
}

function blob(entry: Entry): { mode: string; content: Buffer } {
  if (typeof entry === 'string' || Buffer.isBuffer(entry))
    return { mode: '100644', content: Buffer.from(entry as string) };
  return 'link' in entry
    ? { mode: '120000', content: Buffer.from(entry.link) }
    : { mode: '100755', content: Buffer.from(entry.executable) };
}

const quoted = (path: string): string =>
  `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
