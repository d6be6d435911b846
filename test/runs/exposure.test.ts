import { expect, test } from 'vitest';
import { admit } from '../../src/runs/admit/index.ts';
import { loadRun } from '../../src/runs/context.ts';
import { exposureOfLocal, type World } from '../../src/runs/index.ts';
import { admissionWorld, MAIN, NOON } from './admission-world.ts';

const PATH = '/home/ada/shop';
const origin = { kind: 'local', path: PATH } as const;
const NONE = { kind: 'ready', backend: 'none', detail: 'plain', weaker: ['Nothing holds.'] } as const;
const FULL = { kind: 'ready', backend: 'bubblewrap', detail: 'full', weaker: [] } as const;

const settingsOf = (test: string, network = '') =>
  `candidates: 1\nchecks: { setup: npm ci, test: ${test} }\n${network}`;
const HOSTS = 'network: { allow: [registry.example.com] }\n';

/** A repository of the user's, on a machine with this sandbox, whose operator allows one host. */
function local(probe: typeof NONE | typeof FULL, settings: string) {
  const admission = admissionWorld();
  admission.now.files[`${MAIN}:.github/auto-dev.yml`] = settings;
  const describe = async () => ({
    top: PATH,
    dirty: false,
    branch: 'main',
    empty: false,
    unwritable: null,
  });
  const world: World = {
    ...admission.world,
    workspaces: { ...admission.world.workspaces, describe },
    sandbox: { ...admission.world.sandbox, probe: async () => probe },
    ceilings: { ...admission.world.ceilings, networkAllow: ['registry.example.com'] },
  };
  return { ...admission, world };
}

async function admitted(
  { world, store }: Pick<ReturnType<typeof local>, 'world' | 'store'>,
  trustedChecks?: string,
) {
  const runId = 'r0000000001';
  const text = { title: 'Rounding', body: await world.artifacts.put('It is wrong.') };
  const trust = trustedChecks === undefined ? {} : { trustedChecks };
  const request = { runId, text, triggeredAt: NOON, overrides: {}, ...trust };
  await store.createRun({ id: runId, origin, title: text.title, request, at: NOON });
  return admit(world, await loadRun(world, runId), request);
}
const wish = { runId: 'r0000000001', overrides: {} };
const untrusted = { code: 'CHECKS_UNTRUSTED', message: expect.stringContaining(PATH) };

test('nobody is asked in the full sandbox without a network', async () => {
  const here = local(FULL, settingsOf('npm test'));
  expect(await exposureOfLocal(here.world, origin, wish)).toBeNull();
  expect(await admitted(here)).toBe('go');
});

test('a run outside the full sandbox is refused until somebody has agreed to exactly these checks', async () => {
  const asked = await exposureOfLocal(local(NONE, settingsOf('npm test')).world, origin, wish);
  expect(asked).toMatchObject({
    setup: 'npm ci',
    test: 'npm test',
    hosts: [],
    backend: 'none',
    others: 'tried',
    weaker: ['Nothing holds.'],
  });
  await expect(admitted(local(NONE, settingsOf('npm test')))).rejects.toMatchObject(untrusted);
  expect(await admitted(local(NONE, settingsOf('npm test')), asked?.digest)).toBe('go');
  // Another command, and hosts beside it, were not agreed to.
  await expect(admitted(local(NONE, settingsOf('make test')), asked?.digest)).rejects.toMatchObject(
    untrusted,
  );
  await expect(admitted(local(NONE, settingsOf('npm test', HOSTS)), asked?.digest)).rejects.toMatchObject(
    untrusted,
  );
});

test('hosts that set-up or checks would reach need agreement also in the full sandbox', async () => {
  const setup = await exposureOfLocal(local(FULL, settingsOf('npm test', HOSTS)).world, origin, wish);
  expect(setup).toMatchObject({ hosts: ['registry.example.com'], weaker: [] });
  await expect(admitted(local(FULL, settingsOf('npm test', HOSTS)))).rejects.toMatchObject(untrusted);
  expect(await admitted(local(FULL, settingsOf('npm test', HOSTS)), setup?.digest)).toBe('go');
  const wider = settingsOf('npm test', 'network: { allow: [registry.example.com], checks: true }\n');
  await expect(admitted(local(FULL, wider), setup?.digest)).rejects.toMatchObject(untrusted);
});

test('a host that the operator does not allow needs no agreement', async () => {
  const elsewhere = settingsOf('npm test', 'network: { allow: [elsewhere.example] }\n');
  expect(await exposureOfLocal(local(FULL, elsewhere).world, origin, wish)).toBeNull();
});

test('nobody is asked on GitHub', async () => {
  const admission = admissionWorld();
  const world = { ...admission.world, sandbox: { ...admission.world.sandbox, probe: async () => NONE } };
  const request = await admission.ask();
  expect(await admit(world, await loadRun(world, request.runId), request)).toBe('go');
});
