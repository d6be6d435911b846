import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { machineWordsIn } from '../../../src/core/model/index.ts';
import type { Sandbox } from '../../../src/ports/index.ts';
import { changes } from '../../contracts/workspaces.suite.ts';
import { tried } from '../../world/tried.ts';
import { type GitWorld, git, LIMITS, openGitWorld, writeFiles } from './world.ts';

/** Kills for each kind of work, spread over the time it takes. */
const KILLS = 3;
const COMMITS = 2;
/** Enough that a kill meets each part of the work. */
const FILES = 200;

describe('a process that is killed with kill -9', () => {
  let world: GitWorld;
  beforeEach(() => {
    world = openGitWorld();
  });
  afterEach(() => world.close());

  const files = Object.fromEntries(
    Array.from({ length: FILES }, (_, at) => [`data/${at % 20}/${at}.txt`, `${at}\n`]),
  );

  function commits(path: string, round: number): readonly string[] {
    return Array.from({ length: COMMITS }, (_, at) => {
      writeFiles(path, { 'round.txt': `${round} ${at}\n` });
      git(path, 'add', '-A');
      git(path, 'commit', '-q', '-m', `Round ${round} ${at}`);
      return git(path, 'rev-parse', 'HEAD');
    });
  }

  /** Runs the worker, killed after `ms`; resolves with the milliseconds it took and whether it was done. */
  async function worker(
    work: string,
    path: string,
    shas: readonly string[],
    ms: number | null,
    atRename?: number,
  ) {
    const uid = process.getuid?.() === 0 ? '64191' : '';
    const script = join(import.meta.dirname, 'killed-worker.ts');
    const scratch = join(world.root, 'scratch');
    const before =
      atRename === undefined ? [] : ['--import', join(import.meta.dirname, 'killed-at-rename.ts')];
    const args = [...before, script, world.dataDir, scratch, uid, path, work, ...shas];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, RUNOFF_TEST_KILL_AT_RENAME: `${atRename ?? 0}` },
    });
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
    });
    child.stderr.on('data', (data) => {
      said += data;
    });
    const started = performance.now();
    const ended = once(child, 'exit');
    if (ms !== null) {
      await Promise.race([ended, wait(ms)]);
      child.kill('SIGKILL');
    }
    await ended;
    return { ms: performance.now() - started, said };
  }

  const leftovers = () =>
    execFileSync('find', [
      world.dataDir,
      '(',
      '-name',
      '.tmp-*',
      '-o',
      '-name',
      '.trash-*',
      '-o',
      '-name',
      '*.lock',
      ')',
    ])
      .toString()
      .split('\n')
      .filter((line) => line !== '' && !line.includes('.tmp-gitconfig'));

  test.each(['prepare', 'open', 'install', 'collect', 'prune'])(
    'during %s leaves nothing that affects the next one',
    async (work) => {
      tried({
        id: 'git-killed',
        part: 'The App is killed',
        what: 'A worker, while it prepares a checkout, opens an area, installs, collects and prunes, at several moments each.',
        held: 'The next worker completes the same work; no lock, partial file or mount stops it.',
      });
      const { path } = world.repository({ ...files, 'a.txt': 'one\n', '.gitignore': 'deps\n' });
      const whole = await worker(work, path, commits(path, 0), null);
      expect(whole.said).toBe('done\n');

      for (let round = 1; round <= KILLS; round += 1) {
        const shas = commits(path, round);
        await worker(work, path, shas, (whole.ms * (round - 0.5)) / KILLS);

        const sha = shas[round % COMMITS] as string;
        const bare = await world.workspaces.prepare({ kind: 'local', path }, sha);
        const wish = { command: 'mkdir deps; echo lib > deps/lib', egress: [], limits: LIMITS };
        const installed = await world.workspaces.install(bare, wish);
        if (installed.kind !== 'ready') throw new Error(`${installed.why} ${installed.tail}`);
        const area = await world.workspaces.open(installed.base, 'r1-0');
        const seen = await world.run(
          area,
          'find data -type f | wc -l; cat deps/lib; git status --porcelain; echo two > a.txt',
        );
        expect(seen.stdout).toBe(`${FILES}\nlib\n`);
        expect(changes(await world.workspaces.collect(installed.base, area))).toEqual(['M a.txt']);
        await world.workspaces.remove(area);
      }
      await expect.poll(async () => [...(await sweptAreas()), ...leftovers()], { interval: 500 }).toEqual([]);
      await expect.poll(lockHolders).toEqual([]);
      await world.workspaces.prune({ before: Date.now() + 1e9, keep: () => false });
      expect(statSync(join(world.dataDir, 'mirrors')).isDirectory()).toBe(true);
      for (const name of ['mirrors', 'objects', 'bases', 'layers']) {
        expect(readdirSync(join(world.dataDir, name)), name).toEqual([]);
      }
    },
  );

  test('before any file or folder takes its name leaves nothing that stays', async () => {
    tried({
      id: 'git-killed-at-rename',
      part: 'The App is killed',
      what: 'A worker, each time that it is about to give a complete file or folder its name.',
      held: 'The next start removes what was not complete.',
    });
    const { path } = world.repository({ 'a.txt': 'one\n', '.gitignore': 'deps\n' });
    const left: string[] = [];
    let renames = 0;
    for (let said = ''; said === ''; ) {
      renames += 1;
      ({ said } = await worker('all', path, commits(path, renames).slice(1), null, renames));
      expect(said).toMatch(/^(?:done\n)?$/);
      await expect.poll(sweptAreas, { interval: 500 }).toEqual([]);
      left.push(...leftovers().map((file) => `${file} before rename ${renames}`));
    }
    expect(left).toEqual([]);
    expect(renames).toBeGreaterThan(10);
  });

  /** The areas that are left after a sweep: a sandbox of a killed worker may still be ending. */
  async function sweptAreas(): Promise<readonly string[]> {
    await world.workspaces.sweep(() => false);
    return readdirSync(join(world.dataDir, 'areas'));
  }

  /** Lock files of this world that somebody still holds. */
  function lockHolders(): readonly string[] {
    const folder = join(world.dataDir, 'locks');
    return readdirSync(folder).filter(
      (name) => spawnSync('flock', ['-x', '-n', join(folder, name), 'true']).status !== 0,
    );
  }
});

/** Fails as `make` does when one of its programs is killed: with its own exit code. */
const SHOWS_KILL = `if [ -n "$KILL_IT" ]; then sh -c 'kill -KILL $$'; exit 2; fi; mkdir deps`;

describe('a set-up with a program that is killed inside', () => {
  let world: GitWorld;
  beforeAll(() => {
    world = openGitWorld();
  });
  afterAll(() => world.close());

  test.each([
    [1, 'ready', 2],
    [9, 'failed', 2],
  ])('so many times: %i, is %s after %i tries', async (kills, kind, tries) => {
    tried({
      id: 'setup-child-killed',
      part: 'Child processes are killed',
      what: 'A program inside the set-up command, which then ends with an exit code of its own; once and every time.',
      held: 'The command is repeated once in a fresh area before it counts as failed.',
    });
    const { path, sha } = world.repository({ 'a.txt': `${kills}\n`, '.gitignore': 'deps\n' });
    let runs = 0;
    const sandbox: Sandbox = {
      ...world.sandbox,
      exec: (spec) => {
        if (spec.argv[2] !== SHOWS_KILL) return world.sandbox.exec(spec);
        runs += 1;
        return world.sandbox.exec(runs > kills ? spec : { ...spec, env: { ...spec.env, KILL_IT: '1' } });
      },
    };
    const workspaces = world.another({ sandbox });
    const base = await workspaces.prepare({ kind: 'local', path }, sha);
    const wish = { command: SHOWS_KILL, egress: [], limits: LIMITS };
    expect(await workspaces.install(base, wish)).toMatchObject({ kind });
    expect(runs).toBe(tries);
  });
});

/** The programs of the collector that a candidate with a new, a changed, a removed and an ignored file needs. */
const READERS = [
  ...['read-tree', 'ls-files', 'checkout-index', 'check-ignore', 'update-index', 'diff-files', 'diff-index'],
  'write-tree',
  'pack-objects',
].map((command) => `git ${command}`);
const PROGRAMS = [...READERS, 'find', 'sort', 'comm', 'sed', 'tr', 'wc', 'xargs', 'cp', 'cat'];

describe('a program that reads what a candidate wrote', () => {
  let world: GitWorld;
  beforeAll(() => {
    world = openGitWorld();
  });
  afterAll(() => world.close());

  /** What stands in for a program when the collector starts it with these words, and how often; absent: each time. */
  interface StandIn {
    readonly program: string;
    readonly line: string;
    readonly times?: number;
  }
  const KILLED = "command sh -c 'kill -KILL $$'";
  const CRASHED = "command sh -c 'kill -SEGV $$'";

  function withStandIn({ program, line, times = Number.POSITIVE_INFINITY }: StandIn) {
    const [name = '', word = ''] = program.split(' ');
    const inPlace = `${name}() { case "$*" in *${word}*) ${line} ;; *) command ${name} "$@" ;; esac; }\n`;
    let runs = 0;
    const said: string[] = [];
    const sandbox: Sandbox = {
      ...world.sandbox,
      async exec(spec) {
        const [shell = '', option = '', script = '', ...rest] = spec.argv;
        if (rest[0] !== 'collect') return world.sandbox.exec(spec);
        runs += 1;
        const argv = [shell, option, `${runs > times ? '' : inPlace}${script}`, ...rest] as const;
        const result = await world.sandbox.exec({ ...spec, argv });
        said.push(result.stderr);
        return result;
      },
    };
    return { workspaces: world.another({ sandbox }), runs: () => runs, said };
  }

  let areas = 0;
  /** A candidate with a new, a changed, a removed and an ignored file. */
  async function candidate(more = '') {
    const { path, sha } = world.repository({
      '.gitignore': '*.log\n',
      'kept.txt': 'kept\n',
      'a.txt': 'a\n',
      'gone.txt': 'gone\n',
    });
    const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
    const area = await world.workspaces.open(base, `r${++areas}-A`);
    const done = await world.run(
      area,
      `echo b > a.txt; rm gone.txt; echo new > new.txt; echo x > x.log\n${more}`,
    );
    expect(done).toMatchObject({ exitCode: 0 });
    return { base, area };
  }
  const PATCH = ['M a.txt', 'D gone.txt', 'A new.txt'];

  test.each(PROGRAMS)(
    'is started again if it is killed, and nothing that it left out is lost: %s',
    async (program) => {
      tried({
        id: 'collector-lost',
        part: 'Child processes are killed',
        what: 'Each program that reads the files of a candidate, while its patch is collected.',
        held: 'The candidate is not blamed and no file is left out: its patch is collected again.',
      });
      const { base, area } = await candidate();
      const { workspaces, runs } = withStandIn({ program, line: KILLED, times: 1 });
      expect(changes(await workspaces.collect(base, area))).toEqual(PATCH);
      expect(runs()).toBe(2);
    },
  );

  test('is an outage if it is killed every time', async () => {
    const { base, area } = await candidate();
    const { workspaces, runs } = withStandIn({ program: 'find', line: KILLED });
    await expect(workspaces.collect(base, area)).rejects.toMatchObject({ code: 'PROGRAM_KILLED' });
    expect(runs()).toBe(4);
    expect(changes(await world.workspaces.collect(base, area))).toEqual(PATCH);
  });

  test.each([
    ['find', 1, "find: './a': Cannot allocate memory", 'RESOURCES_EXHAUSTED'],
    ['find', 2, 'collect: 31: Cannot fork', 'RESOURCES_EXHAUSTED'],
    ['find', 126, 'collect: 31: find: Cannot allocate memory', 'PROGRAM_KILLED'],
    ['sort', 2, 'sort: cannot create temporary file: Too many open files', 'RESOURCES_EXHAUSTED'],
    ['xargs', 1, 'xargs: cannot fork: Resource temporarily unavailable', 'RESOURCES_EXHAUSTED'],
    ['xargs', 123, "stat: cannot statx 'a': Too many open files in system", 'RESOURCES_EXHAUSTED'],
    ['xargs', 126, 'xargs: stat: Cannot allocate memory', 'PROGRAM_KILLED'],
    ['xargs', 127, 'xargs: stat: No such file or directory', 'PROGRAM_KILLED'],
    ['git check-ignore', 128, 'fatal: Out of memory, malloc failed', 'RESOURCES_EXHAUSTED'],
    [
      'git --add',
      128,
      'error: open("a.txt"): Too many open files in system\nfatal: Unable to process path a.txt',
      'RESOURCES_EXHAUSTED',
    ],
    ['git pack-objects', 128, 'fatal: unable to create thread: Cannot fork', 'RESOURCES_EXHAUSTED'],
  ])('is an outage if the machine fails it: %s ends with %i and %j', async (program, code, words, fault) => {
    tried({
      id: 'collector-short',
      part: 'Child processes are killed',
      what: 'The machine has no memory, process or file for a program that reads the files of a candidate.',
      held: 'The candidate is not blamed: its patch is collected when the machine has recovered.',
    });
    const { base, area } = await candidate();
    const line = `printf '%s\\n' ${shellWord(words)} >&2; return ${code}`;
    const { workspaces } = withStandIn({ program, line });
    await expect(workspaces.collect(base, area)).rejects.toMatchObject({ code: fault });
    expect(changes(await world.workspaces.collect(base, area))).toEqual(PATCH);
  });

  test.each([
    ['x: Cannot fork'],
    ['x\nsh: 1: Cannot fork'],
    ['x\nfatal: Out of memory, malloc failed'],
    ['x: Input/output error'],
  ])('is no outage if only the name of a file says so: %j', async (name) => {
    // Git rejects the folder, and names the file at the end of a line.
    const file = shellWord(`git~1/${name}`);
    const { base, area } = await candidate(`mkdir -p "$(dirname ${file})"; echo x > ${file}`);
    const { workspaces, said } = withStandIn({ program: 'find', line: '', times: 0 });
    expect(await workspaces.collect(base, area)).toMatchObject({ kind: 'refused' });
    expect(said).toHaveLength(1);
    expect(machineWordsIn(said[0] ?? '')).not.toBeNull();
  });

  test('is no outage if it crashes on the files each time, which a candidate may have caused', async () => {
    const { base, area } = await candidate();
    const once = withStandIn({ program: 'git --add', line: CRASHED, times: 1 });
    expect(changes(await once.workspaces.collect(base, area))).toEqual(PATCH);
    const each = withStandIn({ program: 'git --add', line: CRASHED });
    expect(await each.workspaces.collect(base, area)).toMatchObject({
      kind: 'refused',
      why: 'A program that reads its files crashed each time (signal 11).',
    });
    expect(each.runs()).toBe(4);
  });
});

const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
