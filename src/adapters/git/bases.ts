import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { asFault, Fault, type Sha } from '../../core/model/index.ts';
import type { BaseCheckout, RepositorySource } from '../../ports/index.ts';
import { isWhole, setAsideDamaged, writeMark } from './damage.ts';
import { gitFault } from './faults.ts';
import type { Git, GitCall } from './git.ts';
import { chownTo, hasCode, keyOf, type Layout, makeAtomically, readTextFile, replaceFile } from './layout.ts';
import { type Locks, openSharedWork } from './locks.ts';
import { clearCrash, type Mirrors } from './mirrors.ts';
import type { FileOwner } from './trees.ts';
import { fingerprintTree, removeTree } from './trees.ts';

/**
 * Number of commits of history that a coder can see; our default, tune it on dev data. Other branches are never
 * included.
 */
const HISTORY = 50;

/**
 * Files are checked out and collected byte for byte: a `.gitattributes` file can neither change content nor hide a
 * change. If a repository asks for CRLF on checkout, coders see the stored bytes.
 */
export const BYTE_FOR_BYTE = '* -text -ident !eol !filter !working-tree-encoding !diff !merge\n';

/** Facts about a base besides its files. `links` are its submodules, which are the same in every candidate. */
const CheckoutFacts = z.object({ tree: z.string().regex(/^[0-9a-f]{40}$/), links: z.array(z.string()) });
export type CheckoutFacts = z.infer<typeof CheckoutFacts>;

/** Without a path, because people may see it; the log has the path. */
export const damagedCheckout = (cause?: unknown): Fault =>
  new Fault(
    'STORED_DATA_DAMAGED',
    'The checkout of the repository is damaged on the machine that runs Runoff.',
    { cause },
  );

/** Folder of a base with texts that were noted about it. */
const NOTES = 'notes';

export interface Bases {
  prepare(source: RepositorySource, sha: Sha): Promise<BaseCheckout>;
  /** Fault: STORED_DATA_DAMAGED if it does not exist, for example while it is being recreated. */
  facts(base: BaseCheckout): Promise<CheckoutFacts>;
  /** As in the port, without layers. */
  isWhole(base: BaseCheckout): Promise<boolean>;
  /** As in the port. */
  noteOf(base: BaseCheckout, key: string): Promise<string | null>;
  note(base: BaseCheckout, key: string, text: string): Promise<void>;
}

interface BaseParts {
  readonly git: Git;
  readonly layout: Layout;
  readonly locks: Locks;
  readonly mirrors: Mirrors;
  readonly owner: FileOwner;
  readonly onDamage: (path: string, why: string) => void;
}

export function openBases({ git, layout, locks, mirrors, owner, onDamage }: BaseParts): Bases {
  const shared = openSharedWork<void>();

  const notes = ({ repositoryKey, sha }: BaseCheckout): string =>
    join(layout.base(repositoryKey, sha), NOTES);

  async function build(folder: string, key: string, sha: Sha): Promise<void> {
    const lower = join(folder, 'lower');
    await mkdir(lower);
    for (const name of ['setups', NOTES]) await mkdir(join(folder, name));
    await chownTo(lower, owner);
    await checkOut(git, lower, { mirror: layout.mirror(key), sha, owner });
    const links = (await mirrors.entries(key, sha)).filter((entry) => entry.type === 'commit');
    const tree = await git({ cwd: layout.mirror(key), args: ['rev-parse', `${sha}^{tree}`] });
    if (tree.exitCode !== 0) throw gitFault('Preparing the checkout', tree);
    const facts: CheckoutFacts = { tree: tree.stdout.trim(), links: links.map((entry) => entry.path) };
    await writeFile(join(folder, 'facts.json'), JSON.stringify(facts));
    await writeMark(folder, await fingerprintBase(folder));
  }

  return {
    prepare: (source, sha) =>
      mirrors.using(source, async () => {
        const key = await mirrors.hold(source, sha);
        const path = layout.base(key, sha);
        await shared(path, async () => {
          if (await isWhole(path, () => fingerprintBase(path))) return;
          await setAsideDamaged({ locks, onDamage }, key, path, () => fingerprintBase(path));
          await mkdir(layout.bases(key), { recursive: true });
          const making = () => makeAtomically(path, (folder) => build(folder, key, sha), removeTree);
          try {
            await making();
          } catch (error) {
            // What is being made may lose a file as well. If that is not the reason, the same error comes again.
            if (asFault(error).code !== 'INTERNAL') throw error;
            await making();
          }
        });
        return { sha, repositoryKey: key, lower: join(path, 'lower'), layers: [] };
      }),

    isWhole({ repositoryKey, sha }) {
      const path = layout.base(repositoryKey, sha);
      return isWhole(path, () => fingerprintBase(path));
    },

    async facts(base) {
      const file = join(layout.base(base.repositoryKey, base.sha), 'facts.json');
      try {
        return CheckoutFacts.parse(JSON.parse(await readFile(file, 'utf8')));
      } catch (cause) {
        // Damaged, or another process has just set it aside and is recreating it.
        throw damagedCheckout(cause);
      }
    },

    noteOf: (base, key) => readTextFile(join(notes(base), keyOf(key))),

    async note(base, key, text) {
      try {
        const folder = layout.base(base.repositoryKey, base.sha);
        await replaceFile(join(notes(base), keyOf(key)), text, folder);
      } catch (error) {
        // Its folder is made with the checkout only: without one, there is nothing to make a note of.
        if (!hasCode(error, 'ENOENT')) throw error;
      }
    },
  };
}

const fingerprintBase = async (folder: string): Promise<string> =>
  `${await fingerprintTree(join(folder, 'lower'))} ${await readFile(join(folder, 'facts.json'), 'utf8')}`;

/**
 * The checkout has its own objects: a link to the mirror's would show coders every commit that any run fetched. The
 * owner itself creates it, so that no file has to change its owner.
 */
export async function checkOut(
  git: Git,
  lower: string,
  from: { readonly mirror: string; readonly sha: Sha; readonly owner: FileOwner },
): Promise<void> {
  const onKilled = () => clearCrash(join(lower, '.git'));
  const asOwner = async (...args: string[]) => {
    const call: GitCall = { cwd: lower, args, as: from.owner, onKilled };
    const done = await git(call);
    if (done.exitCode !== 0) throw gitFault('Preparing the checkout', done);
  };
  await asOwner('init', '-q');
  const info = join(lower, '.git', 'info');
  await mkdir(info, { recursive: true });
  await writeFile(join(info, 'attributes'), BYTE_FOR_BYTE);
  await writeFile(join(lower, '.git', 'config'), LOCAL_SETTINGS);
  for (const path of [info, join(info, 'attributes'), join(lower, '.git', 'config')]) {
    await chownTo(path, from.owner);
  }
  const fetch = ['fetch', '-q', `--depth=${HISTORY}`, '--no-tags', '--no-write-fetch-head'];
  await asOwner(...fetch, from.mirror, from.sha);
  await asOwner('reset', '-q', '--hard', from.sha);
}

// User ids and inodes differ between host and sandbox: without checkStat, the first `git status` of every coder would
// read every file.
const LOCAL_SETTINGS = `[core]
	repositoryFormatVersion = 0
	fileMode = true
	bare = false
	checkStat = minimal
[gc]
	auto = 0
[maintenance]
	auto = false
[user]
	name = Coder
	email = coder@localhost
`;
