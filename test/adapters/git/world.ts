import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CollectLimits, openWorkspaces } from '../../../src/adapters/git/index.ts';
import { openBubblewrap } from '../../../src/adapters/sandbox/index.ts';
import {
  DEFAULT_LIMITS,
  type ExecResult,
  type ExecSpec,
  type Log,
  type Sandbox,
  type WorkArea,
  type Workspaces,
} from '../../../src/ports/index.ts';
import { silent } from '../../world/silent-log.ts';

/** An unused id, so that no other process of the machine counts. */
const OWNER = process.getuid?.() === 0 ? { uid: 64191, gid: 64191 } : null;

export const LIMITS = { ...DEFAULT_LIMITS, wallMs: 60_000 };

const GIT_ENV = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** Git as a user of the repository would run it; returns its output without the last newline. */
export function git(cwd: string, ...args: readonly string[]): string {
  const safe = [
    '-c',
    'safe.directory=*',
    '-c',
    'protocol.file.allow=always',
    '-c',
    'init.defaultBranch=main',
  ];
  const out = execFileSync('git', [...safe, ...args], {
    cwd,
    env: GIT_ENV,
    stdio: 'pipe',
    maxBuffer: 2 ** 28,
  });
  return out.toString('utf8').replace(/\n$/, '');
}

/** Makes a repository of a folder, with one commit of all files, and returns the commit. */
function committed(cwd: string): string {
  // One program, because to start one from a process of many modules takes longer than git.
  const line = 'git init -q -b main && git add -A -f && git commit -q -m Start && git rev-parse HEAD';
  return execFileSync('sh', ['-c', line], { cwd, env: GIT_ENV, encoding: 'utf8' }).trim();
}

export type Files = Readonly<Record<string, string | Buffer>>;

export function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

export interface GitWorld {
  readonly root: string;
  readonly dataDir: string;
  readonly sandbox: Sandbox;
  readonly workspaces: Workspaces;
  /** Another process's view of the same data directory. */
  another(options?: {
    sandbox?: Sandbox;
    limits?: Partial<CollectLimits>;
    dataDir?: string;
    log?: Log;
    onDamage?: () => void;
    submoduleBytes?: number;
  }): Workspaces;
  /** A new folder that is there already. */
  folder(): string;
  /** A new repository with one commit on `main`. */
  repository(files: Files): { readonly path: string; readonly sha: string };
  /** Runs a shell line in an area as a coder would. */
  run(area: WorkArea, line: string, more?: Partial<ExecSpec>): Promise<ExecResult>;
  close(): void;
}

export function openGitWorld(options: { readonly overlay?: boolean } = {}): GitWorld {
  const root = mkdtempSync(join(tmpdir(), 'runoff-git-'));
  chmodSync(root, 0o755);
  const scratch = join(root, 'scratch');
  mkdirSync(scratch);
  if (OWNER) chownSync(scratch, OWNER.uid, OWNER.gid);
  const dataDir = join(root, 'data');
  const sandbox = openBubblewrap({ toolchain: join(root, 'none'), owner: OWNER, scratch, ...options });
  const another: GitWorld['another'] = (more = {}) =>
    openWorkspaces({ dataDir, sandbox, owner: OWNER, log: silent, ...more });
  const folder = (): string => {
    const path = mkdtempSync(join(root, 'folder-'));
    chmodSync(path, 0o755);
    return path;
  };
  return {
    root,
    dataDir,
    sandbox,
    workspaces: another(),
    another,
    folder,
    repository(files) {
      const path = folder();
      writeFiles(path, files);
      return { path, sha: committed(path) };
    },
    run: (area, line, more = {}) => sandbox.exec({ area, argv: ['sh', '-c', line], limits: LIMITS, ...more }),
    close() {
      execFileSync('chmod', ['-R', 'u+rwX', root]);
      execFileSync('rm', ['-rf', root]);
    },
  };
}

/** As root, the repository is given to a user of its own first: root may write anywhere. */
export function lockFolder(path: string, folder: string): { unlock(): void } {
  if (OWNER) execFileSync('chown', ['-R', `${OWNER.uid}:${OWNER.gid}`, path]);
  const locked = join(path, folder);
  chmodSync(locked, 0o555);
  return { unlock: () => chmodSync(locked, 0o755) };
}
