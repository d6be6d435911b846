import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openInstruments, tracedWorkspaces } from '../../src/compose/tracing.ts';
import type { Operator } from '../../src/core/settings/index.ts';
import type { BaseCheckout, Store, Tracer, WorkArea, Workspaces } from '../../src/ports/index.ts';
import type { RuntimeNeeds } from '../../src/shell.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

const AREA = partial<WorkArea>({ id: 'r1-x-A-base' });
const about = (run?: string) => ({ ...silent, about: () => (run === undefined ? {} : { run }) });

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

describe('a process', () => {
  /** What is traced by a process with these needs, with a folder for traces if there is one. */
  async function traced(needs: RuntimeNeeds, traceFolder?: string) {
    const cleanups = new AsyncDisposableStack();
    const operator = partial<Operator>(traceFolder === undefined ? {} : { traceFolder }, [
      ...(['metricsToken', 'traces', 'traceFolder'] as const),
    ]);
    const opened = await openInstruments(
      operator,
      { store: partial<Store>({}), log: silent },
      needs,
      cleanups,
    );
    const workspaces = tracedWorkspaces(partial<Workspaces>({ open: async () => AREA }), {
      log: about('r1'),
      ...opened,
    });
    expect(await workspaces.open(partial<BaseCheckout>({}), 'r1-x-A-base')).toBe(AREA);
    await cleanups.disposeAsync();
    return opened;
  }
  const newFolder = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runoff-tracing-'));
    folders.push(folder);
    return folder;
  };

  test('writes a file for each run into the folder that is set, or the file that is named for its only run', async () => {
    const folder = await newFolder();
    await traced({ role: 'app', executor: 'app-1' }, folder);
    await traced({ role: 'standalone', executor: 'cli-1', traceFile: join(folder, 'own.json') }, folder);
    for (const name of ['r1.json', 'own.json'])
      expect(await readFile(join(folder, name), 'utf8')).toContain('"name":"open"');
  });

  test('that only reads, or is told nothing about traces, has no tracer', async () => {
    expect(await traced({ role: 'reader' }, await newFolder())).toEqual({});
    expect(await traced({ role: 'worker', executor: 'w' })).toEqual({});
  });
});

test('operations outside a run are not traced', async () => {
  const workspaces = tracedWorkspaces(partial<Workspaces>({ open: async () => AREA }), {
    log: about(),
    tracer: partial<Tracer>({}),
  });
  expect(await workspaces.open(partial<BaseCheckout>({}), 'x')).toBe(AREA);
});
