import { openGateway } from '../../../src/adapters/gateway/index.ts';
import { openStore } from '../../../src/adapters/store/index.ts';
import { ask, memoryLog, PRICE } from './rig.ts';

/** A process that makes one call to a provider, to be killed in the middle of it: `DATABASE`, `PROVIDER`, `DIR`. */
const { DATABASE = '', PROVIDER = '', DIR = '' } = process.env;
const store = await openStore(DATABASE);
const gateway = openGateway({
  dir: DIR,
  providers: {
    anthropic: { baseUrl: PROVIDER, key: 'a-key-of-a-test', official: false, protocols: ['anthropic'] },
  },
  prices: { 'anthropic/m': PRICE },
  dayCaps: { repositoryUsd: 1, everythingUsd: 1 },
  ledger: store,
  clock: { now: () => Date.now(), elapsed: () => performance.now(), sleep: async () => {} },
  log: memoryLog(),
});
const lease = await gateway.open({
  runId: 'r1',
  spender: 'A',
  repository: 'github-42',
  models: ['anthropic/m'],
  capUsd: 1,
  runCapUsd: 1,
  ttlMs: 60_000,
});
await ask(lease);
