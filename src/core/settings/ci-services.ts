import { z } from 'zod';
import { matrixValuesOnLinux } from './ci-matrix.ts';
import { type CiFiles, type Job, matrixOf, Service, type Step, Texts, textsOf } from './ci-steps.ts';

/** A container that runs next to a job's tests. */
export interface CiService {
  readonly name: string;
  /** Such as `postgres:16`; empty where the file has none. */
  readonly image: string;
  readonly env: Readonly<Record<string, string>>;
  /** `host:container`, or one number. */
  readonly ports: readonly string[];
}

const MAX_SERVICES = 10;

/** Those of `services:`, then those that its steps start by `docker compose up` or an action. */
export function servicesOf(job: Job, steps: readonly Step[], files: CiFiles): readonly CiService[] {
  const own = Object.entries(job.services ?? {}).map(([name, value]) => {
    const { image = '', env = {}, ports = [] } = Service.safeParse(value).data ?? {};
    return {
      name,
      image: withMatrix(image, job),
      env: Object.fromEntries(textsOf(env)),
      ports: ports.map(String),
    };
  });
  const composed = steps.flatMap((step) => [
    ...composedServices(step, files),
    ...serviceOfAction(step).map((one) => ({ ...one, image: withMatrix(one.image, job) })),
  ]);
  const names = new Set(own.map(({ name }) => name));
  const others = new Map(composed.flatMap((one) => (names.has(one.name) ? [] : [[one.name, one] as const])));
  return [...own, ...others.values()].slice(0, MAX_SERVICES);
}

interface ServiceAction {
  readonly image: string;
  readonly port: string;
  /** Names of its inputs; `env` by variable of the image. */
  readonly inputs: { readonly version: string; readonly port: string; readonly env?: InputsOfEnv };
}
type InputsOfEnv = Readonly<Record<string, readonly [input: string, usual: string]>>;

/** Actions whose only purpose is to start a service, with the inputs and defaults of their `action.yml`. */
const SERVICE_ACTIONS: Readonly<Record<string, ServiceAction>> = {
  'supercharge/redis-github-action': {
    image: 'redis',
    port: '6379',
    inputs: { version: 'redis-version', port: 'redis-port' },
  },
  'supercharge/mongodb-github-action': {
    image: 'mongo',
    port: '27017',
    inputs: { version: 'mongodb-version', port: 'mongodb-port' },
  },
  'ikalnytskyi/action-setup-postgres': {
    image: 'postgres',
    port: '5432',
    inputs: {
      version: 'postgres-version',
      port: 'port',
      env: { POSTGRES_USER: ['username', 'postgres'], POSTGRES_DB: ['database', 'postgres'] },
    },
  },
  'mirromutth/mysql-action': {
    image: 'mysql',
    port: '3306',
    inputs: {
      version: 'mysql version',
      port: 'host port',
      env: {
        MYSQL_DATABASE: ['mysql database', ''],
        MYSQL_USER: ['mysql user', ''],
        MYSQL_PASSWORD: ['mysql password', ''],
        MYSQL_ROOT_PASSWORD: ['mysql root password', ''],
      },
    },
  },
};

function serviceOfAction({ uses = '', with: given }: Step): readonly CiService[] {
  const name = uses.split('@', 1)[0]?.toLowerCase() ?? '';
  const action = Object.hasOwn(SERVICE_ACTIONS, name) ? SERVICE_ACTIONS[name] : undefined;
  if (action === undefined) return [];
  const { image, port, inputs } = action;
  const values = textsOf(given ?? {});
  const env = Object.entries(inputs.env ?? {}).map(
    ([key, [input, usual]]) => [key, values.get(input) ?? usual] as const,
  );
  return [
    {
      name: image,
      image: `${image}:${values.get(inputs.version) ?? 'latest'}`,
      env: Object.fromEntries(env.filter(([, value]) => value !== '')),
      ports: [`${values.get(inputs.port) ?? port}:${port}`],
    },
  ];
}

/** The first of several versions serves as well: another one may be installed here anyway. */
const withMatrix = (image: string, job: Job): string =>
  image.replace(
    /\$\{\{\s*matrix\.([\w-]+(?:\.[\w-]+)?)\s*\}\}/g,
    (all, key: string) => matrixValuesOnLinux(matrixOf(job), key)[0] ?? all,
  );

/** Files of docker compose, at the top or in a folder such as `.github` or `docker`. */
export const COMPOSE_FILE = /^(?:[\w.-]+\/)?(?:docker-)?compose(?:[.-][\w.-]{1,40})?\.ya?ml$/;
const USUAL_FILES = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'];
/** Maximum characters of a script that are searched. */
const MAX_SCRIPT_CHARS = 8_000;
const UP = /\bdocker[- ]compose((?: +(?:-f|--file)[ =]\S{1,200}){0,5}) +up\b([^\n;&|]{0,300})/g;
/** Options of `up` with a value as the next word. */
const WITH_VALUE = /^(?:-t|--(?:timeout|wait-timeout|scale|attach|no-attach|exit-code-from|pull))$/;

const Compose = z.object({ services: Texts });
const Composed = z.object({
  image: z.string().max(200),
  environment: z.union([z.array(z.string()), Texts]).catch({}),
  ports: z.array(z.unknown()).catch([]),
});
const Published = z.object({ target: z.coerce.string(), published: z.coerce.string() });

/** Without those that are built, which are the application itself. */
function composedServices(step: Step, files: CiFiles): readonly CiService[] {
  const folder = step['working-directory']?.replace(/^\.\/|\/$/g, '') ?? '';
  const at = (path: string) =>
    [folder, path.replace(/^\.\//, '')].filter((one) => !/^\.?$/.test(one)).join('/');
  return [...(step.run ?? '').slice(0, MAX_SCRIPT_CHARS).matchAll(UP)].flatMap(
    ([, chosen = '', words = '']) => {
      const named = [...chosen.matchAll(/(?:-f|--file)[ =](\S+)/g)].map(([, path = '']) => at(path));
      const usual = USUAL_FILES.map(at).filter((path) => files.read(path) !== null);
      const all = (named.length > 0 ? named : usual.slice(0, 1)).flatMap((path) =>
        Object.entries(Compose.safeParse(files.read(path)).data?.services ?? {}),
      );
      const given = words.trim().split(/\s+/);
      const wanted = given.filter(
        (word, n) => word !== '' && !/^-/.test(word) && !WITH_VALUE.test(given[n - 1] ?? ''),
      );
      return all.flatMap(([name, value]) => {
        const service =
          wanted.length > 0 && !wanted.includes(name) ? undefined : Composed.safeParse(value).data;
        return service === undefined ? [] : [asCiService(name, service)];
      });
    },
  );
}

function asCiService(name: string, { image, environment, ports }: z.infer<typeof Composed>): CiService {
  const env = Array.isArray(environment)
    ? environment.flatMap((one) => {
        const [, key, value = ''] = /^(\w+)=(.*)$/s.exec(one) ?? [];
        return key === undefined ? [] : [[key, value] as const];
      })
    : [...textsOf(environment)];
  return {
    name,
    image: withDefaults(image),
    env: Object.fromEntries(env.map(([key, value]) => [key, withDefaults(value)])),
    ports: ports.map((port) => {
      const both = Published.safeParse(port).data;
      // The address of the machine may come first.
      return both
        ? `${both.published}:${both.target}`
        : withDefaults(String(port)).replace(/^[\d.]+:(?=\d+:)/, '');
    }),
  };
}

/** Variables that only the machine of CI knows have their defaults, or are empty. */
const withDefaults = (text: string): string =>
  text.replace(
    /\$\{\w+(?::?-([^{}]*)|[^\w{}][^{}]*)?\}|\$\w+/g,
    (_, usual: string | undefined) => usual ?? '',
  );
