import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExecSpec } from '../../src/ports/index.ts';
import { type FixtureOptions, openSharedFixture, type SharedFixture } from './examination-world.ts';

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

const manifest = (dependencies: object) => JSON.stringify({ type: 'module', dependencies }, null, 2);

/** An installer that needs no registry: half of the packages go to node_modules, half to HOME. */
const INSTALL = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
for (const name of Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies)) {
  if (name === 'missing') {
    console.error("error 404: 'missing' is not in this registry");
    process.exit(1);
  }
  const folder = name.startsWith('home-') ? homedir() + '/store/' + name : 'node_modules/' + name;
  mkdirSync(folder, { recursive: true });
  writeFileSync(folder + '/package.json', '{"type":"module"}');
  writeFileSync(folder + '/index.js', 'export const plus = (a, b) => a + b;');
}
`;
const TESTS = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from '../src/sum.js';
test('adds', () => assert.equal(sum([1, 2]), 3));
`;
const FILES = {
  'package.json': manifest({ old: '1.0.0' }),
  'install.mjs': INSTALL,
  '.gitignore': 'node_modules\n',
  'src/sum.js': 'export const sum = (list) => list[0] + list[1];\n',
  'test/sum.test.js': TESTS,
};
const SETUP = '/opt/toolchain/bin/node install.mjs';
const using = (...names: readonly string[]) => ({
  'package.json': manifest(Object.fromEntries(names.map((name) => [name, '1.0.0']))),
  'src/sum.js': names
    .map((name, n) =>
      name.startsWith('home-')
        ? `const { plus: p${n} } = await import(process.env.HOME + '/store/${name}/index.js');\n`
        : `const { plus: p${n} } = await import('${name}/index.js').catch(() => import('../node_modules/${name}/index.js'));\n`,
    )
    .concat(`export const sum = (list) => list.reduce((a, b) => p0(a, b), 0);\n`)
    .join(''),
});

const examined = async (
  candidates: Readonly<Record<string, Readonly<Record<string, string>>>>,
  options: Partial<FixtureOptions> = {},
) => {
  const fixture = await shared.fixture({ files: FILES, setup: SETUP, candidateSetup: true, ...options });
  return fixture.examine(await fixture.base(), candidates);
};

const REGISTRIES = {
  of: async () => ({ hosts: ['registry.test:443'], env: {}, files: {}, folders: [], logins: [] }),
};

/** A TLS alert: no handshake, but an answer. */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 40]);

/** An install script that sends a host a byte that is no greeting, and fails. */
const forgery = (host: string) => `import { request } from 'node:http';
const call = request(process.env.HTTPS_PROXY, { method: 'CONNECT', path: '${host}' });
call.on('connect', (_, socket) => {
  socket.on('close', () => process.exit(1)).resume();
  socket.write('x');
});
call.end();
`;

const NO_CLIENT_FILES = {
  'src/sum.js': `import { existsSync } from 'node:fs';
if (existsSync(process.env.HOME + '/.client/settings')) throw new Error('settings of a client are here');
export const sum = (list) => list.reduce((a, b) => a + b, 0);
`,
};

describe('a candidate that changes its packages', () => {
  test('is built and tested with them where settings allow it, and others with those of the base', async () => {
    const evidence = await examined({
      A: { 'src/sum.js': using('old')['src/sum.js'] },
      B: using('fresh', 'home-made'),
      C: { ...using('fresh'), 'src/sum.js': using('old')['src/sum.js'] },
    });
    const failed = (alias: string) => evidence[alias]?.gates.filter(({ passed }) => !passed) ?? [];
    expect([failed('A'), failed('B')]).toEqual([[], []]);
    expect(evidence.B?.gates.find(({ gate }) => gate === 'builds')?.because).toContain('installed anew');
    expect(evidence.B?.baseTests).toMatchObject({ passed: 1, regressions: [] });
    // The package of the base that it no longer asks for is not there.
    expect(evidence.C?.baseTests?.regressions).toEqual(['test/sum.test.js > adds']);
    expect(JSON.stringify(evidence)).not.toContain('with the packages of the base commit');
  });

  test('is tested with the packages of the base otherwise, and that is said', async () => {
    const evidence = await examined({ B: using('fresh') }, { candidateSetup: false });
    expect(evidence.B?.baseTests?.regressions).toEqual(['test/sum.test.js > adds']);
    expect(evidence.B?.baseTests?.notes).toContainEqual(
      'B changes package.json, but is built and tested with the packages of the base commit: others may be missing. `checks.candidateSetup` installs them.',
    );
  });

  test('fails where its set-up fails, with its output', async () => {
    const { B } = await examined({ B: using('missing') });
    expect(B?.gates.find(({ gate }) => gate === 'builds')).toMatchObject({
      passed: false,
      because: expect.stringMatching(
        /^with its own packages, the set-up `\S+ install\.mjs` fails: `error 404: 'missing' is not in this registry`/,
      ),
      hunk: expect.stringContaining('error 404'),
    });
    expect(B?.baseTests).toBeUndefined();
  });

  test('reaches registries without logins, hosts of the repository not at all, and leaves no client settings', async () => {
    const specs: ExecSpec[] = [];
    const access = {
      hosts: ['registry.test:443'],
      env: { CLIENT: 'set' },
      files: { '.client/settings': 'registry = registry.test' },
      folders: [],
      logins: [{ host: 'registry.test:443' }],
    };
    const evidence = await examined(
      { B: { ...using('fresh'), ...NO_CLIENT_FILES } },
      {
        // Only the hosts are of interest, and no login is read.
        registries: { of: async () => access as never },
        exec: (spec, real) => {
          if (!spec.registries?.length) return real(spec);
          specs.push(spec);
          return real({ ...spec, registries: [] });
        },
      },
    );
    expect(evidence.B?.gates.filter(({ passed }) => !passed)).toEqual([]);
    expect(specs).toHaveLength(1);
    expect(specs[0]).toMatchObject({ registries: ['registry.test:443'], env: { CLIENT: 'set' } });
    expect([specs[0]?.logins, specs[0]?.egress]).toEqual([undefined, undefined]);
  });

  test('is not set up after it failed another gate, so nothing of it reaches a registry', async () => {
    const hosts: (readonly string[])[] = [];
    const { B } = await examined(
      {
        B: {
          ...using('fresh'),
          'package.json': JSON.stringify({ scripts: { postinstall: 'curl' }, dependencies: { fresh: '1' } }),
        },
      },
      {
        registries: REGISTRIES,
        exec: (spec, real) => {
          if (spec.registries?.length) hosts.push(spec.registries);
          return real({ ...spec, registries: [] });
        },
      },
    );
    expect(B?.gates.find(({ gate }) => gate === 'untampered')).toMatchObject({ passed: false });
    expect(hosts).toEqual([]);
    expect(JSON.stringify(B)).toContain('as it failed a gate before set-up');
  });

  test('is not blamed for a registry that is away, unless only its own output says so', async () => {
    const registries = REGISTRIES;
    const exec: FixtureOptions['exec'] = async (spec, real) => {
      const result = await real({ ...spec, registries: [] });
      return spec.registries?.length
        ? { ...result, exitCode: 1, failedHosts: [{ host: 'registry.test:443', why: 'does not answer' }] }
        : result;
    };
    await expect(examined({ B: using('fresh') }, { registries, exec })).rejects.toMatchObject({
      code: 'REGISTRY_UNAVAILABLE',
      message: expect.stringContaining('registry.test does not answer'),
    });
    const script = 'console.error("npm error 503 Service Unavailable"); process.exit(1);\n';
    const { B } = await examined(
      { B: { 'install.mjs': script, 'src/sum.js': FILES['src/sum.js'] } },
      { registries, exec: (spec, real) => real({ ...spec, registries: [] }) },
    );
    expect(B?.gates.find(({ gate }) => gate === 'builds')).toMatchObject({ passed: false });
  });

  describe('with a script that makes connections to a registry fail', () => {
    /** Its set-ups, and what came of them; the registry answers TLS, or nobody. */
    async function forged(registry: 'answers' | 'is away') {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', (data) =>
          registry === 'answers' && data[0] === 22 ? socket.end(ALERT) : socket.end(),
        );
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const setUps: string[] = [];
      const evidence = examined(
        { B: { 'install.mjs': forgery(host), 'src/sum.js': FILES['src/sum.js'] } },
        {
          registries: { of: async () => ({ hosts: [host], env: {}, files: {}, folders: [], logins: [] }) },
          exec: (spec, real) => {
            if (spec.registries?.length && spec.argv[2] === SETUP) setUps.push(spec.area.id);
            return real(spec);
          },
        },
      );
      const ended = await evidence.catch((thrown: unknown) => thrown);
      server.close();
      return { ended, setUps: setUps.length };
    }

    test('it is the failure of the candidate if the registry answers Runoff, after a second try', async () => {
      const { ended, setUps } = await forged('answers');
      expect(ended).toMatchObject({
        B: { gates: expect.arrayContaining([expect.objectContaining({ gate: 'builds', passed: false })]) },
      });
      expect(setUps).toBe(2);
    });

    test('it is an outage if the registry does not answer Runoff either', async () => {
      const { ended, setUps } = await forged('is away');
      expect(ended).toMatchObject({ code: 'REGISTRY_UNAVAILABLE' });
      expect(setUps).toBe(1);
    });
  });

  test('is set up twice at most where a signal ends its set-up', async () => {
    const areas: string[] = [];
    const { B } = await examined(
      { B: using('missing') },
      {
        exec: async (spec, real) => {
          if (spec.argv[2] !== SETUP || !spec.area.id.includes('-B-')) return real(spec);
          areas.push(spec.area.id);
          return { ...(await real(spec)), exitCode: null, signal: 9, stdout: '', stderr: '' };
        },
      },
    );
    expect(B?.gates.find(({ gate }) => gate === 'builds')).toMatchObject({ passed: false });
    expect(areas).toHaveLength(2);
  });
});
