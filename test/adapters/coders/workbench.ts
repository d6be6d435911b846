import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { builtinCoder, bundleBuiltinCoder } from '../../../src/adapters/coders/index.ts';
import type { CoderEvent } from '../../../src/core/model/index.ts';
import { SCRIPTED_PRICES, SCRIPTS } from '../../../src/demo/sample/index.ts';
import { type Scripts, startScriptedModels } from '../../../src/demo/scripted-models/index.ts';
import type { Lease, ModelRoute } from '../../../src/ports/index.ts';
import { openRig } from '../gateway/rig.ts';

/** Our node, which is also the one in the sandbox; tests must not depend on the machine's own. */
export const NODE = process.execPath;

export interface Work {
  readonly code: number | null;
  readonly events: readonly CoderEvent[];
  readonly stdout: string;
  readonly stderr: string;
}

/** The bundled coder, a gateway and scripted models: everything of the real thing but the sandbox. */
export async function openBench(scripts: Scripts = SCRIPTS) {
  const home = await mkdtemp(join(tmpdir(), 'bench-'));
  const program = join(home, 'coders', 'builtin.mjs');
  await bundleBuiltinCoder(program);
  const models = await startScriptedModels({ scripts });
  const rig = await openRig(models.url, { prices: SCRIPTED_PRICES });
  return {
    home,
    program,
    models,
    rig,
    /** Runs the coder in a folder. */
    async work(
      cwd: string,
      lease: Lease,
      route: ModelRoute,
      { wallSeconds = 120, seed = 0 } = {},
    ): Promise<Work> {
      await using door = await openTcpDoor(lease.socket);
      const coder = builtinCoder();
      const launch = coder.launch({
        ...route,
        prompt: 'Mend what the issue says.',
        wallSeconds,
        seed,
        gateway: { url: door.url, key: lease.key },
      });
      const child = spawn(NODE, [program, ...launch.argv.slice(2)], {
        cwd,
        env: {
          PATH: `${join(NODE, '..')}:${process.env.PATH}`,
          HOME: home,
          GW_URL: door.url,
          GW_KEY: lease.key,
          ...launch.env,
        },
      });
      child.stdin.end(launch.stdin);
      const [stdout, stderr] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      const events = stdout.split('\n').flatMap((line) => coder.read(line));
      return { code: child.exitCode, events, stdout, stderr };
    },
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await models.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** A TCP address for a socket, as the sandbox has one inside. */
async function openTcpDoor(path: string) {
  const server = createServer((outer) => {
    const inner = connect(path);
    outer.pipe(inner).pipe(outer);
    outer.on('error', () => inner.destroy());
    inner.on('error', () => outer.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}
