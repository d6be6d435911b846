import { asFault } from '../core/model/index.ts';
import type { AgentRow, Shell } from '../shell.ts';
import { shown } from './render/index.ts';

/** Digits of a commit's hash that people compare. */
const SHORT = 12;

/** `runoff --version`: what somebody to whom a problem is reported needs to know. */
export async function showVersion(
  shell: Pick<Shell, 'agents' | 'commit' | 'screen' | 'version'>,
): Promise<void> {
  const commit = await shell.commit();
  const of = commit === null ? 'commit not recorded' : `commit ${shortCommit(commit)}`;
  const agents = await shell.agents.list().then(agentVersions, (thrown: unknown) => {
    return `not known, because the settings cannot be read: ${shown(asFault(thrown).message, 300)}`;
  });
  shell.screen.out(`runoff ${shell.version} (${of}, Node ${process.version})\nagents: ${agents}\n`);
}

const shortCommit = (commit: string): string =>
  commit.replace(/^([0-9a-f]+)/, (hash) => hash.slice(0, SHORT));

/** The version of a coder of Runoff's own is a hash of its sources, which the commit says already. */
const agentVersions = (rows: readonly AgentRow[]): string =>
  rows
    .filter(({ installed }) => installed !== null)
    .map(({ name, from, installed }) => (from === 'runoff' ? name : `${name} ${shown(installed ?? '', 40)}`))
    .join(', ');
