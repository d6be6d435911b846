import {
  type FoundService,
  type FoundTool,
  MYSQL_PATH,
  type ServiceName,
} from '../../../core/settings/index.ts';
import type { Tools } from '../../../ports/index.ts';
import { SHELF } from './lend.ts';

/** Copies Runoff's Postgres into a folder that the sandboxes' user can read. */
export type PostgresCopy = () => Promise<{ readonly folder: string; readonly version: string }>;

interface ServiceFinding {
  readonly tools?: Tools;
  readonly found?: readonly FoundTool[];
}

/** Programs of a service for tests: Runoff's Postgres, other services from the sandbox. Empty if there are none. */
export async function findService(
  parts: {
    readonly host: boolean;
    readonly inside: (argv: readonly [string, ...string[]]) => Promise<string | null>;
    readonly postgres?: PostgresCopy;
  },
  name: ServiceName,
): Promise<ServiceFinding> {
  if (name === 'postgres') {
    if (!parts.host || parts.postgres === undefined) return {};
    const { folder, version } = await parts.postgres();
    const to = `${SHELF}/postgres`;
    const mounts = { mounts: [{ from: folder, to }], path: [`${to}/bin`] };
    return serviceOf({ name, product: 'Postgres', version }, 'runoff', mounts);
  }
  if (name === 'redis') {
    const answer = await parts.inside(['redis-server', '--version']);
    const version = /v=(\d+(?:\.\d+)*)/.exec(answer ?? '')?.[1];
    return version === undefined ? {} : serviceOf({ name, product: 'Redis', version }, 'sandbox');
  }
  const ask = `${MYSQL_PATH}; mariadbd --version 2>/dev/null || mysqld --version`;
  const answer = await parts.inside(['sh', '-c', ask]);
  const [, version, maria] = /\bVer (\d+(?:\.\d+)*)(-MariaDB)?/.exec(answer ?? '') ?? [];
  if (version === undefined) return {};
  return serviceOf({ name, product: maria === undefined ? 'MySQL' : 'MariaDB', version }, 'sandbox');
}

const serviceOf = (
  service: FoundService,
  from: FoundTool['from'],
  mounts: Pick<Tools, 'mounts' | 'path'> = { mounts: [], path: [] },
): ServiceFinding => ({
  tools: { ...mounts, services: [service] },
  found: [{ name: `${service.product} ${service.version}`, from }],
});
