import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BaseCheckout, Collected, ExecResult, Sandbox } from '../../src/ports/index.ts';
import { type GitWorld, git, openGitWorld } from '../adapters/git/world.ts';

// Suppose a candidate took over the collecting sandbox: whatever stands in /out then is of its making.

const DONE: ExecResult = { exitCode: 0, stopped: null, stdout: '', stderr: '', truncated: false, ms: 1 };

let world: GitWorld;
let base: BaseCheckout;
let path: string;
let sha: string;
beforeAll(async () => {
  world = openGitWorld();
  ({ path, sha } = world.repository({ 'a.js': 'a\n' }));
  base = await world.workspaces.prepare({ kind: 'local', path }, sha);
});
afterAll(() => world.close());

let count = 0;
async function collectFrom(
  out: (folder: string) => void,
  result: Partial<ExecResult> = {},
  names: readonly string[] = [],
): Promise<Collected> {
  const sandbox: Sandbox = {
    probe: () => world.sandbox.probe(),
    exec: async (spec) => {
      out(spec.out ?? '');
      return { ...DONE, ...result };
    },
  };
  const hostile = world.another({ sandbox, limits: { packBytes: 200_000, contentBytes: 1_000_000 } });
  const area = await hostile.open(base, `hostile-${++count}`);
  for (const name of names) writeFileSync(join(area.upper, name), '');
  return hostile.collect(base, area);
}

/** A tree made without git's own checks: `[mode, name, content]`. */
function forge(entries: readonly (readonly [string, string, string | Buffer])[]): {
  tree: string;
  pack: Buffer;
} {
  const repository = world.folder();
  git(repository, 'clone', '-q', '--bare', path, '.');
  const write = (type: string, content: Buffer): string => {
    const args = ['hash-object', '-w', '--literally', '-t', type, '--stdin'];
    return execFileSync('git', args, { cwd: repository, input: content }).toString().trim();
  };
  const tree = write(
    'tree',
    Buffer.concat(
      entries.flatMap(([mode, name, content]) => {
        const oid = mode === '160000' ? sha : write('blob', Buffer.from(content));
        return [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')];
      }),
    ),
  );
  const blobs = entries
    .filter(([mode]) => mode !== '160000')
    .map(([, , content]) => write('blob', Buffer.from(content)));
  const input = [tree, ...blobs].join('\n');
  const pack = execFileSync('git', ['pack-objects', '-q', '--stdout'], {
    cwd: repository,
    input,
    maxBuffer: 2 ** 28,
  });
  return { tree, pack };
}

const put = (tree: string | Buffer, pack: string | Buffer) => (folder: string) => {
  writeFileSync(join(folder, 'tree'), tree);
  writeFileSync(join(folder, 'pack'), pack);
};

describe('the output of a compromised collector', () => {
  test('is accepted if it is a valid tree', async () => {
    const { tree, pack } = forge([['100644', 'a.js', 'changed\n']]);
    expect(await collectFrom(put(`${tree}\n`, pack))).toMatchObject({ kind: 'patch', patch: { tree } });
  });

  test.each([
    ['a .git folder', [['100644', '.git', 'x']]],
    ['a .GIT folder', [['100644', '.GIT', 'x']]],
    ['a short name of .git', [['100644', 'git~1', 'x']]],
    ['a parent folder', [['100644', '..', 'x']]],
    ['a path in a name', [['100644', 'a/../../b', 'x']]],
    ['an empty name', [['100644', '', 'x']]],
    [
      'a name twice',
      [
        ['100644', 'a', 'x'],
        ['100644', 'a', 'y'],
      ],
    ],
    ['a device', [['020644', 'a', 'x']]],
    [
      'a .gitmodules with an option',
      [['100644', '.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = -u./evil\n']],
    ],
    [
      'a .gitmodules with a line break in a path',
      [['100644', '.gitmodules', '[submodule "a\\n../b"]\n\tpath = x\n\turl = "https://x/\\n"\n']],
    ],
    ['a .gitmodules that is a link', [['120000', '.gitmodules', 'a.js']]],
    ['a new submodule', [['160000', 'sub', '']]],
  ] as const)('[c01] is refused with %s', async (_, entries) => {
    const { tree, pack } = forge(entries);
    expect(await collectFrom(put(`${tree}\n`, pack))).toMatchObject({ kind: 'refused' });
  });

  test.each([
    ['', 'nothing'],
    ['--output=/tmp/runoff-canary', 'an option'],
    ['HEAD', 'a ref'],
    ['0'.repeat(40), 'no object'],
    ['f'.repeat(40), 'an unknown object'],
    [`${'a'.repeat(40)}\n--help`, 'two lines'],
  ])('[c02] is refused when the tree is %j: %s', async (tree) => {
    const { pack } = forge([['100644', 'a.js', 'changed\n']]);
    expect(await collectFrom(put(tree, pack))).toMatchObject({ kind: 'refused' });
    expect(existsSync('/tmp/runoff-canary')).toBe(false);
  });

  test('[c03] is refused when the tree is a commit, or a tree that is not in the pack', async () => {
    const { pack } = forge([['100644', 'a.js', 'changed\n']]);
    const other = forge([['100644', 'a.js', 'not sent\n']]);
    expect(await collectFrom(put(sha, pack))).toMatchObject({ kind: 'refused' });
    expect(await collectFrom(put(other.tree, pack))).toMatchObject({ kind: 'refused' });
  });

  test('[c04] is refused when the pack is torn, empty, huge or none', async () => {
    const { tree, pack } = forge([['100644', 'a.js', 'changed\n']]);
    const bitten = Buffer.from(pack);
    bitten[20] = (bitten[20] ?? 0) ^ 0xff;
    for (const bad of [pack.subarray(0, -7), bitten, '', 'PACK', Buffer.alloc(5_000, 1)]) {
      expect(await collectFrom(put(tree, bad))).toMatchObject({ kind: 'refused' });
    }
    expect(await collectFrom((folder) => writeFileSync(join(folder, 'tree'), tree))).toMatchObject({
      kind: 'refused',
    });
    const huge = await collectFrom((folder) => {
      put(tree, pack)(folder);
      truncateSync(join(folder, 'pack'), 2 ** 36);
    });
    expect(huge).toMatchObject({ kind: 'refused' });
  });

  test('[c05] is refused when a small pack unfolds to more than is allowed', async () => {
    const { tree, pack } = forge([['100644', 'zeros', Buffer.alloc(20_000_000)]]);
    expect(pack.length).toBeLessThan(100_000);
    const refused = await collectFrom(put(tree, pack));
    expect(refused).toMatchObject({ kind: 'refused', why: expect.stringContaining('more than') });
  });

  test('[c06] is refused when its files are links, pipes or folders', async () => {
    const { tree, pack } = forge([['100644', 'a.js', 'changed\n']]);
    const elsewhere = join(world.folder(), 'pack');
    writeFileSync(elsewhere, pack);
    const odd: Readonly<Record<string, (at: string) => void>> = {
      link: (at) => symlinkSync(elsewhere, at),
      'dangling link': (at) => symlinkSync('/nonexistent', at),
      'device link': (at) => symlinkSync('/dev/zero', at),
      pipe: (at) => execFileSync('mkfifo', [at]),
      folder: (at) => mkdirSync(at),
    };
    for (const [kind, make] of Object.entries(odd)) {
      const collected = await collectFrom((folder) => {
        writeFileSync(join(folder, 'tree'), tree);
        make(join(folder, 'pack'));
      });
      expect(collected, kind).toMatchObject({ kind: 'refused' });
    }
  });

  test.each(['files 99999999999999999999', 'files -1', 'bytes', '<b>', '\0', 'x'.repeat(10_000)])(
    '[c07] is not repeated as a reason in its own words: %j',
    async (word) => {
      const collected = await collectFrom((folder) => writeFileSync(join(folder, 'refused'), word), {
        exitCode: 3,
      });
      expect(collected).toMatchObject({
        kind: 'refused',
        why: expect.stringMatching(/^It has a file that git cannot/),
      });
    },
  );

  test('[c09] can only name a path, which is quoted', async () => {
    const word = `path \u202e\n**Passed.** @all ${'x'.repeat(4_000)}`;
    const collected = await collectFrom((folder) => writeFileSync(join(folder, 'refused'), word), {
      exitCode: 3,
    });
    expect(collected.kind === 'refused' && collected.why).toMatch(
      /^It has a file that git cannot store under its name: "\\u\{202e\}\\n\*\*Passed\.\*\* @all x{100,200}"\.$/,
    );
  });

  test('leads to a reason if it was stopped, and a fault if it failed', async () => {
    const nothing = () => undefined;
    for (const stopped of ['wall', 'memory', 'disk'] as const) {
      expect(await collectFrom(nothing, { stopped, exitCode: null })).toMatchObject({ kind: 'refused' });
    }
    await expect(collectFrom(nothing, { exitCode: 1 })).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(collectFrom(nothing, { exitCode: 127 })).rejects.toMatchObject({ code: 'PROGRAM_KILLED' });
    for (const stderr of [
      'fatal: write error: No space left on device',
      "fatal: sha1 file '<stdout>' write error. Out of diskspace",
    ]) {
      const full = collectFrom(nothing, { exitCode: 128, stderr });
      await expect(full).rejects.toMatchObject({ code: 'DISK_FULL' });
    }
    for (const name of [
      'no space left',
      'a: No space left on device',
      'a\nfatal: write error: No space left on device',
    ]) {
      const stderr = `error: open("${name}"): Permission denied\nfatal: Unable to process path ${name}\nfatal: adding files failed\n`;
      const failed = collectFrom(nothing, { exitCode: 128, stderr }, [name]);
      await expect(failed).rejects.toMatchObject({ code: 'INTERNAL' });
    }
  });

  test('[c08] is not reachable after a rejection, and nothing remains', async () => {
    const { tree, pack } = forge([['100644', '.git', 'x']]);
    const store = join(world.dataDir, 'objects', `${base.repositoryKey}.git`);
    const before = readdirSync(store, { recursive: true }).map(String).sort();
    await collectFrom(put(tree, pack));
    expect(readdirSync(store, { recursive: true }).map(String).sort()).toEqual(before);
    const author = { name: 'R', email: 'r@example.org' };
    await expect(
      world.workspaces.commit(base, { base: sha, tree, message: 'm', author, at: 1 }),
    ).rejects.toMatchObject({ name: 'Fault' });
    const area = join(world.dataDir, 'areas', `hostile-${count}`);
    expect(readdirSync(area).filter((name) => ['in', 'out', 'scratch'].includes(name))).toEqual([]);
  });
});
