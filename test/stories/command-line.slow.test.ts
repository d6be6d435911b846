import { type ChildProcess, execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import type { RunDocument } from '../../src/core/reports/index.ts';
import { ISSUE } from '../../src/demo/sample/index.ts';
import { atTerminal, withXdgOpen } from '../world/terminal.ts';

/** As the sample's scripts have them; npm takes longer to start than they take. */
const CHECKS = { build: 'node scripts/build.mjs', test: 'node --test' };
const coders = ['anthropic/scripted-heron', 'openai/scripted-otter', 'anthropic/scripted-mole'].map(
  (model) => ({ agent: 'builtin', model }),
);
const settings = (more: object = {}) => stringify({ candidates: 4, checks: CHECKS, coders, ...more });
/** Waits for what a process says on standard error. */
function sayingOf(child: ChildProcess) {
  let said = '';
  child.stderr?.on('data', (data: Buffer) => {
    said += data.toString();
  });
  return (words: RegExp): Promise<RegExpExecArray> =>
    vi.waitFor(() => words.exec(said) ?? Promise.reject(new Error(said)), {
      timeout: 300_000,
      interval: 100,
    });
}

const PROMPT = `${ISSUE.title}\n\n${ISSUE.body}`;

test('runoff run on a local repository leaves every candidate on a branch and names the winner', () =>
  atTerminal({ firstTime: true, settings: settings() }, async (me) => {
    const before = await me.git('rev-parse', 'HEAD');
    const ended = await me.runoff('run', PROMPT, '-n', '3', '--json', '--trace', join(me.home, 'trace.json'));
    expect(ended).toMatchObject({ code: 0 });
    const { run, branches, merge } = JSON.parse(ended.out) as RunDocument;

    expect(run).toMatchObject({ state: 'published', decision: { kind: 'winner', confidence: 'clear' } });
    const winner = run.decision?.alias ?? '';
    expect(merge).toContain(`runoff/${run.id}/${winner}`);
    expect(Object.keys(branches ?? {}).toSorted()).toEqual(['A', 'B', 'C']);
    expect(await me.git('status', '--porcelain')).toBe('');
    expect(await me.git('rev-parse', 'HEAD')).toBe(before);

    // The merge command works, and the project's own tests then pass with the candidate's new ones.
    await me.git('merge', '--no-edit', `runoff/${run.id}/${winner}`);
    expect(await me.git('diff', '--stat', before, 'HEAD')).toContain('src/csv.js');

    // What was kept can be read again; nothing of the clones is left.
    const shown = await me.runoff('show', run.id, winner);
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('diff --git') });
    expect(await me.runoff('runs')).toMatchObject({ code: 0, out: expect.stringContaining(run.id) });
    expect(await readdir(join(me.home, 'data', 'areas'))).toEqual([]);

    // Where the time went: stages, candidates and their commands.
    const trace = await readFile(join(me.home, 'trace.json'), 'utf8');
    for (const name of ['examine', 'candidate A', 'x-A-base sh', 'prepare'])
      expect(trace).toContain(`"${name}"`);
  }));

test('runoff run without a survivor ends with exit code 3 and a table of reasons', () =>
  atTerminal({ settings: settings({ adaptive: { repair: false, oneMore: false } }) }, async (me) => {
    const models = 'anthropic/scripted-mole,anthropic/scripted-idle';
    const ended = await me.runoff('run', PROMPT, '--models', models, '-n', '2');
    expect(ended.code).toBe(3);
    expect(ended.out).toMatch(/breaks 2 existing tests/);
    expect(ended.out).toMatch(/1 test was removed/);
    expect(ended.err).toMatch(/running the coders/);
  }));

const refusals: readonly [string, readonly string[], RegExp, number][] = [
  [
    'the folder is no repository',
    ['run', 'x', '--repo', '/usr'],
    /\/usr.*→ Name a folder of a git repository/s,
    2,
  ],
  ['the base does not exist', ['run', 'x', '--base', 'no-such'], /no-such.*→ Name an existing branch/s, 2],
  [
    'the agent does not exist',
    ['run', 'x', '--coders', 'nobody'],
    /nobody.*builtin.*→ Run `runoff agents`/s,
    2,
  ],
  [
    'the price is unknown',
    ['run', 'x', '--models', 'openai/no-such-model'],
    /No price is known.*Next: Choose a model with a known price/s,
    1,
  ],
  ['the option does not exist', ['run', 'x', '--candidate', '3'], /unknown option.*--candidates/s, 2],
  ['the run does not exist', ['show', 'r0000000000'], /r0000000000.*→ Run `runoff runs`/s, 2],
];

test('bad input gives one clear message with the next step', () =>
  atTerminal({}, async (me) => {
    for (const [, argv, words, code] of refusals) {
      const ended = await me.runoff(...argv);
      const said = ended.out + ended.err;
      expect({ argv, code: ended.code, said }).toEqual({ argv, code, said: expect.stringMatching(words) });
    }
  }));

test('a run on a repository with uncommitted changes starts from the last commit and says so', () =>
  atTerminal({}, async (me) => {
    await writeFile(join(me.repository, 'scratch.txt'), 'not committed\n');
    const ended = await me.runoff('run', PROMPT, '--models', 'no-such-model');
    expect(ended.err).toMatch(/uncommitted changes.*start from the last commit of main/s);
    expect(ended).toMatchObject({ code: 2, err: expect.stringMatching(/no-such-model is not a model/) });
  }));

test('a run with --include-changes starts from the working tree as it is, and its result fits onto it', () =>
  atTerminal({ settings: settings() }, async (me) => {
    await writeFile(join(me.repository, 'scratch.txt'), 'not committed\n');
    await appendFile(join(me.repository, 'README.md'), '\nMy own words.\n');
    const head = await me.git('rev-parse', 'HEAD');
    const ended = await me.runoff('run', PROMPT, '-n', '2', '--include-changes', '--json');
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.err).toContain(
      'The coders and their models see 2 uncommitted files:\n  scratch.txt (new)\n  README.md\n',
    );
    expect(await me.git('rev-parse', 'HEAD')).toBe(head);
    expect(await me.git('status', '--porcelain')).toBe('M README.md\n?? scratch.txt');
    expect(await me.git('stash', 'list')).toBe('');

    const { run, merge } = JSON.parse(ended.out) as RunDocument;
    expect(run.base).toMatchObject({ ref: 'main', uncommitted: true });
    const branch = `runoff/${run.id}/${run.decision?.alias}`;
    expect(await me.git('show', `${branch}:scratch.txt`)).toBe('not committed');
    // The command that the report names takes the candidate's changes over, and leaves the others.
    execFileSync('sh', ['-c', merge ?? 'false'], { cwd: me.repository });
    expect(await me.git('diff', '--name-only')).toMatch(/README\.md[\s\S]*src\/csv\.js/);
    expect(await readFile(join(me.repository, 'scratch.txt'), 'utf8')).toBe('not committed\n');
  }));

/** Opens an address that is good for one opening, as a browser does; resolves with the page that it leads to. */
async function entered(
  address: string,
): Promise<{ readonly page: URL; readonly html: () => Promise<string> }> {
  const answer = await fetch(address, { redirect: 'manual' });
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const page = new URL(answer.headers.get('location') ?? '', address);
  return { page, html: async () => (await fetch(page, { headers: { cookie } })).text() };
}

test('run --open shows the page of the run until Ctrl-C, and prints its address without a browser', () =>
  withXdgOpen('exit 3', (tools) =>
    atTerminal({ env: { PATH: `${tools}:${process.env.PATH}` }, settings: settings() }, async (me) => {
      const { child, ended } = me.start('run', PROMPT, '-n', '2', '--open');
      const said = sayingOf(child);
      const [address] = await said(/http:\/\/127\.0\.0\.1:\d+\/\S+/);
      const { page, html } = await entered(address);
      await said(/The page stays open until you press Ctrl-C/);
      expect(await html()).toContain(ISSUE.title);
      child.kill('SIGINT');
      expect(await ended).toMatchObject({
        code: 0,
        err: expect.stringMatching(/No browser was opened by xdg-open/),
      });
      await expect(fetch(page)).rejects.toThrow();
    }),
  ));

test('run --open gives the browser a private file that leads to the page, and stopping the run removes both', () =>
  withXdgOpen('cp "$1" "$SEEN/opened.html" && echo "$1" > "$SEEN/file"', (tools) => {
    const env = { PATH: `${tools}:${process.env.PATH}`, SEEN: tools };
    return atTerminal({ env, settings: settings() }, async (me) => {
      const { child, ended } = me.start('run', PROMPT, '-n', '2', '--open');
      const said = sayingOf(child);
      await said(/Opened the page of the run in your browser/);
      const [, id = ''] = await said(/^Run (r[0-9a-z]+)\./m);
      const file = (await readFile(join(tools, 'file'), 'utf8')).trim();
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const [, address = ''] = /url=([^"]+)"/.exec(await readFile(join(tools, 'opened.html'), 'utf8')) ?? [];
      const { page, html } = await entered(address);
      expect(page.pathname).toBe(`/runs/${id}`);
      expect(await html()).toContain(ISSUE.title);
      // A second opening of the address is refused, and the address is in no text of the terminal.
      expect((await fetch(address, { redirect: 'manual' })).headers.get('set-cookie')).toBeNull();

      child.kill('SIGINT');
      const { code, out, err } = await ended;
      expect(code).toBe(130);
      expect(err).toContain(`runoff resume ${id}`);
      expect(out + err).not.toContain(new URL(address).host);
      await expect(fetch(page)).rejects.toThrow();
      expect(existsSync(file)).toBe(false);
    });
  }));

test('an empty repository is refused with advice', () =>
  atTerminal({}, async (me) => {
    const folder = await mkdtemp(join(tmpdir(), 'runoff-empty-'));
    try {
      await me.git('init', '--quiet', folder);
      expect(await me.runoff('run', PROMPT, '--repo', folder)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/no commit yet/),
      });
      expect(await me.runoff('runs')).toMatchObject({ out: expect.stringContaining('No runs yet') });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }));

test('the App on a busy port ends with one message, and leaves nothing running', async () => {
  const busy = createServer();
  busy.listen(0, '127.0.0.1');
  await once(busy, 'listening');
  const { port } = busy.address() as AddressInfo;
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const app = { APP_ID: '1', PRIVATE_KEY: privateKey, WEBHOOK_SECRET: 'a secret of the webhooks' };
  try {
    await atTerminal({ env: { ...app, HOST: '127.0.0.1', PORT: String(port) } }, async (me) => {
      expect(await me.runoff('serve')).toMatchObject({
        code: 1,
        err: expect.stringMatching(/Cannot listen on 127\.0\.0\.1.*another program listens there/),
      });
      const pg = join(me.home, 'data', 'pg');
      const [cluster = ''] = (await readdir(pg)).filter((name) => /^pg\d+$/.test(name));
      expect(existsSync(join(pg, cluster, 'base'))).toBe(true);
      expect(existsSync(join(pg, cluster, 'postmaster.pid'))).toBe(false);
    });
  } finally {
    busy.close();
  }
});

test('runoff run without a key says which one to set, and spends nothing', () =>
  atTerminal(
    {
      settings: stringify({ candidates: 2 }),
      env: { ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '', OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
    },
    async (me) => {
      expect(await me.runoff('run', PROMPT)).toMatchObject({
        code: 1,
        out: expect.stringMatching(/ANTHROPIC_API_KEY/),
      });
    },
  ));
