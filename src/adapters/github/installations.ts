import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';
import type { InstalledRepository, Log, RepositoryHandle } from '../../ports/index.ts';
import { Installation, Installed, MintedToken } from './answers.ts';
import type { Api } from './client.ts';
import { statusOf } from './faults.ts';
import type { Pace } from './pace.ts';
import { PAGE, pagesOf } from './pages.ts';

const MAX_REPOSITORIES = 1_000;
const MAX_PAGES = MAX_REPOSITORIES / PAGE;

const InstalledPage = z.object({ repositories: z.array(Installed) });

export interface InstallationsParts {
  /** Signs in as the App. */
  readonly app: Api;
  client(token: string): Api;
  readonly pace: Pace;
  readonly log: Log;
}

/** Every repository that the App is installed on now; suspended installations are left out. */
export async function listRepositories(parts: InstallationsParts): Promise<readonly InstalledRepository[]> {
  const { app, pace } = parts;
  const installations = await pace.run('list the installations of this App', () =>
    pagesOf(async (page) => {
      const { data } = await app.rest.apps.listInstallations({ per_page: PAGE, page });
      return z.array(Installation).parse(data);
    }, MAX_PAGES),
  );
  const found: InstalledRepository[] = [];
  for (const { id, created_at: installedAt, suspended_at: suspended } of installations) {
    if (found.length >= MAX_REPOSITORIES) break;
    if (suspended) continue;
    const repositories = await ofInstallation(parts, id);
    found.push(...repositories.map((one) => ({ ...one, installedAt })));
  }
  return found.slice(0, MAX_REPOSITORIES);
}

/** None where it was suspended or deleted since it was listed. */
async function ofInstallation(
  parts: InstallationsParts,
  installationId: number,
): Promise<readonly RepositoryHandle[]> {
  const { app, client, pace, log } = parts;
  try {
    return await pace.run(`list the repositories of installation ${installationId}`, async () => {
      // The only token for more than one repository: it can read their names, and is given back at once.
      const { data } = await app.rest.apps.createInstallationAccessToken({
        installation_id: installationId,
        permissions: { metadata: 'read' },
      });
      const api = client(MintedToken.parse(data).token);
      try {
        return await repositoriesOf(api, installationId);
      } finally {
        await api.rest.apps.revokeInstallationAccessToken().catch((error: unknown) => {
          // It runs out within the hour by itself.
          log.warn({ status: statusOf(error) }, 'A GitHub token could not be given back.');
        });
      }
    });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'GITHUB_REFUSED') throw error;
    log.warn({ installationId, detail: error.message }, 'An installation could not be listed.');
    return [];
  }
}

async function repositoriesOf(api: Api, installationId: number): Promise<readonly RepositoryHandle[]> {
  const found = await pagesOf(async (page) => {
    const { data } = await api.rest.apps.listReposAccessibleToInstallation({ per_page: PAGE, page });
    return InstalledPage.parse(data).repositories;
  }, MAX_PAGES);
  return found.map(({ id, name, owner }) => ({ installationId, repositoryId: id, owner: owner.login, name }));
}
