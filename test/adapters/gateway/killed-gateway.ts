import { openArtifacts } from '../../../src/adapters/artifacts/index.ts';
import { openGateway } from '../../../src/adapters/gateway/index.ts';
import { openStore } from '../../../src/adapters/store/index.ts';
import { ask, memoryLog, PRICE } from './rig.ts';

/**
 * A process that makes one call to a provider, to be killed in the middle of it: `DATABASE`, `PROVIDER`, `DIR`, `RUN`. With
 * `ARTIFACTS` it keeps answers there; `DIES` says at which moment of that it kills itself. What its client has of the
 * answer is on standard output.
 */
const { DATABASE = '', PROVIDER = '', DIR = '', ARTIFACTS = '', DIES = '', RUN = 'r1' } = process.env;
const die = () => process.kill(process.pid, 'SIGKILL');
const store = await openStore(DATABASE);
const artifacts = openArtifacts(ARTIFACTS);
const gateway = openGateway({
  dir: DIR,
  providers: {
    anthropic: { baseUrl: PROVIDER, key: 'a-key-of-a-test', official: false, protocols: ['anthropic'] },
  },
  prices: { 'anthropic/m': PRICE },
  dayCaps: { repositoryUsd: 1, everythingUsd: 1 },
  ledger: {
    ...store,
    async settleCall(...settled) {
      if (DIES === 'artifact without row') die();
      await store.settleCall(...settled);
      if (DIES === 'row, and the client has no answer') die();
    },
  },
  ...(ARTIFACTS === ''
    ? {}
    : {
        answers: {
          store,
          artifacts: {
            ...artifacts,
            put: async (content: string) => {
              if (DIES === 'answer in memory') die();
              return artifacts.put(content);
            },
          },
        },
      }),
  clock: { now: () => Date.now(), elapsed: () => performance.now(), sleep: async () => {} },
  log: memoryLog(),
});
const lease = await gateway.open({
  runId: RUN,
  spender: 'A',
  repository: 'github-42',
  models: ['anthropic/m'],
  capUsd: 1,
  runCapUsd: 1,
  ttlMs: 60_000,
});
process.stdout.write((await ask(lease)).text);
