import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const SYSTEM = new URL('../../../src/adapters/system/index.ts', import.meta.url).href;
const SAYS = `import { systemUser } from ${JSON.stringify(SYSTEM)}; process.stdout.write(systemUser())`;

test('a user that the system has no name for, as in a container, is called by its number', () => {
  const node = [process.execPath, '--input-type=module', '--eval', SAYS];
  const said = execFileSync('unshare', ['--user', '--map-user=54321', ...node], { encoding: 'utf8' });
  expect(said).toBe('user 54321');
});
