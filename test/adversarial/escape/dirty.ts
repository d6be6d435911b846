import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BubblewrapOptions, ContainerOptions } from '../../../src/adapters/sandbox/index.ts';
import type { ExecResult, ExecSpec, Sandbox, SandboxProbe } from '../../../src/ports/index.ts';
import { openWorkbench, type Workbench } from '../../adapters/sandbox/workbench.ts';
import { type Answers, BUBBLEWRAP, CONTAINER } from './answers.ts';
import { DIRT, type EscapeWorld } from './world.ts';

/** What the app is asked, and what it answers; `id` ties the two. */
export type Question = { readonly id: number } & (
  | { readonly kind: 'probe' }
  | { readonly kind: 'exec'; readonly spec: ExecSpec }
);
export type Answer = { readonly id: number } & (
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly message: string }
);

/** What the app opens. */
export type Backend =
  | { readonly kind: 'bubblewrap'; readonly options: BubblewrapOptions }
  | { readonly kind: 'container'; readonly options: ContainerOptions };

/** Nothing to steal; an engine works by them. */
const ENGINES_OWN = ['HOME', 'XDG_RUNTIME_DIR', 'DOCKER_HOST'] as const;
const APP = join(import.meta.dirname, 'dirty-app.ts');

/** The default launcher behind an app that was started as carelessly as can be. */
export const openDirtyBubblewrap = (): Promise<EscapeWorld> =>
  openDirty(BUBBLEWRAP, ({ options }) => ({ kind: 'bubblewrap', options }));

/** Containers behind such an app. */
export const openDirtyContainer = (engine: 'podman' | 'docker', image: string): Promise<EscapeWorld> =>
  openDirty(CONTAINER, ({ root, options: { toolchain, owner } }) => ({
    kind: 'container',
    options: { engine, image, toolchain, owner, scratch: join(root, 'scratch') },
  }));

async function openDirty(answers: Answers, backendOf: (bench: Workbench) => Backend): Promise<EscapeWorld> {
  const bench = await openWorkbench();
  const dirty = join(bench.root, 'dirty');
  mkdirSync(dirty, { mode: 0o755 });
  writeFileSync(join(dirty, 'app.pem'), DIRT);
  const app = spawn(
    'bash',
    // Two folders and a file stay open, as some service managers, shells and test runners do.
    [
      '-c',
      'cd "$1"; exec 77<. 78<app.pem 8<.; exec "$0" "$2" "$3"',
      process.execPath,
      dirty,
      APP,
      JSON.stringify(backendOf(bench)),
    ],
    {
      env: {
        PATH: process.env.PATH,
        // By these, an engine finds its user's images and its server.
        ...Object.fromEntries(ENGINES_OWN.map((name) => [name, process.env[name]])),
        ANTHROPIC_API_KEY: DIRT,
        GITHUB_TOKEN: DIRT,
        PRIVATE_KEY: `-----${DIRT}-----`,
        SSH_AUTH_SOCK: `/tmp/${DIRT}.sock`,
        DATABASE_URL: `postgres://runoff:${DIRT}@localhost/runoff`,
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  );
  return {
    ...bench,
    answers,
    dirty,
    sandbox: remote(app),
    async close() {
      const gone = once(app, 'exit');
      app.kill('SIGKILL');
      await gone;
      bench.close();
    },
  };
}

/** The app's sandbox, asked by messages: callbacks and signals do not pass. */
function remote(app: ChildProcess): Sandbox {
  const waiting = new Map<number, (answer: Answer) => void>();
  app.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer));
  app.once('exit', () => {
    for (const [id, settle] of waiting) settle({ id, kind: 'threw', message: 'the app is gone' });
  });
  let last = 0;
  const ask = async (what: { kind: 'probe' } | { kind: 'exec'; spec: ExecSpec }): Promise<unknown> => {
    last += 1;
    const question: Question = { id: last, ...what };
    const answer = await new Promise<Answer>((resolve) => {
      waiting.set(question.id, resolve);
      app.send(question);
    });
    waiting.delete(question.id);
    if (answer.kind === 'threw') throw new Error(answer.message);
    return answer.value;
  };
  return {
    probe: async () => (await ask({ kind: 'probe' })) as SandboxProbe,
    exec: async (spec) => (await ask({ kind: 'exec', spec })) as ExecResult,
  };
}
