import { asFault, SETTINGS_FILE, type Sha } from '../../core/model/index.ts';
import { COMMIT_AUTHOR, quotedCode, settingsPull, tailOf } from '../../core/reports/index.ts';
import { COMMAND_NAMES } from '../../core/settings/index.ts';
import { type BaseCheckout, DEFAULT_LIMITS, type PullFacts } from '../../ports/index.ts';
import { type GitHubRun, sourceOf, taskOf } from '../context.ts';
import { idempotentWrite } from '../stage.ts';
import { viewOf } from '../view.ts';
import type { CommitPorts } from './branches.ts';
import { type Applied, type PublishContext, push, refused, withPublisher } from './context.ts';

/**
 * Opens a draft pull request that adds a settings file with the commands that a run found. Never changes an existing
 * file. Every write is idempotent; there is one such pull request for each run.
 */
export async function proposeSettings(
  world: CommitPorts,
  run: GitHubRun,
  /** Of the command; milliseconds since 1970 UTC. */
  at: number,
): Promise<Applied> {
  const { signal } = new AbortController();
  const pull = settingsPull(await viewOf(world, run));
  if (pull === null)
    return refused(
      `Run \`${run.id}\` has not found commands that work for this repository, so there is nothing to keep.`,
    );
  return withPublisher(world, { run, signal }, async (context) => {
    const branch = `auto-dev/settings/${run.id}`;
    const earlier = await context.reader.pullByHead(branch);
    if (earlier !== null) return onEarlier(context, earlier);
    const source = await sourceOf(world, taskOf(run));
    const { defaultBranch } = context.facts;
    const head = await world.workspaces.resolve(source, defaultBranch);
    if (head === null) return refused(`The branch \`${defaultBranch}\` does not exist.`);
    if ((await world.workspaces.listFiles(source, head)).includes(SETTINGS_FILE))
      return keptByHand(pull.text, run.checks);
    const { base, at: seconds } = await plannedCommit(context, { base: head, at: Math.floor(at / 1000) });
    const checkout = await world.workspaces.prepare(source, base);
    const tree = await treeWith(world, checkout, { id: `call-${run.id}-settings`, text: pull.text, signal });
    if (typeof tree !== 'object') return refused(tree);
    const message = `Add ${SETTINGS_FILE}\n\nThe commands that worked in run ${run.id} of Runoff.\n`;
    const spec = { base, tree: tree.tree, message, author: COMMIT_AUTHOR, at: seconds };
    const sha = await world.workspaces.commit(checkout, spec);
    const refusal = await push(context, checkout, { branch, sha });
    return refusal === null ? open(context, branch, pull) : refused(refusal);
  });
}

async function onEarlier({ reader }: PublishContext, { number }: PullFacts): Promise<Applied> {
  const state = (await reader.pull(number))?.state ?? 'closed';
  return state === 'closed'
    ? refused(
        `The pull request #${number} with these settings was closed. Reopen it, or write the file yourself.`,
      )
    : { kind: 'done', note: `pull request #${number} has these settings already`, pull: number };
}

interface PlannedCommit {
  /** The commit that the file is added to. */
  readonly base: Sha;
  /** Seconds since 1970 UTC. */
  readonly at: number;
}

/**
 * What the commit with the file depends on: after a crash, or a refusal by GitHub, the same as before, so that the commit
 * is the one that was pushed.
 */
async function plannedCommit({ run, world }: PublishContext, now: PlannedCommit): Promise<PlannedCommit> {
  const { store } = world;
  const { intent } = await store.intend(run.id, 'settings-commit');
  if (intent.state === 'done') return intent.result as PlannedCommit;
  await store.fulfil(run.id, 'settings-commit', now);
  return now;
}

/** The lines that a person may want to add: commands that did not come from the file. */
function keptByHand(text: string, { from = {}, named = [] }: NonNullable<GitHubRun['checks']> = {}): Applied {
  const inFile = [...named, ...COMMAND_NAMES.filter((name) => from[name] === SETTINGS_FILE)];
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('  ') && !inFile.some((name) => line.startsWith(`  ${name}:`)))
    .map((line) => quotedCode(line.trim()));
  return refused(
    lines.length === 0
      ? `The commands of this run come from ${SETTINGS_FILE}, so there is nothing to add.`
      : `${SETTINGS_FILE} exists already, and Runoff never changes it. The commands that this run found, to be added below \`checks:\` by hand: ${lines.join(', ')}.`,
  );
}

/** The tree of a base with the settings file and no other change, or a sentence that says why there is none. */
async function treeWith(
  { sandbox, workspaces }: Pick<CommitPorts, 'sandbox' | 'workspaces'>,
  base: BaseCheckout,
  { id, text, signal }: { readonly id: string; readonly text: string; readonly signal: AbortSignal },
): Promise<{ readonly tree: Sha } | string> {
  const area = await workspaces.open(base, id);
  try {
    const { exitCode, stderr } = await sandbox.exec({
      area,
      argv: ['sh', '-c', `mkdir -p .github && cat > ${SETTINGS_FILE}`],
      stdin: text,
      limits: { ...DEFAULT_LIMITS, wallMs: 60_000 },
      signal,
    });
    if (exitCode !== 0) return `${SETTINGS_FILE} cannot be added: ${tailOf(stderr, 1)}.`;
    const collected = await workspaces.collect(base, area, signal);
    // Where the repository has links in place of these names, the file would be another one.
    const isAlone = collected.kind === 'patch' && ADDED.exec(collected.patch.raw)?.[1] === SETTINGS_FILE;
    return isAlone
      ? { tree: collected.patch.tree }
      : `${SETTINGS_FILE} cannot be added: a link has its place.`;
  } finally {
    await workspaces.remove(area);
  }
}

/** `diff-tree --raw -z` of one added file. */
const ADDED = /^:000000 100644 \S+ \S+ A\0([^\0]+)\0$/;

async function open(
  { facts, publisher, reader, run, world }: PublishContext,
  branch: string,
  { title, body }: { readonly title: string; readonly body: string },
): Promise<Applied> {
  try {
    const { number } = await idempotentWrite(world.store, run.id, 'settings-pull', {
      look: () => reader.pullByHead(branch),
      write: () => publisher.openDraftPull({ head: branch, base: facts.defaultBranch, title, body }),
    });
    return { kind: 'done', note: `draft pull request #${number} adds the settings`, pull: number };
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    if (code !== 'GITHUB_REFUSED') throw thrown;
    return refused(message);
  }
}
