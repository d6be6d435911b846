import {
  BASES_FILE,
  CONTEST_FILE,
  type ResolvedRepoTask,
  SAMPLES_FILE,
  VOTES_FILE,
} from '../../core/arena/index.ts';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { ContestFolder, RepositorySource, Templates } from '../../ports/index.ts';
import type { World } from '../context.ts';

/** What is read of a contest's folder to start a task; without `text`, references are not. */
export type TaskFolder = Pick<ContestFolder, 'absolute' | 'copy' | 'files' | 'repository' | 'within'> &
  Partial<Pick<ContestFolder, 'text'>>;

interface Start {
  readonly source: RepositorySource;
  readonly commit: Sha;
}

/**
 * The commit that a task starts from. Fault: CONTEST_INVALID if it does not exist, is in a repository that the contest
 * must not show, or holds what contestants must not see.
 */
export async function startOfTask(
  ports: Pick<World, 'workspaces'> & { readonly templates: Templates },
  folder: TaskFolder,
  task: ResolvedRepoTask,
): Promise<Start> {
  const { base } = task;
  const start =
    'template' in base ? await ofTemplate(ports, folder, base) : await ofCommit(ports, folder, task, base);
  const paths = await ports.workspaces.listFiles(start.source, start.commit);
  await refuseCopies(ports, folder, task, { ...start, paths });
  return start;
}

async function ofTemplate(
  { templates }: { readonly templates: Templates },
  folder: TaskFolder,
  { template }: { readonly template: string },
): Promise<Start> {
  const fill = (into: string): Promise<void> => folder.copy(template, into);
  const { repository, sha } = await templates.commit(folder.absolute(template), fill);
  return { source: { kind: 'local', path: repository }, commit: sha };
}

async function ofCommit(
  { workspaces }: Pick<World, 'workspaces'>,
  folder: TaskFolder,
  { id, hiddenTests, reference }: ResolvedRepoTask,
  { repository, commit: name }: { readonly repository: string; readonly commit: string },
): Promise<Start> {
  const { top } = await workspaces.describe(await folder.repository(repository));
  // Its settings can name another folder as the working tree.
  await folder.repository(top);
  const source = { kind: 'local', path: top } as const;
  const commit = await workspaces.resolve(source, name);
  if (commit === null)
    throw new Fault('CONTEST_INVALID', `The task ${id} starts from ${name}, which ${top} does not have.`);
  const paths = await workspaces.listFiles(source, commit);
  const secrets = [
    CONTEST_FILE,
    SAMPLES_FILE,
    BASES_FILE,
    VOTES_FILE,
    '.',
    hiddenTests ?? [],
    reference ?? [],
  ].flat();
  for (const secret of secrets) {
    const at = await folder.within(top, secret);
    // A contest at the top of a repository: only its own files are secrets.
    if (at === null || at === '') continue;
    const shown = paths.find((path) => path === at || path.startsWith(`${at}/`));
    if (shown !== undefined)
      throw new Fault(
        'CONTEST_INVALID',
        `The task ${id} starts from the commit ${commit}, in which contestants could read this file of the contest: ${shown}. Name a commit without it, or move the contest out of the repository and pass --repo ${top}.`,
      );
  }
  return { source, commit };
}

/** Characters below which two files may well be equal by chance. */
const MIN_COPY_CHARS = 40;
/** Bytes of a file that `Workspaces.readFile` reads; no file of another size is a copy. */
const READABLE_BYTES = 2 ** 20;

/** Refuses a base with a copy of a hidden test or of the reference at another path, such as that of a moved contest. */
async function refuseCopies(
  { workspaces }: Pick<World, 'workspaces'>,
  folder: TaskFolder,
  { id, hiddenTests, reference }: ResolvedRepoTask,
  { source, commit, paths }: Start & { readonly paths: readonly string[] },
): Promise<void> {
  const secrets = [...((hiddenTests === undefined ? null : await folder.files(hiddenTests)) ?? [])];
  const diff = reference === undefined ? null : ((await folder.text?.(reference)) ?? null);
  if (reference !== undefined && diff !== null)
    secrets.push({ path: reference.slice(reference.lastIndexOf('/') + 1), text: diff });
  for (const { path, text } of secrets) {
    if (text.length < MIN_COPY_CHARS || Buffer.byteLength(text) > READABLE_BYTES) continue;
    for (const twin of paths.filter((one) => one.endsWith(`/${path}`)))
      if ((await workspaces.readFile(source, commit, twin)) === text)
        throw new Fault(
          'CONTEST_INVALID',
          `The base of the task ${id} has a copy of ${path}, which contestants must not see: ${twin}. Start from a base without it.`,
        );
  }
}
