#!/usr/bin/env node
// Brings a fresh clone to where Runoff can run: npm packages (Node 24 among them) and bubblewrap.
// Runs on the host's own Node, so it uses nothing but Node's standard library.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const quiet = process.argv.includes('--quiet');
const production = process.argv.includes('--production');
const stamp = join(root, 'node_modules', '.runoff-setup');

const say = (text) => process.stderr.write(`${text}\n`);
const stop = (text) => {
  say(text);
  process.exit(1);
};

/** Of the environment, what the installation of agents passes on too: children of set-up see no key of the operator's. */
const names = JSON.parse(readFileSync(join(root, 'src/adapters/coders/npm-environment.json'), 'utf8'));
const allowed = new RegExp(`^(?:${names.join('|')})$`, 'i');
const allowedEntries = Object.entries(process.env).filter(([name]) => allowed.test(name));
/** npm's settings, among them the login of its registry: for npm alone. */
const ofNpm = /^(?:npm_|node_auth_token$)/i;
const npmEnvironment = Object.fromEntries(allowedEntries);
const environment = Object.fromEntries(allowedEntries.filter(([name]) => !ofNpm.test(name)));

function run(command, args, more = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { ...environment, ...more },
  });
  return { ok: result.status === 0, output: `${result.stdout ?? ''}${result.stderr ?? ''}`.trim() };
}

function checkHost() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) stop(`Runoff needs Node 20 or newer to set itself up; this is ${process.version}.`);
  if (!run('git', ['--version']).ok) stop('Runoff needs git. On Debian: sudo apt-get install git');
}

/** The lock file's hash, and whether development packages are wanted: a match means there is nothing to install. */
const wanted = (withDev) =>
  `${createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')} ${withDev ? 'all' : 'production'}`;

function installPackages() {
  const have = existsSync(stamp) ? readFileSync(stamp, 'utf8').trim() : '';
  if (have === wanted(true) || (production && have === wanted(false))) return;
  // Who develops here keeps the development packages when a production command finds a new lock file.
  const omitDev = production && !have.endsWith(' all');
  say('Setting up: installing npm packages (once, about half a minute) …');
  const npm = process.env.npm_execpath?.endsWith('.js')
    ? [process.execPath, [process.env.npm_execpath]]
    : ['npm', []];
  const args = [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...(omitDev ? ['--omit=dev'] : []),
  ];
  const result = run(npm[0], [...npm[1], ...args], npmEnvironment);
  if (!result.ok) stop(`npm could not install the packages:\n${result.output}`);
  writeFileSync(stamp, `${wanted(!omitDev)}\n`);
}

function checkRuntime() {
  const node = join(root, 'node_modules', '.bin', 'node');
  if (!run(node, ['--version']).ok) {
    stop(
      'Node 24 for this platform did not install. Runoff runs on Linux x64 and arm64; elsewhere use the container.',
    );
  }
}

function installBubblewrap() {
  if (run('bwrap', ['--version']).ok) return;
  const byHand =
    'Runoff runs every candidate in a bubblewrap sandbox and never without one. Install it with:\n\n    sudo apt-get install bubblewrap\n';
  const debian = existsSync('/usr/bin/apt-get');
  if (process.platform !== 'linux' || !debian || process.getuid?.() !== 0) stop(byHand);
  say('Setting up: installing bubblewrap (Debian package) …');
  const unasked = { DEBIAN_FRONTEND: 'noninteractive' };
  const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', 'bubblewrap'], unasked);
  if (!install().ok) {
    run('apt-get', ['update', '-q'], unasked);
    const second = install();
    if (!second.ok) stop(`${byHand}\napt-get said:\n${second.output.split('\n').slice(-6).join('\n')}`);
  }
}

checkHost();
installPackages();
checkRuntime();
installBubblewrap();
if (!quiet) say('Runoff is set up. Next: npm run demo');
