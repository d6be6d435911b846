import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withNodeHeaders } from '../../../src/core/settings/index.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runoff-headers-'));
  mkdirSync(join(folder, 'node 24/bin'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'node 24/bin/node'), '#!/bin/sh\n', { mode: 0o755 });
  symlinkSync('../node 24/bin/node', join(folder, 'bin/node'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const printed = (command: string, env: Readonly<Record<string, string>> = {}) =>
  execFileSync('sh', ['-c', withNodeHeaders(command)], {
    encoding: 'utf8',
    env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, ...env },
  });

const NPM = 'npm() { echo "headers: $npm_config_nodedir"; }; npm';

test('native packages are compiled with the headers beside the Node on PATH', () => {
  expect(printed(NPM)).toBe('headers: \n');
  mkdirSync(join(folder, 'node 24/include/node'), { recursive: true });
  writeFileSync(join(folder, 'node 24/include/node/node_version.h'), '');
  expect(printed(NPM)).toBe(`headers: ${join(folder, 'node 24')}\n`);
});

test('headers that a person has chosen, and commands that may use another Node, stay as they are', () => {
  mkdirSync(join(folder, 'node 24/include/node'), { recursive: true });
  writeFileSync(join(folder, 'node 24/include/node/node_version.h'), '');
  expect(printed(NPM, { npm_config_nodedir: '/opt/node' })).toBe('headers: /opt/node\n');
  expect(printed(NPM, { NPM_CONFIG_NODEDIR: '/opt/node' })).toBe('headers: \n');
  const others = ['cargo build', 'nvm use && npm ci', 'export PATH=/opt/18/bin:$PATH; npm ci'];
  for (const command of others) expect(withNodeHeaders(command)).toBe(command);
});
