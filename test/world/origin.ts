import type { GitHubOrigin } from '../../src/core/model/index.ts';

/** A run on issue #7 of acme/shop, which mona asked for, unless something else is said. */
export const githubOrigin = (over: Partial<GitHubOrigin> = {}): GitHubOrigin => ({
  kind: 'github',
  installationId: 1,
  repositoryId: 42,
  owner: 'acme',
  name: 'shop',
  issue: 7,
  requestedBy: { id: 5, login: 'mona' },
  ...over,
});
