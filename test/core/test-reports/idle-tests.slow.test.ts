import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inForm, reportPlan } from '../../../src/core/settings/index.ts';
import { readTestReport } from '../../../src/core/test-reports/index.ts';

/** Files of tests that take longer than the half minute after which idle ones are ended, and two that never end. */
const FILES = {
  'leaves-a-server.test.mjs': `import { createServer } from 'node:net';
    import { test } from 'node:test';
    test('passes', () => {});
    test('fails', () => { createServer().listen(0); throw new Error('no'); });`,
  'waits-for-nobody.test.mjs': `import { createServer } from 'node:net';
    import { test } from 'node:test';
    process.on('SIGTERM', () => process.exit(0));
    test('passes', () => {});
    test('listens', async () => { createServer().listen(0); await new Promise(() => {}); });`,
  // As a database does, outside of the process: each answer takes a second.
  'slow-server.mjs': `import { createServer } from 'node:net';
    const answer = (socket) => socket.on('data', () => setTimeout(() => socket.write('row'), 1_000));
    const server = createServer(answer).listen(0, () => console.log(server.address().port));`,
  'asks-a-server.test.mjs': `import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    import { connect } from 'node:net';
    import { after, test } from 'node:test';
    const server = spawn(process.execPath, ['slow-server.mjs'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = await once(server.stdout, 'data');
    server.unref();
    server.stdout.destroy();
    const socket = connect(Number(port));
    for (let each = 1; each <= 34; each += 1)
      test('query ' + each, async () => { socket.write('?'); await once(socket, 'data'); });
    after(() => { socket.end(); server.kill(); });`,
  // A program of the project that loads Node's tests for its mocks.
  'helper.mjs': `import { createServer } from 'node:http';
    import { mock } from 'node:test';
    const server = createServer((_, response) => response.end(typeof mock.fn));
    server.listen(0, () => console.log(server.address().port));`,
  'starts-a-program.test.mjs': `import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    import { test } from 'node:test';
    import { setTimeout } from 'node:timers/promises';
    test('program still answers', async () => {
      const helper = spawn(process.execPath, ['helper.mjs'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [port] = await once(helper.stdout, 'data');
      await setTimeout(35_000);
      if ((await (await fetch('http://localhost:' + Number(port))).text()) !== 'function') throw new Error('no');
      helper.kill();
    });`,
};

const PACKAGE = { 'package.json': JSON.stringify({ scripts: { test: 'node --test --test-concurrency=8' } }) };

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'runoff-idle-'));
  for (const [name, text] of Object.entries({ ...FILES, ...PACKAGE })) writeFileSync(join(dir, name), text);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Node 20 where it is the system's. */
const NODES = [
  ['the Node of this process', ''],
  ...(existsSync('/usr/bin/node') ? [['the Node of the system', '/usr/bin:'] as const] : []),
] as const;

describe.concurrent('files of Node’s tests that do nothing', () => {
  test.each(NODES)('are ended, and no others are, by %s', { timeout: 120_000 }, async (_node, path) => {
    const folder = mkdtempSync(join(dir, 'report-'));
    const [planned] = reportPlan('npm test', PACKAGE, folder).commands;
    const exiting = planned && inForm(planned, 'exit');
    if (exiting?.report?.source !== 'file') throw new Error('no such command is planned');
    const env = { PATH: `${path}${process.env.PATH}`, HOME: folder, ...exiting.env };
    const child = spawn('sh', ['-c', exiting.command], { cwd: dir, env, stdio: 'ignore' });
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(1);
    const text = readFileSync(exiting.report.file, 'utf8').replaceAll(`${dir}/`, '/repo/');
    const read = readTestReport(exiting.report.format, text);
    if (read.kind !== 'ok') throw new Error(read.why);
    const of = (file: string) => Object.entries(read.tests).filter(([id]) => id.includes(file));
    const outcomes = (file: string) => of(file).map(([, outcome]) => outcome);
    expect(outcomes('asks-a-server')).toEqual(Array(34).fill('passed'));
    expect(outcomes('starts-a-program')).toEqual(['passed']);
    expect(of('leaves-a-server').map(([id]) => id)).toEqual(
      expect.arrayContaining([expect.stringContaining('passes'), expect.stringContaining('fails')]),
    );
    expect(outcomes('waits-for-nobody')).toEqual(expect.arrayContaining(['passed', 'failed']));
  });
});
