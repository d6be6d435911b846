import { openContests } from '../adapters/arena/index.ts';
import { lockFile, openTemplates } from '../adapters/git/index.ts';
import { openTextModel } from '../adapters/models/index.ts';
import { systemRandom } from '../adapters/system/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type { Arena } from '../shell.ts';
import { dataPaths } from './data-folder.ts';
import { openRuntime } from './runtime.ts';

/** Opens what contests need: the runtime of a command, the folders of contests, and models that answer texts. */
export async function openArena(operator: Operator, executes: boolean): Promise<Arena> {
  const runtime = await openRuntime(
    operator,
    executes ? { role: 'standalone', executor: `cli-${systemRandom.runId()}` } : { role: 'reader' },
  );
  const { contests, templates } = dataPaths(operator.data);
  return {
    tools: {
      ...runtime.world,
      templates: openTemplates({ dir: templates, dataDir: operator.data }),
      texts: openTextModel(),
    },
    contests: openContests({ dir: contests, lock: lockFile }),
    close: () => runtime.close(),
  };
}
