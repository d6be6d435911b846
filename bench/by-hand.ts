// The work of a run as a person does it with the usual tools and nothing of Runoff: a working tree of git for each coder, a
// sandbox of bubblewrap in each; then, for each patch, a working tree with the patch, the build, the test suite before and
// after the patch's own test files are added, and every other patch's test files; at the end the branch of the first one
// is pushed. As many at a time as the machine has processors.
//
//   node bench/by-hand.ts REPOSITORY BUILD TEST PATCH …
//
// Prints milliseconds as JSON: `start` (until a command runs in every sandbox), `check` (from patches to the pushed branch)
// and `suite` (one run of the test suite).
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const [repository = '', build = '', test = '', ...patches] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'by-hand-'));

const git = (where: string, ...args: string[]) => exec('git', ['-C', where, ...args], { maxBuffer: 2 ** 26 });

/** Tests may fail: that is a result. */
const inSandbox = (where: string, command: string) =>
  exec(
    'bwrap',
    [
      ...[
        '--ro-bind',
        '/',
        '/',
        '--dev',
        '/dev',
        '--tmpfs',
        '/tmp',
        '--bind',
        where,
        where,
        '--chdir',
        where,
      ],
      ...['--unshare-net', '--unshare-ipc', '--unshare-pid', '--die-with-parent', 'sh', '-c', command],
    ],
    { maxBuffer: 2 ** 26 },
  ).catch((thrown: { code?: unknown }) => {
    if (typeof thrown.code !== 'number') throw thrown;
  });

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function inParallel<T>(items: readonly T[], work: (item: T, nth: number) => Promise<void>) {
  const waiting = [...items.entries()];
  const next = async (): Promise<void> => {
    for (let one = waiting.shift(); one; one = waiting.shift()) await work(one[1], one[0]);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next));
}

const newWorkTree = async (name: string): Promise<string> => {
  const path = join(folder, name);
  await git(repository, 'worktree', 'add', '--detach', path);
  return path;
};

/** The part of a patch that adds or changes test files. */
async function testsOf(patch: string): Promise<string> {
  const sections = (await readFile(patch, 'utf8')).split(/^(?=diff --git )/m);
  const path = `${patch}.tests`;
  await writeFile(path, sections.filter((text) => /^diff --git a\/test\//.test(text)).join(''));
  return path;
}

async function check(patch: string, nth: number, tests: readonly string[]): Promise<void> {
  const tree = await newWorkTree(`checked-${nth}`);
  await git(tree, 'apply', '--exclude=test/*', patch);
  if (build) await inSandbox(tree, build);
  await inSandbox(tree, test);
  const own = tests[nth] ?? '';
  for (const path of [own, ...tests.filter((other) => other !== own)]) {
    // Two patches may add the same test file.
    await git(tree, 'checkout', '--', 'test');
    await git(tree, 'clean', '--force', '--quiet', 'test');
    await git(tree, 'apply', path);
    await inSandbox(tree, test);
  }
}

async function publish(patch: string): Promise<void> {
  const tree = await newWorkTree('published');
  await git(tree, 'apply', '--index', patch);
  await git(tree, '-c', 'user.name=By hand', '-c', 'user.email=by@hand', 'commit', '--message=By hand');
  await git(tree, 'push', remote, 'HEAD:refs/heads/by-hand');
}

const remote = join(folder, 'remote.git');
try {
  await exec('git', ['clone', '--quiet', '--bare', repository, remote]);
  const start = await timed(() =>
    inParallel(patches, async (_, nth) => {
      await inSandbox(await newWorkTree(`coder-${nth}`), 'true');
    }),
  );
  const tests = await Promise.all(patches.map(testsOf));
  const checking = await timed(async () => {
    await inParallel(patches, (patch, nth) => check(patch, nth, tests));
    await publish(patches[0] ?? '');
  });
  const suite = await timed(() => inSandbox(join(folder, 'coder-0'), test));
  console.log(JSON.stringify({ start, check: checking, suite }));
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  await git(repository, 'worktree', 'prune');
}
