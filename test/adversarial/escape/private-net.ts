import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWorkbench, script } from '../../adapters/sandbox/workbench.ts';
import { isRoot } from './world.ts';

/** What a network of its own offers, and how to reach it: as `node:net` names it, or as a name to look up. */
export const PLACES = {
  metadata: { host: '169.254.169.254', port: 80 },
  metadataV6: { host: 'fd00:ec2::254', port: 80 },
  neighbour: { host: '10.99.0.2', port: 22 },
  internet: { host: '1.1.1.1', port: 443 },
} as const;
export const RESOLVER = '10.99.0.53';
export const NAME = 'registry.example';

/** Tries every place and both ways to a name; prints one JSON line of what came of each. */
export const TRY_ALL = `
  import { connect } from 'node:net';
  import { lookup, Resolver } from 'node:dns/promises';
  const reach = (target) => new Promise((done) => {
    const socket = connect(target);
    socket.setTimeout(3000, () => done('timeout'));
    socket.on('data', (data) => { done(String(data)); socket.destroy(); });
    socket.on('error', (error) => done(error.code));
  });
  const found = {};
  for (const [name, place] of Object.entries(${JSON.stringify(PLACES)})) found[name] = await reach(place);
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers(['${RESOLVER}']);
  found.lookup = await lookup('${NAME}', 4).then(({ address }) => address, (error) => error.code);
  found.query = await resolver.resolve4('${NAME}').then(([address]) => address, (error) => error.code);
  console.log(JSON.stringify(found));`;

export interface Tried {
  readonly free: Readonly<Record<string, string>>;
  readonly held: Readonly<Record<string, string>>;
}

const SERVERS = join(import.meta.dirname, 'private-net-app.ts');

/**
 * Runs an app with a sandbox in a network namespace in which a metadata service, a neighbour, the internet and a name
 * server do answer, so that an attack on them is seen to work: outside of the sandbox, and not inside.
 */
export async function tryPrivateNetwork(): Promise<Tried> {
  const bench = await openWorkbench();
  try {
    const resolv = join(bench.root, 'resolv.conf');
    writeFileSync(resolv, `nameserver ${RESOLVER}\noptions timeout:2 attempts:1\n`);
    const job = JSON.stringify({
      options: bench.options,
      spec: script(bench.area(), TRY_ALL),
      owner: bench.owner,
    });
    const addresses = [...Object.values(PLACES).map(({ host }) => host), RESOLVER].map(
      (host) => `ip addr add ${host}/${host.includes(':') ? 128 : 32} dev lo`,
    );
    const back = isRoot
      ? ''
      : `unshare --user --map-user=${process.getuid?.()} --map-group=${process.getgid?.()} --`;
    const setUp = `set -e; ip link set lo up; ${addresses.join('; ')}; echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
      mount --bind "$3" "$(readlink -f /etc/resolv.conf)"; exec ${back} "$0" "$1" "$2"`;
    const spaces = ['--net', '--mount', ...(isRoot ? [] : ['--user', '--map-root-user'])];
    const argv = [...spaces, '--', 'sh', '-c', setUp, process.execPath, SERVERS, job, resolv];
    const said = await new Promise<string>((resolve, reject) => {
      const path = `${process.env.PATH}:/usr/sbin:/sbin`;
      execFile('unshare', argv, { env: { ...process.env, PATH: path } }, (error, stdout, stderr) =>
        error === null ? resolve(stdout) : reject(new Error(`${error.message}\n${stderr}`)),
      );
    });
    return JSON.parse(said) as Tried;
  } finally {
    bench.close();
  }
}
