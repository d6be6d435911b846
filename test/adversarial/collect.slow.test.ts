import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BaseCheckout, Sandbox, WorkArea } from '../../src/ports/index.ts';
import { type GitWorld, openGitWorld } from '../adapters/git/world.ts';
import { changes, patchOf } from '../contracts/workspaces.suite.ts';

// Every attack leaves a mark in the candidate's home, in /out and on the host if its program is started. The control
// starts plain git in the candidate's own sandbox, to show that the attack works where nothing stops it.

const FILES = {
  'a.js': 'export const a = 1;\n',
  'b.txt': 'b\n',
  'sub/c.js': 'c\n',
  '.gitignore': 'node_modules/\n',
};

let world: GitWorld;
let base: BaseCheckout;
/** What collecting left in /out and in the home, each time. */
let leftBehind: string[] = [];
let canary: string;

beforeAll(async () => {
  world = openGitWorld();
  canary = join(world.root, 'canary');
  const { path, sha } = world.repository(FILES);
  base = await world.workspaces.prepare({ kind: 'local', path }, sha);
});
afterAll(() => world.close());

/** The real sandbox, looked at after each collecting. */
const watched = (): Sandbox => ({
  probe: () => world.sandbox.probe(),
  async exec(spec) {
    const result = await world.sandbox.exec(spec);
    leftBehind = [...readdirSync(spec.out ?? ''), ...readdirSync(spec.area.home)];
    return result;
  },
});

let count = 0;
async function attacked(line: string): Promise<WorkArea> {
  const area = await world.workspaces.open(base, `attack-${++count}`);
  const prepared = await world.run(area, `${payload()}\n${line}`);
  if (prepared.exitCode !== 0) throw new Error(`the attack failed: ${prepared.stderr}`);
  // A candidate's own git may have started it: that is no news.
  rmSync(join(area.home, 'mark'), { force: true });
  return area;
}

/**
 * Installs the program that attacks want git to start; it acts as a filter that changes nothing. In place of a remote
 * it ends at once, because git would wait for its answer.
 */
const payload = (): string => `cat > /home/agent/evil <<'END'
#!/bin/sh
touch /home/agent/mark /out/mark ${canary} 2>/dev/null
[ -n "$IS_REMOTE" ] || cat
exit 0
END
chmod 755 /home/agent/evil; rm .git/info/attributes`;

async function plainGit(area: WorkArea): Promise<boolean> {
  await world.run(
    area,
    `(cd /repo/sub && git status); cd /repo; for d in . nested sub; do test -e $d/.git && (cd $d; git status; git diff; git add -A; git stash
      git checkout -q -b x; git commit -qm x --allow-empty; IS_REMOTE=1 timeout 10 git ls-remote origin) </dev/null; done
      cd /repo; printf 'protocol=https\\nhost=x\\n\\n' | git credential fill; git commit --amend --allow-empty; git merge theirs
      script -qec 'git -C /repo status' /dev/null </dev/null; exit 0`,
  );
  const fired = existsSync(join(area.home, 'mark'));
  rmSync(join(area.home, 'mark'), { force: true });
  return fired;
}

async function collectWatched(area: WorkArea) {
  leftBehind = [];
  const collected = await world.another({ sandbox: watched() }).collect(base, area);
  expect(leftBehind).not.toContain('mark');
  expect(existsSync(canary)).toBe(false);
  return collected;
}

const digest = (folder: string): string => {
  const hash = createHash('sha256');
  const names = readdirSync(folder, { recursive: true }).map(String).sort();
  for (const name of names) {
    const path = join(folder, name);
    const facts = lstatSync(path);
    const content = facts.isFile() ? readFileSync(path) : facts.isSymbolicLink() ? readlinkSync(path) : '';
    hash.update(`${name}\0${facts.mode}\0${facts.uid}\0${facts.mtimeMs}\0`).update(content);
  }
  return hash.digest('hex');
};

const RUN = '/home/agent/evil';
const FILTER = `git config filter.x.clean ${RUN}; git config filter.x.smudge ${RUN}; git config filter.x.required true
  echo '* filter=x' > .gitattributes; echo changed >> b.txt`;

describe('a candidate that makes git run its program', () => {
  const attacks: Readonly<Record<string, string>> = {
    '[git01] core.fsmonitor': `git config core.fsmonitor ${RUN}; echo x >> b.txt`,
    '[git02] filter.clean and .gitattributes': FILTER,
    '[git03] filter.process': `git config filter.x.process ${RUN}; echo '* filter=x' > .gitattributes; echo x >> b.txt`,
    '[git04] core.hooksPath': `mkdir h; for n in pre-commit post-checkout post-index-change reference-transaction; do
      cp ${RUN} h/$n; done; git config core.hooksPath h`,
    '[git05] hooks in .git': `mkdir -p .git/hooks; for n in pre-commit post-checkout post-index-change; do
      cp ${RUN} .git/hooks/$n; done; echo x >> b.txt`,
    '[git06] diff.external': `git config diff.external ${RUN}; echo x >> b.txt`,
    '[git07] textconv': `git config diff.x.textconv ${RUN}; echo '* diff=x' > .gitattributes; git add .gitattributes; echo x >> b.txt`,
    '[git08] include.path': `printf '[core]\\nfsmonitor = ${RUN}\\n' > cfg; git config include.path ../cfg`,
    '[git09] settings in its home': `printf '[core]\\nfsmonitor = ${RUN}\\n' > /home/agent/.gitconfig; echo x >> b.txt`,
    '[git10] insteadOf and ext::': `git remote add origin good; git config url."ext::${RUN} ".insteadOf good
      git config protocol.ext.allow always; echo x >> b.txt`,
    '[git11] a nested repository with a monitor': `git init -q nested; git -C nested config core.fsmonitor ${RUN}
      echo y > nested/y`,
    '[git12] a nested repository with a filter': `git init -q nested; echo y > nested/y; git -C nested add y
      git -C nested commit -qm y; git -C nested config filter.x.clean ${RUN}; echo '* filter=x' > nested/.gitattributes
      echo z >> nested/y`,
    '[git13] a submodule with a monitor': `git init -q nested; git -C nested commit -qm y --allow-empty
      git add nested 2>/dev/null; git -C nested config core.fsmonitor ${RUN}; echo y > nested/y`,
    '[git14] a repository in place of a folder': `git init -q sub; git -C sub config core.fsmonitor ${RUN}; echo y >> sub/c.js`,
    '[git15] a .git file that points into the tree': `mv .git moved; git --git-dir=moved config core.bare false
      git --git-dir=moved config core.fsmonitor ${RUN}; echo 'gitdir: moved' > .git; echo x >> b.txt`,
    '[git16] a .git link that points into the tree': `mv .git moved; git --git-dir=moved config core.fsmonitor ${RUN}
      ln -s moved .git; echo x >> b.txt`,
    '[git17] credential.helper': `git config credential.helper '!${RUN} <'; git config credential.helper '!${RUN} #'; echo x >> b.txt`,
    '[git18] core.sshCommand': `git remote add origin ssh://host.invalid/x; git config core.sshCommand ${RUN}; echo x >> b.txt`,
    '[git19] includeIf': `printf '[core]\\nfsmonitor = ${RUN}\\n' > cfg; git config includeIf.gitdir:/repo/.path ../cfg; echo x >> b.txt`,
    '[git20] settings of a working tree': `git config extensions.worktreeConfig true; git config --worktree core.fsmonitor ${RUN}; echo x >> b.txt`,
    '[git21] an embedded bare repository': `mkdir sub/objects sub/refs; echo 'ref: refs/heads/x' > sub/HEAD
      printf '[core]\\nrepositoryFormatVersion = 0\\nbare = false\\nworktree = /repo/sub\\nfsmonitor = ${RUN}\\n' > sub/config; echo x > sub/new`,
    '[git22] gpg.program': `git config commit.gpgSign true; git config gpg.program ${RUN}; echo x >> b.txt`,
    '[git23] core.attributesFile': `git config filter.x.clean ${RUN}; echo '* filter=x' > /home/agent/attributes
      git config core.attributesFile /home/agent/attributes; echo x >> b.txt`,
    '[git24] a merge driver': `git config merge.x.driver ${RUN}; echo '* merge=x' > .gitattributes; git add .gitattributes
      git commit -qm a; git checkout -q -b theirs; echo t > a.js; git commit -qam t; git checkout -q main 2>/dev/null || git checkout -q -
      git branch -f theirs-of theirs; echo o > a.js; git commit -qam o`,
    '[git25] core.gitProxy': `git remote add origin git://host.invalid/x; git config core.gitProxy ${RUN}; echo x >> b.txt`,
    '[git26] an editor': `git config core.editor ${RUN}; echo x >> b.txt`,
    '[git27] a common folder elsewhere': `cp -r .git common; mkdir own; cp .git/HEAD .git/index own/; rm -rf .git; mv own .git
      echo /repo/common > .git/commondir; git config -f common/config core.fsmonitor ${RUN}; echo x >> b.txt`,
    '[git28] a pager': `git config core.pager ${RUN}; git config pager.status true; echo x >> b.txt`,
  };
  test.each(Object.keys(attacks))('by %s starts nothing', async (name) => {
    const area = await attacked(attacks[name] ?? '');
    // First, so that the control leaves no trace in what is collected.
    const collected = await collectWatched(area);
    expect(collected.kind).toBe('patch');
    expect(await plainGit(area), 'the attack works in plain git').toBe(true);
    await world.workspaces.remove(area);
  });

  test('starts nothing on the host when its area is reopened, swept or removed', async () => {
    const area = await attacked(FILTER);
    await world.workspaces.open(base, area.id);
    await world.workspaces.remove(area);
    await world.workspaces.sweep(() => true);
    expect(existsSync(canary)).toBe(false);
  });
});

describe('a candidate that hides a change', () => {
  async function collected(line: string) {
    return (await hidden(line)).result;
  }
  /** What is collected, and what plain git shows of the change where the candidate left it. */
  async function hidden(line: string) {
    const area = await world.workspaces.open(base, `hide-${++count}`);
    const prepared = await world.run(area, line);
    if (prepared.exitCode !== 0) throw new Error(prepared.stderr);
    const result = await collectWatched(area);
    const plain = (await world.run(area, 'git diff HEAD -- a.js 2>/dev/null; true')).stdout;
    await world.workspaces.remove(area);
    return { result, plain };
  }

  test.each([
    '-diff',
    'binary',
    'diff=none',
    '-text',
    'filter=lfs',
    'linguist-generated',
    'export-ignore',
    'merge=ours',
  ])('[h01] with attribute %s, in three places, shows it as text', async (attribute) => {
    const result = await collected(
      `echo '* ${attribute}' | tee .gitattributes sub/.gitattributes .git/info/attributes >/dev/null
         echo 'export const hidden = 2;' >> a.js; echo evil >> sub/c.js`,
    );
    expect(changes(result)).toEqual(['A .gitattributes', 'M a.js', 'A sub/.gitattributes', 'M sub/c.js']);
    expect(patchOf(result).text).toContain('+export const hidden = 2;\n');
    expect(patchOf(result).text).toContain('+evil\n');
    expect(patchOf(result).text).not.toContain('Binary files');
  });

  test('[h02] by an ignore rule of its own shows it', async () => {
    const result = await collected(
      `echo hidden.js >> .gitignore; echo '*' > sub/.gitignore; echo '*' >> .git/info/exclude
       git config core.excludesFile /repo/ex; echo '*' > ex; echo x > hidden.js; echo x > sub/new.js; mkdir node_modules
       echo x > node_modules/still-ignored.js`,
    );
    expect(changes(result)).toEqual([
      'M .gitignore',
      'A ex',
      'A hidden.js',
      'A sub/.gitignore',
      'A sub/new.js',
    ]);
  });

  test.each([
    ['an ignore file', `printf '*\\n' > ~/.config/git/ignore`],
    ['an ignore file that is a pipe', 'mkfifo ~/.config/git/ignore'],
    ['an attributes file that is a pipe', 'mkfifo ~/.config/git/attributes'],
  ])('[h03] by %s in its home shows it', async (_, line) => {
    const area = await world.workspaces.open(base, `hide-${++count}`);
    await world.run(area, `mkdir -p ~/.config/git; ${line}; echo x > hidden.js; echo x >> a.js`);
    expect(changes(await collectWatched(area))).toEqual(['M a.js', 'A hidden.js']);
  });

  test('by taking a rule of the base away adds nothing but that', async () => {
    const result = await collected('rm .gitignore; mkdir node_modules; echo x > node_modules/y');
    expect(changes(result)).toEqual(['D .gitignore']);
  });

  test.each([
    'git update-index --assume-unchanged a.js',
    'git update-index --skip-worktree a.js',
    'git config core.worktree /tmp',
    'git commit -qam hidden; git tag v1',
    'rm -rf .git',
    'rm -rf .git; echo text > .git',
    'rm -rf .git; ln -s /etc .git',
    'git replace -f HEAD:a.js $(git hash-object -w a.js)',
    'echo HEAD > .git/HEAD; rm .git/index; rm -rf .git/objects',
  ])('[git29 git30 git31 git32 git33] by changing its repository shows it: %s', async (line) => {
    const { result, plain } = await hidden(`echo evil > a.js; cp a.js /home/agent/kept; ${line}`);
    expect(plain, 'plain git does not show it').not.toContain('+evil');
    expect(changes(result)).toContain('M a.js');
    expect(patchOf(result).text).toContain('+evil\n');
  });

  // Plain git of today sees through these as well.
  test.each([
    'git config core.fileMode false; git config core.ignoreCase true; git config core.sparseCheckout true',
    'git sparse-checkout set nothing; cp /home/agent/kept a.js',
  ])('by settings shows it: %s', async (line) => {
    const result = await collected(`echo evil > a.js; cp a.js /home/agent/kept; ${line}`);
    expect(patchOf(result).text).toContain('+evil\n');
  });

  test('[git34] by keeping size and time of the file shows it', async () => {
    const { result, plain } = await hidden(
      `git status >/dev/null; touch -r a.js /home/agent/when; printf 'export const a = 7;\\n' > a.js; touch -r /home/agent/when a.js`,
    );
    expect(plain, 'plain git does not see it').toBe('');
    expect(changes(result)).toEqual(['M a.js']);
  });

  test('[k01] in a nested repository shows its files, and no gitlink', async () => {
    const result = await collected(
      `git init -q nested; echo y > nested/y; git -C nested add y; git -C nested commit -qm y
       git clone -q --bare nested bare.git; rm -rf bare.git/hooks; mkdir -p x; git init -q x/.git`,
    );
    expect(changes(result)).toContain('A nested/y');
    expect(patchOf(result).raw).not.toContain('160000');
    expect(patchOf(result).raw).not.toMatch(/(^|[/\0])\.git[/\0]/);
  });
});

describe('a candidate with unusual files', () => {
  async function area(line: string): Promise<WorkArea> {
    const opened = await world.workspaces.open(base, `kinds-${++count}`);
    const prepared = await world.run(opened, line);
    if (prepared.exitCode !== 0) throw new Error(prepared.stderr);
    return opened;
  }

  test('[k02] has links collected as links, never followed', async () => {
    const result = await collectWatched(
      await area(
        `ln -s /etc/passwd out; ln -s ../../../../etc/shadow rel; ln -s / root; ln -s missing gone; rm -r sub
         ln -s /etc sub; rm a.js; ln -s /etc/hostname a.js`,
      ),
    );
    expect(changes(result)).toEqual([
      ...['T a.js', 'A gone', 'A out', 'A rel', 'A root', 'A sub', 'D sub/c.js'],
    ]);
    const { raw, text } = patchOf(result);
    expect(raw.match(/:\d{6} 120000/g)).toHaveLength(6);
    expect(text).not.toContain('root:x:');
  });

  test('[f18] does not block collection by pipes, sockets and folders', async () => {
    const result = await collectWatched(
      await area(
        `mkfifo pipe; mkdir -p empty/one; rm b.txt; mkfifo b.txt; echo real > real
         perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un("sock")) or die'; test -S sock`,
      ),
    );
    expect(changes(result)).toEqual(['D b.txt', 'A real']);
  });

  test('[h04] is quickly rejected for a pipe that git would read as .gitattributes', async () => {
    const result = await collectWatched(await area('mkfifo sub/.gitattributes; echo x >> sub/c.js'));
    expect(result).toMatchObject({ kind: 'refused', why: expect.stringContaining('cannot read') });
  });

  test('[k03] keeps unusual names', async () => {
    const names = [
      ...[
        'new\nline',
        'tab\tbed',
        '-rf',
        '--all',
        '"quoted"',
        "it's",
        'back\\slash',
        ':(top)x',
        ':/z',
        '!neg',
        '#hash',
      ],
      ...[
        ' lead',
        'trail ',
        '*',
        '?',
        '[a]',
        '\u202egpj.exe',
        'n'.repeat(255),
        'a/-b/c d',
        '\u0001ctl',
        'ü',
        'u\u0308',
      ],
    ];
    const script = names.map((name) => {
      const quoted = `'./${name.replaceAll("'", "'\\''")}'`;
      return `mkdir -p "$(dirname ${quoted})"; echo x > ${quoted}`;
    });
    const result = await collectWatched(await area(script.join('\n')));
    const order = (one: string, two: string) => Buffer.compare(Buffer.from(one), Buffer.from(two));
    expect(changes(result)).toEqual([...names].sort(order).map((name) => `A ${name}`));
  });

  test.each(['.GIT/x', 'sub/.Git/config', 'git~1', '.git./x'])(
    '[k04] is rejected for a name that git rejects: %s',
    async (name) => {
      const result = await collectWatched(await area(`mkdir -p "$(dirname ${name})"; echo x > ${name}`));
      expect(result).toMatchObject({ kind: 'refused', why: expect.stringContaining(`name: "${name}"`) });
    },
  );

  test('[k08] is rejected for a link in place of the .gitmodules of the base, which does not stay', async () => {
    const modules = '[submodule "x"]\n\tpath = x\n\turl = https://x.invalid/x\n';
    const { path, sha } = world.repository({ '.gitmodules': modules, 'a.js': 'a\n' });
    const withModules = await world.workspaces.prepare({ kind: 'local', path }, sha);
    const opened = await world.workspaces.open(withModules, `kinds-${++count}`);
    await world.run(opened, 'rm .gitmodules; ln -s a.js .gitmodules; echo b > a.js');
    expect(await world.workspaces.collect(withModules, opened)).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('".gitmodules"'),
    });
  });

  // Git says so on standard error, for each file next to it.
  test.each([
    ['a comment after a rule', `printf '*.png binary # pictures\n' > .gitattributes`],
    ['a misspelt attribute', `printf '*.sh text eol:lf\n' > .gitattributes`],
    ['a negative pattern', `printf '* text=auto\n!*.png text\n' > .gitattributes`],
    ['a macro in a subfolder', `printf '[attr]bin -text\n' > sub/.gitattributes`],
    ['a link', 'ln -s b.txt .gitattributes'],
  ])('is not rejected for .gitattributes that git warns about: %s', async (_, line) => {
    const result = await collectWatched(await area(`${line}; echo more >> b.txt; echo more >> sub/c.js`));
    expect(changes(result)).toEqual(expect.arrayContaining(['M b.txt', 'M sub/c.js']));
  });

  test('[k05] is rejected by fsck for a .gitmodules with an option', async () => {
    const modules = `printf '[submodule "x"]\\n\\tpath = x\\n\\turl = --upload-pack=touch\\n' > .gitmodules`;
    expect(await collectWatched(await area(modules))).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('fsck'),
    });
    expect(await collectWatched(await area('ln -s a.js .gitmodules'))).toMatchObject({ kind: 'refused' });
  });

  test.each([
    ['.gitattributes', `${'a'.repeat(3_000)} text\n`],
    ['.gitmodules', '[submodule "../x"]\n\tpath = x\n\turl = https://x.invalid/x\n'],
  ])(
    '[k09] is rejected by fsck for its own findings, not for those of a %s of the base',
    async (name, bad) => {
      const { path, sha } = world.repository({ [name]: bad, 'sub/a.txt': 'a\n' });
      const odd = await world.workspaces.prepare({ kind: 'local', path }, sha);
      const collectedAfter = async (line: string) => {
        const opened = await world.workspaces.open(odd, `kinds-${++count}`);
        await world.run(opened, line);
        return world.workspaces.collect(odd, opened);
      };
      expect(changes(await collectedAfter('echo b > sub/a.txt'))).toEqual(['M sub/a.txt']);
      const why = expect.stringContaining('fsck');
      const another = `printf '[submodule "../y"]\n\tpath = y\n\turl = ./y\n' > .gitmodules`;
      for (const line of [another, `cp ${name} sub/`, `git mv ${name} sub/${name}`])
        expect(await collectedAfter(line), line).toMatchObject({ kind: 'refused', why });
    },
  );

  test.each([
    ['a full disk', '-no space left on device'],
    ['a killed helper of git', '-\\\\nerror: index-pack died of signal 9'],
  ])('[k05b] is rejected by fsck for a .gitmodules that sounds like %s', async (_, path) => {
    const modules = `printf '[submodule "x"]\\n\\tpath = "${path}"\\n\\turl = ./x\\n' > .gitmodules`;
    expect(await collectWatched(await area(modules))).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('fsck'),
    });
  });

  test('[k06] is quickly rejected for 20,000 files, which are removed', async () => {
    const many = await area('mkdir m; cd m; seq 20000 | xargs touch');
    expect(await collectWatched(many)).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('20000'),
    });
    await world.workspaces.remove(many);
    expect(existsSync(many.upper)).toBe(false);
  });

  test('is not rejected for hundreds of ignored files', async () => {
    const result = await collectWatched(
      await area('mkdir node_modules; (cd node_modules; seq 3000 | xargs touch); echo x > a.js'),
    );
    expect(changes(result)).toEqual(['M a.js']);
  });
});

test('[k07] the base is byte for byte the same after all of this', async () => {
  const before = digest(base.lower);
  const area = await attacked(
    `${FILTER}; chmod -R 777 .; rm -rf sub; git gc -q; git commit -qam x; echo x > .git/HEAD`,
  );
  await collectWatched(area);
  await world.workspaces.remove(area);
  expect(digest(base.lower)).toBe(before);
  expect(readFileSync(join(base.lower, 'a.js'), 'utf8')).toBe(FILES['a.js']);
  expect(
    execFileSync('git', ['-c', 'safe.directory=*', 'status', '--porcelain'], { cwd: base.lower }).toString(),
  ).toBe('');
});
