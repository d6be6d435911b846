import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import type { Templates } from '../../ports/index.ts';
import { gitFault } from './faults.ts';
import { type GitCall, openGit } from './git.ts';
import { checkedSha, exists, layoutOf, temporaryPath } from './layout.ts';
import { identityEnv } from './publish.ts';
import { removeTree } from './trees.ts';

/** Author and time of every template, so that its commit depends on its files alone. */
const IDENTITY = identityEnv({ name: 'Runoff', email: 'runoff@localhost' }, 0);

/**
 * Templates as repositories in `dir`, one for each content. A template is a folder of whoever wrote the contest; nothing
 * in it is executed.
 */
export function openTemplates({
  dir,
  dataDir,
}: {
  readonly dir: string;
  readonly dataDir: string;
}): Templates {
  const git = openGit(layoutOf(dataDir).settingsFile);
  const run = async (call: GitCall, doing: string): Promise<string> => {
    const done = await git(call);
    if (done.exitCode !== 0) throw gitFault(doing, done);
    return done.stdout.trim();
  };
  return {
    async commit(name, fill) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      // Beside the folders of repositories, where a sweep finds what a killed process leaves.
      const fresh = temporaryPath(join(dataDir, 'template'));
      try {
        // Made here and named to git: what the template holds, or links to, is never where git works.
        const files = join(fresh, 'files');
        const repository = join(fresh, 'repository');
        await mkdir(fresh, { mode: 0o700 });
        await mkdir(files);
        await fill(files);
        await run(
          { cwd: fresh, args: ['init', '-q', '--bare', repository] },
          'Making the repository of a template',
        );
        await mkdir(join(repository, 'info'), { recursive: true });
        await writeFile(join(repository, 'info', 'attributes'), AS_IT_IS);
        const on = { cwd: files, env: { ...IDENTITY, GIT_DIR: repository, GIT_WORK_TREE: files } };
        await run({ ...on, args: ['add', '-A', '-f'] }, 'Adding the files of a template');
        const tree = await run({ ...on, args: ['write-tree'] }, 'Adding the files of a template');
        if (tree === EMPTY_TREE) throw new Fault('CONTEST_INVALID', `The template ${name} has no files.`);
        const commit = ['commit-tree', checkedSha(tree), '-m', 'Template'];
        const sha = await run({ ...on, args: commit }, 'Committing a template');
        await run({ ...on, args: ['update-ref', 'HEAD', checkedSha(sha)] }, 'Committing a template');
        const kept = join(dir, checkedSha(sha));
        if (!(await exists(kept))) await rename(repository, kept).catch(unlessThere);
        return { repository: kept, sha };
      } finally {
        await removeTree(fresh);
      }
    },
  };
}

/** Attributes in the template can neither start a filter nor convert text: files are committed as they are. */
const AS_IT_IS = '* -text -filter -ident -working-tree-encoding\n';

/** The name of a tree without files in every repository of git. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Another process made the same repository at the same time. */
function unlessThere(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== 'ENOTEMPTY' && thrown.code !== 'EEXIST') throw thrown;
}
