import { createHash } from 'node:crypto';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TrustedChecks } from '../cli/index.ts';
import { dataPaths } from './paths.ts';

/** What people have agreed to run with less than the full sandbox: a small file for each repository and set of checks. */
export function openTrustedChecks(data: string): TrustedChecks {
  const folder = dataPaths(data).trusted;
  const fileOf = (repository: string, digest: string): string =>
    join(folder, createHash('sha256').update(`${repository}\0${digest}`).digest('hex'));
  return {
    has: (repository, { digest }) =>
      access(fileOf(repository, digest)).then(
        () => true,
        () => false,
      ),
    async keep(repository, exposure) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(
        fileOf(repository, exposure.digest),
        `${JSON.stringify({ repository, ...exposure })}\n`,
      );
    },
  };
}
