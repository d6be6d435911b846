import { join } from 'node:path';
import { z } from 'zod';
import type { RuntimeLanguage } from '../../core/settings/index.ts';
import type { RegistryAccess } from '../../ports/index.ts';
import {
  accessTo,
  besideIndex,
  type ClientAnswer,
  fileText,
  homeOf,
  hostOf,
  isText,
  type Login,
  localFolder,
  localFolderOf,
  loginIn,
  loginsWithin,
  netrcAt,
  npmLogins,
  placeOf,
  urlsIn,
  withoutLogin,
} from './answers.ts';
import { type ClientQuestion, fetchProxied, run, watched } from './asking.ts';
import { askMaven } from './maven.ts';
import { askUv } from './uv.ts';

export interface Client {
  readonly name: string;
  /** Absent: no language of a repository stands for it. */
  readonly language?: RuntimeLanguage;
  /** Set-up commands that start it. */
  readonly command: RegExp;
  /** Queries the client. Rejects if it is not installed (ENOENT) or does not respond. `env` is its environment. */
  ask(question: ClientQuestion): Promise<ClientAnswer>;
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
    await fileText(join(homeOf(env), '.yarnrc.yml')),
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
  const places = own.filter((url) => hostOf(url) !== null).map((url) => placeOf(url, besideIndex(url)));
  return accessTo(own, {
    logins: [...logins, ...(await netrcAt(env, places))],
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
  const printed = await run(question, 'go', 'env', 'GOPROXY', 'GOSUMDB', 'GONOSUMDB');
  const [proxy = '', checksums = '', unchecked = ''] = printed.split('\n').map((line) => line.trim());
  // `direct` would fetch from any host that a module names.
  const proxies = [...proxy.matchAll(/([^\s,|]+)([,|]?)/g)].flatMap(([, url = '', separator = '']) =>
    hostOf(url) === null ? [] : [{ url, separator }],
  );
  const database = checksumDatabase(checksums);
  const named = [...proxies.map(({ url }) => url), ...database.urls];
  return accessTo(named.map(withoutLogin), {
    logins: [
      ...named.flatMap((url) => loginIn(url)),
      ...(await netrcAt(
        env,
        named.map((url) => placeOf(url)),
      )),
    ],
    env: {
      // After `|`, Go asks the next proxy whatever the error is, and after `,` only where a module is missing.
      ...(proxies.length > 0
        ? {
            GOPROXY: proxies
              .map(({ url, separator }) => `${withoutLogin(url)}${separator}`)
              .join('')
              .replace(/[,|]$/, ''),
          }
        : {}),
      ...(database.setting === '' ? {} : { GOSUMDB: database.setting }),
      // Their names are not for a public database.
      ...(unchecked === '' ? {} : { GONOSUMDB: unchecked }),
    },
  });
}

/** GOSUMDB: `off`, or a name or a verifier's key (`name+hash+key`), which may have the database's address after it. */
function checksumDatabase(value: string): { readonly urls: readonly string[]; readonly setting: string } {
  const [key = '', address] = value.split(/\s+/);
  // Its value enters the sandbox, so it must not be an address, which may have a login.
  if (!/^[\w.+/=-]+$/.test(key)) return { urls: [], setting: '' };
  const [name = ''] = key.split('+', 1);
  const urls = urlsIn(address ?? (name.includes('.') ? `https://${name}` : ''));
  return { urls, setting: [key, ...(address === undefined ? [] : urls.map(withoutLogin))].join(' ') };
}

/** A workspace of its own, so that Cargo looks for none in the folders above. */
const CARGO_PROJECT = {
  'Cargo.toml':
    '[package]\nname = "x"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nserde = "1"\n[workspace]\n',
  'src/lib.rs': '',
};
const CargoIndex = z.object({ dl: z.string() });

/** Cargo has no command that prints its index, so its requests are observed. The index names the packages' host. */
async function askCargo(question: ClientQuestion): Promise<ClientAnswer> {
  const [index] = await watched(question, {
    files: CARGO_PROJECT,
    argv: (folder) => ['cargo', 'fetch', '--manifest-path', join(folder, 'Cargo.toml')],
    proxyEnv: (proxy) => ({ CARGO_HTTP_PROXY: proxy, CARGO_NET_RETRY: '0' }),
  });
  if (index === undefined) return accessTo([]);
  const answer = await fetchProxied(`https://${index}/config.json`, question);
  // An index below a path of its host, of which only the host is observed. Its packages are mostly on the same host.
  if ([401, 404].includes(answer.status)) return accessTo([`https://${index}`]);
  const { dl } = CargoIndex.parse(JSON.parse(answer.text));
  return accessTo([`https://${index}`, dl]);
}

/**
 * The sources that gem is set to, and the hosts behind them: bundler reads the index of some sources from another host,
 * and looks at its own mirrors. It has no command that prints them, so its requests are observed.
 */
async function askGem(question: ClientQuestion): Promise<ClientAnswer> {
  const sources = urlsIn(await run(question, 'gem', 'sources', '--list'));
  // Each has a Gemfile of its own: since version 4, bundler refuses several sources for all gems.
  const asked = await Promise.all(
    sources.map((url) => {
      const Gemfile = `source '${withoutLogin(url)}'\ngem 'rake'\n`;
      return watched(question, {
        files: { Gemfile },
        argv: () => ['bundle', 'lock'],
        inside: true,
        // It looks at the first variable for both schemes.
        proxyEnv: (proxy) => ({ http_proxy: proxy, https_proxy: proxy, ...OWN_GEMFILE }),
      }).catch(withoutBundler);
    }),
  );
  return accessTo([...sources, ...asked.flat().map((host) => `https://${host}`)]);
}

/**
 * A Gemfile is a program, and the environment of an operator who starts Runoff by `bundle exec` names that of a
 * repository, beside which are settings and gems. Relative paths are in the folder of the question.
 */
const OWN_GEMFILE = {
  BUNDLE_GEMFILE: 'Gemfile',
  BUNDLE_LOCKFILE: 'Gemfile.lock',
  BUNDLE_APP_CONFIG: '.bundle',
  BUNDLE_PATH: 'gems',
  BUNDLE_FROZEN: 'false',
  BUNDLE_DEPLOYMENT: 'false',
  BUNDLE_RETRY: '0',
};

/** gem is there without bundler on some machines. */
function withoutBundler(thrown: unknown): readonly string[] {
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return [];
  throw thrown;
}

const ComposerRepositories = z.record(z.string(), z.unknown());
const ComposerRegistry = z.object({ type: z.literal('composer'), url: z.string() });

/**
 * The registries of Composer, its default among them. Its other repositories are code hosts and archives, which an
 * operator has named for packages of their own and not for the set-up of any repository.
 */
async function askComposer(question: ClientQuestion): Promise<ClientAnswer> {
  // All of them as JSON: a single setting is printed only if somebody has set it. PHP may print warnings before.
  const printed = await run(question, 'composer', 'config', '--global', 'repositories');
  const json = printed.split('\n').findLast((line) => /^[{[]/.test(line)) ?? '';
  const entries = Object.values(ComposerRepositories.parse({ ...JSON.parse(json) }));
  return accessTo(
    entries.flatMap((entry) => {
      const { data } = ComposerRegistry.safeParse(entry);
      return data === undefined ? [] : urlsIn(data.url);
    }),
  );
}

/**
 * Deno has no command that prints its own registry, so its request for a package is observed. For packages of npm, it
 * reads npm's settings.
 */
async function askDeno(question: ClientQuestion): Promise<ClientAnswer> {
  const asked = await watched(question, {
    files: {},
    argv: () => ['deno', 'info', 'jsr:@none/none'],
    inside: true,
    proxyEnv: (proxy) => ({ http_proxy: proxy, https_proxy: proxy, DENO_DIR: 'cache' }),
  });
  const { JSR_URL: url } = question.env;
  const hosts = asked.map((host) => `https://${host}`);
  return url === undefined
    ? accessTo(hosts)
    : accessTo([url, ...hosts], { env: { JSR_URL: withoutLogin(url) } });
}

export const CLIENTS: readonly Client[] = [
  { name: 'npm', language: 'node', command: /\b(?:npm|npx|pnpm|yarn|bun|bunx|corepack|deno)\b/, ask: askNpm },
  {
    name: 'pip',
    language: 'python',
    command: /\b(?:pip3?|python3?|uv|uvx|poetry|pdm|hatch|tox|nox|pipenv)\b/,
    ask: askPip,
  },
  { name: 'uv', language: 'python', command: /\buvx?\b/, ask: ({ env }) => askUv(env) },
  { name: 'deno', command: /\bdeno\b/, ask: askDeno },
  { name: 'go', language: 'go', command: /\bgo\b/, ask: askGo },
  { name: 'cargo', language: 'rust', command: /\bcargo\b/, ask: askCargo },
  { name: 'maven', language: 'java', command: /\b(?:mvn|mvnw|gradle|gradlew)\b/, ask: askMaven },
  { name: 'gem', language: 'ruby', command: /\b(?:bundle|gem)\b/, ask: askGem },
  {
    name: 'composer',
    language: 'php',
    command: /\bcomposer\b/,
    ask: askComposer,
  },
  {
    name: 'dotnet',
    language: 'dotnet',
    command: /\bdotnet\b/,
    ask: printing('dotnet', 'nuget', 'list', 'source'),
  },
];
