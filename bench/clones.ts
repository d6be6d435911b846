// Time and disk of one candidate's clone on a repository of 50,000 files, for 1, 4 and 8 candidates side by side: our
// areas against git's own ways and a plain copy. Prints ratios: numbers from one machine say little about another.
//   FILES=50000 node bench/clones.ts
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { openWorkspaces } from '../src/adapters/git/index.ts';
import { openBubblewrap } from '../src/adapters/sandbox/index.ts';
import { DEFAULT_LIMITS, type WorkArea } from '../src/ports/index.ts';
import { silent } from '../test/world/silent-log.ts';

const FILES = Number(process.env.FILES ?? 50_000);
const CANDIDATES = [1, 4, 8] as const;
const OWNER = process.getuid?.() === 0 ? { uid: 64190, gid: 64190 } : null;

const root = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'runoff-bench-'));
chmodSync(root, 0o755);
const SAFE = ['-c', 'safe.directory=*', '-c', 'protocol.file.allow=always'] as const;
const run = promisify(execFile);

function git(cwd: string, ...args: readonly string[]): string {
  const as = ['-c', 'user.name=B', '-c', 'user.email=b@example.org', '-c', 'gc.auto=0'];
  return execFileSync('git', [...SAFE, ...as, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 28,
  })
    .toString()
    .trim();
}

/** About what sources look like: some kilobytes of text, no two alike. */
function repository(): { path: string; sha: string } {
  const path = join(root, 'repository');
  mkdirSync(path);
  for (let at = 0; at < FILES; at += 1) {
    const folder = join(path, `src/${at % 50}/${at % 1000}`);
    if (at < 1000) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${at}.ts`), `export const value${at} = ${at};\n`.repeat(20 + (at % 150)));
  }
  git(path, 'init', '-q');
  git(path, 'add', '-A');
  git(path, 'commit', '-q', '-m', 'Start');
  git(path, 'repack', '-a', '-d', '-q');
  return { path, sha: git(path, 'rev-parse', 'HEAD') };
}

/** Bytes on disk; what hard links share counts once, what reflinks share in full. */
function used(folders: readonly string[]): number {
  const said = execFileSync('du', ['-s', '-c', '--block-size=1', '--', ...folders]).toString();
  return Number(/^(\d+)\ttotal$/m.exec(said)?.[1]);
}

interface Cost {
  /** For each candidate. */
  readonly ms: number;
  readonly bytes: number;
}

/** Makes one clone and tells its folder. */
type Way = (at: number) => Promise<string>;

async function cost(candidates: number, way: Way, clear: () => Promise<void>): Promise<Cost> {
  const began = performance.now();
  const folders = await Promise.all(Array.from({ length: candidates }, (_, at) => way(at)));
  const ms = performance.now() - began;
  const bytes = used(folders);
  await clear();
  return { ms: ms / candidates, bytes: bytes / candidates };
}

async function main(): Promise<void> {
  process.stderr.write(`making a repository of ${FILES} files …\n`);
  const { path, sha } = repository();
  const clones = join(root, 'clones');
  const scratch = join(root, 'scratch');
  mkdirSync(scratch);
  if (OWNER) execFileSync('chown', [`${OWNER.uid}:${OWNER.gid}`, scratch]);
  const sandbox = openBubblewrap({ toolchain: join(root, 'none'), owner: OWNER, scratch });
  const workspaces = openWorkspaces({ dataDir: join(root, 'data'), sandbox, owner: OWNER, log: silent });
  const began = performance.now();
  const base = await workspaces.prepare({ kind: 'local', path }, sha);
  process.stderr.write(`checkout prepared once in ${((performance.now() - began) / 1000).toFixed(1)} s\n`);

  const clearClones = async () => rmSync(clones, { recursive: true, force: true });
  const inClones = async (at: number, file: string, ...args: readonly string[]): Promise<string> => {
    mkdirSync(clones, { recursive: true });
    const to = join(clones, String(at));
    await run(file, [...args, to], { cwd: clones });
    return to;
  };
  const clone =
    (...args: readonly string[]): Way =>
    (at) =>
      inClones(at, 'git', ...SAFE, 'clone', '-q', ...args);
  const copied: Way = (at) => inClones(at, 'cp', '-a', base.lower);
  const open: WorkArea[] = [];
  const openArea = async (at: number): Promise<WorkArea> => {
    const mine = await workspaces.open(base, `bench-${at}`);
    open.push(mine);
    return mine;
  };
  const area: Way = async (at) => dirname((await openArea(at)).upper);
  /** To the moment when the first command in the sandbox has seen a file. */
  const started: Way = async (at) => {
    const mine = await openArea(at);
    const argv = ['head', '-c', '1', 'src/0/0/0.ts'] as const;
    const seen = await sandbox.exec({ area: mine, argv: [...argv], limits: DEFAULT_LIMITS });
    if (seen.stdout !== 'e') throw new Error(`The area cannot be read: ${seen.stderr}`);
    return dirname(mine.upper);
  };
  const clearAreas = async () => {
    for (const each of open.splice(0)) await workspaces.remove(each);
  };

  const ways: readonly [string, Way, () => Promise<void>][] = [
    ['area', area, clearAreas],
    ['area, and a first command in its sandbox', started, clearAreas],
    ['git clone file://', clone(`file://${path}`), clearClones],
    ['git clone --shared', clone('--shared', path), clearClones],
    ['cp -a of the checkout', copied, clearClones],
  ];
  console.log(
    '| method | candidates | ms each | MB each | time, × area and command | disk, × area and command |',
  );
  console.log('|---|--:|--:|--:|--:|--:|');
  for (const candidates of CANDIDATES) {
    const rows: [string, Cost][] = [];
    for (const [name, way, clear] of ways) rows.push([name, await cost(candidates, way, clear)]);
    const ours = rows[1]?.[1] as Cost;
    for (const [name, { ms, bytes }] of rows) {
      // One block is the least that a file system can tell.
      const disk = bytes / Math.max(ours.bytes, 4096);
      console.log(
        `| ${name} | ${candidates} | ${ms.toFixed(0)} | ${(bytes / 1e6).toFixed(2)} | ${(ms / ours.ms).toFixed(1)} | ${disk.toFixed(0)} |`,
      );
    }
  }
}

try {
  await main();
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
