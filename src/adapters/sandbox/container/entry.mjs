// Runs inside a container, as `node entry.mjs`: reads its order (one JSON line: argv, env, stdin, typed, cwd) from Runoff's socket
// and executes it. When the socket closes for any reason, it exits, and the container with it.
import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { constants } from 'node:os';

const control = connect('/run/bridge/control.sock');
const broken = () => process.exit(125);
control.on('error', broken);
control.on('close', broken);
control.write(`${JSON.stringify({ namespace: readlinkSync('/proc/self/ns/ipc') })}\n`);

/** Milliseconds before each further start of a command while the machine is short of memory, processes or files. */
const waits = [100, 500, 2_000];
const SHORTAGES = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY'];

function start(order) {
  const { argv, env, stdin, typed, cwd } = order;
  const [command, ...args] = argv;
  const stdio = [typed ? 'inherit' : stdin === null ? 'ignore' : 'pipe', 'inherit', 'inherit'];
  const child = spawn(command, args, { cwd, env, stdio });
  child.on('error', (error) => {
    const isShort = SHORTAGES.includes(error.code);
    if (isShort && waits.length > 0) return void setTimeout(start, waits.shift(), order);
    process.stderr.write(`${command}: ${error.message}\n`);
    // A shortage is the machine's: it counts like a kill, and not as a command that does not run here.
    process.exit(isShort ? 128 + constants.signals.SIGKILL : error.code === 'ENOENT' ? 127 : 126);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  // A reader that closed early is no fault; its exit code shows the reason.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(stdin);
}

let order = '';
control.setEncoding('utf8').on('data', (text) => {
  order += text;
  if (order.endsWith('\n')) start(JSON.parse(order));
});
