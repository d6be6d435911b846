import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  clientEnvironment,
  loginIn,
  netrcLogins,
  npmLogins,
} from '../../../src/adapters/registries/answers.ts';
import { openAuthority } from '../../../src/adapters/registries/authority.ts';
import { openRegistries } from '../../../src/adapters/registries/index.ts';
import { memoryLog } from '../../server/delivery.ts';
import { tried } from '../../world/tried.ts';

/** Programs that answer as the real ones do where an operator has set up mirrors. */
const PROGRAMS = {
  npm: 'echo \'{"registry":"https://user:secret@npm.corp.test:8443/api/","@acme:registry":"https://acme.test/npm/","//npm.corp.test/:_authToken":"(protected)","proxy":null}\'',
  python3: `case "$*" in
*"config list"*) [ -n "$PIP_TEST_INDEX" ] && echo "global.index-url='$PIP_TEST_INDEX'"; [ -n "$PIP_TEST_EXTRA" ] && echo "install.extra-index-url='$PIP_TEST_EXTRA'"; [ -n "$PIP_TEST_LINKS" ] && echo ":env:.find-links='$PIP_TEST_LINKS'"; true ;;
*) echo https://index.test/simple https://files.test ;;
esac`,
  go: "printf 'https://proxy.test,https://second.test|direct\\nsum.test\\n'",
  gem: "echo '*** CURRENT SOURCES ***'; echo; echo https://gems.test/; echo https://more.test/",
  // As version 4, which takes one source.
  bundle: `[ "$(grep --count ^source Gemfile)" = 1 ] || exit 15
curl --silent --proxy "$https_proxy" "https://index.$(sed -nE "s,^source 'https://(.*)/'$,\\1,p" Gemfile)/versions"; exit 17`,
  composer: `echo 'Deprecated: [old] in {x} on line 3'; echo '{"2":{"type":"vcs","url":"https://code.test/a/b"},"1":{"type":"package","package":{"dist":{"url":"https://dist.test/a.zip"}}},"0":{"type":"composer","url":"https://php.corp.test"},"other.test":false}'`,
  dotnet: 'exit 3',
  mvn: 'curl --silent --proxy "$(echo "$MAVEN_OPTS" | sed -E "s/.*proxyHost=([^ ]*) .*proxyPort=([0-9]+).*/\\1:\\2/")" https://maven.test/x; exit 1',
  cargo: 'curl --silent --proxy "$CARGO_HTTP_PROXY" https://127.0.0.1.nowhere.test/config.json; exit 101',
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runoff-clients-'));
  await mkdir(join(folder, 'bin'));
  for (const [name, script] of Object.entries(PROGRAMS)) {
    await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, 'bin', name), 0o755);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const newFolder = () => join(folder, 'scratch', randomUUID());

const open = (env: Record<string, string> = {}, programs = 'bin', answerMs = 30_000) => {
  const log = memoryLog();
  const PATH = [join(folder, programs), '/usr/bin', '/bin'].join(delimiter);
  return { log, registries: openRegistries({ log, newFolder, answerMs, env: { PATH, ...env } }) };
};

describe('logins', () => {
  test('are read from an .npmrc as npm reads it', () => {
    const text = [
      `//npm.test/:_authToken=\${TOKEN}`,
      ';//old.test/:_authToken=x',
      '//art.test/api/npm/:username=me',
      `//art.test/api/npm/:_password="${btoa('pass')}"`,
      '//half.test/:username=me',
      '_auth=Zm9vOmJhcg==',
    ].join('\n');
    expect(npmLogins(text, 'https://default.test/npm/', { TOKEN: 't0ken' })).toEqual([
      { host: 'npm.test:443', path: '/', authorization: 'Bearer t0ken' },
      { host: 'art.test:443', path: '/api/npm/', authorization: `Basic ${btoa('me:pass')}` },
      { host: 'default.test:443', path: '/npm/', authorization: 'Basic Zm9vOmJhcg==' },
    ]);
  });

  test('are read from a netrc file, for hosts that are registries', () => {
    const text =
      '# mine\nmachine pypi.test login me password one\nmachine other.test\n  login you\n  password two\ndefault login x password y\n';
    expect(netrcLogins(text, ['pypi.test:443', 'else.test:443'])).toEqual([
      { host: 'pypi.test:443', path: '/', authorization: `Basic ${btoa('me:one')}` },
    ]);
  });
});

test('clients have a home, whatever names it', () => {
  expect(clientEnvironment({ HOME: '/home/of/somebody', SECRET: 'x' })).toEqual({
    HOME: '/home/of/somebody',
    NODE_DISABLE_COMPILE_CACHE: '1',
  });
  expect(clientEnvironment({}).HOME).toMatch(/^\//);
});

describe('logins of a whole host', () => {
  const rulesOf = async (command: string, env: Record<string, string>, programs?: string) =>
    (await open({ HOME: folder, ...env }, programs).registries.of(command)).logins.flatMap(({ rules }) =>
      rules.map(({ path }) => path),
    );
  const npmWith = async (lines: string, env: Record<string, string> = {}) => {
    const name = `npm-${randomUUID()}`;
    await mkdir(join(folder, name));
    const npmrc = join(folder, name, 'npmrc');
    await writeFile(npmrc, lines);
    const settings = { registry: 'https://corp.test/api/packages/npm/', userconfig: npmrc };
    await writeFile(join(folder, name, 'npm'), `#!/bin/sh\necho '${JSON.stringify(settings)}'\n`, {
      mode: 0o755,
    });
    const { log, registries } = open(env, name);
    const { logins } = await registries.of('npm ci');
    return { rules: logins.flatMap(({ rules }) => rules), log };
  };

  test('are for its registry only, not for its other interfaces', async () => {
    const { rules } = await npmWith('//corp.test/:_authToken=one\n');
    expect(rules).toEqual([{ path: '/api/packages/npm/', authorization: 'Bearer one' }]);
    const NETRC = join(folder, 'netrc');
    await writeFile(
      NETRC,
      'machine corp.test login me password one\nmachine proxy.test login me password two\n',
    );
    const pip = { NETRC, PIP_TEST_INDEX: 'https://corp.test/api/packages/pypi/simple' };
    expect(await rulesOf('pip install x', pip)).toEqual(['/api/packages/pypi/']);
    const devpi = { NETRC, PIP_TEST_INDEX: 'https://corp.test/team/dev/+simple/' };
    expect(await rulesOf('pip install x', devpi)).toEqual(['/team/dev/']);
    expect(await rulesOf('go mod download', { NETRC })).toEqual(['/']);
    const uv = { NETRC, UV_DEFAULT_INDEX: 'https://corp.test/api/packages/uv/simple' };
    expect(await rulesOf('uv sync', uv)).toEqual(['/api/packages/uv/']);
  });

  test('may be for folders of projects that npm names, and for no other place', async () => {
    const { rules } = await npmWith(
      '//corp.test/api/projects/7/packages/npm/:_authToken=one\n//corp.test/api/user/:_authToken=two\n',
    );
    expect(rules.map(({ path }) => path)).toEqual(['/api/projects/7/packages/npm/']);
  });

  test('may end with a line break in a variable, but with other characters they are reported and not used', async () => {
    const line = `//corp.test/:_authToken=\${TOKEN}\n`;
    expect((await npmWith(line, { TOKEN: 'one\n' })).rules[0]?.authorization).toBe('Bearer one');
    const { rules, log } = await npmWith(line, { TOKEN: 'one\ntwo' });
    expect(rules).toEqual([]);
    expect(log.lines.map(({ message }) => message)).toEqual([
      'The login of npm for corp.test:443 is not used: it has characters that no login can have.',
    ]);
  });

  test('are noticed within minutes when the operator renews them, and kept while the client says nothing', async () => {
    const name = `npm-${randomUUID()}`;
    const [npm, npmrc] = [join(folder, name, 'npm'), join(folder, name, 'npmrc')];
    await mkdir(join(folder, name));
    const settings = JSON.stringify({ registry: 'https://corp.test/npm/', userconfig: npmrc });
    const renew = (token: string) => writeFile(npmrc, `//corp.test/npm/:_authToken=${token}\n`);
    await writeFile(npm, `#!/bin/sh\necho '${settings}'\n`, { mode: 0o755 });
    const { log, registries } = open({}, name);
    const used = async () => (await registries.of('npm ci')).logins[0]?.rules[0]?.authorization;
    await renew('one');
    expect(await used()).toBe('Bearer one');
    await renew('two');
    expect(await used()).toBe('Bearer one');
    const later = performance.now() + 6 * 60_000;
    const now = vi.spyOn(performance, 'now').mockReturnValue(later);
    try {
      expect(await used()).toBe('Bearer two');
      await writeFile(npm, '#!/bin/sh\nexit 1\n');
      now.mockReturnValue(later + 6 * 60_000);
      expect(await used()).toBe('Bearer two');
    } finally {
      now.mockRestore();
    }
    expect(log.lines.map(({ message }) => message)).toEqual([
      'npm did not say again which registry it uses: its last answer is used.',
    ]);
  });

  test('may have a plain percent sign in an address', () => {
    expect(loginIn('https://me:50%off@corp.test/npm/')).toEqual([
      { host: 'corp.test:443', path: '/npm/', authorization: `Basic ${btoa('me:50%off')}` },
    ]);
  });
});

test('of the files with certificates, sandboxes get the certificates only', async () => {
  const { certificate, identityOf } = openAuthority();
  const combined = join(folder, 'combined.pem');
  await writeFile(combined, `${identityOf('me.test').key}\n${certificate}`);
  const { log, registries } = open({ NODE_EXTRA_CA_CERTS: combined, SSL_CERT_FILE: folder, HOME: folder });
  const { files } = await registries.of('go mod download');
  expect(files['.runoff/certificates.pem']).toContain(certificate.trim());
  expect(files['.runoff/certificates.pem']).not.toContain('PRIVATE');
  expect(log.lines.map(({ message }) => message)).toEqual([
    `Set-up does without the certificates of ${folder}: the file cannot be read.`,
  ]);
});

describe('the registries for a set-up command', () => {
  test('are asked for without the secrets of this process', async () => {
    const seen = join(folder, 'seen');
    const bin = join(folder, 'telling');
    await mkdir(bin);
    const names = ['npm', 'python3', 'go', 'cargo', 'mvn', 'gem', 'composer', 'dotnet'];
    for (const name of names) {
      await writeFile(join(bin, name), `#!/bin/sh\n/usr/bin/env >> ${seen}\nexit 1\n`, { mode: 0o755 });
    }
    const secrets = Object.fromEntries(
      [
        ...[
          'ANTHROPIC_API_KEY',
          'DATABASE_URL',
          'PRIVATE_KEY',
          'WEBHOOK_SECRET',
          'GITHUB_TOKEN',
          'MY_SECRET',
        ],
        ...['AWS_SECRET_ACCESS_KEY', 'NODE_OPTIONS', 'LD_PRELOAD'],
      ].map((name) => [name, 'canary']),
    );
    const env = { ...secrets, PATH: bin, HOME: folder, GOPROXY: 'https://kept.test' };
    await openRegistries({ log: memoryLog(), newFolder, env }).of('make');
    const told = await readFile(seen, 'utf8');
    expect(told).toContain('GOPROXY=https://kept.test');
    expect(told).not.toContain('canary');
  });

  test('are the one that Deno asks for beside npm’s, for a command that names it where it is installed', async () => {
    const bin = join(folder, 'with-deno');
    await mkdir(bin);
    const url = `"\${JSR_URL:-https://deno.test/}"`;
    const script = `#!/bin/sh\ncurl --silent --proxy "$https_proxy" ${url}@none/none/meta.json; exit 1\n`;
    await writeFile(join(bin, 'deno'), script, { mode: 0o755 });
    await writeFile(join(bin, 'npm'), `#!/bin/sh\n${PROGRAMS.npm}\n`, { mode: 0o755 });
    const { registries } = open({}, 'with-deno');
    const npm = ['npm.corp.test:8443', 'acme.test:443'];
    expect((await registries.of('deno install')).hosts).toEqual([...npm, 'deno.test:443']);
    const mirrored = await open({ JSR_URL: 'https://me:secret@jsr.corp.test/' }, 'with-deno').registries.of(
      'deno install',
    );
    expect(mirrored).toMatchObject({
      hosts: [...npm, 'jsr.corp.test:443'],
      env: { JSR_URL: 'https://jsr.corp.test/' },
    });
    const { rules } = mirrored.logins.find(({ host }) => host === 'jsr.corp.test:443') ?? {};
    expect(rules).toEqual([{ path: '/', authorization: `Basic ${btoa('me:secret')}` }]);
    expect((await registries.of('npm ci', ['node'])).hosts).toEqual(npm);
    expect((await open().registries.of('deno install')).hosts).toEqual(npm);
  });

  test('are those that npm is set to; what enters a sandbox has no login', async () => {
    const access = await open().registries.of('npm ci --no-audit');
    expect(access.hosts).toEqual(['npm.corp.test:8443', 'acme.test:443']);
    expect(access.files['.npmrc']).toBe(
      'registry=https://npm.corp.test:8443/api/\n@acme:registry=https://acme.test/npm/\n',
    );
    const { logins, ...inside } = access;
    expect(logins.map(({ host, rules }) => [host, rules])).toEqual([
      ['npm.corp.test:8443', [{ path: '/api/', authorization: `Basic ${btoa('user:secret')}` }]],
    ]);
    expect(JSON.stringify(inside)).not.toMatch(/secret|PRIVATE KEY/);
  });

  test("are pip's own, with the host of its files, where nobody set another", async () => {
    const access = await open().registries.of('.venv/bin/python -m pip install -e .');
    expect(access.hosts).toEqual(['index.test:443', 'files.test:443']);
    expect(access.env).not.toHaveProperty('PIP_INDEX_URL');
  });

  test('may be folders of this machine, which set-up can read at another place', async () => {
    const mirror = join(folder, 'mirror');
    for (const part of ['simple', 'files', 'private']) await mkdir(join(mirror, part), { recursive: true });
    const access = await open({
      PIP_TEST_EXTRA: `file://${mirror}/simple/ file:///nowhere/at/all`,
      PIP_TEST_LINKS: join(mirror, 'files'),
    }).registries.of('pip install -r requirements.txt');
    expect(access.env).toMatchObject({
      PIP_EXTRA_INDEX_URL: 'file:///opt/registries/pip-0/simple',
      PIP_FIND_LINKS: '/opt/registries/pip-2/files',
    });
    expect(access.folders).toEqual([
      { from: join(mirror, 'simple'), to: '/opt/registries/pip-0/simple' },
      { from: join(mirror, 'files'), to: '/opt/registries/pip-0/files' },
      { from: join(mirror, 'files'), to: '/opt/registries/pip-2/files' },
    ]);
    expect(access.hosts).toEqual(['index.test:443', 'files.test:443']);
  });

  test('are never a folder with the home of this user, nor what stands beside a list of links', async () => {
    for (const part of ['wheels', 'files', 'packages']) await mkdir(join(folder, part), { recursive: true });
    await symlink(homedir(), join(folder, 'link'));
    const access = await open({
      PIP_TEST_EXTRA: `file://${homedir()} file:/// file://${join(folder, 'link')}`,
      PIP_TEST_LINKS: join(folder, 'wheels'),
    }).registries.of('pip install -r requirements.txt');
    expect(access.folders).toEqual([{ from: join(folder, 'wheels'), to: '/opt/registries/pip-0/wheels' }]);
    expect(access.env).not.toHaveProperty('PIP_EXTRA_INDEX_URL');
  });

  test('are the indexes that an operator has set for pip, also for uv', async () => {
    const env = {
      PIP_TEST_INDEX: 'https://me:secret@pypi.corp.test/simple',
      PIP_TEST_EXTRA: 'https://more.test/simple',
    };
    const access = await open(env).registries.of('uv sync --frozen');
    expect(access.hosts).toEqual(['pypi.corp.test:443', 'more.test:443']);
    expect(access.env).toMatchObject({
      PIP_INDEX_URL: 'https://pypi.corp.test/simple',
      UV_DEFAULT_INDEX: 'https://pypi.corp.test/simple',
      PIP_EXTRA_INDEX_URL: 'https://more.test/simple',
    });
  });

  test('are those of uv where it is set to others, in its file or by variables', async () => {
    await mkdir(join(folder, 'config/uv'), { recursive: true });
    await writeFile(
      join(folder, 'config/uv/uv.toml'),
      'extra-index-url = ["https://more.test/simple"]\n[[index]]\nurl = "https://me:secret@uv.test/simple"\ndefault = true\n',
    );
    const { logins, ...access } = await open({ XDG_CONFIG_HOME: join(folder, 'config') }).registries.of(
      'uv sync',
    );
    expect(access.hosts).toEqual(expect.arrayContaining(['uv.test:443', 'more.test:443']));
    expect(access.env).toMatchObject({
      UV_DEFAULT_INDEX: 'https://uv.test/simple',
      UV_INDEX: 'https://more.test/simple',
    });
    expect(logins.map(({ host, rules }) => [host, rules[0]?.path])).toEqual([['uv.test:443', '/']]);
    const variables = await open({ UV_INDEX: 'corp=https://named.test/simple' }).registries.of('uv sync');
    expect(variables.env.UV_INDEX).toBe('https://named.test/simple');
  });

  test('are for yarn those of npm, unless its own settings name another', async () => {
    const npm = await open({ HOME: join(folder, 'none') }).registries.of('yarn install --immutable');
    expect(npm.env.YARN_NPM_REGISTRY_SERVER).toBe('https://npm.corp.test:8443/api/');
    await mkdir(join(folder, 'yarn-home'), { recursive: true });
    await writeFile(join(folder, 'yarn-home/.yarnrc.yml'), 'npmRegistryServer: "https://yarn.test/npm"\n');
    const own = await open({ HOME: join(folder, 'yarn-home') }).registries.of('yarn install --immutable');
    expect(own.env.YARN_NPM_REGISTRY_SERVER).toBe('https://yarn.test/npm');
    expect(own.hosts).toContain('yarn.test:443');
  });

  test('are the proxies of Go and its database of checksums, and nothing that a module names itself', async () => {
    const access = await open().registries.of('go mod download');
    expect(access.hosts).toEqual(['proxy.test:443', 'second.test:443', 'sum.test:443']);
    expect(access.env.GOPROXY).toBe('https://proxy.test/,https://second.test/');
    expect(access.env.GOSUMDB).toBe('sum.test');
  });

  test.each([
    ['none', 'off', [], 'off'],
    ['an own one, by its key', 'sum.corp.test+033de0ae+Ac4/x=', ['sum.corp.test:443'], undefined],
    [
      'one at another address, whose login stays outside',
      'sum.test https://me:secret@mirror.test/db',
      ['mirror.test:443'],
      'sum.test https://mirror.test/db',
    ],
    ['an address in the wrong place', 'https://me:secret@mirror.test/db', [], null],
  ])('are for Go as the operator chose the database of checksums: %s', async (_, value, hosts, inside) => {
    const name = `go-${randomUUID()}`;
    await mkdir(join(folder, name));
    const printed = `https://a.test|https://me:secret@b.test/go,direct\n${value}\nmine.test/*\n`;
    const script = `#!/bin/sh\ncat << 'END'\n${printed}END\n`;
    await writeFile(join(folder, name, 'go'), script, { mode: 0o755 });
    const { logins: _logins, ...access } = await open({}, name).registries.of('go mod download');
    expect(access.hosts).toEqual(['a.test:443', 'b.test:443', ...hosts]);
    expect(access.env).toMatchObject({
      GOPROXY: 'https://a.test/|https://b.test/go',
      GONOSUMDB: 'mine.test/*',
      ...(inside === null ? {} : { GOSUMDB: inside ?? value }),
    });
    expect('GOSUMDB' in access.env).toBe(inside !== null);
    expect(JSON.stringify(access)).not.toContain('secret');
  });

  test('are also those of what the named client may start, by the languages of the repository', async () => {
    const { registries } = open();
    expect((await registries.of('pip install .', ['python'])).hosts).not.toContain('proxy.test:443');
    const { hosts } = await registries.of('pip install .', ['python', 'go']);
    expect(hosts).toEqual(expect.arrayContaining(['proxy.test:443', 'sum.test:443']));
  });

  describe('where pip is named and Go is of the repository’s languages', () => {
    const withGo = async (script: string) => {
      const name = `go-${randomUUID()}`;
      await mkdir(join(folder, name));
      for (const [program, text] of Object.entries({ ...PROGRAMS, go: script }))
        await writeFile(join(folder, name, program), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      const { log, registries } = open({}, name, 5_000);
      return { log, hosts: registries.of('pip install .', ['python', 'go']).then(({ hosts }) => hosts) };
    };

    test.each([
      ['fails', 'exit 1'],
      ['never answers', 'exec sleep 60'],
    ])('a Go that %s stops nothing', async (_, script) => {
      const { log, hosts } = await withGo(script);
      expect(await hosts).toContain('index.test:443');
      expect(log.lines.map(({ message }) => message)).toEqual(['go did not say which registry it uses.']);
    });

    test('a Go that the machine ended is asked again later', async () => {
      const { hosts } = await withGo('kill -KILL $$');
      await expect(hosts).rejects.toMatchObject({ code: 'PROGRAM_KILLED' });
    });
  });

  test('are found for Maven and Cargo by what they ask a proxy for, and a missing client names none', async () => {
    const { log, registries } = open();
    expect((await registries.of('sh ./mvnw package')).hosts).toEqual(['maven.test:443']);
    expect((await registries.of('cargo fetch')).hosts).toEqual([]);
    // The index that this Cargo asks for does not exist, so nobody can say where its packages are.
    expect(log.lines.map(({ message }) => message)).toEqual(['cargo did not say which registry it uses.']);
  });

  test('are asked of the index of Cargo through the proxy of this machine, if it has one', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer().on('connect', ({ url }, socket) => {
      asked.push(url);
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    try {
      const https_proxy = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      expect((await open({ https_proxy }).registries.of('cargo fetch')).hosts).toEqual([]);
      expect(asked).toEqual(['127.0.0.1.nowhere.test:443']);
      await open({ https_proxy, no_proxy: 'nowhere.test' }).registries.of('cargo fetch');
      expect(asked).toHaveLength(1);
    } finally {
      proxy.close();
    }
  });

  test('are those that the index of Cargo names, also behind a redirect and a proxy', async () => {
    const [index, authority, trusted] = ['127.0.0.1.nowhere.test', openAuthority(), getCACertificates()];
    const { key, certificate: cert } = authority.identityOf(index);
    const server = createTlsServer({ key, cert }, ({ url }, response) => {
      if (url === '/config.json') response.writeHead(302, { location: '/now/config.json' }).end();
      else response.end('{"dl":"https://crates.corp.test/dl"}');
    });
    const proxy = createServer().on('connect', (_, socket) => {
      const inner = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.on('error', () => inner.destroy()).pipe(inner);
      inner.on('error', () => socket.destroy()).pipe(socket);
    });
    await Promise.all([server, proxy].map((one) => once(one.listen(0, '127.0.0.1'), 'listening')));
    setDefaultCACertificates([authority.certificate]);
    try {
      const https_proxy = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const { hosts } = await open({ https_proxy }).registries.of('cargo fetch');
      expect(hosts).toEqual([`${index}:443`, 'crates.corp.test:443']);
    } finally {
      setDefaultCACertificates(trusted);
      server.close();
      proxy.close();
    }
  });

  test.each([
    [404, ['127.0.0.1.nowhere.test:443']],
    [503, []],
  ])(
    'are for Cargo the host of its index, also if that is below a path (%i at the root)',
    async (status, hosts) => {
      const asked = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('no', { status }));
      try {
        expect((await open().registries.of('cargo fetch')).hosts).toEqual(hosts);
      } finally {
        asked.mockRestore();
      }
    },
  );

  test('are asked for outside of every repository, whose settings clients would find above the folder', async () => {
    const name = `places-${randomUUID()}`;
    const seen = join(folder, name, 'seen');
    await mkdir(join(folder, name));
    for (const client of ['npm', 'python3', 'go', 'cargo', 'mvn', 'composer', 'dotnet'])
      await writeFile(
        join(folder, name, client),
        `#!/bin/sh\necho "$(basename $0) $PWD" >> ${seen}\nexit 1\n`,
        { mode: 0o755 },
      );
    await open({}, name).registries.of('make');
    const places = (await readFile(seen, 'utf8')).trim().split('\n');
    expect(new Set(places)).toEqual(
      new Set(['npm', 'python3', 'go', 'cargo', 'mvn', 'composer', 'dotnet'].map((one) => `${one} /`)),
    );
  });

  test.skipIf(!existsSync('/usr/bin/mvn'))(
    'are found by the Maven of this machine below a repository that would stop it',
    async () => {
      const repository = join(folder, `repository-${randomUUID()}`);
      await mkdir(join(repository, '.mvn'), { recursive: true });
      await writeFile(join(repository, '.mvn/jvm.config'), '--no-such-option\n');
      const registries = openRegistries({
        log: memoryLog(),
        newFolder: () => join(repository, 'data', randomUUID()),
      });
      expect((await registries.of('mvn test')).hosts).not.toEqual([]);
    },
    90_000,
  );

  test('are for bundler the sources of gem, and the hosts that bundler asks for their index', async () => {
    const { log, registries } = open();
    expect((await registries.of('bundle install')).hosts).toEqual([
      'gems.test:443',
      'more.test:443',
      'index.gems.test:443',
      'index.more.test:443',
    ]);
    expect(log.lines).toEqual([]);
  });

  test("are asked for past the operator's exceptions for proxies", async () => {
    const { registries } = open({ NO_PROXY: '*', no_proxy: '*' });
    expect((await registries.of('bundle install')).hosts).toContain('index.gems.test:443');
    expect((await registries.of('mvn package')).hosts).toEqual(['maven.test:443']);
  });

  test('are asked for in an empty project, whatever project the environment names', async () => {
    const bin = join(folder, 'asking');
    await mkdir(bin);
    const script = (own: string) =>
      `#!/bin/sh\n/usr/bin/env | grep ^${own}_ >> ${join(bin, 'seen')}\nexit 1\n`;
    await writeFile(join(bin, 'mvn'), script('MAVEN'), { mode: 0o755 });
    await writeFile(join(bin, 'bundle'), script('BUNDLE'), { mode: 0o755 });
    await writeFile(join(bin, 'gem'), '#!/bin/sh\necho https://gems.test/\n', { mode: 0o755 });
    const names = ['MAVEN_ARGS', 'MAVEN_BASEDIR', 'MAVEN_CONFIG', 'MAVEN_OPTS', 'MAVEN_DEBUG_OPTS'];
    names.push('BUNDLE_GEMFILE', 'BUNDLE_LOCKFILE', 'BUNDLE_APP_CONFIG', 'BUNDLE_PATH');
    const env = Object.fromEntries(names.map((name) => [name, '/a/repository']));
    await open({ ...env, BUNDLE_MIRROR__ALL: 'https://kept.test' }, 'asking').registries.of('mvn x; bundle');
    const seen = await readFile(join(bin, 'seen'), 'utf8');
    expect(seen).toContain('MAVEN_OPTS=');
    expect(seen).toContain('BUNDLE_MIRROR__ALL=https://kept.test');
    expect(seen).not.toContain('repository');
  });

  test.skipIf(!existsSync('/usr/bin/bundle'))('are found by the bundler of this machine', async () => {
    const name = `gem-${randomUUID()}`;
    await mkdir(join(folder, name));
    const source = 'https://user:secret@gems.nowhere.test/private/';
    await writeFile(join(folder, name, 'gem'), `#!/bin/sh\necho ${source}\n`, { mode: 0o755 });
    // What it asks can be told from the sources only by a host that just bundler knows.
    await mkdir(join(folder, name, '.bundle'));
    await writeFile(
      join(folder, name, '.bundle/config'),
      '---\nBUNDLE_MIRROR__HTTPS://GEMS__NOWHERE__TEST/PRIVATE/: "https://mirror.nowhere.test/"\n',
    );
    const { log, registries } = open({ HOME: join(folder, name) }, name);
    const access = await registries.of('bundle install');
    expect(access.hosts).toEqual(['gems.nowhere.test:443', 'mirror.nowhere.test:443']);
    expect(JSON.stringify([access.env, access.files])).not.toContain('secret');
    expect(log.lines).toEqual([]);
  });

  test.skipIf(!existsSync('/usr/bin/bundle'))(
    'are asked of bundler without the Gemfile, settings and gems of a repository',
    async () => {
      const name = `gem-${randomUUID()}`;
      const repository = join(folder, name, 'repository');
      await mkdir(join(repository, '.bundle'), { recursive: true });
      await writeFile(
        join(folder, name, 'gem'),
        '#!/bin/sh\necho https://one.nowhere.test/; echo https://two.nowhere.test/\n',
        { mode: 0o755 },
      );
      await writeFile(join(repository, 'Gemfile'), `File.write('${repository}/trap', 'x')\n`);
      await writeFile(
        join(repository, '.bundle/config'),
        '---\nBUNDLE_MIRROR__ALL: "https://stranger.nowhere.test/"\nBUNDLE_FROZEN: "true"\n',
      );
      const { log, registries } = open(
        {
          HOME: join(folder, name),
          BUNDLE_GEMFILE: join(repository, 'Gemfile'),
          BUNDLE_APP_CONFIG: join(repository, '.bundle'),
          BUNDLE_PATH: join(repository, 'vendor'),
          BUNDLE_DEPLOYMENT: 'true',
          'BUNDLE_MIRROR__HTTPS://TWO__NOWHERE__TEST/': 'https://mirror.nowhere.test/',
          NO_PROXY: 'nowhere.test',
        },
        name,
      );
      const { hosts } = await registries.of('bundle install');
      expect(hosts).toEqual(['one.nowhere.test:443', 'two.nowhere.test:443', 'mirror.nowhere.test:443']);
      expect((await readdir(repository)).toSorted()).toEqual(['.bundle', 'Gemfile']);
      expect(log.lines).toEqual([]);
    },
  );

  test('are for Composer those of its global settings, without its code hosts and archives', async () => {
    expect((await open().registries.of('composer install')).hosts).toEqual(['php.corp.test:443']);
  });

  test('are found although the client breaks its connection', async () => {
    const name = `reset-${randomUUID()}`;
    await mkdir(join(folder, name));
    const script = `const { hostname, port } = new URL(process.env.CARGO_HTTP_PROXY);
const socket = require('node:net').connect(port, hostname, () =>
  socket.write('CONNECT 127.0.0.1.nowhere.test:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n', () => socket.resetAndDestroy()));
socket.on('error', () => {});`;
    await writeFile(join(folder, name, 'reset.cjs'), script);
    const cargo = `#!/bin/sh\n${process.execPath} ${join(folder, name, 'reset.cjs')}\nexit 101\n`;
    await writeFile(join(folder, name, 'cargo'), cargo, { mode: 0o755 });
    expect((await open({}, name).registries.of('cargo fetch')).hosts).toEqual([]);
  });

  test('are those of every client for a command that names none, and each is asked once', async () => {
    const { log, registries } = open();
    const [first, second] = [await registries.of('make deps'), await registries.of('make deps')];
    expect(first).toEqual(second);
    expect(first.hosts).toEqual(
      expect.arrayContaining(['npm.corp.test:8443', 'gems.test:443', 'proxy.test:443']),
    );
    // One that gave no answer is asked again.
    expect(log.lines.filter(({ message }) => message.startsWith('dotnet'))).toHaveLength(2);
    expect(await readdir(join(folder, 'scratch'))).toEqual([]);
  });
});

describe('a client that is killed', () => {
  /** An npm that is killed some times before it answers; the number of its starts is in a file. */
  async function killedNpm(kills: number) {
    const name = `npm-${randomUUID()}`;
    const starts = join(folder, name, 'starts');
    await mkdir(join(folder, name));
    const script = `#!/bin/sh\necho >> ${starts}\n[ "$(wc -l < ${starts})" -gt ${kills} ] || kill -KILL $$\n${PROGRAMS.npm}\n`;
    await writeFile(join(folder, name, 'npm'), script, { mode: 0o755 });
    return { ...open({}, name), starts: async () => (await readFile(starts, 'utf8')).length };
  }

  test('once is asked again, and its answer is kept', async () => {
    tried({
      id: 'registry-client-killed',
      part: 'Child processes are killed',
      what: 'The `npm` that says which registry a set-up uses, once and again and again.',
      held: 'It is asked again; if that does not help, the stage waits, and the next set-up asks anew.',
    });
    const { registries, starts } = await killedNpm(1);
    expect((await registries.of('npm ci')).hosts).toContain('npm.corp.test:8443');
    expect((await registries.of('npm ci')).hosts).toContain('npm.corp.test:8443');
    expect(await starts()).toBe(2);
  });

  // These two mostly wait before they ask again, so they wait together.
  test.concurrent('each time is an outage, and the next set-up asks it anew', async () => {
    const { registries } = await killedNpm(4);
    await expect(registries.of('npm ci')).rejects.toMatchObject({
      code: 'PROGRAM_KILLED',
      message: expect.stringMatching(/^npm was killed by SIGKILL 4 times/),
    });
    expect((await registries.of('npm ci')).hosts).toContain('npm.corp.test:8443');
  });

  test.concurrent('while it looks for its proxy, too', async () => {
    const name = `cargo-${randomUUID()}`;
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'cargo'), '#!/bin/sh\nkill -KILL $$\n', { mode: 0o755 });
    await expect(open({}, name).registries.of('cargo fetch')).rejects.toMatchObject({
      code: 'PROGRAM_KILLED',
    });
  });

  test('is no client that says it has no settings, which is asked again by the next set-up', async () => {
    const name = `broken-${randomUUID()}`;
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'npm'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const { log, registries } = open({}, name);
    expect((await registries.of('npm ci')).hosts).toEqual([]);
    await writeFile(join(folder, name, 'npm'), `#!/bin/sh\n${PROGRAMS.npm}\n`);
    expect((await registries.of('npm ci')).hosts).toContain('npm.corp.test:8443');
    expect(log.lines).toHaveLength(1);
  });
});

test.skipIf(!existsSync('/usr/bin/composer'))('the Composer of this machine names its registry', async () => {
  const env = { PATH: '/usr/bin:/bin', HOME: join(folder, 'nobody') };
  const access = await openRegistries({ log: memoryLog(), newFolder, env }).of('composer install');
  expect(access.hosts).toHaveLength(1);
});

test('the npm of this machine names its registry', async () => {
  const access = await openRegistries({ log: memoryLog(), newFolder }).of('npm ci');
  expect(access.hosts.length).toBeGreaterThan(0);
  expect(access.files['.npmrc']).toMatch(/^registry=https:\/\//m);
});
