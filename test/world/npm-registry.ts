import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** A package registry on loopback that has the packages of one installation, in the versions that are installed there. */
export interface NpmRegistry {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the packages that `root/package-lock.json` names and that are installed in `root/node_modules`. Everything else
 * is not there: whoever installs from it gets the locked versions, without network.
 */
export async function openNpmRegistry(root: string): Promise<NpmRegistry> {
  const folders = foldersOf(root);
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '/').slice(1));
    const [name = '', version] = path.split('/-/');
    const versions = folders.get(name);
    if (versions === undefined) return void response.writeHead(404).end('{}');
    if (version === undefined) return describe(response, `http://${request.headers.host}`, name, versions);
    const folder = versions.get(version.replace(/\.tgz$/, ''));
    return folder === undefined ? void response.writeHead(404).end('{}') : sendFiles(response, folder);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Versions = Map<string, string>;

function foldersOf(root: string): ReadonlyMap<string, Versions> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; link?: boolean }>;
  };
  const found = new Map<string, Versions>();
  for (const [path, { dev, link }] of Object.entries(packages)) {
    const folder = join(root, path);
    if (dev || link || !path.includes('node_modules/') || !existsSync(join(folder, 'package.json'))) continue;
    const { name, version } = manifestOf(folder);
    const versions: Versions = found.get(name) ?? new Map();
    found.set(name, versions.set(version, folder));
  }
  return found;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

function describe(response: ServerResponse, url: string, name: string, versions: Versions): void {
  const described = [...versions].map(([version, folder]) => [
    version,
    { ...manifestOf(folder), dist: { tarball: `${url}/${name}/-/${version}.tgz` } },
  ]);
  const latest = [...versions.keys()].at(-1);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(described) }));
}

/** Not compressed: npm takes both, and these are hundreds of megabytes. */
function sendFiles(response: ServerResponse, folder: string): void {
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  const words = ['-cf', '-', '--exclude=./node_modules', '--transform=s,^\\.,package,', '.'];
  spawn('tar', words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(response);
}
