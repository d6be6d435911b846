// The server of bench/viewers.ts: pages over a real database, where every request is that of another person. Reports its
// own CPU time when it is asked.
import { openStore } from '../src/adapters/store/index.ts';
import { systemClock, systemRandom } from '../src/adapters/system/index.ts';
import type { PageCommands } from '../src/commands/index.ts';
import type { GitHub, GitHubReader } from '../src/ports/index.ts';
import type { World } from '../src/runs/index.ts';
import { startWeb } from '../src/server/index.ts';
import { openWeb } from '../src/web/index.ts';
import { partial } from '../test/world/partial.ts';
import { silent } from '../test/world/silent-log.ts';

const store = await openStore(process.argv[2] ?? '');
let people = 0;
const github = partial<GitHub>({
  reader: async () => partial<GitHubReader>({ permission: async () => 'read' }),
});
const world = partial<World>({ store, github, clock: systemClock, random: systemRandom, log: silent }, [
  'diskSpace',
]);
const pages = openWeb({
  world,
  commands: partial<PageCommands>({}),
  identify: async (c) => {
    people += 1;
    const id = Number(c.req.header('x-person') ?? people + 100_000);
    return { viewer: { kind: 'github', id, login: 'mona', operator: false }, csrf: 'bench' };
  },
});
const web = await startWeb({
  host: '127.0.0.1',
  port: Number(process.argv[3] ?? 0),
  webhooksPath: '/none',
  health: async () => ({ ok: true, detail: {} }),
  pages,
  log: silent,
});
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000, rss: process.memoryUsage().rss });
});
process.on('disconnect', () => process.exit());
process.send?.({ port: web.port });
