import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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
  async function worker(work: string, path: string, shas: readonly string[], ms: number | null) {
    const uid = process.getuid?.() === 0 ? '64191' : '';
    const script = join(import.meta.dirname, 'killed-worker.ts');
    const scratch = join(world.root, 'scratch');
    const child = spawn(process.execPath, [script, world.dataDir, scratch, uid, path, work, ...shas], {
      stdio: ['ignore', 'pipe', 'pipe'],
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
      await expect
        .poll(
          async () => {
            await world.workspaces.sweep(() => false);
            return [...leftovers(), ...readdirSync(join(world.dataDir, 'areas'))];
          },
          { interval: 500 },
        )
        .toEqual([]);
      await expect.poll(lockHolders).toEqual([]);
      await world.workspaces.prune({ before: Date.now() + 1e9, keep: () => false });
      expect(statSync(join(world.dataDir, 'mirrors')).isDirectory()).toBe(true);
      for (const name of ['mirrors', 'objects', 'bases', 'layers']) {
        expect(readdirSync(join(world.dataDir, name)), name).toEqual([]);
      }
    },
  );

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

  /** A sandbox in which `program` is killed whenever the collector starts it. */
  function killing(program: string): Sandbox {
    const [name = '', word = ''] = program.split(' ');
    const lost = "command sh -c 'kill -KILL $$'";
    const inPlace = `${name}() { case "$*" in *${word}*) ${lost} ;; *) command ${name} "$@" ;; esac; }\n`;
    return {
      ...world.sandbox,
      exec: (spec) => {
        const [shell = '', option = '', script = '', ...rest] = spec.argv;
        const isCollector = rest[0] === 'collect';
        return world.sandbox.exec(
          isCollector ? { ...spec, argv: [shell, option, `${inPlace}${script}`, ...rest] } : spec,
        );
      },
    };
  }

  test.each(PROGRAMS)(
    'is an outage if it is killed, and nothing that it left out is lost: %s',
    async (program) => {
      tried({
        id: 'collector-lost',
        part: 'Child processes are killed',
        what: 'Each program that reads the files of a candidate, while its patch is collected.',
        held: 'The candidate is not blamed and no file is left out: its patch is collected again.',
      });
      const { path, sha } = world.repository({
        '.gitignore': '*.log\n',
        'kept.txt': 'kept\n',
        'a.txt': 'a\n',
        'gone.txt': 'gone\n',
      });
      const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
      const area = await world.workspaces.open(base, `r${PROGRAMS.indexOf(program)}-A`);
      await world.run(area, 'echo b > a.txt; rm gone.txt; echo new > new.txt; echo x > x.log');
      const collect = world.another({ sandbox: killing(program) }).collect(base, area);
      await expect(collect).rejects.toMatchObject({ code: 'PROGRAM_KILLED' });
      expect(changes(await world.workspaces.collect(base, area))).toEqual([
        'M a.txt',
        'D gone.txt',
        'A new.txt',
      ]);
      await world.workspaces.remove(area);
    },
  );
});
