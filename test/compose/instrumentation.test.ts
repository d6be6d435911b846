import { describe, expect, test } from 'vitest';
import {
  instrumentedLedger,
  instrumentedPushes,
  instrumentedSandbox,
} from '../../src/compose/instrumentation.ts';
import { Fault } from '../../src/core/model/index.ts';
import {
  type BaseCheckout,
  DEFAULT_LIMITS,
  type ExecResult,
  type ExecSpec,
  type KeptAnswer,
  type LedgerRow,
  type LogContext,
  type Metrics,
  type Sandbox,
  type Store,
  type Tracer,
  type WorkArea,
  type Workspaces,
} from '../../src/ports/index.ts';
import { memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

/** Figures and spans, and all that is told to them, in order. */
function recorders() {
  const told: unknown[][] = [];
  const metrics = partial<Metrics>({
    modelCall: ({ model, usd }) => void told.push(['call', model, usd]),
    githubWrite: (kind, outcome) => void told.push(['write', kind, outcome]),
  });
  const tracer = partial<Tracer>({
    record: ({ name, attributes }, { failed }) => void told.push(['span', name, attributes, failed]),
    async within({ name, attributes }, work) {
      told.push(['span', name, attributes]);
      return work();
    },
  });
  return { told, metrics, tracer };
}

/** A log whose lines are about this. */
const logAbout = (about: LogContext) => {
  const errors: string[] = [];
  const log = { ...silent, error: (_: object, text: string) => void errors.push(text), about: () => about };
  return { log, errors };
};

const ROW: LedgerRow = {
  runId: 'r1',
  spender: 'A',
  repository: 'acme/shop',
  model: 'openai/gpt-6-sol',
  tokensIn: 10,
  tokensOut: 2,
  tokensCached: 0,
  tokensReasoning: 0,
  usd: 0.5,
  exact: true,
  status: 200,
  ms: 20,
  at: 6_000,
};

describe('a ledger whose calls are counted and traced', () => {
  test('settles them with the same arguments, including the answer to keep', async () => {
    const settled: unknown[][] = [];
    const ledger = instrumentedLedger(
      partial<Store>({ settleCall: async (...all) => void settled.push(all) }),
      recorders(),
    );
    const answer = partial<KeptAnswer>({ question: 'ab' });
    await ledger.settleCall(1, ROW, answer);
    await ledger.settleCall(2, ROW);
    expect(settled).toEqual([
      [1, ROW, answer],
      [2, ROW, undefined],
    ]);
  });

  test.each([
    [200, false],
    [429, true],
    [0, true],
  ])('reports a call that ended with %i without a prompt or a key', async (status, failed) => {
    const { told, ...all } = recorders();
    await instrumentedLedger(partial<Store>({ settleCall: async () => {} }), all).settleCall(1, {
      ...ROW,
      status,
    });
    const { usd, model, spender } = ROW;
    const tokens = { tokens_in: 10, tokens_out: 2, tokens_cached: 0 };
    expect(told).toEqual([
      ['call', model, usd],
      ['span', 'model call', { run: 'r1', spender, model, status, usd, ...tokens }, failed],
    ]);
  });

  test('counts nothing that the store rejected, because it will be settled again', async () => {
    const { told, ...all } = recorders();
    const away = new Fault('DATABASE_UNAVAILABLE', 'The database is away.');
    const ledger = instrumentedLedger(partial<Store>({ settleCall: () => Promise.reject(away) }), all);
    await expect(ledger.settleCall(1, ROW)).rejects.toBe(away);
    expect(told).toEqual([]);
  });
});

describe('a push', () => {
  const remote = {
    url: 'https://github.test/acme/shop.git',
    credential: { username: 'x-access-token', password: 'canary' },
  };
  type Pushed = Awaited<ReturnType<Workspaces['push']>>;

  async function pushed(push: () => Promise<Pushed>, store: Store = memoryStore()) {
    const { told, ...all } = recorders();
    const { log, errors } = logAbout({ run: 'r1' });
    const workspaces = instrumentedPushes(partial<Workspaces>({ push }), { store, log, ...all }, () => 7);
    const answer = await workspaces
      .push(partial<BaseCheckout>({}), remote, 'auto-dev/7/r1/A', 'a'.repeat(40))
      .catch((thrown: Fault) => thrown.code);
    return { answer, told, errors, store };
  }

  test.each<[string, () => Promise<Pushed>, unknown, string]>([
    ['that GitHub takes', async () => ({ kind: 'pushed' }), { kind: 'pushed' }, 'done'],
    [
      'to a branch that is there',
      async () => ({ kind: 'exists', at: null }),
      { kind: 'exists', at: null },
      'refused',
    ],
    [
      'that GitHub refuses',
      () => Promise.reject(new Fault('GITHUB_REFUSED', 'No.')),
      'GITHUB_REFUSED',
      'refused',
    ],
    [
      'that does not reach GitHub',
      () => Promise.reject(new Fault('GITHUB_UNAVAILABLE', 'Away.')),
      'GITHUB_UNAVAILABLE',
      'failed',
    ],
  ])(
    '%s is counted, traced and kept in the audit, and its answer is passed on',
    async (_what, push, answer, outcome) => {
      const found = await pushed(push);
      expect(found.answer).toEqual(answer);
      expect(found.told).toEqual([
        ['write', 'push', outcome],
        ['span', 'github write', { run: 'r1', what: 'push', outcome }, outcome !== 'done'],
      ]);
      const write = {
        kind: 'write',
        what: 'push',
        repository: 'acme/shop',
        branch: 'auto-dev/7/r1/A',
        outcome,
      };
      expect(await found.store.audited({ limit: 9 })).toMatchObject([{ entry: write, at: 7, run: 'r1' }]);
    },
  );

  test('is made although the audit cannot be written, which is logged', async () => {
    const store = partial<Store>({
      run: async () => null,
      audit: () => Promise.reject(new Fault('DATABASE_UNAVAILABLE', 'The database is away.')),
    });
    const { answer, errors } = await pushed(async () => ({ kind: 'pushed' }), store);
    expect(answer).toEqual({ kind: 'pushed' });
    expect(errors).toEqual(['a write to GitHub could not be recorded in the audit log']);
  });
});

describe('a command in a sandbox', () => {
  const ENDED = partial<ExecResult>({ exitCode: 0 });
  const sandbox = partial<Sandbox>({ exec: async () => ENDED });
  const command: ExecSpec = {
    area: partial<WorkArea>({ id: 'r1-0' }),
    argv: ['/usr/bin/npm', 'test', '--token=canary'],
    limits: DEFAULT_LIMITS,
  };

  test('is a span that names its program and none of its arguments', async () => {
    const { told, tracer } = recorders();
    const { log } = logAbout({ run: 'r1', candidate: 'A' });
    expect(await instrumentedSandbox(sandbox, { log, tracer }).exec(command)).toBe(ENDED);
    expect(told).toEqual([['span', 'sandbox', { run: 'r1', area: '0', program: 'npm', candidate: 'A' }]]);
  });

  test('outside a run, or without a collector, is not traced', async () => {
    const { told, tracer } = recorders();
    const { log } = logAbout({});
    expect(await instrumentedSandbox(sandbox, { log, tracer }).exec(command)).toBe(ENDED);
    expect(told).toEqual([]);
    expect(instrumentedSandbox(sandbox, { log })).toBe(sandbox);
  });
});
