import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openArtifacts } from '../../src/adapters/artifacts/index.ts';
import { hostFolders } from '../../src/compose/data-folder.ts';
import { withoutHostPaths } from '../../src/core/reports/index.ts';
import { parseEnvironment } from '../../src/core/settings/index.ts';

const top = realpathSync(mkdtempSync(join(tmpdir(), 'host-folders-')));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const SETTINGS = [
  ['RUNOFF_DATA', 'data', '(data folder)'],
  ['ARTIFACTS_URL', 'artifacts', '(artifacts folder)'],
  ['RUNOFF_AGENTS', 'agents', '(agents folder)'],
  ['RUNOFF_PROMPTS', 'prompts', '(prompts folder)'],
  ['PRIVATE_KEY_PATH', 'keys/app.pem', '(private key)'],
] as const;

/** Settings that name links to these folders. */
function environment() {
  for (const [, path] of SETTINGS) {
    if (path.endsWith('.pem')) {
      mkdirSync(join(top, 'real/keys'), { recursive: true });
      writeFileSync(join(top, 'real', path), 'key');
    } else mkdirSync(join(top, 'real', path), { recursive: true });
  }
  mkdirSync(join(top, 'disk/areas'), { recursive: true });
  symlinkSync(join(top, 'disk/areas'), join(top, 'real/data/areas'));
  symlinkSync(join(top, 'real'), join(top, 'linked'));
  return Object.fromEntries(SETTINGS.map(([name, path]) => [name, join(top, 'linked', path)]));
}

describe('published texts name no folder that a setting names', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const parsed = parseEnvironment({ ...environment(), PRIVATE_KEY: pem });
  if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed));
  const clean = withoutHostPaths(hostFolders(parsed.operator));

  test.each(SETTINGS)('%s', (_name, path, said) => {
    for (const folder of ['linked', 'real']) {
      const text = clean(`Cannot read ${join(top, folder, path)}/x: it is gone.`);
      expect(text).toBe(`Cannot read ${said}/x: it is gone.`);
    }
  });

  test('the folder of a private key, and what a link in the data folder leads to', () => {
    expect(clean(`${top}/real/keys/other.pem`)).toBe('(folder of the private key)/other.pem');
    expect(clean(`${top}/disk/areas/A`)).toBe('(data folder)/areas/A');
  });

  test('an artifact store that is away', async () => {
    const store = openArtifacts(join(top, 'linked/artifacts/file'));
    writeFileSync(join(top, 'real/artifacts/file'), '');
    const fault = await store.put('x').then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(fault?.message).toContain(top);
    expect(clean(fault?.message ?? '')).not.toContain(top);
  });
});
