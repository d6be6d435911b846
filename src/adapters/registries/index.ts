import { existsSync } from 'node:fs';
import { type Log, NO_REGISTRIES, type Registries, type RegistryAccess } from '../../ports/index.ts';
import { CLIENTS, type Client } from './clients.ts';

/** The bundle of certificates that Debian's `ca-certificates` writes, with what an operator added. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
/** What programs read that do not use the system's bundle by themselves. */
const CERTIFICATE_VARIABLES = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'PIP_CERT',
  'REQUESTS_CA_BUNDLE',
  'CARGO_HTTP_CAINFO',
  'GIT_SSL_CAINFO',
];

/**
 * The registries that this machine's own package clients use: each is asked for its settings, so that an in-house mirror
 * works without a word, and no host is written here. A client answers in the name of the operator, so its registries may
 * have private addresses (docs/decisions/0066). Credentials in its settings are left out.
 */
export function openRegistries(options: {
  readonly log: Log;
  /** Of the clients. Default: this process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}): Registries {
  const { log, env = process.env } = options;
  const answers = new Map<string, Promise<RegistryAccess>>();
  const ask = (client: Client): Promise<RegistryAccess> => {
    const known = answers.get(client.name);
    if (known) return known;
    const asked = client.ask(env).catch((thrown: unknown): RegistryAccess => {
      if (!isMissing(thrown)) log.warn({ err: thrown }, `${client.name} did not say which registry it uses.`);
      return NO_REGISTRIES;
    });
    answers.set(client.name, asked);
    return asked;
  };
  return {
    async of(command) {
      const named = CLIENTS.filter(({ command: pattern }) => pattern.test(command));
      const found = await Promise.all((named.length > 0 ? named : CLIENTS).map(ask));
      const certificates = existsSync(CERTIFICATES)
        ? Object.fromEntries(CERTIFICATE_VARIABLES.map((name) => [name, CERTIFICATES]))
        : {};
      return {
        hosts: [...new Set(found.flatMap(({ hosts }) => hosts))],
        env: Object.assign({}, certificates, talkative(command), ...found.map(({ env }) => env)),
        files: Object.assign({}, ...found.map(({ files }) => files)),
        folders: found.flatMap(({ folders }) => folders),
      };
    },
  };
}

/** npm says nothing until it ends, and a set-up command that is silent for long is stopped: it shall name each request. */
const talkative = (command: string): Readonly<Record<string, string>> =>
  /\bnpm\b/.test(command) && !/\b(?:pnpm|yarn|bun)\b/.test(command) ? { npm_config_loglevel: 'http' } : {};

/** This machine has no such program. */
const isMissing = (thrown: unknown): boolean => (thrown as { code?: unknown }).code === 'ENOENT';
