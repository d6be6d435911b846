// The attackers of bench/flood.ts: each opens a connection, sends its headers and bytes, then a byte a second, and a second
// after it was cut off begins anew.
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const { port, connections, first, bytes } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly port: number;
  readonly connections: number;
  readonly first: string;
  readonly bytes: number;
};
const body = Buffer.alloc(bytes, 'x');

async function attack(): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const closed = new Promise<void>((resolve) => {
      socket.on('error', () => undefined).on('close', () => resolve());
    });
    socket.resume();
    socket.write(first);
    socket.write(body);
    const drip = setInterval(() => socket.write('x'), 1_000);
    await closed;
    clearInterval(drip);
    await wait(1_000);
  }
}

await Promise.all(Array.from({ length: connections }, attack));
