import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { z } from 'zod';
import { Fault, runToEnd } from '../../core/model/index.ts';
import type { RegistryAccess } from '../../ports/index.ts';
import {
  accessTo,
  besideIndex,
  type ClientAnswer,
  type ClientEnvironment,
  clientEnvironment,
  fileText,
  hostOf,
  isText,
  type Login,
  localFolder,
  localFolderOf,
  loginIn,
  loginsWithin,
  netrcLogins,
  npmLogins,
  placeOf,
  urlsIn,
  withoutLogin,
} from './answers.ts';
import { askUv } from './uv.ts';

export interface Client {
  readonly name: string;
  /** Set-up commands that start it. */
  readonly command: RegExp;
  /** Queries the client. Rejects if it is not installed (ENOENT) or does not respond. `env` is its environment. */
  ask(question: ClientQuestion): Promise<ClientAnswer>;
}

/** Maximum milliseconds per query, our default: Maven starts a Java virtual machine. */
const ANSWER_MS = 30_000;

/** A client that gave no answer in its time. */
export class SilentClient extends Fault {
  constructor(program: string) {
    super('PROGRAM_KILLED', `${program} did not say within ${ANSWER_MS / 1000} s which registry it uses.`);
  }
}

/** How a client is asked. */
interface ClientQuestion {
  readonly env: ClientEnvironment;
  /** Returns a new path that only this process uses. */
  readonly newFolder: () => string;
}

/** Standard output of a client, run in an empty folder so that a repository's settings do not affect it. */
const run = ({ env, newFolder }: ClientQuestion, ...argv: readonly [string, ...string[]]): Promise<string> =>
  inEmptyFolder(newFolder, (cwd) => runIn(cwd, argv, env));

/** Rejects with PROGRAM_KILLED if the client was killed each time or does not respond. */
async function runIn(
  cwd: string,
  [program, ...args]: readonly [string, ...string[]],
  env: ClientEnvironment,
): Promise<string> {
  const limits = { extendEnv: false, stdin: 'ignore', timeout: ANSWER_MS, killSignal: 'SIGKILL' } as const;
  const end = await runToEnd(program, sleep, () =>
    execa(program, args, { ...limits, cwd, env: clientEnvironment(env), reject: false }),
  );
  if (end.timedOut) throw new SilentClient(program);
  if (end.failed) throw end;
  return end.stdout;
}

async function inEmptyFolder<T>(newFolder: () => string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = newFolder();
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** For a client that prints its URLs. */
const printing =
  (...argv: readonly [string, ...string[]]): Client['ask'] =>
  async (question) =>
    accessTo(urlsIn(await run(question, ...argv)));

const NpmSettings = z.record(z.string(), z.unknown());

/** Also for pnpm, Yarn and Bun, which read the same settings. */
async function askNpm(question: ClientQuestion): Promise<ClientAnswer> {
  const { env } = question;
  const settings = NpmSettings.parse(JSON.parse(await run(question, 'npm', 'config', 'list', '--json')));
  const registries = Object.entries(settings).flatMap(([name, value]): [string, string][] =>
    /^(?:@[^:]+:)?registry$/.test(name) && typeof value === 'string' && hostOf(value) !== null
      ? [[name, withoutLogin(value)]]
      : [],
  );
  const lines = registries.map(([name, url]) => `${name}=${url}\n`);
  const urls = registries.map(([, url]) => url);
  const registry = registries.find(([name]) => name === 'registry')?.[1] ?? null;
  const files = await Promise.all([settings.globalconfig, settings.userconfig].map(fileText));
  const found = files.flatMap((text) => npmLogins(text, registry, env));
  const written = Object.values(settings).filter((value) => typeof value === 'string');
  const yarn = /^npmRegistryServer:\s*["']?([^\s"']+)/m.exec(
    await fileText(join(env.HOME ?? homedir(), '.yarnrc.yml')),
  )?.[1];
  // Since version 2, Yarn does not read .npmrc and has its own registry setting.
  const forYarn = yarn !== undefined && hostOf(yarn) !== null ? yarn : registry;
  const used = [...urls, ...(forYarn === null ? [] : [forYarn])];
  const places = used.map((url) => placeOf(url));
  return accessTo(used, {
    env:
      forYarn === null ? {} : { YARN_NPM_REGISTRY_SERVER: withoutLogin(forYarn), YARN_ENABLE_TELEMETRY: '0' },
    files: lines.length > 0 ? { '.npmrc': lines.join('') } : {},
    // Some hosts serve the files of their registry from folders of projects, for which npm needs a login of their own.
    logins: loginsWithin(
      [...written.flatMap((value) => loginIn(value)), ...found],
      [...places, ...found.filter(({ path }) => path.endsWith('/npm/'))],
    ),
    authorities: [await fileText(settings.cafile), ...[settings.ca].flat().filter(isText)].filter(Boolean),
  });
}

/** The operator's netrc file, which pip, uv and Go read. */
const netrc = (env: ClientEnvironment): Promise<string> =>
  fileText(env.NETRC ?? join(env.HOME ?? homedir(), '.netrc'));

const PIP_DEFAULTS =
  'from pip._internal.models.index import PyPI as p; print(p.simple_url, "https://" + p.file_storage_domain)';

/** Also for uv and Poetry: their default index is pip's. An index or a list of links may be a local folder. */
async function askPip(question: ClientQuestion): Promise<ClientAnswer> {
  const { env } = question;
  const settings = await run(question, 'python3', '-m', 'pip', 'config', 'list');
  const folders: RegistryAccess['folders'][number][] = [];
  const logins: Login[] = [];
  const inside = (value: string): readonly string[] => {
    const path = localFolderOf(value);
    if (path === null) {
      logins.push(...urlsIn(value).flatMap((url) => loginIn(url, besideIndex(url))));
      return urlsIn(value).map(withoutLogin);
    }
    const { to, binds } = localFolder(path, `pip-${folders.length}`);
    folders.push(...binds);
    return [value.startsWith('file:') ? `file://${to}` : to];
  };
  const of = (name: string) => {
    const values = [...settings.matchAll(new RegExp(`(?:^|\\.)${name}='([^']*)'`, 'gm'))];
    // Later values override earlier ones: files first, then the environment.
    return (values.at(-1)?.[1] ?? '')
      .split(/\s+|\\n/)
      .filter(Boolean)
      .flatMap(inside);
  };
  const [index] = of('index-url');
  const more = of('extra-index-url');
  const links = of('find-links');
  const own = [...(index ? [index] : urlsIn(await run(question, 'python3', '-c', PIP_DEFAULTS))), ...more];
  const { hosts } = accessTo(own);
  const places = own.filter((url) => hostOf(url) !== null).map((url) => placeOf(url, besideIndex(url)));
  return accessTo(own, {
    logins: [...logins, ...loginsWithin(netrcLogins(await netrc(env), hosts), places)],
    authorities: [await fileText(/(?:^|\.)cert='([^']*)'/m.exec(settings)?.[1])].filter(Boolean),
    env: {
      ...(index ? { PIP_INDEX_URL: index, UV_DEFAULT_INDEX: index } : {}),
      ...(more.length > 0 ? { PIP_EXTRA_INDEX_URL: more.join(' '), UV_INDEX: more.join(' ') } : {}),
      ...(links.length > 0 ? { PIP_FIND_LINKS: links.join(' '), UV_FIND_LINKS: links.join(',') } : {}),
    },
    folders,
  });
}

async function askGo(question: ClientQuestion): Promise<ClientAnswer> {
  const { env } = question;
  const printed = await run(question, 'go', 'env', 'GOPROXY', 'GOSUMDB');
  const [proxy = '', checksums = ''] = printed.split('\n');
  const named = urlsIn(proxy);
  const proxies = named.map(withoutLogin);
  const database = /^[\w.-]+\.[a-z]+$/.test(checksums.trim())
    ? [`https://${checksums.trim()}`]
    : urlsIn(checksums);
  // `direct` would fetch from any host that a module names.
  const { hosts } = accessTo(proxies);
  return accessTo([...proxies, ...database], {
    logins: [
      ...named.flatMap((url) => loginIn(url)),
      ...loginsWithin(
        netrcLogins(await netrc(env), hosts),
        proxies.map((url) => placeOf(url)),
      ),
    ],
    env: proxies.length > 0 ? { GOPROXY: proxies.join(',') } : {},
  });
}

const CARGO_PROJECT = {
  'Cargo.toml': '[package]\nname = "x"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nserde = "1"\n',
  'src/lib.rs': '',
};
const CargoIndex = z.object({ dl: z.string() });

/** Cargo has no command that prints its index, so its requests are observed. The index names the packages' host. */
async function askCargo(question: ClientQuestion): Promise<ClientAnswer> {
  const [index] = await watched(question, CARGO_PROJECT, ['cargo', 'fetch'], (proxy) => ({
    CARGO_HTTP_PROXY: proxy,
    CARGO_NET_RETRY: '0',
  }));
  if (index === undefined) return accessTo([]);
  const answer = await fetch(`https://${index}/config.json`, { signal: AbortSignal.timeout(ANSWER_MS) });
  const { dl } = CargoIndex.parse(await answer.json());
  return accessTo([`https://${index}`, dl]);
}

const MAVEN_PROJECT = {
  'pom.xml':
    '<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version></project>',
};

async function askMaven(question: ClientQuestion): Promise<ClientAnswer> {
  const hosts = await watched(
    question,
    MAVEN_PROJECT,
    ['mvn', '-q', '-B', '-Dmaven.repo.local=repository', 'validate', 'dependency:resolve'],
    (proxy) => {
      const { hostname, port } = new URL(proxy);
      return { MAVEN_OPTS: `-Dhttps.proxyHost=${hostname} -Dhttps.proxyPort=${port}` };
    },
  );
  return accessTo(hosts.map((host) => `https://${host}`));
}

/** `host:port` names that a client requests from a proxy that refuses everything and that `proxyEnv` configures. */
async function watched(
  { env, newFolder }: ClientQuestion,
  files: Readonly<Record<string, string>>,
  argv: readonly [string, ...string[]],
  proxyEnv: (proxy: string) => ClientEnvironment,
): Promise<readonly string[]> {
  const asked = new Set<string>();
  const server = createServer((_request, response) => response.writeHead(403).end());
  server.on('connect', (request, socket) => {
    socket.on('error', () => socket.destroy());
    if (hostOf(`https://${request.url}`)) asked.add(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await inEmptyFolder(newFolder, async (folder) => {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text);
      }
      await runIn(folder, argv, { ...env, ...proxyEnv(proxy) }).catch((thrown: unknown) => {
        // A failure is expected, because nothing was reachable; a client that timed out may have made requests.
        if (thrown instanceof Fault && !(thrown instanceof SilentClient && asked.size > 0)) throw thrown;
      });
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return [...asked];
}

export const CLIENTS: readonly Client[] = [
  { name: 'npm', command: /\b(?:npm|npx|pnpm|yarn|bun|bunx|corepack)\b/, ask: askNpm },
  { name: 'pip', command: /\b(?:pip3?|python3?|uv|uvx|poetry|pdm|hatch|tox|nox|pipenv)\b/, ask: askPip },
  { name: 'uv', command: /\buvx?\b/, ask: ({ env }) => askUv(env) },
  { name: 'go', command: /\bgo\b/, ask: askGo },
  { name: 'cargo', command: /\bcargo\b/, ask: askCargo },
  { name: 'maven', command: /\b(?:mvn|mvnw|gradle|gradlew)\b/, ask: askMaven },
  { name: 'gem', command: /\b(?:bundle|gem)\b/, ask: printing('gem', 'sources', '--list') },
  {
    name: 'composer',
    command: /\bcomposer\b/,
    ask: printing('composer', 'config', '--global', 'repo.packagist.org.url'),
  },
  { name: 'dotnet', command: /\bdotnet\b/, ask: printing('dotnet', 'nuget', 'list', 'source') },
];
