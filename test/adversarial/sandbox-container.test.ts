import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { importEscapeImage } from './escape/container-image.ts';
import { openDirtyContainer } from './escape/dirty.ts';
import { escapeSuite } from './escape/suite.ts';

for (const engine of ['podman', 'docker'] as const) {
  const info = spawnSync(engine, ['info'], { encoding: 'utf8' });
  if (info.status === 0) describe(`with ${engine}`, () => attacks(engine));
  else {
    const why = info.error?.message ?? info.stderr.trim().split('\n').at(-1);
    test.skip(`containers of ${engine}: not tried, ${engine} does not work here (${why})`, () => undefined);
  }
}

function attacks(engine: 'podman' | 'docker'): void {
  const image = `localhost/runoff-escape-test:${process.pid}`;
  beforeAll(() => importEscapeImage(engine, image), 120_000);
  afterAll(() => void spawnSync(engine, ['image', 'rm', image]));

  escapeSuite(`containers of ${engine}`, () => openDirtyContainer(engine, image));
}
