import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ciJob, SERVICE_NOT_STARTED, servicePlan } from '../../../src/core/settings/index.ts';
import { missingServices, wantedServices } from '../../../src/core/settings/services.ts';
import { tried } from '../../world/tried.ts';

const job = (services: string, env = '') =>
  ciJob({
    '.github/workflows/ci.yml': `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n${env}    services:\n${services}    steps:\n      - run: npm test\n        env: { STEP: own }\n`,
  });
const POSTGRES = { name: 'postgres', version: '18.4' } as const;
const REDIS = { name: 'redis', version: '7.0.15' } as const;
const db = (more = '', image = 'postgres:15') => `      db:\n        image: ${image}\n${more}`;

describe('the services of a CI job', () => {
  test.each([
    ['postgres', 'postgres'],
    ['postgres:15-alpine', 'postgres'],
    ['docker.io/library/postgres:16', 'postgres'],
    ['bitnami/postgresql:latest', 'postgres'],
    ['redis:7', 'redis'],
    ['valkey/valkey@sha256:0', 'redis'],
  ])('%s is %s', (image, name) => {
    expect(wantedServices(job(db('', image)))).toEqual([name]);
  });

  test.each(['mysql:8', 'postgis/postgis:16-3.4', 'postgres-exporter', 'my/redis-cluster:1', "''"])(
    '%s is none that can run in the sandbox, and is named',
    (image) => {
      const found = job(db('', image));
      expect(wantedServices(found)).toEqual([]);
      expect(servicePlan(found, [POSTGRES, REDIS])).toBeNull();
      expect(missingServices(found?.services ?? [], [POSTGRES, REDIS])).toEqual(['db']);
    },
  );

  test('start with the user, database and port that tests expect', () => {
    const settings =
      '        env: { POSTGRES_USER: shop, POSTGRES_DB: orders }\n        ports: ["5433:5432"]\n';
    const plan = servicePlan(job(db(settings)), [POSTGRES]);
    expect(plan?.script).toContain('-U shop');
    expect(plan?.script).toContain('CREATE DATABASE "orders"');
    expect(plan?.script).toContain('-p 5433');
    expect(plan?.notes).toEqual(['The tests ran with Postgres 18.4; CI asks for postgres:15.']);
    expect(servicePlan(job(db()), [POSTGRES])?.script).toMatch(/-U postgres(?!.*CREATE).*-p 5432/);
    expect(servicePlan(job(db()), [REDIS])).toBeNull();
    expect(servicePlan(null, [POSTGRES])).toBeNull();
  });

  describe('started by a shell', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'runoff-services-'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));
    const PROGRAMS = {
      initdb: 'mkdir "$2"',
      postgres: 'case "$1" in --single) cat >&2 ;; *) echo ready > "$2/postmaster.pid" ;; esac',
    };
    /** Runs the script with these programs, and `true` for the tests. */
    const started = (programs: typeof PROGRAMS) => {
      for (const [name, text] of Object.entries(programs))
        writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      const { script = '' } =
        servicePlan(job(db('        env: { POSTGRES_DB: orders }\n')), [POSTGRES]) ?? {};
      const env = { PATH: `${folder}:${process.env.PATH}` };
      return spawnSync('sh', ['-c', `${script}echo tests`], { env, encoding: 'utf8' });
    };

    test.each([
      ['initdb', { ...PROGRAMS, initdb: 'mkdir "$2"; kill -KILL $$' }],
      [
        'the creation of a database',
        { ...PROGRAMS, postgres: `case "$1" in --single) kill -KILL $$ ;; esac; ${PROGRAMS.postgres}` },
      ],
    ])('count as not started, and no test runs without them, when %s is killed', (_, programs) => {
      tried({
        part: 'Child processes are killed',
        id: 'service-killed',
        what: 'The programs that create the database for the tests of a candidate.',
        held: 'No test runs without it: the start is repeated, and then waits for the end of the outage, which names the service.',
      });
      expect(started(PROGRAMS)).toMatchObject({ status: 0, stdout: 'tests\n' });
      expect(started(programs)).toMatchObject({
        status: SERVICE_NOT_STARTED,
        stdout: '',
        stderr: 'Postgres could not be started for the tests.\n',
      });
    });
  });

  test('cannot add a command by a name or a port', () => {
    const hostile =
      '        env: { POSTGRES_USER: "x; id", POSTGRES_DB: "a\\"; drop" }\n        ports: ["$(id):5432", "5432; id"]\n';
    const { script = '' } = servicePlan(job(db(hostile)), [POSTGRES]) ?? {};
    expect(script).not.toMatch(/\bid\b|drop/);
    expect(spawnSync('sh', ['-n', '-c', script]).status).toBe(0);
    expect(script).toMatch(/-U postgres .*-p 5432 /);
  });

  test('come with the variables of the job, without those of the service or the sandbox', () => {
    const env = `    env:\n      DATABASE_URL: postgres://localhost:\${{ job.services.db.ports[5432] }}/x\n      TOKEN: \${{ secrets.TOKEN }}\n      NODE_OPTIONS: --require=x\n      PATH: /x\n      LD_PRELOAD: /x\n      GITHUB_X: y\n`;
    const plan = servicePlan(job(db('        ports: ["5432"]\n'), env), [POSTGRES]);
    expect(plan?.env).toEqual({ DATABASE_URL: 'postgres://localhost:5432/x', STEP: 'own' });
  });
});
