import type { ExecResult, RegistryAccess } from '../../ports/index.ts';
import { checkLimits } from '../context.ts';
import type { CheckArea, CheckRunner } from './areas.ts';
import { runCommand } from './execute.ts';

/** Maximum milliseconds of one control, our default: beyond the waits for a connection and for an answer. */
const CONTROL_MS = 60_000;

/**
 * Sends each host a TLS greeting and a request through the proxy, and waits longer for an answer than the proxy does
 * until it counts a host as silent. Any answer will do: whether it is one is for the proxy to say.
 */
const CONTROL_SCRIPT = `
const { request } = require('node:http');
const { isIP } = require('node:net');
const { connect } = require('node:tls');
const ask = (at) => new Promise((resolve) => {
  const call = request(process.env.HTTPS_PROXY, { method: 'CONNECT', path: at, agent: false });
  call.on('error', resolve);
  call.on('response', resolve);
  call.on('connect', ({ statusCode }, socket) => {
    if (statusCode !== 200) return resolve();
    const host = at.replace(/:\\d+$/, '').replace(/^\\[|\\]$/g, '');
    const named = isIP(host) === 0 ? { servername: host } : {};
    const tls = connect({ socket, rejectUnauthorized: false, ...named });
    const end = () => { socket.destroy(); resolve(); };
    for (const event of ['error', 'close', 'data']) tls.once(event, end);
    tls.once('secureConnect', () => tls.write('HEAD / HTTP/1.1\\r\\nHost: ' + at + '\\r\\nConnection: close\\r\\n\\r\\n'));
    setTimeout(end, 12_000);
  });
  call.end();
});
Promise.all(process.argv.slice(1).map(ask)).then(() => process.exit(0));`;

/**
 * Asks registries that a candidate's set-up could not use, with a program of Runoff's own and through the same proxy.
 * Returns those that do not answer it either: a candidate's script can make connections that fail.
 */
export async function silentRegistries(
  runner: CheckRunner,
  area: CheckArea,
  { access, failed }: { readonly access: RegistryAccess; readonly failed: ExecResult['failedHosts'] },
): Promise<NonNullable<ExecResult['failedHosts']>> {
  if (!failed?.length) return [];
  const hosts = failed.map(({ host }) => host);
  const control = await runCommand(runner, area, {
    argv: ['/opt/toolchain/bin/node', '-e', CONTROL_SCRIPT, ...hosts],
    registries: { ...access, hosts, env: {}, files: {}, folders: [] },
    limits: { ...checkLimits(runner.task), wallMs: CONTROL_MS },
    own: 'The program that asks package registries',
    codeRan: true,
  });
  // If the program cannot run in what the candidate left of its area, only the proxy's findings count, not its end.
  return control.failedHosts ?? [];
}
