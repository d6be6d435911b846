import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExecSpec, WorkArea } from '../../src/ports/index.ts';
import { limited, markedSleep, processesWith, type SandboxWorld, sandboxLimits } from './sandbox.limits.ts';

export type { SandboxWorld };

/**
 * The promises of the `Sandbox` port, for every adapter. `isolates: false` leaves out those that hold a command back, for
 * the backend that does not and says so.
 */
export function sandboxContract(
  name: string,
  open: () => Promise<SandboxWorld>,
  { isolates }: { readonly isolates: boolean } = { isolates: true },
): void {
  const isolated = test.skipIf(!isolates);
  describe(`a sandbox on ${name}`, () => {
    let world: SandboxWorld;
    beforeAll(async () => {
      world = await open();
    });
    afterAll(async () => {
      await world.close();
    });
    const exec = (area: WorkArea, argv: ExecSpec['argv'], more: Partial<ExecSpec> = {}) =>
      world.sandbox.exec({ area, argv, limits: limited(), ...more });
    const sh = (area: WorkArea, line: string, more: Partial<ExecSpec> = {}) =>
      exec(area, ['sh', '-c', line], more);

    test('reports that it is ready', async () => {
      const probe = await world.sandbox.probe();
      expect(probe).toMatchObject({ kind: 'ready', detail: expect.any(String) });
      for (const sentence of probe.kind === 'ready' ? probe.weaker : []) {
        expect(sentence).toMatch(/^[A-Z].+\.$/);
      }
    });

    describe('the result', () => {
      test('has exit code and both streams, and lines arrive during the run', async () => {
        const area = world.area();
        const heard: string[] = [];
        const result = await sh(area, 'echo one; echo two >&2; printf three; exit 7', {
          onLine: (line, stream) => heard.push(`${stream}: ${line}`),
        });
        expect(result).toMatchObject({
          exitCode: 7,
          stopped: null,
          stdout: 'one\nthree',
          stderr: 'two\n',
          truncated: false,
        });
        expect(heard.toSorted()).toEqual(['stderr: two', 'stdout: one', 'stdout: three']);
      });

      test('has pipes that show no path of the host', async () => {
        const { stdout } = await sh(world.area(), 'readlink /proc/self/fd/1 /proc/self/fd/2');
        expect(stdout).toMatch(/^pipe:\[\d+\]\npipe:\[\d+\]\n$/);
      });

      test('has what scripts write to /dev/stdout and /dev/stderr', async () => {
        const line =
          'echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee -a /dev/stderr; test -p /dev/stdout';
        const wanted = { exitCode: 0, stdout: 'one\nthree\n', stderr: 'two\nthree\n' };
        expect(await sh(world.area(), line)).toMatchObject(wanted);
      });

      test('has all output of a command that leaves a program behind, which is ended', async () => {
        const left = await sh(world.area(), '(sleep 600; echo late) & seq 1 100000; echo end >&2');
        expect(left).toMatchObject({ exitCode: 0, stopped: null, stderr: 'end\n' });
        expect(left.stdout).toMatch(/\n100000\n$/);
      });

      test('comes from a command that somebody types to, piece by piece', async () => {
        const heard: string[] = [];
        let type = (_text: string) => {};
        let connected = false;
        const result = await sh(
          world.area(),
          'echo ready; while read -r line; do echo "<$line>"; [ "$line" != end ] || exit 4; done',
          {
            input: (write) => {
              connected = true;
              type = (text) => write(Buffer.from(text));
              return () => {
                connected = false;
              };
            },
            onOutput: (bytes) => {
              const text = Buffer.from(bytes).toString();
              heard.push(text);
              if (text.includes('ready')) type('one\n');
              if (text.includes('<one>')) type('end\n');
            },
          },
        );
        expect(result).toMatchObject({ exitCode: 4, stdout: 'ready\n<one>\n<end>\n' });
        expect([heard.join(''), connected]).toEqual([result.stdout, false]);
      });

      test('has no exit code when a signal ended the command', async () => {
        expect(await sh(world.area(), 'kill -SEGV $$')).toMatchObject({ exitCode: null, stopped: null });
      });

      test('of a command that does not exist is 127, of one that is no program 126', async () => {
        const area = world.area({ 'notes.txt': 'words' });
        expect(await exec(area, ['no-such-program'])).toMatchObject({ exitCode: 127, stopped: null });
        expect(await exec(area, ['/repo/notes.txt'])).toMatchObject({ exitCode: 126, stopped: null });
      });

      test('keeps the first and the last half of long output', async () => {
        const line = 'i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done';
        const result = await sh(world.area(), line, { limits: limited({ outputBytes: 1000 }) });
        expect(result).toMatchObject({ exitCode: 0, truncated: true });
        expect(result.stdout).toMatch(/^line 0\nline 1\n/);
        expect(result.stdout).toMatch(/line 19999\n$/);
        expect(result.stdout.length).toBeLessThan(1100);
      });

      test('is a fault of the catalogue when the area does not exist', async () => {
        const area = world.area();
        const broken = { ...area, lowers: [join(area.upper, 'missing')] };
        await expect(exec(broken, ['true'])).rejects.toMatchObject({
          // A checkout that is being made again is back in a moment, which a backend may know.
          code: expect.stringMatching(/^(?:SANDBOX_UNAVAILABLE|PROGRAM_KILLED)$/),
        });
      });

      test('is the error of the line callback, and the command is stopped', async () => {
        const mark = markedSleep();
        const running = sh(world.area(), `echo now; sleep ${mark}`, {
          onLine: () => {
            throw new Error('the caller broke');
          },
        });
        await expect(running).rejects.toThrow('the caller broke');
        expect(processesWith(mark)).toBe(0);
      });
    });

    describe('files', () => {
      test('come from the layers, and written ones stay in their own area', async () => {
        const area = world.area({ 'src/a.txt': 'base\n' });
        const other: WorkArea = { ...world.area(), lowers: area.lowers };
        const change = 'cat src/a.txt; echo changed > src/a.txt; echo new > b.txt; echo kept > ~/notes';
        expect((await sh(area, change)).stdout).toBe('base\n');
        expect((await sh(area, 'cat src/a.txt b.txt ~/notes')).stdout).toBe('changed\nnew\nkept\n');
        expect((await sh(other, 'cat src/a.txt; ls; ls ~')).stdout).toBe('base\nsrc\n');
        expect(readFileSync(join(area.lowers[0] ?? '', 'src/a.txt'), 'utf8')).toBe('base\n');
      });

      test('of several layers come from the topmost', async () => {
        const base = world.area({ 'a.txt': 'base\n', 'b.txt': 'base\n' });
        const layer = world.area({ 'b.txt': 'layer\n' });
        const area: WorkArea = { ...world.area(), lowers: [...layer.lowers, ...base.lowers] };
        expect((await sh(area, 'cat a.txt b.txt')).stdout).toBe('base\nlayer\n');
      });

      test('written by one command are a layer for the next area', async () => {
        const base = world.area({ 'a.txt': 'base\n' });
        await sh(base, 'mkdir deps && echo installed > deps/x');
        const area: WorkArea = { ...world.area(), lowers: [base.upper, ...base.lowers] };
        expect((await sh(area, 'cat a.txt deps/x')).stdout).toBe('base\ninstalled\n');
      });

      isolated(
        'read-only show what was written, take no change, and serve readers side by side',
        async () => {
          const area = world.area({ 'a.txt': 'base\n', 'gone.txt': 'base\n' });
          await sh(area, 'echo changed > a.txt; rm gone.txt');
          const read = () => sh(area, 'cat a.txt; ls; touch x || echo refused', { readOnly: true });
          const results = await Promise.all([read(), read()]);
          for (const { stdout } of results) expect(stdout).toBe('changed\na.txt\nrefused\n');
        },
      );

      isolated('of the host are there where they were asked for, and only to read', async () => {
        const tools = world.folder();
        writeFileSync(join(tools, 'hello'), '#!/bin/sh\necho hello from the host\n');
        chmodSync(join(tools, 'hello'), 0o755);
        const result = await sh(world.area(), '/opt/tools/hello; touch /opt/tools/x || echo refused', {
          binds: [{ from: tools, to: '/opt/tools' }],
        });
        expect(result.stdout).toBe('hello from the host\nrefused\n');
      });

      test.each(['/repo/node_modules', '/home/agent/bin', '/out/x', '/etc/passwd', '/opt/../repo/x', '/opt'])(
        'are never mounted at %s',
        async (to) => {
          const running = exec(world.area(), ['true'], { binds: [{ from: world.folder(), to }] });
          await expect(running).rejects.toThrow('not a valid mount point');
        },
      );

      test('given for HOME exist, belong to the command, and persist', async () => {
        const area = world.area();
        const files = { '.agent/settings.json': '{"grüße":1}', notes: 'given\n' };
        const line = `cat ~/.agent/settings.json ~/notes; stat -c %a ~/notes ~/.agent; test -O ~/notes && test -O ~/.agent; echo $?; echo mine >> ~/notes`;
        const { stdout, stderr } = await sh(area, line, { files });
        expect([stdout, stderr]).toEqual(['{"grüße":1}given\n600\n700\n0\n', '']);
        expect((await sh(area, 'cat ~/notes')).stdout).toBe('given\nmine\n');
        expect((await sh(area, 'cat ~/notes', { files })).stdout).toBe('given\n');
      });

      test.each(['/etc/x', '../x', 'a/../../x', 'a//b', './x', '', 'a/', 'a\0b'])(
        'are never written to %j',
        async (path) => {
          const running = exec(world.area(), ['true'], { files: { [path]: 'text' } });
          await expect(running).rejects.toThrow('no path below');
        },
      );

      test('given for HOME cannot leave it through a link that a command left', async () => {
        const outside = world.folder();
        const area = world.area();
        // The way out that the link takes is open to its writer, which the sandbox hides, not the file modes.
        await sh(area, `ln -s ${outside} ~/folder; ln -s ${outside}/file ~/file`);
        await expect(exec(area, ['true'], { files: { 'folder/planted': 'text' } })).rejects.toMatchObject({
          code: 'SANDBOX_UNAVAILABLE',
        });
        expect((await sh(area, 'cat ~/file', { files: { file: 'text' } })).stdout).toBe('text');
        expect(readdirSync(outside)).toEqual([]);
      });

      test('left in /out belong to the caller', async () => {
        const out = world.folder();
        await sh(world.area(), 'echo report > /out/report.txt', { out });
        expect(readFileSync(join(out, 'report.txt'), 'utf8')).toBe('report\n');
      });

      test('without permissions do not stop the next command', async () => {
        const area = world.area();
        expect(await sh(area, 'chmod 0 /repo ~')).toMatchObject({ exitCode: 0 });
        expect(await sh(area, 'touch /repo/x ~/y')).toMatchObject({ exitCode: 0 });
      });
    });

    describe('the environment of a command', () => {
      test('consists of the named variables only', async () => {
        const result = await exec(world.area(), ['env'], { env: { TASK: 'sum = a b\n"c"' } });
        const names = result.stdout.split('\n').flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);
        expect(names.filter((name) => name !== 'PWD').toSorted()).toEqual([
          'HOME',
          'LANG',
          'PATH',
          'TASK',
          'TMPDIR',
          'USER',
        ]);
        expect(result.stdout).toContain('TASK=sum = a b\n"c"\n');
        // Without a sandbox there is no /opt/toolchain.
        const path = isolates
          ? '/usr/local/bin:/usr/bin:/bin:/opt/toolchain/bin:/home/agent/.local/bin:/home/agent/.cargo/bin:/home/agent/go/bin\n'
          : '/usr/local/bin:/usr/bin:/bin:/';
        expect(result.stdout).toContain(`PATH=${path}`);
      });

      test('includes standard input, read or not', async () => {
        expect((await exec(world.area(), ['cat'], { stdin: 'grüße\n' })).stdout).toBe('grüße\n');
        expect((await exec(world.area(), ['cat'])).stdout).toBe('');
        const unread = await exec(world.area(), ['true'], { stdin: 'x'.repeat(2 ** 20) });
        expect(unread).toMatchObject({ exitCode: 0 });
      });

      isolated('have no network, not even this machine', async () => {
        const server = createTcpServer((socket) => socket.end('host'));
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        const { port } = server.address() as AddressInfo;
        const reached = await new Promise((resolve) =>
          connect(port, '127.0.0.1').on('data', (data) => resolve(`${data}`)),
        );
        const attempt = `require("net").connect(${port}, "127.0.0.1").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))`;
        const result = await exec(world.area(), ['/opt/toolchain/bin/node', '-e', attempt]);
        server.close();
        expect([reached, result.stdout]).toEqual(['host', 'ECONNREFUSED\n']);
      });

      test('includes the gateway if there is one', async () => {
        const socket = join(world.folder(), 'gateway.sock');
        const server = createServer((request, response) => {
          let text = '';
          request.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          request.on('end', () => response.end(`${request.method} ${request.url} ${text}`));
        });
        await new Promise<void>((resolve) => server.listen(socket, resolve));
        chmodSync(socket, 0o666);
        const call = `const r = await fetch("http://127.0.0.1:4711/v1/messages", { method: "POST", body: "hello" }); console.log(process.env.GW_URL, await r.text()); process.exit(5)`;
        const argv = ['/opt/toolchain/bin/node', '--input-type=module', '-e', call] as const;
        const result = await exec(world.area(), [...argv], { gateway: { socket, port: 4711 } });
        server.close();
        server.closeAllConnections();
        expect(result).toMatchObject({
          exitCode: 5,
          stdout: 'http://127.0.0.1:4711 POST /v1/messages hello\n',
        });
      });

      test.each([0, 80, 65_536, 4711.5])('has no gateway at port %s', async (port) => {
        const socket = join(world.folder(), 'gateway.sock');
        const running = exec(world.area(), ['true'], { gateway: { socket, port } });
        await expect(running).rejects.toThrow('not a port');
      });

      test('keeps exit codes, signals and variables behind the gateway', async () => {
        const socket = join(world.folder(), 'gateway.sock');
        const server = createServer();
        await new Promise<void>((resolve) => server.listen(socket, resolve));
        chmodSync(socket, 0o666);
        const through = (argv: ExecSpec['argv']) =>
          exec(world.area(), argv, { gateway: { socket, port: 4711 }, env: { TASK: 'x' }, stdin: 'typed' });
        expect(await through(['sh', '-c', 'echo $TASK; cat; exit 3'])).toMatchObject({
          exitCode: 3,
          stdout: 'x\ntyped',
        });
        expect(await through(['sh', '-c', 'kill -KILL $$'])).toMatchObject({ exitCode: null, stopped: null });
        expect(await through(['no-such-program'])).toMatchObject({ exitCode: 127 });
        server.close();
      });
    });

    sandboxLimits(() => world);
  });
}
