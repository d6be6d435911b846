import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { atTerminal } from '../world/terminal.ts';

const settings = (setup: string) =>
  stringify({ checks: { setup, build: '', test: 'node --test test/csv.test.js' } });

/** Types a line each time that the shell waits for one. */
function typeTo(
  started: { readonly child: import('node:child_process').ChildProcess },
  lines: readonly string[],
): void {
  const left = [...lines];
  let seen = '';
  started.child.stdout?.on('data', (data: Buffer) => {
    seen += data.toString();
    const line = seen.includes('sandbox:') ? left.shift() : undefined;
    if (line === undefined) return;
    seen = '';
    started.child.stdin?.write(`${line}\n`);
  });
}

test('a shell after prepare has the packages of set-up, no network and no file of this machine, and says how it ended', () =>
  atTerminal(
    { settings: settings('mkdir installed && echo one > installed/one && echo two > ~/two') },
    async (me) => {
      const started = me.startAtTerminal('prepare', '--shell');
      typeTo(started, [
        'echo "<$(cat installed/one ~/two | tr "\\n" ,)$(pwd)>" "<$TERM>"',
        `ls ${me.home} 2>&1 | grep -c "No such"`,
        'curl --silent --max-time 2 https://example.org; echo "<curl $?>"',
        'touch changed; exit 9',
      ]);
      const { code, out } = await started.ended;
      expect(out).toContain('<one,two,/repo>');
      expect(out).toMatch(/\n1\r/);
      expect(out).toMatch(/<curl [1-9]\d*>/);
      expect(code).toBe(9);
      expect(await me.git('status', '--porcelain')).toBe('');
    },
  ));

test('where set-up fails, the shell shows the repository without packages', () =>
  atTerminal({ settings: settings('echo no such package >&2; exit 3') }, async (me) => {
    const started = me.startAtTerminal('prepare', '--shell');
    typeTo(started, ['echo "<$(ls package.json)>"; exit']);
    const { code, out } = await started.ended;
    expect(out).toContain('A shell in the sandbox without installed packages.');
    expect(out).toContain('no such package');
    expect(out).toContain('<package.json>');
    expect(code).toBe(0);
  }));

test('a service that does not start is named in the shell, which opens all the same', () =>
  atTerminal({ settings: settings('true') }, async (me) => {
    const workflow = join(me.repository, '.github/workflows/ci.yml');
    await mkdir(dirname(workflow), { recursive: true });
    // No program in a sandbox can have this port.
    const services = { db: { image: 'postgres:15', ports: ['80:5432'] } };
    const job = { 'runs-on': 'ubuntu-latest', services, steps: [{ run: 'npm test' }] };
    await writeFile(workflow, stringify({ on: 'push', jobs: { test: job } }));
    await me.git('add', '-A');
    await me.git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-q', '-m', 'CI');
    const started = me.startAtTerminal('prepare', '--shell');
    typeTo(started, ['echo "<$(ls package.json)>"; exit']);
    const { code, out } = await started.ended;
    expect(out).toMatch(
      /A shell in the sandbox\..*Postgres \(db\) does not start for the tests: .*<package\.json>/s,
    );
    expect(code).toBe(0);
  }));

test('without a terminal, it says that it needs one', () =>
  atTerminal({}, async (me) => {
    const piped = await me.runoff('prepare', '--shell');
    expect(piped).toMatchObject({ code: 2, err: expect.stringContaining('`--shell` needs a terminal') });
    expect(await me.runoff('prepare', '--shell', '--json')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/needs a terminal|no JSON/),
    });
  }));
