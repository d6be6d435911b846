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
   * `SERVICE_NOT_STARTED`, or with `SERVICE_REFUSED` if it ended by itself, and a sentence on standard error names it.
   */
  readonly script: string;
  /** The same for a person's shell: lines that go on without a service that does not start, and print why. */
  readonly tolerantScript: string;
  /** The service that refused to start according to that sentence; null if it names none. */
  refusedIn(said: string): string | null;
  /** The same plan without a service; null if none is left. */
  without(service: string): ServicePlan | null;
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

/** That tests lack services of the CI job, as a sentence for people; null if they lack none. */
export const missingServicesNote = (names: readonly string[]): string | null =>
  names.length === 0
    ? null
    : `CI runs the tests with ${names.join(', ')}, which the sandbox lacks; tests that need ${names.length === 1 ? 'it' : 'them'} fail on the base commit and are set aside.`;

/** What people should know about the services of tests: their versions, and which are not available. */
export function serviceNotes(
  job: CiJob | null,
  found: readonly FoundService[],
  plan: ServicePlan | null,
): readonly string[] {
  const missing = missingServicesNote(missingServices(job?.services ?? [], found));
  return [...(plan?.notes ?? []), ...(missing === null ? [] : [missing])];
}

interface StartedService {
  /** Its key in the workflow if that is a plain name. */
  readonly name: string;
  readonly container: CiService;
  readonly service: FoundService;
  readonly port: string;
}

/** How to provide the services of the CI job to tests; null if none of `found` is needed. */
export function servicePlan(job: CiJob | null, found: readonly FoundService[]): ServicePlan | null {
  if (job === null) return null;
  const started = job.services.flatMap((container, at) => {
    const service = found.find(({ name }) => name === serviceName(container));
    const name = plainName(container.name, `service-${at + 1}`);
    return service ? [{ name, container, service, port: portOf(container, PORTS[service.name]) }] : [];
  });
  return planOf(job, started);
}

function planOf(job: CiJob, started: readonly StartedService[]): ServicePlan | null {
  if (started.length === 0) return null;
  return {
    script: started.map(startScript).join(''),
    tolerantScript: started.map((one) => `( ${startScript(one)}) 2>&1 || :; `).join(''),
    refusedIn: (said) => started.find((one) => said.includes(refusedSentence(one)))?.name ?? null,
    without: (service) =>
      planOf(
        job,
        started.filter(({ name }) => name !== service),
      ),
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
/** The same if it ended by itself, so that it will not start later either: EX_CONFIG of sysexits.h. */
export const SERVICE_REFUSED = 78;

/** Words with which Postgres and Redis say that the machine failed them, or that a process of theirs was killed. */
const MACHINE_WORDS =
  '[Kk]illed|signal [0-9]|[Oo]ut of memory|Cannot allocate memory|[Cc]annot fork|ould not fork|temporarily unavailable|No space left|quota exceeded|Too many open files|Input/output error';

/** Starts the sentence about a service that ended by itself. */
const refusedSentence = ({ name, service }: StartedService): string =>
  `${LABELS[service.name]} (${name}) does not start for the tests`;

/**
 * A shell of its own, because `set -e` is ignored on the left of `||`: a killed initdb would go unnoticed. A service that
 * was killed, is not ready in time, or lacks memory, processes or space has not started; one that ends with a message of
 * its own, such as about a name or a port, has refused. Where a tool that tells these apart fails, it has not started.
 */
function inBackground(one: StartedService, lines: readonly string[]): string {
  const { name } = one.service;
  const start = `f=$(mktemp -d /tmp/${name}-XXXXXX); ${lines.join('; ')}`;
  const isOwnEnd = `[ $c -lt 125 ] && [ $c != ${SERVICE_NOT_STARTED} ] && { grep -qE '${MACHINE_WORDS}' "$l"; [ $? = 1 ]; }`;
  const refused = `printf '%s: %s\\n' '${refusedSentence(one)}' "$(tail -n 1 "$l" | cut -c 1-300)" >&2; exit ${SERVICE_REFUSED}`;
  const notStarted = `echo "${LABELS[name]} could not be started for the tests." >&2; exit ${SERVICE_NOT_STARTED}`;
  return `l=$(mktemp /tmp/${name}-log-XXXXXX); sh -ec ${shellQuoted(start)} >"$l" 2>&1 || { c=$?; if ${isOwnEnd}; then ${refused}; fi; ${notStarted}; }; `;
}

/** Waits for the last background process to be ready. If it ends before, so does the shell, with its exit code. */
const untilReady = (check: string): string =>
  `p=$!; for i in $(seq ${START_SECONDS * 10}); do if ${check}; then exit 0; fi; if ! kill -0 $p 2>/dev/null; then wait $p && exit 1 || exit $?; fi; sleep 0.1; done; exit ${SERVICE_NOT_STARTED}`;

/** The name of a user or a database, which needs no quotes in a shell or in SQL's double ones. */
const plainName = (name: string | undefined, other: string): string =>
  name !== undefined && /^[A-Za-z_][\w-]{0,60}$/.test(name) ? name : other;

const startScript = (one: StartedService): string =>
  inBackground(one, one.service.name === 'postgres' ? postgresLines(one) : redisLines(one));

/** Accepts every connection with any password: the sandbox has no other users. */
function postgresLines({ container: { env }, port }: StartedService): readonly string[] {
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

const redisLines = ({ port }: StartedService): readonly string[] => [
  `redis-server --bind 127.0.0.1 --port ${port} --save "" --appendonly no --dir "$f" --loglevel warning </dev/null & true`,
  untilReady(`redis-cli -p ${port} ping >/dev/null 2>&1`),
];

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
