import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ContainerEngine, openControlSocket } from '../../../src/adapters/sandbox/container/engine.ts';
import { prepareContainerFiles } from '../../../src/adapters/sandbox/container/flags.ts';
import { runContainer } from '../../../src/adapters/sandbox/container/run.ts';
import { readHardLimits } from '../../../src/adapters/sandbox/kernel-tables.ts';
import { openProcessTable } from '../../../src/adapters/sandbox/processes.ts';
import { programKilled, USUAL_SURROUNDINGS } from '../../../src/core/model/index.ts';
import { DEFAULT_LIMITS } from '../../../src/ports/index.ts';

const DAY_MS = 24 * 3_600_000;

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'runoff-container-files-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const filesOf = (user: string): string =>
  prepareContainerFiles(scratch, { uid: 1234, gid: 1234 }, { ...USUAL_SURROUNDINGS, user }).etc;

function useLast(folder: string, days: number): void {
  const then = new Date(Date.now() - days * DAY_MS);
  utimesSync(folder, then, then);
}

test('files of containers stand in one folder, and those that no run has used for days are removed', () => {
  const [unused, used] = [filesOf('ann'), filesOf('ben')];
  expect(readFileSync(join(unused, 'passwd'), 'utf8')).toContain('ann:x:1234:1234:');
  expect(readdirSync(scratch).sort()).toEqual(['container-files', 'etc']);
  for (const folder of [unused, used]) useLast(folder, 4);
  expect(filesOf('ben')).toBe(used);
  const fresh = filesOf('cleo');
  expect(existsSync(unused)).toBe(false);
  expect([used, fresh].map((folder) => existsSync(join(folder, 'entry.mjs')))).toEqual([true, true]);
  expect(readdirSync(dirname(fresh))).toHaveLength(2);
});

test('an engine that is killed while it ends a container is asked again, and ends no more than that', async () => {
  const area = { id: 'x', lowers: [], upper: scratch, work: scratch, merged: scratch, home: scratch };
  const client = join(scratch, 'client');
  const own = join(scratch, 'control');
  mkdirSync(own);
  writeFileSync(join(scratch, 'docker'), `#!/bin/sh\necho $$ > '${client}'\nexec sleep 600\n`, {
    mode: 0o755,
  });
  const asked: string[] = [];
  const engine: ContainerEngine = {
    name: 'docker',
    version: '1.0',
    rootless: false,
    env: { PATH: `${scratch}:/usr/bin:/bin` },
    async run([verb = '']) {
      asked.push(verb);
      if (asked.length === 1) throw programKilled('docker', { kind: 'lost', how: 'was killed by SIGKILL' });
      if (asked.length === 2) process.kill(Number(readFileSync(client, 'utf8')), 'SIGKILL');
      return { code: 0, stdout: '', stderr: '' };
    },
  };
  const control = await openControlSocket(own, { argv: [], env: {}, stdin: null, typed: false, cwd: '/' });
  try {
    const end = await runContainer({
      spec: { area, argv: ['true'], limits: { ...DEFAULT_LIMITS, wallMs: 100 } },
      setup: { engine, uid: 1, gid: 1, keepId: false, groups: false, objects: false },
      image: 'image',
      name: 'runoff-1-1-a',
      labels: [],
      toolchain: '/opt',
      files: prepareContainerFiles(scratch, { uid: 1, gid: 1 }, USUAL_SURROUNDINGS),
      controlSocket: control.socket,
      egress: null,
      ceilings: readHardLimits(),
      control,
      owner: null,
      table: openProcessTable(() => performance.now()),
      givenBytes: 0,
    });
    expect(end).toMatchObject({ kind: 'ended', result: { stopped: 'wall' } });
    expect(asked).toEqual(['rm', 'rm', 'rm']);
  } finally {
    await control.close();
  }
}, 30_000);
