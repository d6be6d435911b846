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

function start({ argv: [command, ...args], env, stdin, typed, cwd }) {
  const stdio = [typed ? 'inherit' : stdin === null ? 'ignore' : 'pipe', 'inherit', 'inherit'];
  const child = spawn(command, args, { cwd, env, stdio });
  child.on('error', (error) => {
    process.stderr.write(`${command}: ${error.message}\n`);
    process.exit(error.code === 'ENOENT' ? 127 : 126);
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
