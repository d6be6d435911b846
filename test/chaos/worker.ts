/**
 * `runoff worker` in a process of its own, that says so on one JSON line when it works. Started with its settings in the
 * environment and `AppOptions` as JSON in the first argument.
 */
import { openWorker, readOperator } from '../../src/compose/index.ts';
import type { AppOptions, Happening } from './app.ts';

const { heartbeat, databaseLimits } = JSON.parse(process.argv[2] ?? '{}') as AppOptions;
const operator = await readOperator({ env: process.env, cwd: process.cwd(), installation: '/nowhere' });
const working = await openWorker(operator, {
  ...(heartbeat ? { heartbeat } : {}),
  ...(databaseLimits ? { databaseLimits } : {}),
});
const listens: Happening = { what: 'listens', url: working.name };
process.stdout.write(`${JSON.stringify(listens)}\n`);

process.once('SIGTERM', () => {
  void working.close().finally(() => process.exit());
});
