import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Settings } from '../../src/core/settings/index.ts';
import type { Clock } from '../../src/ports/index.ts';
import { prepareBase } from '../../src/runs/base/index.ts';
import { retryOutages } from '../../src/runs/stage.ts';
import { openRegistryWorld, type RegistryWorld } from '../adapters/git/registry-world.ts';
import { type Files, git } from '../adapters/git/world.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

let registry: RegistryWorld;
beforeAll(async () => {
  registry = await openRegistryWorld(({ url }, response) =>
    url === '/busy' ? response.writeHead(503).end() : response.end('a package'),
  );
});
afterAll(() => registry.close());
beforeEach(async () => {
  await registry.stop();
});

/** Prepares a base as a stage does. `onWait` is called with the number of each wait. */
function prepared(
  setup: string,
  onWait: (wait: number) => Promise<void> = async () => undefined,
  files: Files = {},
) {
  const { path } = registry.repository({ 'a.txt': setup, ...files });
  if ('.gitmodules' in files)
    git(path, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},data`);
  git(path, 'commit', '-q', '--allow-empty', '-m', 'Base');
  const sha = git(path, 'rev-parse', 'HEAD');
  let waits = 0;
  const clock = partial<Clock>({ sleep: () => onWait(++waits) });
  const world = { log: silent, clock, workspaces: registry.workspaces };
  const settings = Settings.parse({
    checks: { setup },
    network: { allow: [`registry.test:${registry.port}`] },
  });
  const task = { base: { ref: 'main', sha }, origin: { kind: 'local', path }, settings } as const;
  const { signal } = new AbortController();
  const base = retryOutages(world, signal, () => prepareBase(world, task, { signal }), undefined, [1, 1]);
  return base.then(() => waits);
}

test('a registry that is down is waited for, and the run goes on when it comes back', async () => {
  const waits = await prepared(registry.get('a'), async (wait) => {
    if (wait === 2) await registry.start();
  });
  expect(waits).toBe(2);
});

test('a registry that stays away ends the run with an outage that names it', async () => {
  await expect(prepared(registry.get('a'))).rejects.toMatchObject({
    code: 'REGISTRY_UNAVAILABLE',
    message: expect.stringMatching(
      /^The set-up command `curl .*` could not get its packages: registry\.test:\d+ does not accept connections \(ECONNREFUSED\)\. Its output: `curl: /,
    ),
  });
});

test('a registry that is too busy is an outage as well', async () => {
  await registry.start();
  await expect(prepared(`${registry.get('busy')} || { echo "code E503"; exit 1; }`)).rejects.toMatchObject({
    code: 'REGISTRY_UNAVAILABLE',
    message: expect.stringContaining('could not get its packages: `code E503`.'),
  });
});

test('where a host was refused as well, waiting does not help', async () => {
  const setup = `${registry.get('x', 'other.test')}; ${registry.get('a')}`;
  await expect(prepared(setup)).rejects.toMatchObject({
    code: 'BASE_BROKEN',
    message: expect.stringContaining('It may not reach other.test'),
  });
});

test('a registry that answered in the end is not to blame for what fails then', async () => {
  const setup = `${registry.get('a')}; while ! ${registry.get('a')}; do sleep 0.2; done; echo "error: no such option"; exit 2`;
  const failing = prepared(setup);
  await registry.start();
  await expect(failing).rejects.toMatchObject({ code: 'BASE_BROKEN' });
});

test('packages that are named by ssh or git are fetched by https, from hosts that must be allowed', async () => {
  const files = { 'package.json': '{ "dependencies": { "a": "git@scp.test:me/a.git" } }' };
  const urls = ['git@scp.test:me/a.git', 'ssh://git@ssh.test/me/b.git', 'git://git.test/me/c.git'];
  const setup = `${urls.map((url) => `git ls-remote ${url}`).join('; ')}; exit 1`;
  await expect(prepared(setup, undefined, files)).rejects.toMatchObject({
    code: 'BASE_BROKEN',
    message: expect.stringContaining(
      'It may not reach scp.test, ssh.test, git.test. A dependency comes from sources there, not from a package registry: `me/a`, `me/b`, `me/c`. To allow that, add',
    ),
  });
});

test('a set-up that fails in a repository with submodules says that they are not there', async () => {
  const files = { '.gitmodules': '[submodule "data"]\n\tpath = data\n\turl = https://git.test/data.git\n' };
  await expect(prepared('cat data/x', undefined, files)).rejects.toMatchObject({
    code: 'BASE_BROKEN',
    message: expect.stringMatching(
      /^The submodule data is missing, so its folder is empty, and what needs it fails: Runoff may not reach git\.test: .* The set-up command `cat data\/x` failed/,
    ),
  });
});
