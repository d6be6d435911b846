import type { GitHubWorld } from '../../packages/local-github/test/github-world.ts';
import { type GitHubOptions, openGitHub } from '../../src/adapters/github/index.ts';
import type { GitHub } from '../../src/ports/index.ts';
import { silent } from './silent-log.ts';

/** The App's access to a local GitHub, which it need not spare. */
export const appGitHub = (
  { github: { appId, privateKey, apiUrl, url: gitUrl }, fetch }: GitHubWorld,
  over: Partial<GitHubOptions> = {},
): GitHub =>
  openGitHub({
    appId,
    privateKey,
    apiUrl,
    gitUrl,
    fetch,
    throttle: false,
    backOffMs: 1,
    log: silent,
    ...over,
  });
