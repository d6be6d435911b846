import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Evidence, TestRun } from '../../src/core/evidence/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import type { ExecSpec, Sandbox } from '../../src/ports/index.ts';
import { rememberInMemory } from '../../src/runs/examine/areas.ts';
import {
  type Fixture,
  type FixtureOptions,
  openSharedFixture,
  type SharedFixture,
} from './examination-world.ts';

const sum = (body: string) => ({ 'src/sum.js': `export const sum = (list) => ${body};\n` });
const testOf = (name: string, body: string) => ({
  [`test/${name}.test.js`]: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from '../src/sum.js';

test('${name}', () => ${body});
`,
});
const REPOSITORY = {
  'package.json': '{ "type": "module" }\n',
  ...sum('list.reduce((a, b) => a + b)'),
  ...testOf('two', 'assert.equal(sum([1, 2]), 3)'),
};
const CANDIDATES = {
  A: { ...sum('list.reduce((a, b) => a + b, 0)'), ...testOf('empty', 'assert.equal(sum([]), 0)') },
  B: {
    ...sum('list.length === 0 ? null : list.reduce((a, b) => a + b)'),
    ...testOf('one', 'assert.equal(sum([1]), 1)'),
  },
};

const FAULT = new Fault('SANDBOX_UNAVAILABLE', 'The sandbox is damaged.');
const isPeers = (area: string): boolean => /-(?:from-[AB]|on-base)$/.test(area);
/** Whether a test run with this key is that of A's tests on B's code. */
const isOfAOnB = (key: string): boolean =>
  key.startsWith('["tests"') && key.includes("test('empty'") && key.includes('null :');
/** Without measured times, and the places that the id of the run decides. */
const comparable = (evidence: Readonly<Record<string, Evidence>>): unknown =>
  JSON.parse(
    JSON.stringify(evidence, (key, value) => (key === 'ms' ? 0 : value)).replace(
      /in \S+, for the user \S+ on [\w-]+\./g,
      'elsewhere.',
    ),
  );

let shared: SharedFixture;
let base: TestRun;
/** What is found, and was run, without any test beside the probes. */
let without: { readonly evidence: unknown; readonly peers: readonly string[] };
beforeAll(async () => {
  shared = await openSharedFixture({ probes: true });
  base = await (await shared.fixture({ files: REPOSITORY })).base();
  const plain = await shared.fixture({ files: REPOSITORY });
  // With so long a suite, time may become short.
  const evidence = comparable(await plain.examine({ ...base, ms: 59_000 }, CANDIDATES));
  without = { evidence, peers: plain.tested.filter(isPeers).sort() };
});
afterAll(() => shared.close());

/** Whatever is to be stopped after a time ends before it. */
const NEVER: NonNullable<FixtureOptions['clock']> = {
  async sleep(_, signal) {
    if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  },
};

type Exec = (spec: ExecSpec, real: Sandbox['exec']) => ReturnType<Sandbox['exec']>;

/** Probes are not derived until tests of one candidate have been run on another one's code. */
async function heldProbes(
  {
    derive = (spec, real) => real(spec),
    onPeer = (spec, real) => real(spec),
  }: { derive?: Exec; onPeer?: Exec },
  options: Partial<FixtureOptions> = {},
): Promise<Fixture> {
  const peers = Promise.withResolvers<void>();
  return shared.fixture({
    files: REPOSITORY,
    clock: NEVER,
    ...options,
    async exec(spec, real) {
      if (spec.area.id.endsWith('-probe-derive')) {
        await peers.promise;
        return derive(spec, real);
      }
      if (!/-from-[AB]$/.test(spec.area.id)) return real(spec);
      return onPeer(spec, real).finally(() => peers.resolve());
    },
  });
}

describe('tests of candidates on each other, beside probes', () => {
  test('are not run again when it is their turn, and the evidence is the same as without', async () => {
    const fixture = await heldProbes({});
    const found = await fixture.examine(base, CANDIDATES);
    expect(comparable(found)).toEqual(without.evidence);
    expect(found.A?.behaviour).toBeDefined();
    expect(found.B?.peerTests).toMatchObject([{ author: 'A' }]);
    expect(fixture.tested.filter(isPeers).sort()).toEqual(without.peers);
    expect(fixture.tested.filter(isPeers)).toHaveLength(4);
  });

  test('that meet a fault decide nothing: they are run again when it is their turn', async () => {
    let faults = 0;
    const failing = (times: number) =>
      heldProbes({
        async onPeer(spec, real) {
          faults += 1;
          if (faults > times) return real(spec);
          throw FAULT;
        },
      });
    const once = await (await failing(1)).examine(base, CANDIDATES);
    expect(once.B?.peerTests).toMatchObject([{ author: 'A' }]);
    expect(once.A?.cut).toBeUndefined();
    // A sandbox that stays damaged ends the examination.
    faults = 0;
    const lasting = await failing(Number.POSITIVE_INFINITY);
    await expect(lasting.examine(base, CANDIDATES)).rejects.toThrow(FAULT.message);
  });

  test('that hang are stopped, so that probes go on, and run again when it is their turn', async () => {
    const hangs = Promise.withResolvers<void>();
    let limitMs = 0;
    const fixture = await heldProbes(
      {
        async onPeer(spec, real) {
          if (limitMs > 0) return real(spec);
          hangs.resolve();
          await new Promise((resolve) => spec.signal?.addEventListener('abort', resolve));
          return real(spec);
        },
      },
      {
        clock: {
          async sleep(ms) {
            await hangs.promise;
            limitMs = ms;
          },
        },
      },
    );
    const found = await fixture.examine(base, CANDIDATES);
    expect(comparable(found)).toEqual(without.evidence);
    expect(limitMs).toBe(4 * base.ms + 5_000);
    expect(fixture.tested.filter(isPeers)).toEqual(expect.arrayContaining([...without.peers]));
  });

  test('are stopped where probes meet a fault, which is the one that is reported', async () => {
    const begun = Promise.withResolvers<void>();
    let isStopped = false;
    const fixture = await shared.fixture({
      files: REPOSITORY,
      clock: NEVER,
      async exec(spec, real) {
        if (spec.area.id.endsWith('-probe-derive')) {
          await begun.promise;
          throw FAULT;
        }
        if (!/-from-[AB]$/.test(spec.area.id)) return real(spec);
        begun.resolve();
        await new Promise((resolve) => spec.signal?.addEventListener('abort', resolve));
        isStopped = true;
        return real(spec);
      },
    });
    await expect(fixture.examine(base, CANDIDATES)).rejects.toThrow(FAULT.message);
    expect(isStopped).toBe(true);
  });

  test('end with the run that is cancelled, and after a restart only those that had not ended are run', async () => {
    const cancel = new AbortController();
    const signals = [cancel.signal, new AbortController().signal];
    const memory = rememberInMemory();
    const kept = Promise.withResolvers<void>();
    const fixture = await heldProbes(
      {
        async derive(spec, real) {
          await kept.promise;
          cancel.abort();
          return real(spec);
        },
      },
      {
        signal: () => signals.shift() ?? cancel.signal,
        async remember(key, work, keeps) {
          const result = await memory(key, work, keeps);
          if (isOfAOnB(key)) kept.resolve();
          return result;
        },
      },
    );
    await expect(fixture.examine(base, CANDIDATES)).rejects.toThrow('cancelled');

    const { B } = await fixture.examine(base, CANDIDATES);
    expect(B?.peerTests).toMatchObject([{ author: 'A' }]);
    expect(fixture.tested.filter((area) => area === 'B-from-A')).toHaveLength(1);
  });
});
