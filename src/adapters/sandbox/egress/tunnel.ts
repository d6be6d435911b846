import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Reachability } from './reachability.ts';

/**
 * Connects a client to a host; when one side ends, so does the other. The traffic is encrypted, so only the presence of
 * responses is observed.
 */
export function splice(
  { client, head }: { readonly client: Duplex; readonly head: Buffer },
  server: Socket,
  connection: ReturnType<Reachability['connected']>,
): void {
  client.on('data', connection.asked);
  client.on('end', connection.ended);
  client.on('close', connection.ended);
  server.on('data', connection.answered);
  server.on('end', () => connection.lost());
  server.on('error', ({ code }: NodeJS.ErrnoException) => {
    connection.lost(`broke the connection (${code ?? 'unknown error'})`);
    client.destroy();
  });
  server.on('close', () => client.end());
  client.on('close', () => server.destroy());
  client.write('HTTP/1.1 200 OK\r\n\r\n');
  if (head.length > 0) {
    connection.asked();
    server.write(head);
  }
  server.pipe(client);
  client.pipe(server);
}
