#!/usr/bin/env node
// `npm run pack` makes the package that people install, as `npm pack` does, and records the commit in it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const info = join(root, 'build-info.json');

function output(command, ...args) {
  const result = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (result.status !== 0) throw new Error(`\`${command} ${args[0]}\` failed: the package was not made.`);
  return result.stdout.trim();
}

const commit = output('git', 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*');
const folder = process.argv[2] ?? join(root, 'dist');
mkdirSync(folder, { recursive: true });
writeFileSync(info, `${JSON.stringify({ commit })}\n`);
try {
  const [packed] = JSON.parse(output('npm', 'pack', '--json', `--pack-destination=${folder}`));
  process.stdout.write(`${join(folder, packed.filename)}\n`);
} finally {
  rmSync(info);
}
