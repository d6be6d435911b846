import { existsSync, readFileSync } from 'node:fs';
import { asFault, OUTAGES } from '../../core/model/index.ts';
import type { Log, Registries, RegistryAccess, RegistryLogin } from '../../ports/index.ts';
import { type ClientAnswer, type ClientEnvironment, certificatesIn, type Login } from './answers.ts';
import { ANSWER_MS, SilentClient } from './asking.ts';
import { type Authority, openAuthority } from './authority.ts';
import { CLIENTS, type Client } from './clients.ts';

/** Certificate bundles that contain an operator's additions: of Debian, RHEL, SUSE and Alpine. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];
/** Variables for programs that do not use the system's certificate bundle by themselves. */
const CERTIFICATE_VARIABLES = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'PIP_CERT',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'CARGO_HTTP_CAINFO',
  'GIT_SSL_CAINFO',
  'DENO_CERT',
];
/** Maximum age of an answer in milliseconds: the operator may renew a login in a client's settings. Our default. */
const ANSWER_KEPT_MS = 5 * 60_000;
/** Path below the HOME of set-up of certificates that the sandboxes' bundle lacks. */
const OWN_BUNDLE = '.runoff/certificates.pem';

/**
 * Finds the registries that this machine's package clients use by querying their settings, so that an in-house mirror
 * works without configuration and no host is hard-coded. Clients have the operator's settings, so their registries may
 * have private addresses (docs/decisions/0066). Logins are kept out of sandboxes: the egress proxy adds them
 * (docs/decisions/0079). An answer is used for some minutes, or until the next one if later queries fail. A client that
 * does not respond is queried again by the next set-up. `of` rejects with PROGRAM_KILLED if a client that never answered is
 * killed repeatedly, and with DISK_FULL, because a set-up without its registries would wrongly fail as the repository's
 * error.
 */
export function openRegistries(options: {
  readonly log: Log;
  /** Returns a new path that only this process uses; a folder is created for each query and then removed. */
  readonly newFolder: () => string;
  /** Maximum milliseconds until a client answers. */
  readonly answerMs?: number;
  /** Environment of the clients. Default: this process's own. */
  readonly env?: ClientEnvironment;
  /** Called with secrets of clients as they are found. */
  readonly onSecrets?: (secrets: readonly string[]) => void;
}): Registries {
  const { log, newFolder, env = process.env, answerMs = ANSWER_MS } = options;
  const asked = new Map<string, { readonly at: number; readonly answer: Promise<ClientAnswer> }>();
  const lastAnswers = new Map<string, ClientAnswer>();
  const authority = lazily(openAuthority);
  const identities = new Map<string, ReturnType<Authority['identityOf']>>();
  /** Only answers and the absence of a program are kept. */
  const ask = (client: Client): Promise<ClientAnswer> => {
    const known = asked.get(client.name);
    if (known && performance.now() - known.at < ANSWER_KEPT_MS) return known.answer;
    const answer = client.ask({ env, newFolder, answerMs }).then((said) => {
      options.onSecrets?.(said.logins.flatMap(({ authorization }) => secretsIn(authorization)));
      const kept = { ...said, logins: said.logins.filter((login) => isHeader(login, client, log)) };
      lastAnswers.set(client.name, kept);
      return kept;
    });
    asked.set(client.name, { at: performance.now(), answer });
    answer.catch((thrown: unknown) => isMissing(thrown) || asked.delete(client.name));
    return answer;
  };
  const answerOf = async (client: Client, isNamed: boolean): Promise<ClientAnswer> => {
    try {
      return await ask(client);
    } catch (thrown) {
      if (isMissing(thrown)) return NO_ANSWER;
      const last = lastAnswers.get(client.name);
      if (last !== undefined) {
        log.warn(
          { err: thrown },
          `${client.name} did not say again which registry it uses: its last answer is used.`,
        );
        return last;
      }
      const fault = asFault(thrown);
      // A client that the command does not name and that never responds on this machine must not stop set-up.
      if (OUTAGES.has(fault.code) && (isNamed || !(fault instanceof SilentClient))) throw fault;
      log.warn({ err: thrown }, `${client.name} did not say which registry it uses.`);
      return NO_ANSWER;
    }
  };
  const identityOf = (host: string): ReturnType<Authority['identityOf']> => {
    const known = identities.get(host) ?? authority().identityOf(host);
    identities.set(host, known);
    return known;
  };
  return {
    async of(command, languages = []) {
      const named = CLIENTS.filter(({ command: pattern }) => pattern.test(command));
      const started = CLIENTS.filter(
        (one) => named.includes(one) || (one.language !== undefined && languages.includes(one.language)),
      );
      const needed = named.length > 0 ? started : CLIENTS;
      const found = await Promise.all(needed.map((client) => answerOf(client, named.includes(client))));
      const hosts = [...new Set(found.flatMap((one) => one.hosts))];
      const logins = found.flatMap((one) => one.logins).filter(({ host }) => hosts.includes(host));
      const more = [...found.flatMap(({ authorities }) => authorities), ...ownCertificates(env, log)]
        .map(certificatesIn)
        .filter(Boolean);
      const trusted = [systemBundle()?.text ?? '', ...more].join('\n');
      const certificates = certificatesFor(logins.length > 0 ? [...more, authority().certificate] : more);
      return {
        hosts,
        env: Object.assign({}, certificates.env, talkative(command), ...found.map((one) => one.env)),
        files: Object.assign({}, certificates.files, ...found.map(({ files }) => files)),
        folders: found.flatMap(({ folders }) => folders),
        logins: loginsByHost(logins, (host) => ({
          ...identityOf(host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')),
          ...(trusted.trim() === '' ? {} : { trusted }),
        })),
      };
    },
  };
}

const NO_ANSWER: ClientAnswer = { hosts: [], env: {}, files: {}, folders: [], logins: [], authorities: [] };

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** What stands for the password where the user name is a token. */
const NO_PASSWORD = /^(?:x(?:-oauth-basic)?)?$/;

/** The parts of a login that must not be logged: the token, or name and password together and the secret of the two. */
function secretsIn(authorization: string): readonly string[] {
  const [scheme, value = ''] = authorization.split(' ', 2);
  if (scheme !== 'Basic') return [value];
  const [, name = '', password = ''] = /^([^:]*):?(.*)$/s.exec(Buffer.from(value, 'base64').toString()) ?? [];
  return [value, NO_PASSWORD.test(password) ? name : password].filter(Boolean);
}

/** Whether a login can be sent; an unusable one is reported. */
function isHeader({ host, authorization }: Login, client: Client, log: Log): boolean {
  if (/^\w+ [\x21-\x7e]+$/.test(authorization)) return true;
  log.warn(
    {},
    `The login of ${client.name} for ${host} is not used: it has characters that no login can have.`,
  );
  return false;
}

function loginsByHost(
  logins: readonly Login[],
  standIn: (host: string) => Pick<RegistryLogin, 'key' | 'certificate' | 'trusted'>,
): readonly RegistryLogin[] {
  return [...new Set(logins.map(({ host }) => host))].map((host) => ({
    host,
    ...standIn(host),
    rules: logins
      .filter((login) => login.host === host)
      .map(({ path, authorization }) => ({ path, authorization })),
  }));
}

/** The certificate bundle of this machine; null if there is none. */
function systemBundle(): { readonly path: string; readonly text: string } | null {
  const path = BUNDLES.find((one) => existsSync(one));
  return path === undefined ? null : { path, text: readFileSync(path, 'utf8') };
}

/** The operator's certificates for Node, and a bundle that replaces the machine's. */
const ownCertificates = (env: ClientEnvironment, log: Log): readonly string[] =>
  [env.NODE_EXTRA_CA_CERTS, env.SSL_CERT_FILE].flatMap((path) => {
    if (path === undefined || !existsSync(path) || BUNDLES.includes(path)) return [];
    try {
      return [readFileSync(path, 'utf8')];
    } catch (thrown) {
      log.warn({ err: thrown }, `Set-up does without the certificates of ${path}: the file cannot be read.`);
      return [];
    }
  });

/** Sandboxes see Debian's bundle at its path. Any other bundle, or a longer one, is a file in the HOME of set-up. */
function certificatesFor(more: readonly string[]): Pick<RegistryAccess, 'env' | 'files'> {
  const bundle = systemBundle();
  if (more.length === 0 && (bundle === null || bundle.path === BUNDLES[0]))
    return { env: bundle === null ? {} : variables(bundle.path), files: {} };
  const text = [bundle?.text ?? '', ...more].map((part) => part.trim()).join('\n');
  const path = `/home/agent/${OWN_BUNDLE}`;
  // A cafile in npm's global settings, which sandboxes may see, would replace Node's.
  return {
    env: { ...variables(path), npm_config_cafile: path, YARN_HTTPS_CA_FILE_PATH: path },
    files: { [OWN_BUNDLE]: `${text}\n` },
  };
}

const variables = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(CERTIFICATE_VARIABLES.map((name) => [name, path]));

/** npm prints nothing until it ends, and a silent set-up command is stopped, so it is told to print each request. */
const talkative = (command: string): Readonly<Record<string, string>> =>
  /\bnpm\b/.test(command) && !/\b(?:pnpm|yarn|bun)\b/.test(command) ? { npm_config_loglevel: 'http' } : {};

/** This machine has no such program. */
const isMissing = (thrown: unknown): boolean => (thrown as { code?: unknown }).code === 'ENOENT';
