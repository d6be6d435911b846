import type { CiJob, CiService } from './ci-workflow.ts';
import { shellQuoted } from './last-resorts.ts';

/** Services that can run next to the tests inside the sandbox. */
const SERVICES = ['postgres', 'redis'] as const;
type ServiceName = (typeof SERVICES)[number];

/** A service that the sandbox has installed. */
export interface FoundService {
  readonly name: ServiceName;
  /** As the program reports it, `18.4`. */
  readonly version: string;
}

/** Commands to run before a test command, and its environment. */
export interface ServicePlan {
  /**
   * Lines for `sh`; they start each service anew, with data of its own in /tmp. If one does not start, they end with
   * `SERVICE_NOT_STARTED`, and a sentence on standard error names it.
   */
  readonly script: string;
  /** Variables of the CI job, such as `DATABASE_URL`. */
  readonly env: Readonly<Record<string, string>>;
  /** Sentences for people. */
  readonly notes: readonly string[];
}

const IMAGES: Readonly<Record<ServiceName, RegExp>> = {
  postgres: /^(?:[\w.-]+\/)*postgres(?:ql)?(?::|@|$)/,
  redis: /^(?:[\w.-]+\/)*(?:redis|valkey)(?::|@|$)/,
};
const LABELS: Readonly<Record<ServiceName, string>> = { postgres: 'Postgres', redis: 'Redis' };
const PORTS: Readonly<Record<ServiceName, string>> = { postgres: '5432', redis: '6379' };

const serviceName = ({ image }: CiService): ServiceName | null =>
  SERVICES.find((name) => IMAGES[name].test(image)) ?? null;

/** The services of a CI job that can run inside the sandbox if their programs are available. */
export const wantedServices = (job: CiJob | null): readonly ServiceName[] => [
  ...new Set((job?.services ?? []).flatMap((one) => serviceName(one) ?? [])),
];

/** Names of the CI job's services that are not available here. */
export const missingServices = (
  services: readonly CiService[],
  found: readonly FoundService[],
): readonly string[] =>
  services.flatMap((one) => (found.some(({ name }) => name === serviceName(one)) ? [] : [one.name]));

/** How to provide the services of the CI job to tests; null if none of `found` is needed. */
export function servicePlan(job: CiJob | null, found: readonly FoundService[]): ServicePlan | null {
  if (job === null) return null;
  const started = job.services.flatMap((container) => {
    const service = found.find(({ name }) => name === serviceName(container));
    return service ? [{ container, service, port: portOf(container, PORTS[service.name]) }] : [];
  });
  if (started.length === 0) return null;
  const script = started.map(({ container, service, port }) =>
    service.name === 'postgres' ? startPostgres(container, port) : startRedis(port),
  );
  return {
    script: script.join(''),
    env: passedVariables(
      job,
      started.map(({ container, port }) => [container.name, port] as const),
    ),
    notes: started.map(
      ({ container, service }) =>
        `The tests ran with ${LABELS[service.name]} ${service.version}; CI asks for ${container.image}.`,
    ),
  };
}

/** `5432:5432`, `15432:5432` or `5432`; the first number is the one that tests connect to. */
const portOf = ({ ports }: CiService, usual: string): string =>
  /^\d{2,5}$/.exec(
    ports.find((port) => port === usual || port.endsWith(`:${usual}`))?.split(':')[0] ?? '',
  )?.[0] ?? usual;

/** Maximum seconds for a service to respond. Default: a first start takes two to four. */
const START_SECONDS = 60;

/** Exit code of `ServicePlan.script` if a service did not start: EX_TEMPFAIL of sysexits.h. */
export const SERVICE_NOT_STARTED = 75;

/** A shell of its own, because `set -e` is ignored on the left of `||`: a killed initdb would go unnoticed. */
function inBackground(name: ServiceName, lines: readonly string[]): string {
  const start = `f=$(mktemp -d /tmp/${name}-XXXXXX); ${lines.join('; ')}`;
  const failed = `echo "${LABELS[name]} could not be started for the tests." >&2; exit ${SERVICE_NOT_STARTED}`;
  return `sh -ec ${shellQuoted(start)} >/dev/null 2>&1 || { ${failed}; }; `;
}

const untilTrue = (check: string): string =>
  `for i in $(seq ${START_SECONDS * 10}); do if ${check}; then exit 0; fi; sleep 0.1; done; exit 1`;

/** The name of a user or a database, which needs no quotes in a shell or in SQL's double ones. */
const plainName = (name: string | undefined, other: string): string =>
  name !== undefined && /^[A-Za-z_][\w-]{0,60}$/.test(name) ? name : other;

/** Accepts every connection with any password: the sandbox has no other users. */
function startPostgres({ env }: CiService, port: string): string {
  const user = plainName(env.POSTGRES_USER, 'postgres');
  const database = plainName(env.POSTGRES_DB, user);
  const create = `echo 'CREATE DATABASE "${database}";' | postgres --single -D "$f/data" postgres`;
  const lasting = '-c fsync=off -c synchronous_commit=off -c full_page_writes=off';
  const lines = [
    `initdb -D "$f/data" -U ${user} -A trust -E UTF8 --locale=C --no-sync`,
    ...(database === 'postgres' ? [] : [create]),
    `postgres -D "$f/data" -h 127.0.0.1,::1 -p ${port} -k "$f" ${lasting} </dev/null & true`,
    untilTrue('grep -q "^ready" "$f/data/postmaster.pid"'),
  ];
  return inBackground('postgres', lines);
}

const startRedis = (port: string): string =>
  inBackground('redis', [
    `redis-server --bind 127.0.0.1 --port ${port} --save "" --appendonly no --dir "$f" </dev/null & true`,
    untilTrue(`redis-cli -p ${port} ping`),
  ]);

/** Variables unrelated to a service, and variables that the sandbox or a report needs unchanged. */
const NOT_PASSED_ON =
  /^(?:CI|PATH|HOME|USER|SHELL|TMPDIR|LANG|NODE_OPTIONS|PYTEST_ADDOPTS|SPEC_OPTS|TESTOPTS|GITHUB_\w+|RUNNER_\w+|LD_\w+|RUNOFF_\w+|\w+_proxy)$/i;
const MAX_VALUE_CHARS = 500;

function passedVariables(
  { env }: CiJob,
  ports: readonly (readonly [name: string, port: string])[],
): Readonly<Record<string, string>> {
  const known = [...env].flatMap(([name, value]) => {
    const text = value.replace(
      /\$\{\{\s*job\.services\.([\w-]+)\.ports\[['"]?\d+['"]?\]\s*\}\}/g,
      (all, service: string) => ports.find(([one]) => one === service)?.[1] ?? all,
    );
    const passed =
      /^\w+$/.test(name) &&
      !NOT_PASSED_ON.test(name) &&
      !text.includes('${{') &&
      text.length <= MAX_VALUE_CHARS;
    return passed ? [[name, text] as const] : [];
  });
  return Object.fromEntries(known);
}
