import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SelectRequest } from '../../src/core/ranking/index.ts';

/** A small repository with an issue and patches of which we know which are right. All of it is our own. */
export interface SelectionTask {
  readonly name: string;
  readonly issue: string;
  /** The base commit, by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly candidates: readonly {
    readonly name: string;
    /** It does what the issue asks for and keeps the rest: by our own reading, and by tests that no candidate sees. */
    readonly right: boolean;
    /** Files as it leaves them. */
    readonly files: Readonly<Record<string, string>>;
  }[];
  /** Test files as a fix would leave them, by path, for tasks whose tests a rule-made writer is given. */
  readonly fixTests?: Readonly<Record<string, string>>;
}

/** A package whose tests run with `node --test`. */
export const packageOf = (name: string): Readonly<Record<string, string>> => ({
  'package.json': `${JSON.stringify({ name, version: '1.0.0', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
});

function git(cwd: string, ...args: readonly string[]): string {
  const config = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
  const done = spawnSync('git', [...config, ...args], { cwd, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A repository at the base commit, and each candidate as the patch that leads to its files. */
export function requestOf(repoDir: string, task: SelectionTask): SelectRequest {
  mkdirSync(repoDir, { recursive: true });
  write(repoDir, task.files);
  git(repoDir, 'init', '-q', '-b', 'main');
  git(repoDir, 'add', '-A');
  git(repoDir, 'commit', '-q', '-m', 'base');
  const candidates = task.candidates.map((candidate) => {
    write(repoDir, candidate.files);
    git(repoDir, 'add', '-A');
    const patch = git(repoDir, 'diff', '--cached', '--binary', '--full-index');
    git(repoDir, 'reset', '-q', '--hard');
    return { id: candidate.name, patch };
  });
  return { id: task.name, issue: task.issue, repoDir, testCommand: 'npm test', candidates };
}
