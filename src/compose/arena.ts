import { mkdir } from 'node:fs/promises';
import { openContests } from '../adapters/arena/index.ts';
import { lockFile, openTemplates } from '../adapters/git/index.ts';
import { openTextModel } from '../adapters/models/index.ts';
import { systemRandom, systemUser } from '../adapters/system/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type { Contests } from '../ports/index.ts';
import type { World } from '../runs/index.ts';
import type { Arena, OpenContests } from '../shell.ts';
import type { ArenaOptions } from '../web/index.ts';
import { dataPaths, openDataFolder, promptsOf } from './data-folder.ts';
import { openRuntime } from './runtime.ts';
import { ownerOf } from './sandbox.ts';

/** Opens what contests need: the runtime of a command, the folders of contests, and models that answer texts. */
export async function openArena(operator: Operator, executes: boolean): Promise<Arena> {
  const runtime = await openRuntime(
    operator,
    executes ? { role: 'standalone', executor: `cli-${systemRandom.runId()}` } : { role: 'reader' },
  );
  const { templates } = dataPaths(operator.data);
  return {
    tools: {
      ...runtime.world,
      templates: openTemplates({ dir: templates, dataDir: operator.data }),
      texts: openTextModel(),
    },
    contests: contestsIn(operator),
    close: () => runtime.close(),
  };
}

/** Opens the folders of contests alone. */
export async function openContestFolders(operator: Operator): Promise<OpenContests> {
  await openDataFolder(operator.data, ownerOf(operator));
  // A data folder is known by what Runoff always makes in it; contests alone would look like somebody else's files.
  await mkdir(dataPaths(operator.data).sockets, { recursive: true, mode: 0o711 });
  return { contests: contestsIn(operator), variants: promptsOf(operator).coder };
}

/** What pages of contests need. */
export const arenaOf = (operator: Operator, { prompts }: Pick<World, 'prompts'>): ArenaOptions => ({
  contests: contestsIn(operator),
  variants: prompts.coder,
  githubUrl: operator.github.gitUrl,
  localVoter: systemUser,
});

const contestsIn = (operator: Operator): Contests =>
  openContests({
    dir: dataPaths(operator.data).contests,
    dataDir: operator.data,
    lock: lockFile,
  });
