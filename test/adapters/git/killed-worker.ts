// Started by killed.test.ts, which kills it: uses the data folder over and over until then.
import { openWorkspaces } from '../../../src/adapters/git/index.ts';
import { openBubblewrap } from '../../../src/adapters/sandbox/index.ts';
import { DEFAULT_LIMITS } from '../../../src/ports/index.ts';
import { silent } from '../../world/silent-log.ts';

const [dataDir = '', scratch = '', uid = '', path = '', work = '', ...commits] = process.argv.slice(2);
const owner = uid === '' ? null : { uid: Number(uid), gid: Number(uid) };
const sandbox = openBubblewrap({ toolchain: `${scratch}-none`, owner, scratch });
const workspaces = openWorkspaces({ dataDir, sandbox, owner, log: silent });

for (const [turn, sha] of commits.entries()) {
  const bare = await workspaces.prepare({ kind: 'local', path }, sha);
  if (work === 'prepare') continue;
  const wish = { command: `mkdir deps; echo ${turn} > deps/lib`, egress: [], limits: DEFAULT_LIMITS };
  const installed = work === 'install' || work === 'all' ? await workspaces.install(bare, wish) : null;
  const base = installed?.kind === 'ready' ? installed.base : bare;
  for (let round = 0; round < 2; round += 1) {
    const area = await workspaces.open(base, `r1-${round}`);
    if (work === 'collect' || work === 'all') {
      await sandbox.exec({ area, argv: ['sh', '-c', 'echo two > a.txt'], limits: DEFAULT_LIMITS });
      await workspaces.collect(base, area);
    }
    if (work === 'all') await workspaces.note(base, 'note', `${round}`);
    if (work !== 'open') await workspaces.remove(area);
  }
  if (work === 'prune') await workspaces.prune({ before: Date.now() + 1e9, keep: () => false });
}
process.stdout.write('done\n');
