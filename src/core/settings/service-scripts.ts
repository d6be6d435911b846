import { shellQuoted } from './last-resorts.ts';

/** Services that can run next to the tests inside the sandbox. */
export const SERVICES = ['postgres', 'redis', 'mysql'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** A service that the sandbox has installed. */
export interface FoundService {
  readonly name: ServiceName;
  /** Its name for people: MariaDB also serves tests that ask for MySQL. */
  readonly product: 'Postgres' | 'Redis' | 'MySQL' | 'MariaDB';
  /** As the program reports it, `18.4`. */
  readonly version: string;
}

/** What the CI job says about a service. `port`: digits. */
interface ServiceSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly port: string;
}

/** Maximum seconds until a service is ready. Our default: a first start takes two to four, one of MariaDB up to ten. */
const START_SECONDS = 60;

/** Exit code of a start if the service did not start: EX_TEMPFAIL of sysexits.h. */
export const SERVICE_NOT_STARTED = 75;
/** The same if it ended by itself, so that it will not start later either: EX_CONFIG of sysexits.h. */
export const SERVICE_REFUSED = 78;

/**
 * Lines for `sh -e` that start a service and end when it is ready. `$f` is an empty folder of its own, `$1` the file
 * to which their output goes.
 */
export function startLines(service: FoundService, settings: ServiceSettings): readonly string[] {
  switch (service.name) {
    case 'postgres':
      return postgresLines(settings);
    case 'redis':
      return redisLines(settings);
    case 'mysql':
      return mysqlLines(service, settings);
  }
}

/** Waits for the last background process to be ready. If it ends before, so does the shell, with its exit code. */
const untilReady = (check: string): string =>
  `p=$!; for i in $(seq ${START_SECONDS * 10}); do if ${check}; then exit 0; fi; if ! kill -0 $p 2>/dev/null; then wait $p && exit 1 || exit $?; fi; sleep 0.1; done; exit ${SERVICE_NOT_STARTED}`;

/** The name of a user or a database, which needs no quotes in a shell or inside those of SQL. */
export const plainName = (name: string | undefined, other: string): string =>
  name !== undefined && /^[A-Za-z_][\w-]{0,60}$/.test(name) ? name : other;

/** Accepts every connection with any password: the sandbox has no other users. */
function postgresLines({ env, port }: ServiceSettings): readonly string[] {
  const user = plainName(env.POSTGRES_USER, 'postgres');
  const database = plainName(env.POSTGRES_DB, user);
  const create = `echo 'CREATE DATABASE "${database}";' | postgres --single -D "$f/data" postgres`;
  const lasting = '-c fsync=off -c synchronous_commit=off -c full_page_writes=off';
  // Its log is kept in memory, so it holds what concerns the server, and no errors of statements.
  const quiet = '-c log_min_messages=log';
  return [
    `initdb -D "$f/data" -U ${user} -A trust -E UTF8 --locale=C --no-sync`,
    ...(database === 'postgres' ? [] : [create]),
    `postgres -D "$f/data" -h 127.0.0.1,::1 -p ${port} -k "$f" ${lasting} ${quiet} </dev/null & true`,
    untilReady('grep -q "^ready" "$f/data/postmaster.pid" 2>/dev/null'),
  ];
}

const redisLines = ({ port }: ServiceSettings): readonly string[] => [
  `redis-server --bind 127.0.0.1 --port ${port} --save "" --appendonly no --dir "$f" --loglevel warning </dev/null & true`,
  untilReady(`redis-cli -p ${port} ping >/dev/null 2>&1`),
];

/** Folders of server programs of Debian and of RHEL, which are not on PATH in a sandbox. */
export const MYSQL_PATH = 'PATH="$PATH:/usr/sbin:/usr/libexec"';

/**
 * Data are not flushed to the disk, since none outlive the command. Options that only one of MySQL and MariaDB knows
 * begin with `loose`.
 */
const QUICK_MYSQL = [
  '--innodb-flush-log-at-trx-commit=0 --innodb-flush-method=nosync --innodb-buffer-pool-size=64M',
  '--loose-innodb-log-file-size=16M --loose-innodb-doublewrite=0 --loose-innodb-use-native-aio=0',
  '--loose-mysqlx=OFF --loose-performance-schema=OFF --skip-log-bin --skip-name-resolve',
].join(' ');

/** A password of the workflow as SQL writes it between quotes; none for what is not one line of ASCII. */
const quotedPassword = (password = ''): string =>
  /^[\x20-\x7e]{0,80}$/.test(password) ? password.replaceAll('\\', '\\\\').replaceAll("'", "''") : '';

/**
 * The accounts and the database that the images of MySQL and MariaDB create. Unlike Postgres, neither server can accept
 * any password, so the accounts get the passwords of the workflow.
 */
function mysqlLines({ product }: FoundService, { env, port }: ServiceSettings): readonly string[] {
  const of = (name: string): string | undefined => env[`MYSQL_${name}`] ?? env[`MARIADB_${name}`];
  const [root, own] = [quotedPassword(of('ROOT_PASSWORD')), quotedPassword(of('PASSWORD'))];
  const user = plainName(of('USER'), 'root');
  const database = plainName(of('DATABASE'), '');
  const account = (name: string, password: string): string => `'${name}'@'%' IDENTIFIED BY '${password}'`;
  const statements = [
    // MariaDB creates these without a password, and they come before those for any host.
    "DROP USER IF EXISTS ''@'localhost', 'root'@'127.0.0.1', 'root'@'::1';",
    `CREATE USER IF NOT EXISTS ${account('root', root)};`,
    "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;",
    `ALTER USER 'root'@'localhost' IDENTIFIED BY '${root}';`,
    ...(database === '' ? [] : [`CREATE DATABASE IF NOT EXISTS \`${database}\`;`]),
    ...(user === 'root' ? [] : [`CREATE USER IF NOT EXISTS ${account(user, own)};`]),
    ...(user === 'root' || database === '' ? [] : [`GRANT ALL ON \`${database}\`.* TO '${user}'@'%';`]),
  ];
  const options = `--no-defaults --datadir="$f/data"`;
  // Both refuse to run as root without being told so.
  const asRoot = '$([ "$(id -u)" != 0 ] || echo --user=root)';
  const isMaria = product === 'MariaDB';
  // Before MariaDB 10.5, its programs have the names of MySQL's.
  const server = isMaria ? '"$(command -v mariadbd || command -v mysqld)"' : 'mysqld';
  const install = isMaria
    ? `"$(command -v mariadb-install-db || command -v mysql_install_db)" ${options} --auth-root-authentication-method=normal ${asRoot} ${QUICK_MYSQL}`
    : `mysqld ${options} --initialize-insecure ${asRoot} ${QUICK_MYSQL}`;
  const sockets = `--socket="$f/socket" --pid-file="$f/pid" --bind-address=127.0.0.1 --port=${port}`;
  return [
    MYSQL_PATH,
    install,
    `printf '%s\\n' ${statements.map(shellQuoted).join(' ')} >"$f/accounts.sql"`,
    `${server} ${options} --init-file="$f/accounts.sql" ${sockets} ${asRoot} ${QUICK_MYSQL} </dev/null & true`,
    untilReady(`grep -qE "(mysqld|mariadbd): ready for connections" "$1"`),
  ];
}
