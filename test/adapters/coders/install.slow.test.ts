import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AGENTS, coders, installAgent, installable } from '../../../src/adapters/coders/index.ts';
import { tried } from '../../world/tried.ts';

/** Stands in for npm: writes down how it was called, and the package that it was asked for, in a private mode. */
const NPM = `
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
const asked = JSON.parse(readFileSync(new URL('asked.json', import.meta.url), 'utf8'));
const argv = process.argv.slice(2);
const folder = argv[argv.indexOf('--prefix') + 1];
writeFileSync(asked.SEEN, JSON.stringify({ argv, env: process.env, cwd: process.cwd() }));
const level = argv.find((word) => word.startsWith('--loglevel='))?.slice(11) ?? process.env.npm_config_loglevel;
const json = process.env.npm_config_json === 'true' && !argv.includes('--no-json');
if (asked.KILLS) {
  const left = join(folder, 'node_modules/half');
  if (existsSync(left)) throw new Error('Something is left of an npm that was killed.');
  mkdirSync(left, { recursive: true });
  const file = new URL('kills', import.meta.url);
  const kills = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  writeFileSync(file, String(kills + 1));
  if (kills < Number(asked.KILLS)) process.kill(process.pid, 'SIGKILL');
}
if (asked.FAIL) {
  const said = 'npm error code ' + asked.FAIL + '\\nnpm error network request failed\\nnpm error     at its.own (stack)';
  if (level !== 'silent') console.error(json ? '{}' : said);
  process.exit(1);
}
if (asked.WARN) console.error("npm warn EBADENGINE Unsupported engine {\\nnpm warn EBADENGINE   required: { node: '>=24' }\\nnpm warn EBADENGINE }\\nnpm warn deprecated old@1.0.0");
if (asked.HANG) setInterval(() => {}, 1000), console.log('hangs');
else {
  const [, name, version] = /^(@?[^@]+).*@([^@]+)$/.exec(argv.at(-1));
  const base = join(folder, 'node_modules', name);
  const program = join(base, asked.PROGRAM);
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(join(base, 'package.json'), JSON.stringify({ name, version: asked.OTHER ?? version }));
  writeFileSync(program, 'the program', { mode: 0o700 });
  chmodSync(base, 0o700);
  console.log('added 1 package');
}
`;

let home: string;
let folder: string;
const lines: string[] = [];
const newFolder = () => join(folder, randomUUID());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'install-'));
  folder = join(home, 'agents');
  await mkdir(join(home, 'npm'));
  await writeFile(join(home, 'npm/npm-cli.js'), NPM);
  await writeFile(join(home, 'npm/package.json'), '{"type":"module"}');
  lines.length = 0;
});
afterEach(() => rm(home, { recursive: true, force: true }));

const agentOf = (name: string) => AGENTS.find((agent) => agent.name === name) ?? expect.fail(name);
/** What the stand-in for npm shall do. */
const ask = (what: Readonly<Record<string, string>>) =>
  writeFile(join(home, 'npm/asked.json'), JSON.stringify({ SEEN: join(home, 'seen.json'), ...what }));
const install = async (
  name: string,
  extra: Readonly<Record<string, string>> = {},
  version?: string,
  limitMs?: number,
) => {
  await ask({ PROGRAM: AGENTS.find((agent) => agent.name === name)?.program ?? '', ...extra });
  return installAgent({
    folder,
    newFolder,
    name,
    ...(version ? { version } : {}),
    ...(limitMs ? { limitMs } : {}),
    onLine: (line) => lines.push(line),
    environment: { npm_execpath: join(home, 'npm/npm-cli.js'), ...extra },
  });
};
const seen = async () =>
  JSON.parse(await readFile(join(home, 'seen.json'), 'utf8')) as { argv: string[]; env: object; cwd: string };
const installed = (name: string) => coders({ agentsFolder: folder, commands: {} }).get(name)?.version();

test.each(AGENTS.map(({ name }) => name))('%s is installed in the version that is tested', async (name) => {
  expect(await installed(name)).toBeNull();
  const { tested } = agentOf(name);
  const { version, bytes } = await install(name);
  expect(version).toBe(tested);
  expect(bytes).toBeGreaterThan(0);
  expect(await installed(name)).toBe(tested);
  expect(await readdir(folder)).toEqual([name]);
  expect(lines).toContain('added 1 package');
});

test('no script of a package runs, the version is exact, and no registry is waited for long', async () => {
  await install('codex', {}, '1.2.3');
  const { argv } = await seen();
  expect(argv).toEqual(expect.arrayContaining(['install', '--ignore-scripts', '--no-audit', '--no-fund']));
  expect(argv).toEqual(expect.arrayContaining(['--fetch-retries=2', '--fetch-timeout=60000']));
  expect(argv.at(-1)).toBe(
    `@openai/codex-linux-${process.arch}@npm:@openai/codex@1.2.3-linux-${process.arch}`,
  );
});

/** Names under which operators keep secrets, ours and those of other programs. */
const SECRETS = [
  'ANTHROPIC_API_KEY',
  'PRIVATE_KEY',
  'WEBHOOK_SECRET',
  'DATABASE_URL',
  'S3_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'GITHUB_TOKEN',
  'SSH_AUTH_SOCK',
  'PGPASSWORD',
  'NODE_OPTIONS',
  'npm_config_node_options',
  'npm_config_script_shell',
  'MY_SECRET',
];
/** What npm needs to reach a registry. */
const NEEDED = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  HTTPS_PROXY: 'http://proxy.example',
  no_proxy: 'localhost',
  NODE_EXTRA_CA_CERTS: '/ca.pem',
  NPM_TOKEN: 'for the registry',
  npm_config_registry: 'http://r.example',
  'npm_config_@us:registry': 'http://us.example',
  'npm_config_//r.example/:_authToken': 'for the registry',
  LC_ALL: 'C.UTF-8',
  TMPDIR: '/tmp',
};

test('npm sees the operator’s proxy and registry, and no secret, known or unknown', async () => {
  await install('pi', { ...Object.fromEntries(SECRETS.map((name) => [name, 'canary'])), ...NEEDED });
  const { env } = await seen();
  expect(Object.entries(env).filter(([, value]) => value === 'canary')).toEqual([]);
  expect(env).toMatchObject(NEEDED);
});

test('another user can read and run what was installed', async () => {
  await install('claude-code');
  const { package: name, program } = agentOf('claude-code');
  const base = join(folder, 'claude-code/node_modules', name);
  for (const path of [folder, join(folder, 'claude-code'), base])
    expect((await stat(path)).mode & 0o5).toBe(0o5);
  expect((await stat(join(base, program))).mode & 0o5).toBe(0o5);
});

test('a new version takes the place of the old one', async () => {
  await install('pi', {}, '1.0.0');
  await install('pi', {}, '1.1.0');
  expect(await installed('pi')).toBe('1.1.0');
  expect(await readdir(folder)).toEqual(['pi']);
});

const FAILED = 'AGENT_INSTALL_FAILED';
test.each([
  ['the registry cannot be reached', { FAIL: 'ENOTFOUND' }, FAILED, 'registry could not be reached'],
  [
    'the registry’s certificate is not trusted',
    { FAIL: 'SELF_SIGNED_CERT_IN_CHAIN' },
    FAILED,
    'npm config set cafile FILE',
  ],
  [
    'there is no such version',
    { FAIL: 'ETARGET' },
    'AGENT_UNKNOWN',
    'has no @earendil-works/pi-coding-agent@9.9.9. `npm view @earendil-works/pi-coding-agent versions` lists',
  ],
  ['there is no such package', { FAIL: 'E404' }, 'AGENT_UNKNOWN', `tested with pi@${agentOf('pi').tested}`],
  ['npm fails otherwise', { FAIL: 'EWHATEVER' }, FAILED, 'network request failed'],
  ['npm brought something else', { OTHER: '6.6.6' }, FAILED, 'has no program'],
  ['the disk is full', { FAIL: 'ENOSPC' }, 'DISK_FULL', 'no space is left'],
])('what was installed stays when %s', async (_, extra, code, why) => {
  await install('pi', {}, '1.0.0');
  await expect(install('pi', extra, '9.9.9')).rejects.toMatchObject({
    code,
    message: expect.stringContaining(why),
  });
  expect(await installed('pi')).toBe('1.0.0');
  expect(await readdir(folder)).toEqual(['pi']);
});

test("a version that does not exist is looked up under npm's name of the package", async () => {
  await expect(install('codex', { FAIL: 'ETARGET' }, '9.9.9')).rejects.toMatchObject({
    message: expect.stringContaining('`npm view @openai/codex versions`'),
  });
});

test('a registry without the tested version is not reported as a wrong argument', async () => {
  await expect(install('pi', { FAIL: 'ETARGET' })).rejects.toMatchObject({
    code: 'AGENT_INSTALL_FAILED',
    message: expect.stringContaining('It is the version that Runoff was tested with.'),
  });
});

test.each([
  ['npm_config_loglevel', 'silent'],
  ['NPM_CONFIG_LOGLEVEL', 'silent'],
  ['npm_config_silent', 'true'],
  ['npm_config_json', 'true'],
  ['npm_config_progress', 'true'],
])("npm's reason is reported, whatever the configuration of the outer npm: %s=%s", async (name, value) => {
  await expect(install('pi', { FAIL: 'EWHATEVER', [name]: value })).rejects.toMatchObject({
    message: expect.stringContaining('network request failed'),
  });
  expect(lines).toEqual(['npm error code EWHATEVER', 'npm error network request failed']);
  const { env, argv } = await seen();
  expect(env).not.toHaveProperty(name);
  expect(argv).toEqual(expect.arrayContaining(['--loglevel=warn', '--no-json', '--no-progress']));
});

test('that a package wants another Node than npm’s is not said, other warnings are', async () => {
  await install('pi', { WARN: '1' });
  expect(lines).toEqual(['npm warn deprecated old@1.0.0', 'added 1 package']);
});

test('npm is stopped when it does not finish, and nothing remains', async () => {
  await expect(install('pi', { HANG: '1' }, undefined, 2000)).rejects.toMatchObject({
    code: 'AGENT_INSTALL_FAILED',
    message: expect.stringMatching(/npm was stopped: it had not finished .* after 2 seconds/),
  });
  expect(await readdir(folder)).toEqual([]);
});

test('an npm that is killed begins anew, without what it left; after four times it is an outage', async () => {
  tried({
    id: 'agent-npm-killed',
    part: 'Child processes are killed',
    what: 'The `npm` that installs an agent, or a package manager that a repository asks for.',
    held: 'It is started again in an empty folder; if that does not help, the stage waits.',
  });
  await install('codex', { KILLS: '1' });
  expect(await installed('codex')).toBe(agentOf('codex').tested);
  await expect(install('pi', { KILLS: '9' })).rejects.toMatchObject({
    code: 'PROGRAM_KILLED',
    message: expect.stringMatching(/^npm was killed by SIGKILL 4 times/),
  });
  expect(await readdir(folder)).toEqual(['codex']);
});

test('a package without its program is not put in place', async () => {
  await expect(install('pi', { PROGRAM: 'elsewhere.js' })).rejects.toMatchObject({
    code: 'AGENT_INSTALL_FAILED',
  });
  expect(await installed('pi')).toBeNull();
  expect(await readdir(folder)).toEqual([]);
});

test('a cancelled installation ends and leaves nothing', async () => {
  const stop = new AbortController();
  await ask({ HANG: '1' });
  const going = installAgent({
    folder,
    newFolder,
    name: 'pi',
    onLine: (line) => line === 'hangs' && stop.abort(),
    signal: stop.signal,
    environment: { npm_execpath: join(home, 'npm/npm-cli.js') },
  });
  await expect(going).rejects.toMatchObject({ name: 'AbortError' });
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['evil', undefined, /"evil" cannot be installed. These can: claude-code, codex/],
  ['claud-code', undefined, /"claud-code" cannot be installed. Did you mean claude-code\?/],
  ['builtin', undefined, /"builtin" cannot be installed/],
  ['../pi', undefined, /cannot be installed/],
  [
    'codex',
    'latest',
    new RegExp(`"latest" is not an exact version of codex. Write codex@${agentOf('codex').tested},`),
  ],
  ['pi', '1.0.0 --ignore-scripts=false', /not an exact version/],
])('%s in version %s is refused before anything runs', async (name, version, why) => {
  const refused = { code: 'AGENT_UNKNOWN', message: expect.stringMatching(why) };
  await expect(install(name, {}, version)).rejects.toMatchObject(refused);
  expect(() => installable(name, version)).toThrow(expect.objectContaining(refused));
  await expect(seen()).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a missing npm is reported', async () => {
  await mkdir(join(home, 'empty'));
  await chmod(join(home, 'empty'), 0o755);
  await expect(
    installAgent({
      folder,
      newFolder,
      name: 'pi',
      onLine: () => {},
      environment: { PATH: join(home, 'empty') },
    }),
  ).rejects.toMatchObject({
    code: 'AGENT_INSTALL_FAILED',
    message: expect.stringContaining('npm was not found'),
  });
});
