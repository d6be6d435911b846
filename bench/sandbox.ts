// What sandbox and gateway cost, against the same work done without them: the start of a command; one call to a model
// (through bridge, unix socket and gateway, against straight to the model server); one candidate of the builtin coder,
// from the opening of its area to the end of the program. The model is scripted and answers at once, and the ledger is
// in memory, so that nothing but the two is measured. Prints ratios.
//   CALLS=200 CANDIDATES=10 node bench/sandbox.ts
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BUILTIN_PATH, bundleBuiltinCoder } from '../src/adapters/coders/index.ts';
import { memoryLedger, openGateway } from '../src/adapters/gateway/index.ts';
import { openWorkspaces } from '../src/adapters/git/index.ts';
import { openBubblewrap, prepareToolchain } from '../src/adapters/sandbox/index.ts';
import { systemClock } from '../src/adapters/system/index.ts';
import { type ScriptedModels, startScriptedModels } from '../src/demo/scripted-models/index.ts';
import {
  type BaseCheckout,
  DEFAULT_LIMITS,
  type ExecSpec,
  type Gateway,
  type Sandbox,
  type Workspaces,
} from '../src/ports/index.ts';
import { silent } from '../test/world/silent-log.ts';
import { quantile } from './numbers.ts';

const CALLS = Number(process.env.CALLS ?? 200);
const CANDIDATES = Number(process.env.CANDIDATES ?? 10);
const STARTS = 40;
const PORT = 8_089;
const MODEL = 'bench';
const OWNER = process.getuid?.() === 0 ? { uid: 64190, gid: 64190 } : null;
const NODE_INSIDE = '/opt/toolchain/bin/node';
const CALLER_INSIDE = '/run/bridge/caller.mjs';

/** Calls the model one after the other; prints the milliseconds to the first byte and to the end of each answer. */
const CALLER = `
const body = JSON.stringify({ model: '${MODEL}', max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'go' }] });
const headers = { 'content-type': 'application/json', 'x-api-key': process.env.GW_KEY, 'anthropic-version': '2023-06-01' };
const times = [];
for (let at = 0; at < ${CALLS + 10}; at += 1) {
  const began = performance.now();
  const answer = await fetch(process.env.GW_URL + '/v1/messages', { method: 'POST', headers, body });
  if (answer.status !== 200) throw new Error(answer.status + ' ' + (await answer.text()));
  let first = 0;
  for await (const chunk of answer.body) first ||= chunk.length && performance.now() - began;
  times.push([first, performance.now() - began]);
}
console.log(JSON.stringify(times.slice(10)));
`;

interface Bench {
  readonly root: string;
  readonly sandbox: Sandbox;
  readonly workspaces: Workspaces;
  readonly gateway: Gateway;
  readonly models: ScriptedModels;
  readonly base: BaseCheckout;
  /** The coder's program on the host. */
  readonly builtin: string;
  readonly caller: string;
}

async function open(root: string): Promise<Bench> {
  const toolchain = await prepareToolchain({ dir: join(root, 'toolchain'), owner: OWNER });
  const builtin = join(toolchain.dir, 'coders', 'builtin.mjs');
  await bundleBuiltinCoder(builtin);
  const caller = join(root, 'caller.mjs');
  writeFileSync(caller, CALLER);
  const scratch = join(root, 'scratch');
  mkdirSync(scratch);
  if (OWNER) execFileSync('chown', [`${OWNER.uid}:${OWNER.gid}`, scratch]);
  const sandbox = openBubblewrap({ toolchain: toolchain.dir, owner: OWNER, scratch });
  const workspaces = openWorkspaces({ dataDir: join(root, 'data'), sandbox, owner: OWNER, log: silent });
  const turns = Array.from({ length: 8 }, (_, at) => ({
    kind: 'call' as const,
    text: `Step ${at}.`,
    tool: 'bash',
    input: { command: `echo ${at} >> a.txt; ls > /dev/null` },
  }));
  const models = await startScriptedModels({ scripts: { [MODEL]: { turns } } });
  const gateway = openGateway({
    dir: join(root, 'gw'),
    providers: {
      anthropic: { key: 'bench', baseUrl: models.url, official: true, protocols: ['anthropic'] },
    },
    prices: { [`anthropic/${MODEL}`]: { input: 1, output: 1 } },
    dayCaps: { repositoryUsd: 1e6, everythingUsd: 1e6 },
    ledger: memoryLedger(),
    clock: systemClock,
    log: silent,
  });
  return {
    root,
    sandbox,
    workspaces,
    gateway,
    models,
    base: await prepare(root, workspaces),
    builtin,
    caller,
  };
}

async function prepare(root: string, workspaces: Workspaces): Promise<BaseCheckout> {
  const path = join(root, 'repository');
  mkdirSync(path);
  writeFileSync(join(path, 'a.txt'), 'one\n');
  const as = ['-c', 'user.name=B', '-c', 'user.email=b@example.org'];
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...as, 'commit', '-q', '-m', 'Start'],
  ]) {
    execFileSync('git', args, { cwd: path });
  }
  const sha = await workspaces.resolve({ kind: 'local', path }, 'HEAD');
  if (!sha) throw new Error('The repository has no commit.');
  return workspaces.prepare({ kind: 'local', path }, sha);
}

/** Runs a command on the host and resolves with its output. */
async function onHost(argv: readonly string[], env: Record<string, string>, cwd: string, input = '') {
  const [file = '', ...args] = argv;
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // A program may end without reading.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const said = await text(child.stdout);
  const code = await ended;
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with exit code ${code}: ${said.slice(-500)}`);
  return said;
}

let leases = 0;
/** Runs a command in a fresh area with a lease of its own, and resolves with its output. */
async function inSandbox(bench: Bench, argv: ExecSpec['argv'], more: Partial<ExecSpec> = {}) {
  leases += 1;
  const area = await bench.workspaces.open(bench.base, `bench-${leases}`);
  const lease = await bench.gateway.open({
    runId: `bench${leases}`,
    spender: 'A',
    repository: 'local-bench',
    models: [`anthropic/${MODEL}`],
    capUsd: 1e5,
    runCapUsd: 1e5,
    ttlMs: 600_000,
  });
  try {
    const result = await bench.sandbox.exec({
      area,
      argv,
      env: { GW_KEY: lease.key },
      gateway: { socket: lease.socket, port: PORT },
      limits: DEFAULT_LIMITS,
      ...more,
    });
    if (result.exitCode !== 0) throw new Error(`${argv.join(' ')} failed: ${result.stdout} ${result.stderr}`);
    return result.stdout;
  } finally {
    await lease.close();
    await bench.workspaces.remove(area);
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function row(name: string, without: readonly number[], within: readonly number[]): void {
  const ms = (value: number): string => value.toFixed(1);
  const [p50, p95] = [0.5, 0.95].map((share) => [quantile(without, share), quantile(within, share)] as const);
  if (!p50 || !p95) return;
  console.log(
    `| ${name} | ${ms(p50[0])} | ${ms(p50[1])} | ${ms(p50[1] - p50[0])} | ${(p50[1] / p50[0]).toFixed(2)} | ${ms(p95[0])} | ${ms(p95[1])} |`,
  );
}

async function starts(bench: Bench): Promise<void> {
  const area = await bench.workspaces.open(bench.base, 'bench-start');
  const [plain, boxed]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < STARTS; turn += 1) {
    plain.push(await timed(() => onHost(['true'], {}, bench.root)));
    boxed.push(await timed(() => bench.sandbox.exec({ area, argv: ['true'], limits: DEFAULT_LIMITS })));
  }
  await bench.workspaces.remove(area);
  row('start of a command', plain, boxed);
}

async function calls(bench: Bench): Promise<void> {
  const direct = { GW_URL: bench.models.url, GW_KEY: 'bench' };
  const [plain, boxed]: [[number, number][], [number, number][]] = [[], []];
  // Twice in turns: a machine that is busy for a while is so for both.
  for (let turn = 0; turn < 2; turn += 1) {
    plain.push(...JSON.parse(await onHost([process.execPath, bench.caller], direct, bench.root)));
    const binds = [{ from: bench.caller, to: CALLER_INSIDE }];
    boxed.push(...JSON.parse(await inSandbox(bench, [NODE_INSIDE, CALLER_INSIDE], { binds })));
  }
  const part = (times: [number, number][], which: 0 | 1) => times.map((each) => each[which]);
  row('model call, first byte', part(plain, 0), part(boxed, 0));
  row('model call, complete answer', part(plain, 1), part(boxed, 1));
}

async function candidates(bench: Bench): Promise<void> {
  const args = ['--protocol=anthropic', `--model=${MODEL}`, '--wall-seconds=300', '--seed=0'];
  const direct = { GW_URL: bench.models.url, GW_KEY: 'bench', HOME: bench.root };
  const stdin = 'Add some lines.';
  const [plain, boxed]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < CANDIDATES; turn += 1) {
    const copy = join(bench.root, `copy-${turn}`);
    plain.push(
      await timed(async () => {
        cpSync(bench.base.lower, copy, { recursive: true });
        await onHost([process.execPath, bench.builtin, ...args], direct, copy, stdin);
        rmSync(copy, { recursive: true });
      }),
    );
    boxed.push(await timed(() => inSandbox(bench, [NODE_INSIDE, BUILTIN_PATH, ...args], { stdin })));
  }
  row('candidate with 9 model calls and 8 commands', plain, boxed);
}

const root = mkdtempSync(join(tmpdir(), 'rob-'));
chmodSync(root, 0o755);
try {
  const bench = await open(root);
  console.log(
    '| operation | without, ms (p50) | with, ms (p50) | overhead, ms | × | without, ms (p95) | with, ms (p95) |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|');
  await starts(bench);
  await calls(bench);
  await candidates(bench);
  await bench.gateway.close();
  await bench.models.close();
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
