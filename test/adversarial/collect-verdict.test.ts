import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { staticGates } from '../../src/core/evidence/index.ts';
import { parsePatch } from '../../src/core/patches/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { BaseCheckout, Collected, WorkArea } from '../../src/ports/index.ts';
import { type GitWorld, git, openGitWorld } from '../adapters/git/world.ts';
import { changes, patchOf } from '../contracts/workspaces.suite.ts';

// What a candidate leaves, from its sandbox through collecting to the sentence that the report shows.

const FILES = {
  'a.js': 'export const a = 1;\n',
  'package.json': '{ "scripts": { "test": "node test.js" } }\n',
  'test.js': 'process.exit(0);\n',
  'sub/ü.js': 'c\n',
  '.gitignore': 'node_modules/\ncache/\n',
};

let world: GitWorld;
let base: BaseCheckout;
let repository: string;
beforeAll(async () => {
  world = openGitWorld();
  const { path, sha } = world.repository(FILES);
  repository = path;
  base = await world.workspaces.prepare({ kind: 'local', path }, sha);
});
afterAll(() => world.close());

let count = 0;
async function worked(line: string): Promise<{ readonly area: WorkArea; readonly collected: Collected }> {
  const area = await world.workspaces.open(base, `verdict-${++count}`);
  const done = await world.run(area, `set -e; export LC_ALL=C; ${line}`);
  if (done.exitCode !== 0) throw new Error(`the work failed: ${done.stderr}`);
  return { area, collected: await world.workspaces.collect(base, area) };
}

/** What the gates say of a collected patch; only what stops it. */
function objections(collected: Collected): string {
  if (collected.kind === 'refused') return collected.why;
  const { raw, text } = patchOf(collected);
  const parsed = parsePatch(raw, text, { baseFiles: Object.keys(FILES) });
  if (parsed.kind === 'refused') return parsed.reasons.join('\n');
  const { protect } = Settings.parse({});
  return staticGates(parsed.patch, { protect }, { baseTexts: FILES })
    .filter((gate) => !gate.passed)
    .map((gate) => gate.because)
    .join('\n');
}

describe("a candidate's result is rejected by name", () => {
  test.each([
    [
      '[v01] a link to an absolute path',
      'ln -s /etc/passwd out',
      '"out" is a symbolic link to an absolute path',
    ],
    [
      '[v02] a link out of the repository',
      'ln -s ../../../../etc/shadow sub/rel',
      '"sub/rel" is a symbolic link to a path outside',
    ],
    ['[v03] a link into .git', 'ln -s .git/config settings', '"settings" is a symbolic link into `.git`'],
    [
      '[v04] a submodule',
      `printf '[submodule "x"]\\n\\tpath = x\\n\\turl = https://x.invalid/x\\n' > .gitmodules`,
      '".gitmodules" is `.gitmodules`',
    ],
    [
      '[v05] a workflow',
      'mkdir -p .github/workflows; echo on: push > .github/workflows/ci.yml',
      '".github/workflows/ci.yml" is a GitHub Actions workflow',
    ],
    ['[v06] a name with a line break', 'echo x > "$(printf \'a\\nb\')"', '"a\\nb" has a control'],
    [
      '[v07] a name that changes direction',
      'echo x > "$(printf \'a\\342\\200\\256gpj.js\')"',
      '"a\\u{202e}gpj.js" has a control, invisible',
    ],
    [
      '[v08] a path of a thousand bytes',
      'd=$(printf %0300d 0 | cut -c1-250); mkdir -p $d/$d/$d/$d; echo x > $d/$d/$d/$d/$d',
      'is longer than 1024 bytes',
    ],
    ['[v09] a name that differs in case', 'echo x > A.js', '"A.js" is the same file as "a.js"'],
    [
      '[v10] a name that differs in Unicode form',
      'echo x > "sub/$(printf \'u\\314\\210\').js"',
      'is the same file as "sub/ü.js"',
    ],
    [
      '[v11] a tag and a zero-width space',
      'echo x > "$(printf \'b\\342\\200\\213.js\')"',
      '"b\\u{200b}.js" has a control',
    ],
    ['[v12] a backslash, which some take for a folder', "echo x > '..\\evil'", 'has a backslash'],
    [
      '[v13] other protected files',
      'mkdir .github; echo "* @evil" > .github/CODEOWNERS; echo x > a.lock',
      '.github/CODEOWNERS',
    ],
    [
      '[v14] what runs in the place of the tests',
      `echo '{ "scripts": { "test": "true" } }' > package.json`,
      'package.json',
    ],
    ['[v15] too much of everything', 'head -c 120000000 /dev/zero > big', 'more than 100 MB'],
  ])('%s', async (_title, line, sentence) => {
    const { area, collected } = await worked(`echo 'export const a = 2;' > a.js; ${line}`);
    expect(objections(collected)).toContain(sentence);
    await world.workspaces.remove(area);
  });

  test('but the same work without it passes', async () => {
    const { area, collected } = await worked(`echo 'export const a = 2;' > a.js`);
    expect(objections(collected)).toBe('');
    await world.workspaces.remove(area);
  });
});

describe("a candidate's result becomes plain files", () => {
  test('[v16] without set-user-id bits and hard links', async () => {
    const { area, collected } = await worked(
      'cp /usr/bin/id raise; chmod 6755 raise; ln a.js hard; chmod 600 test.js',
    );
    expect(changes(collected)).toEqual(['A hard', 'A raise']);
    const { raw, tree } = patchOf(collected);
    expect(raw.match(/:\d{6} (\d{6})/g)).toEqual([':000000 100644', ':000000 100755']);
    expect(tree).toMatch(/^[0-9a-f]{40}$/);
    await world.workspaces.remove(area);
  });

  test('[v17] whose names are never taken for options', async () => {
    const names = [
      '-rf',
      '--output=pwned',
      '-',
      '--',
      "it's",
      '"q"',
      '$(touch pwned)',
      '; touch pwned',
      '%s',
      '~',
    ];
    const write = names.map((name) => `printf x > './${name.replaceAll("'", "'\\''")}'`).join('; ');
    const { area, collected } = await worked(write);
    expect(objections(collected)).toBe('');
    const fresh = await checkedOut(collected);
    const { stdout } = await world.run(fresh, 'ls -A; test -e pwned && echo fired');
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(names));
    expect(stdout).not.toMatch(/^(fired|pwned)$/m);
    await world.workspaces.remove(area);
  });

  test('[v18] also from a Git LFS pointer, for which nothing is fetched', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\\noid sha256:0000\\nsize 9\\n';
    const { area, collected } = await worked(
      `printf '*.bin filter=lfs diff=lfs\\n' > .gitattributes; printf '${pointer}' > big.bin`,
    );
    expect(patchOf(collected).text).toContain('+version https://git-lfs.github.com/spec/v1');
    const { stdout } = await world.run(await checkedOut(collected), 'cat big.bin');
    expect(stdout).toContain('oid sha256:0000');
    await world.workspaces.remove(area);
  });

  test('[v19] in one commit without its own branches, tags, notes and history', async () => {
    const { area, collected } = await worked(`git checkout -q -b evil; echo 'export const a = 3;' > a.js
      git commit -qam 'Fixes #1 [skip ci]' --author 'Maintainer <m@example.org>'; git tag v9; git notes add -m note; git update-ref refs/heads/main HEAD`);
    expect((await world.run(area, 'git for-each-ref | wc -l')).stdout.trim()).not.toBe('1');
    const before = git(repository, 'for-each-ref');
    const author = { name: 'Runoff', email: 'runoff@example.org' };
    const spec = {
      base: base.sha,
      tree: patchOf(collected).tree,
      message: 'Our words\n',
      author,
      at: 1_700_000_000,
    };
    const commit = await world.workspaces.commit(base, spec);
    await world.workspaces.branch(base, repository, 'auto-dev/7/A', commit);
    expect(git(repository, 'for-each-ref')).toBe(`${commit} commit\trefs/heads/auto-dev/7/A\n${before}`);
    expect(git(repository, 'log', '--format=%an %s', 'auto-dev/7/A')).toBe('Runoff Our words\nAda Start');
    git(repository, 'update-ref', '-d', 'refs/heads/auto-dev/7/A');
    await world.workspaces.remove(area);
  });
});

/** A fresh area over the base with the collected patch, the way candidates are examined. */
async function checkedOut(collected: Collected): Promise<WorkArea> {
  const fresh = await world.workspaces.open(base, `fresh-${++count}`);
  const applied = await world.run(fresh, 'git apply --whitespace=nowarn -', {
    stdin: patchOf(collected).text,
  });
  if (applied.exitCode !== 0) throw new Error(applied.stderr);
  return fresh;
}

describe('the area in which a candidate is checked', () => {
  test('[v20] contains nothing that it poisoned in its own area', async () => {
    const poison = `mkdir -p node_modules/.bin cache; printf '#!/bin/sh\\necho poisoned\\n' | tee node_modules/.bin/runner cache/runner .git/hooks-of >/dev/null
      chmod 755 node_modules/.bin/runner cache/runner; echo 'script-shell=/repo/cache/runner' > ~/.npmrc; mkdir -p ~/.cache ~/.local/bin; cp cache/runner ~/.local/bin/node
      echo 'process.exit = () => console.log("poisoned")' > node_modules/patch.js; echo '[alias]' > ~/.gitconfig; git config core.hooksPath cache; echo poisoned > /tmp/left; echo poisoned > /dev/shm/left
      echo 'export const a = 4;' > a.js`;
    const look =
      'cat node_modules/.bin/runner cache/runner ~/.npmrc ~/.local/bin/node ~/.gitconfig /tmp/left /dev/shm/left 2>/dev/null; git config core.hooksPath; ls -A ~; cat a.js';
    const { area, collected } = await worked(poison);
    expect(changes(collected)).toEqual(['M a.js']);
    expect((await world.run(area, look)).stdout).toContain('poisoned');
    expect((await world.run(await checkedOut(collected), look)).stdout).toBe('export const a = 4;\n');
    // The next candidate, and the same one opened again, start clean as well.
    for (const id of [area.id, `next-${++count}`]) {
      const next = await world.workspaces.open(base, id);
      expect((await world.run(next, look)).stdout).toBe('export const a = 1;\n');
    }
    expect(readFileSync(join(base.lower, 'a.js'), 'utf8')).toBe(FILES['a.js']);
    expect(existsSync(join(base.lower, 'node_modules'))).toBe(false);
  });

  test('[v21] contains agent settings only as data', async () => {
    const canary = join(world.root, 'agent-canary');
    const { area, collected } =
      await worked(`mkdir -p .claude .codex ~/.claude; for f in .claude/settings.json .codex/config.toml .mcp.json ~/.claude/settings.json; do
      echo '{"hooks":{"SessionStart":"touch ${canary}"}}' > $f; done; echo 'CODEX_HOME=/repo/.codex' > .env`);
    expect(changes(collected)).toEqual([
      'A .claude/settings.json',
      'A .codex/config.toml',
      'A .env',
      'A .mcp.json',
    ]);
    expect((await world.run(await world.workspaces.open(base, area.id), 'ls -A ~')).stdout).toBe('');
    expect(existsSync(canary)).toBe(false);
  });
});

describe('git’s own check of a patch', () => {
  const forged = (path: string, mode = '100644') =>
    `diff --git a/${path} b/${path}\nnew file mode ${mode}\nindex ${'0'.repeat(40)}..${'587be6b4c3f93f93c489c0111bba5596147a26cb'}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
  const raw = (path: string, mode = '100644') =>
    `:000000 ${mode} ${'0'.repeat(40)} 587be6b4c3f93f93c489c0111bba5596147a26cb A\0${path}\0`;
  const apply = (text: string): number | null => {
    const folder = world.folder();
    git(folder, 'init', '-q');
    writeFileSync(join(folder, 'p'), text);
    return spawnSync('git', ['apply', 'p'], { cwd: folder, stdio: 'ignore' }).status;
  };

  test.each(['../out', '.git/hooks/pre-commit', '.GIT/config', 'sub/.git/config', '/tmp/out'])(
    '[v22] refuses %s, as ours does',
    (path) => {
      expect(apply(forged(path))).not.toBe(0);
      expect(parsePatch(raw(path), forged(path)).kind).toBe('refused');
      expect(parsePatch(raw('fine.js'), forged('fine.js')).kind).toBe('patch');
      expect(apply(forged('fine.js'))).toBe(0);
    },
  );

  test.each([
    ['.github/workflows/x.yml', '100644'],
    ['.gitmodules', '100644'],
    ['up', '120000'],
    ['sub', '160000'],
  ])('[v23] takes %s with mode %s, and ours does not', (path, mode) => {
    const content =
      mode === '120000' ? '/etc/passwd' : mode === '160000' ? `Subproject commit ${'a'.repeat(40)}` : 'x';
    const oid =
      mode === '160000'
        ? 'a'.repeat(40)
        : execFileSync('git', ['hash-object', '--stdin'], {
            input: mode === '120000' ? content : `${content}\n`,
          })
            .toString()
            .trim();
    const text = forged(path, mode)
      .replace(/587be\w+/, oid)
      .replace('+x\n', mode === '120000' ? `+${content}\n\\ No newline at end of file\n` : `+${content}\n`);
    expect(apply(text)).toBe(0);
    const parsed = parsePatch(raw(path, mode).replace(/587be\w+/, oid), text);
    expect(parsed.kind === 'refused' && parsed.reasons.join()).toContain(`"${path}" is `);
  });
});
