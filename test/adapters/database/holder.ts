/**
 * A process that uses the embedded database: says so in one line of JSON, and does with standard input what the test
 * wants: a line `stop` lets go of the server, end of input ends the process without a word, as a crash would.
 */
import { createInterface } from 'node:readline';
import { startEmbeddedPostgres } from '../../../src/adapters/database/index.ts';

const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
try {
  const server = await startEmbeddedPostgres({ dir: process.argv[2] ?? '' });
  await server.ensureDatabase('shared');
  say({ attached: server.attached, url: server.url('shared') });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line !== 'stop') continue;
    await server.stop();
    say({ stopped: true });
    break;
  }
} catch (error) {
  say({ fault: error instanceof Error ? error.message : String(error) });
}
process.stdin.destroy();
