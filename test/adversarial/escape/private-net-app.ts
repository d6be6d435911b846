// The app inside the private network of the escape suite: opens the servers, attacks them from outside and from inside.
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { type BubblewrapOptions, openBubblewrap } from '../../../src/adapters/sandbox/index.ts';
import type { ExecSpec } from '../../../src/ports/index.ts';
import { PLACES, RESOLVER, TRY_ALL } from './private-net.ts';

const { options, spec, owner } = JSON.parse(process.argv[2] ?? '') as {
  options: BubblewrapOptions;
  spec: ExecSpec;
  owner: { uid: number; gid: number } | null;
};

for (const [name, place] of Object.entries(PLACES)) {
  const server = createServer((socket) => socket.end(name));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(place, resolve));
}

/** Answers every question with one address, 10.99.0.2 (RFC 1035: header, the question again, one A record). */
const names = createSocket('udp4');
names.on('message', (query, from) => {
  const end = query.indexOf(0, 12) + 5;
  const question = query.subarray(12, end);
  const header = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 99, 0, 2]);
  names.send(Buffer.concat([header, question, record]), from.port, from.address);
});
await new Promise<void>((resolve) => names.bind(53, RESOLVER, resolve));

const outside = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', TRY_ALL], {
  env: { PATH: '/usr/bin:/bin' },
  ...(owner ?? {}),
});
const inside = await openBubblewrap(options).exec(spec);
process.stdout.write(JSON.stringify({ free: JSON.parse(outside.stdout), held: JSON.parse(inside.stdout) }));
process.exit();
