import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNodeMiddleware, Probot } from 'probot';
import { expect, test } from 'vitest';
import { app } from '../../src/app.ts';
import { answeredInTime } from '../../src/compose/serve.ts';
import { delivery, HOOKS, SECRET } from '../server/delivery.ts';
import { newAppKey } from '../world/app-key.ts';

/** Every part of it is asked and never answers. */
const silent = new Proxy(() => undefined, {
  get: (_target, name) => (name === 'then' ? undefined : silent),
  apply: () => new Promise(() => undefined),
}) as never;

const LABELLED = JSON.stringify({
  action: 'labeled',
  installation: { id: 1 },
  label: { name: 'auto-dev' },
  issue: { number: 1, title: 'x', body: null, updated_at: '2026-01-01T00:00:00Z' },
  repository: { id: 1, name: 'tiny', owner: { login: 'alice' } },
  sender: { id: 2, login: 'alice', type: 'User' },
});

test("a delivery that cannot be processed is answered with 503 before GitHub's timeout", async () => {
  const privateKey = newAppKey();
  const probot = new Probot({ appId: 1, privateKey, secret: SECRET, logLevel: 'fatal' });
  const middleware = await createNodeMiddleware((bot) => app(silent, silent)(answeredInTime(bot, 200)), {
    probot,
    webhooksPath: HOOKS,
  });
  const server = createServer((request, response) => void middleware(request, response));
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}${HOOKS}`, delivery(LABELLED));
  expect(answer.status).toBe(503);
  expect(await answer.text()).toMatch(/Redeliver it once it can/);
  server.close();
});
