// Runs inside the sandbox, as `node bridge.mjs [--gateway SOCKET PORT] [--egress SOCKET] -- COMMAND…`: listens on the
// sandbox's own 127.0.0.1 for each unix socket, because HTTP clients cannot use a socket, then runs the command.
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

/** Exits with the code that `env` and `timeout` use for their own failures. */
function fail(why) {
  process.stderr.write(`runoff: ${why}\n`);
  process.exit(125);
}

/** Listens on `port` (0: any free one) and forwards every connection to the socket; resolves to the URL. */
function open(socket, port) {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const host = connect({ path: socket, allowHalfOpen: true });
    client.on('error', () => host.destroy());
    host.on('error', () => client.destroy());
    client.pipe(host);
    host.pipe(client);
  });
  return new Promise((resolve) => {
    server.once('error', ({ code }) => fail(`127.0.0.1:${port} cannot be listened on (${code})`));
    server.listen(port, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`));
  });
}

const proxyEnvironment = (proxy) => ({
  ...Object.fromEntries(
    [
      'HTTP_PROXY',
      'HTTPS_PROXY',
      'http_proxy',
      'https_proxy',
      'npm_config_proxy',
      'npm_config_https_proxy',
      'YARN_HTTP_PROXY',
      'YARN_HTTPS_PROXY',
    ].map((name) => [name, proxy]),
  ),
  NO_PROXY: 'localhost,127.0.0.1,::1',
  no_proxy: 'localhost,127.0.0.1,::1',
  // Node's own fetch only then uses the proxy variables.
  NODE_USE_ENV_PROXY: '1',
});

const split = process.argv.indexOf('--', 2);
const [command, ...args] = process.argv.slice(split + 1);
const after = (name) => {
  const at = process.argv.slice(0, split).indexOf(name);
  return at === -1 ? [] : process.argv.slice(at + 1, split);
};
const [gateway, port] = after('--gateway');
const [egress] = after('--egress');
// The gateway first: its port is fixed, and a free port could happen to be the same.
const address = gateway ? { GW_URL: await open(gateway, Number(port)) } : {};
const env = { ...process.env, ...(egress ? proxyEnvironment(await open(egress, 0)) : {}), ...address };

/** Milliseconds before each further start of a command while the machine is short of memory, processes or files. */
const waits = [100, 500, 2_000];
const SHORTAGES = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY'];

let child;
function start() {
  child = spawn(command, args, { stdio: 'inherit', env });
  child.on('error', (error) => {
    const isShort = SHORTAGES.includes(error.code);
    if (isShort && waits.length > 0) return void setTimeout(start, waits.shift());
    process.stderr.write(`${command}: ${error.message}\n`);
    // A shortage is the machine's: it counts like a kill, and not as a command that does not run here.
    process.exit(isShort ? 128 + constants.signals.SIGKILL : error.code === 'ENOENT' ? 127 : 126);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => child.kill(signal));
start();
