import { workspacesContract } from '../../contracts/workspaces.suite.ts';
import { git, lockFolder, openGitWorld, writeFiles } from './world.ts';

for (const overlay of [true, false]) {
  workspacesContract(overlay ? 'git over overlays' : 'git over copies', () => {
    const world = openGitWorld({ overlay });
    return { ...world, git, write: writeFiles, lockFolder };
  });
}
