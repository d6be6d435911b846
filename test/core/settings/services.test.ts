import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  ciJob,
  SERVICE_NOT_STARTED,
  SERVICE_REFUSED,
  servicePlan,
  workflowFiles,
} from '../../../src/core/settings/index.ts';
import { missingServices, missingServicesNote, wantedServices } from '../../../src/core/settings/services.ts';
import { tried } from '../../world/tried.ts';

const job = (services: string, env = '') =>
  ciJob({
    '.github/workflows/ci.yml': `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n${env}    services:\n${services}    steps:\n      - run: npm test\n        env: { STEP: own }\n`,
  });
const POSTGRES = { name: 'postgres', product: 'Postgres', version: '18.4' } as const;
const REDIS = { name: 'redis', product: 'Redis', version: '7.0.15' } as const;
const MARIADB = { name: 'mysql', product: 'MariaDB', version: '10.11.19' } as const;
/** The script, with the folder in place of /tmp, so that the machine keeps nothing of it. */
const inFolder = (script: string, folder: string) => script.replaceAll('/tmp/', `${folder}/`);
const db = (more = '', image = 'postgres:15') => `      db:\n        image: ${image}\n${more}`;

describe('the services of a CI job', () => {
  test.each([
    ['postgres', 'postgres'],
    ['postgres:15-alpine', 'postgres'],
    ['docker.io/library/postgres:16', 'postgres'],
    ['bitnami/postgresql:latest', 'postgres'],
    ['redis:7', 'redis'],
    ['valkey/valkey@sha256:0', 'redis'],
    ['mysql:8', 'mysql'],
    ['mysql/mysql-server', 'mysql'],
    ['mariadb:10.11', 'mysql'],
  ])('%s is %s', (image, name) => {
    expect(wantedServices(job(db('', image)))).toEqual([name]);
  });

  test.each([
    'mongo:8',
    'mysqld-exporter',
    'postgis/postgis:16-3.4',
    'postgres-exporter',
    'my/redis-cluster:1',
    "''",
  ])('%s is none that can run in the sandbox, and is named', (image) => {
    const found = job(db('', image));
    expect(wantedServices(found)).toEqual([]);
    expect(servicePlan(found, [POSTGRES, REDIS, MARIADB])).toBeNull();
    expect(missingServices(found?.services ?? [], [POSTGRES, REDIS, MARIADB])).toEqual(['db']);
    expect(missingServicesNote(['db'])).toMatch(/^CI runs the tests with db, .* need it fail .* excluded\.$/);
  });

  test('are also those that an action starts, with its inputs', () => {
    const found = ciJob({
      '.github/workflows/ci.yml': `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    strategy: { matrix: { redis: [6, 7] } }
    steps:
      - uses: supercharge/redis-github-action@1.8.0
        with: { redis-version: "\${{ matrix.redis }}" }
      - uses: ikalnytskyi/action-setup-postgres@v7
        with: { database: shop, port: 5433 }
      - uses: supercharge/mongodb-github-action@1.12.0
      - uses: someone/redis-github-action@v1
      - run: npm test
`,
    });
    expect(found?.services).toEqual([
      { name: 'redis', image: 'redis:6', env: {}, ports: ['6379:6379'] },
      {
        name: 'postgres',
        image: 'postgres:latest',
        env: { POSTGRES_USER: 'postgres', POSTGRES_DB: 'shop' },
        ports: ['5433:5432'],
      },
      { name: 'mongo', image: 'mongo:latest', env: {}, ports: ['27017:27017'] },
    ]);
    expect(wantedServices(found)).toEqual(['redis', 'postgres']);
    expect(missingServices(found?.services ?? [], [POSTGRES])).toEqual(['redis', 'mongo']);
  });

  const composed = (up: string, files: Record<string, string>) =>
    ciJob({
      '.github/workflows/ci.yml': `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: ${up}\n      - run: npm test\n`,
      ...files,
    });
  const COMPOSE = `services:\n  app: { build: . }\n  db:\n    image: "postgres:\${PG:-16}"\n    environment: ["POSTGRES_USER=shop", "POSTGRES_DB"]\n    ports: ["127.0.0.1:5433:5432"]\n  cache:\n    image: redis:7\n    ports: [{ target: 6379, published: 6380 }]\n`;

  test.each([
    ['docker compose up -d --wait', 'compose.yaml', ['db', 'cache']],
    ['docker compose up -d --timeout 60 db && sleep 5', 'docker-compose.yml', ['db']],
    ['docker-compose -f ci/compose.test.yml up -d cache', 'ci/compose.test.yml', ['cache']],
    ['docker compose run app', 'compose.yaml', []],
    ['docker compose up -d', 'other.yaml', []],
  ])('may be started by `%s`', (up, file, expected) => {
    const found = composed(up, { [file]: COMPOSE });
    expect(found?.services.map(({ name }) => name)).toEqual(expected);
    expect(workflowFiles(['.github/workflows/ci.yml', file]).includes(file)).toBe(file !== 'other.yaml');
  });

  test('of the job itself come first, and the file at the top before those in folders', () => {
    const many = Array.from({ length: 12 }, (_, at) => `  s${at}: { image: own/s${at} }\n`).join('');
    const found = ciJob({
      '.github/workflows/ci.yml':
        'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    services: { s3: { image: "redis:7" }, db: { image: "postgres:16" } }\n    steps:\n      - run: docker compose up -d\n      - run: npm test\n',
      'compose.yml': `services:\n${many}`,
    });
    expect(found?.services.slice(0, 3).map(({ image }) => image)).toEqual([
      'redis:7',
      'postgres:16',
      'own/s0',
    ]);
    const folders = Array.from({ length: 8 }, (_, at) => `app${at}/docker-compose.yml`);
    expect(workflowFiles(['.github/workflows/ci.yml', ...folders, 'docker-compose.yml'])[1]).toBe(
      'docker-compose.yml',
    );
  });

  test('of docker compose start with the settings of its file', () => {
    const found = composed('docker compose up -d', { 'compose.yml': COMPOSE });
    expect(found?.services).toEqual([
      { name: 'db', image: 'postgres:16', env: { POSTGRES_USER: 'shop' }, ports: ['5433:5432'] },
      { name: 'cache', image: 'redis:7', env: {}, ports: ['6380:6379'] },
    ]);
    const plan = servicePlan(found, [POSTGRES, REDIS]);
    expect(plan?.script).toContain('-U shop');
    expect(plan?.script).toContain('-p 5433');
    expect(plan?.notes[0]).toBe('The tests ran with Postgres 18.4; CI asks for postgres:16.');
  });

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
      // A server that ended between two looks at it would not be ready.
      postgres: 'case "$1" in --single) cat >&2 ;; *) echo ready > "$2/postmaster.pid"; exec sleep 1 ;; esac',
    };
    /** Runs the script with these programs, and `true` for the tests. */
    const started = (programs: Readonly<Record<string, string>>) => {
      for (const [name, text] of Object.entries(programs))
        writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      const { script = '' } =
        servicePlan(job(db('        env: { POSTGRES_DB: orders }\n')), [POSTGRES]) ?? {};
      const env = { PATH: `${folder}:${process.env.PATH}` };
      return spawnSync('sh', ['-c', `${inFolder(script, folder)}echo tests`], { env, encoding: 'utf8' });
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

    test.each([
      ['does not know the port', 'echo "FATAL: 99999 is outside" >&2; exit 1', 'FATAL: 99999 is outside'],
      ['cannot have the port', 'sleep 0.2; echo "FATAL: no sockets" >&2; exit 1', 'FATAL: no sockets'],
      ['ends without an error', 'exit 0', ''],
    ])('count as refused, and are named, when the server %s', (_, server, why) => {
      const postgres = `case "$1" in --single) cat >&2 ;; *) ${server} ;; esac`;
      const { status, stdout, stderr } = started({ ...PROGRAMS, postgres });
      expect([status, stdout]).toEqual([SERVICE_REFUSED, '']);
      expect(stderr).toMatch(/^Postgres \(db\) does not start for the tests: .*\n$/);
      expect(stderr).toContain(why);
      const plan = servicePlan(job(db()), [POSTGRES]);
      expect(plan?.refusedIn(stderr)).toBe('db');
      expect(plan?.without('db')).toBeNull();
    });

    test.each([
      ['is killed', 'sleep 0.2; kill -KILL $$'],
      [
        'says that a process of it was killed',
        'echo "child process was terminated by signal 9: Killed" >&2; exit 1',
      ],
      ['has no memory', 'echo "FATAL: could not map memory: Cannot allocate memory" >&2; exit 1'],
      ['has no process', 'echo "FATAL: could not fork new process" >&2; exit 1'],
      ['cannot be executed', 'exit 126'],
    ])('count as not started when the server %s', (_, server) => {
      const postgres = `case "$1" in --single) cat >&2 ;; *) ${server} ;; esac`;
      expect(started({ ...PROGRAMS, postgres })).toMatchObject({ status: SERVICE_NOT_STARTED, stdout: '' });
    });

    test('count as not started when the tool fails that tells these apart', () => {
      const programs = { ...PROGRAMS, initdb: 'exit 1', grep: 'exit 2' };
      expect(started(programs)).toMatchObject({ status: SERVICE_NOT_STARTED, stdout: '' });
    });
  });

  test('are known where the matrix names their images', () => {
    const matrix =
      '    strategy:\n      matrix:\n        database: [{ image: redis, version: 7 }, { image: valkey/valkey, version: 8 }]\n';
    const image = `\${{ matrix.database.image }}:\${{ matrix.database.version }}`;
    const found = job(db('', image), matrix);
    expect(found?.services.map((one) => one.image)).toEqual(['redis:7']);
    expect(wantedServices(found)).toEqual(['redis']);
  });

  test('can be left out one by one', () => {
    const two = job(`${db()}      cache:\n        image: redis:7\n`);
    const plan = servicePlan(two, [POSTGRES, REDIS]);
    const rest = plan?.without('db');
    expect(rest?.script).toMatch(/redis-server/);
    expect(rest?.script).not.toMatch(/initdb/);
    expect(rest?.notes).toEqual(['The tests ran with Redis 7.0.15; CI asks for redis:7.']);
    expect(rest?.without('cache')).toBeNull();
  });

  describe('for MySQL', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'runoff-mysql-'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));
    const MYSQL = { name: 'mysql', product: 'MySQL', version: '8.0.36' } as const;
    const settings =
      '        env: { MYSQL_ROOT_PASSWORD: "a $(id) b", MYSQL_DATABASE: shop, MYSQL_USER: me, MYSQL_PASSWORD: secret }\n        ports: ["33061:3306"]\n';

    test('are the MySQL or MariaDB of the sandbox, and the report says which', () => {
      const asked = job(db(settings, 'mysql:8'));
      expect(servicePlan(asked, [MARIADB])?.notes).toEqual([
        'The tests ran with MariaDB 10.11.19; CI asks for mysql:8.',
      ]);
      expect(servicePlan(asked, [POSTGRES, REDIS])).toBeNull();
      expect(missingServices(asked?.services ?? [], [POSTGRES])).toEqual(['db']);
    });

    /** The statements with which the script starts this server, which waits as long as it runs. */
    const statements = (env: string) => {
      const server = `#!/bin/sh
        case " $* " in *' --initialize-insecure '*) exit 0 ;; esac
        for one in "$@"; do case "$one" in --init-file=*) cp "\${one#*=}" ${folder}/seen ;; esac; done
        echo "$0: ready for connections." | sed 's|.*/||'; exec sleep 5`;
      writeFileSync(join(folder, 'mysqld'), server, { mode: 0o755 });
      const { script = '' } = servicePlan(job(db(env, 'mysql:8')), [MYSQL]) ?? {};
      const PATH = `${folder}:${process.env.PATH}`;
      const argv = ['-c', `${inFolder(script, folder)}echo tests`];
      const ended = spawnSync('sh', argv, { env: { PATH }, encoding: 'utf8' });
      expect(ended).toMatchObject({ status: 0, stdout: 'tests\n', stderr: '' });
      return readFileSync(join(folder, 'seen'), 'utf8').trim().split('\n');
    };

    test('have the accounts and the database that the image would have', () => {
      expect(statements(settings)).toEqual([
        "DROP USER IF EXISTS ''@'localhost', 'root'@'127.0.0.1', 'root'@'::1';",
        "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY 'a $(id) b';",
        "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;",
        "ALTER USER 'root'@'localhost' IDENTIFIED BY 'a $(id) b';",
        'CREATE DATABASE IF NOT EXISTS `shop`;',
        "CREATE USER IF NOT EXISTS 'me'@'%' IDENTIFIED BY 'secret';",
        "GRANT ALL ON `shop`.* TO 'me'@'%';",
      ]);
    });

    test('cannot get another statement by a name or a password', () => {
      const hostile = `        env: { MYSQL_ROOT_PASSWORD: "'; DROP\\\\", MYSQL_USER: "x'@'%", MYSQL_DATABASE: "a\`b", MYSQL_PASSWORD: "\\\\" }\n`;
      expect(statements(hostile)).toEqual([
        "DROP USER IF EXISTS ''@'localhost', 'root'@'127.0.0.1', 'root'@'::1';",
        "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '''; DROP\\\\';",
        "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;",
        "ALTER USER 'root'@'localhost' IDENTIFIED BY '''; DROP\\\\';",
      ]);
    });

    const hasMariaDb = existsSync('/usr/sbin/mariadbd') && existsSync('/usr/bin/mariadb');
    test.runIf(hasMariaDb)(
      'let the tests in with the password of the workflow, and nobody with another one',
      () => {
        const { script = '' } = servicePlan(job(db(settings, 'mariadb:11')), [MARIADB]) ?? {};
        const query = (user: string, password: string) =>
          `mariadb --no-defaults -h127.0.0.1 -P33061 -u${user} -p'${password}' -N -e 'select current_user(), database()' shop 2>/dev/null || echo refused`;
        const end = `kill "$(cat "$(sed -n "s/.*socket: '\\(.*\\)socket'.*/\\1pid/p" "$l")")"`;
        const tries = [
          query('me', 'secret'),
          query('me', 'other'),
          query('root', 'a $(id) b'),
          query('root', ''),
        ];
        const argv = ['-c', `${inFolder(script, folder)}${tries.join('; ')}; ${end}`];
        const ended = spawnSync('sh', argv, { encoding: 'utf8' });
        expect(ended).toMatchObject({ stdout: 'me@%\tshop\nrefused\nroot@%\tshop\nrefused\n' });
      },
      120_000,
    );
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

  describe('and its variables', () => {
    const withoutServices = (env: string) =>
      ciJob({
        '.github/workflows/ci.yml': `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    env:\n${env}    steps:\n      - run: npm test\n        env: { STEP: own }\n      - run: npm run deploy\n        env: { DEPLOY: there }\n`,
      });

    test('reach the tests without a service, too, also one that is named like a secret', () => {
      const found = withoutServices(
        '      SECRET_KEY: "not secret"\n      DJANGO_SETTINGS_MODULE: shop.settings\n      NODE_ENV: test\n      TZ: UTC\n      DATABASE_URL: sqlite:///test.db\n      API: http://localhost:8000\n      GOOGLE_API_KEY: abc\n',
      );
      const plan = servicePlan(found, []);
      expect(plan).toMatchObject({ script: '', tolerantScript: '', notes: [] });
      expect(plan?.env).toEqual({
        SECRET_KEY: 'not secret',
        DJANGO_SETTINGS_MODULE: 'shop.settings',
        NODE_ENV: 'test',
        TZ: 'UTC',
        DATABASE_URL: 'sqlite:///test.db',
        API: 'http://localhost:8000',
        GOOGLE_API_KEY: 'abc',
        STEP: 'own',
      });
    });

    test.each([
      // A real secret, servers that do not run here, what no environment can hold.
      ...[`X: \${{ secrets.X }}`, 'DATABASE_URL: postgres://u:p@db/x', 'DB_HOST: localhost', 'X: "a\\0b"'],
      ...[
        ...['LD_PRELOAD', 'LD_LIBRARY_PATH', 'GLIBC_TUNABLES', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'],
        ...[
          'BASH_ENV',
          'ENV',
          'IFS',
          'PYTHONHOME',
          'PYTHONSTARTUP',
          'RUBYOPT',
          'PERL5OPT',
          'JAVA_TOOL_OPTIONS',
        ],
        ...['MAVEN_OPTS', 'PHPRC', 'PATH', 'HOME', 'TMPDIR', 'LC_ALL', 'XDG_CONFIG_HOME', 'HTTPS_PROXY'],
        ...['no_proxy', 'GIT_SSH_COMMAND', 'GOFLAGS', 'GOPROXY', 'CARGO_HOME', 'RUSTFLAGS', 'JAVA_HOME'],
        ...[
          'DOTNET_STARTUP_HOOKS',
          'SSL_CERT_FILE',
          'PIP_INDEX_URL',
          'npm_config_registry',
          'PYTEST_ADDOPTS',
        ],
        ...['PYTEST_PLUGINS', 'SPEC_OPTS', 'FORCE_COLOR', 'CI', 'GITHUB_TOKEN', 'PROPTEST_CASES'],
      ].map((name) => `${name}: x`),
    ])('do not contain %s', (line) => {
      expect(servicePlan(withoutServices(`      ${line}\n`), [])?.env).toEqual({ STEP: 'own' });
    });

    test('are those of tests only, and of no job whose services are missing', () => {
      expect(servicePlan(job(db()), [])).toBeNull();
      expect(servicePlan(job(db()), [POSTGRES])?.without('db')).toBeNull();
      const untested = ciJob({
        '.github/workflows/ci.yml':
          'on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    env: { A: b }\n    steps:\n      - uses: actions/setup-node@v4\n        with: { node-version: 22 }\n',
      });
      expect(servicePlan(untested, [])).toBeNull();
    });
  });
});
