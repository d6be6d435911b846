import { describe, expect, test } from 'vitest';
import { ciJob, servicePlan } from '../../../src/core/settings/index.ts';
import { missingServices, wantedServices } from '../../../src/core/settings/services.ts';

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

  test('cannot add a command by a name or a port', () => {
    const hostile =
      '        env: { POSTGRES_USER: "x; id", POSTGRES_DB: "a\\"; drop" }\n        ports: ["$(id):5432", "5432; id"]\n';
    const { script = '' } = servicePlan(job(db(hostile)), [POSTGRES]) ?? {};
    expect(script).not.toMatch(/\bid\b|drop/);
    expect(script).toMatch(/-U postgres .*-p 5432 /);
  });

  test('come with the variables of the job, without those of the service or the sandbox', () => {
    const env = `    env:\n      DATABASE_URL: postgres://localhost:\${{ job.services.db.ports[5432] }}/x\n      TOKEN: \${{ secrets.TOKEN }}\n      NODE_OPTIONS: --require=x\n      PATH: /x\n      LD_PRELOAD: /x\n      GITHUB_X: y\n`;
    const plan = servicePlan(job(db('        ports: ["5432"]\n'), env), [POSTGRES]);
    expect(plan?.env).toEqual({ DATABASE_URL: 'postgres://localhost:5432/x', STEP: 'own' });
  });
});
