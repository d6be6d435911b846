import type { CiService } from './ci-services.ts';
import { passedVariables } from './ci-variables.ts';
import type { CiJob } from './ci-workflow.ts';
import { shellQuoted } from './last-resorts.ts';
import {
  type FoundService,
  plainName,
  SERVICE_NOT_STARTED,
  SERVICE_REFUSED,
  SERVICES,
  type ServiceName,
  startLines,
} from './service-scripts.ts';

/** Commands to run before a test command, and its environment. */
export interface ServicePlan {
  /**
   * Lines for `sh`, empty without a service; they start each service anew, with data of its own in /tmp. If one does not start, they end with
   * `SERVICE_NOT_STARTED`, or with `SERVICE_REFUSED` if it ended by itself, and a sentence on standard error names it.
   */
  readonly script: string;
  /** The same for a person's shell: lines that go on without a service that does not start, and print why. */
  readonly tolerantScript: string;
  /** The service that refused to start according to that sentence; null if it names none. */
  refusedIn(said: string): string | null;
  /** The same plan without a service; null if none is left. */
  without(service: string): ServicePlan | null;
  /** Variables of the CI job, such as `DATABASE_URL` and `SECRET_KEY`. */
  readonly env: Readonly<Record<string, string>>;
  /** Sentences for people. */
  readonly notes: readonly string[];
}

const IMAGES: Readonly<Record<ServiceName, RegExp>> = {
  postgres: /^(?:[\w.-]+\/)*postgres(?:ql)?(?::|@|$)/,
  redis: /^(?:[\w.-]+\/)*(?:redis|valkey)(?::|@|$)/,
  mysql: /^(?:[\w.-]+\/)*(?:mysql|mysql-server|mariadb)(?::|@|$)/,
};
const PORTS: Readonly<Record<ServiceName, string>> = { postgres: '5432', redis: '6379', mysql: '3306' };

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
    : `CI runs the tests with ${names.join(', ')}, which the sandbox lacks; tests that need ${names.length === 1 ? 'it' : 'them'} fail on the base commit and are excluded.`;

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

/** How to provide the services of the CI job, and its variables, to tests; null if they need neither. */
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
  const env = passedVariables(
    job,
    started.map(({ container, port }) => [container.name, port] as const),
  );
  if (started.length === 0 && Object.keys(env).length === 0) return null;
  return {
    script: started.map(startScript).join(''),
    tolerantScript: started.map((one) => `( ${startScript(one)}) 2>&1 || :; `).join(''),
    refusedIn: (said) => started.find((one) => said.includes(refusedSentence(one)))?.name ?? null,
    without: (service) =>
      planOf(
        job,
        started.filter(({ name }) => name !== service),
      ),
    env,
    notes: started.map(
      ({ container, service }) =>
        `The tests ran with ${service.product} ${service.version}; CI asks for ${container.image}.`,
    ),
  };
}

/** `5432:5432`, `15432:5432` or `5432`; the first number is the one that tests connect to. */
const portOf = ({ ports }: CiService, usual: string): string =>
  /^\d{2,5}$/.exec(
    ports.find((port) => port === usual || port.endsWith(`:${usual}`))?.split(':')[0] ?? '',
  )?.[0] ?? usual;

/** Words with which the services say that the machine failed them, or that a process of theirs was killed. */
const MACHINE_WORDS =
  '[Kk]illed|signal [0-9]|[Oo]ut of memory|Cannot allocate memory|[Cc]annot fork|ould not fork|temporarily unavailable|No space left|quota exceeded|Too many open files|Input/output error';

/** Starts the sentence about a service that ended by itself. */
const refusedSentence = ({ name, service }: StartedService): string =>
  `${service.product} (${name}) does not start for the tests`;

/**
 * A shell of its own, because `set -e` is ignored on the left of `||`: a killed initdb would go unnoticed. A service that
 * was killed, is not ready in time, or lacks memory, processes or space has not started; one that ends with a message of
 * its own, such as about a name or a port, has refused. Where a tool that tells these apart fails, it has not started.
 */
function inBackground(one: StartedService, lines: readonly string[]): string {
  const { name, product } = one.service;
  const start = `f=$(mktemp -d /tmp/${name}-XXXXXX); ${lines.join('; ')}`;
  const isOwnEnd = `[ $c -lt 125 ] && [ $c != ${SERVICE_NOT_STARTED} ] && { grep -qE '${MACHINE_WORDS}' "$l"; [ $? = 1 ]; }`;
  const refused = `printf '%s: %s\\n' '${refusedSentence(one)}' "$(tail -n 1 "$l" | cut -c 1-300)" >&2; exit ${SERVICE_REFUSED}`;
  const notStarted = `echo "${product} could not be started for the tests." >&2; exit ${SERVICE_NOT_STARTED}`;
  const logged = `l=$(mktemp /tmp/${name}-log-XXXXXX); sh -ec ${shellQuoted(start)} sh "$l" >"$l" 2>&1`;
  return `${logged} || { c=$?; if ${isOwnEnd}; then ${refused}; fi; ${notStarted}; }; `;
}

const startScript = (one: StartedService): string =>
  inBackground(one, startLines(one.service, { env: one.container.env, port: one.port }));
