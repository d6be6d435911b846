import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { BaseCheckout, CommitSpec, Workspaces } from '../../src/ports/index.ts';
import { ALICE, type SharedFixture } from './publishing-world.ts';

const run = promisify(execFile);

/** The same commit in the repository on disk. */
async function written(directory: string, { base, tree, message, author, at }: CommitSpec): Promise<string> {
  const who = { NAME: author.name, EMAIL: author.email, DATE: `@${at} +0000` };
  const env = Object.fromEntries(
    Object.entries(who).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  );
  const args = ['-C', directory, 'commit-tree', tree, '-p', base, '-m', message.trimEnd()];
  return (await run('git', args, { env: { PATH: process.env.PATH, ...env } })).stdout.trim();
}

interface Ref {
  readonly ref: string;
  readonly object: { readonly sha: string };
}

/**
 * Commits and pushes on GitHub's side, with the promises of the port: a story about calls needs no git over HTTP for each
 * branch.
 */
export function overRest({ hub, base }: SharedFixture): Workspaces {
  const { owner, name } = hub.repository;
  const ask = <T>(method: string, path: string, body?: object) =>
    hub.github.as(ALICE).request<T>(method, `/repos/${owner}/${name}/git/${path}`, body as never);
  const headOf = async (branch: string): Promise<string | null> => {
    const found = await ask<readonly Ref[]>('GET', `matching-refs/heads/${branch}`);
    return found.find(({ ref }) => ref === `refs/heads/${branch}`)?.object.sha ?? null;
  };
  const directory = hub.github.directory(owner, name);
  const checkout: BaseCheckout = { sha: base, repositoryKey: 'rest', lower: '/nowhere', layers: [] };
  const some: Pick<Workspaces, 'prepare' | 'holds' | 'commit' | 'push' | 'sweep'> = {
    prepare: async () => checkout,
    // GitHub has every tree of the stories.
    holds: async () => true,
    async commit(_base, spec) {
      const date = new Date(spec.at * 1000).toISOString();
      const who = { ...spec.author, date };
      const body = {
        message: spec.message,
        tree: spec.tree,
        parents: [spec.base],
        author: who,
        committer: who,
      };
      const { sha } = (await ask('POST', 'commits', body)) as { readonly sha: string };
      expect(await written(directory, spec)).toBe(sha);
      return sha;
    },
    async push(_base, _remote, branch, sha, onto) {
      const at = await headOf(branch);
      if (at === sha) return { kind: 'pushed' };
      if (at !== (onto ?? null)) return { kind: 'exists', at };
      await run('git', ['-C', directory, 'update-ref', `refs/heads/${branch}`, sha]);
      if (onto) await ask('PATCH', `refs/heads/${branch}`, { sha });
      else await ask('POST', 'refs', { ref: `refs/heads/${branch}`, sha });
      return { kind: 'pushed' };
    },
    sweep: async () => [],
  };
  return some as Workspaces;
}
