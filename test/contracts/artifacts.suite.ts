import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Artifacts } from '../../src/ports/index.ts';

export function artifactsContract(name: string, open: () => Promise<Artifacts>): void {
  describe(`artifacts: ${name}`, () => {
    test('any text is returned unchanged', async () => {
      const artifacts = await open();
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 2_000 }), async (content) => {
          const ref = await artifacts.put(content);
          expect(ref.bytes).toBe(Buffer.byteLength(content));
          expect(await artifacts.get(ref)).toBe(content);
        }),
        { numRuns: 50 },
      );
    });

    test('the name is the SHA-256 of the content, so the same content has the same name', async () => {
      const artifacts = await open();
      const ref = await artifacts.put('diff --git a/x b/x\n');
      expect(ref).toEqual({
        sha256: '1a059963bbf3198857755a48c741d351e21515186ce951464b89a0de0797c081',
        bytes: 19,
      });
      expect(await artifacts.put('diff --git a/x b/x\n')).toEqual(ref);
    });

    test('two writers of the same content do not disturb each other', async () => {
      const artifacts = await open();
      const content = 'x'.repeat(300_000);
      const refs = await Promise.all(Array.from({ length: 8 }, () => artifacts.put(content)));
      expect(new Set(refs.map((ref) => ref.sha256)).size).toBe(1);
      for (const ref of refs) expect(await artifacts.get(ref)).toBe(content);
    });

    test('a missing artifact is a fault', async () => {
      const artifacts = await open();
      await expect(artifacts.get({ sha256: 'a'.repeat(64), bytes: 3 })).rejects.toMatchObject({
        code: 'STORED_DATA_DAMAGED',
      });
    });

    test('a sweep removes old unused artifacts, and reports how much', async () => {
      const artifacts = await open();
      const [wanted, unwanted] = [await artifacts.put('wanted'), await artifacts.put('unwanted, é')];
      const keep = (sha256: string) => sha256 === wanted.sha256;
      const none = { files: 0, bytes: 0 };
      expect(await artifacts.sweep({ keep, before: Date.now() - 60_000 })).toEqual(none);
      expect(await artifacts.get(unwanted)).toBe('unwanted, é');

      expect(await artifacts.sweep({ keep, before: Date.now() + 60_000 })).toEqual({ files: 1, bytes: 12 });
      expect(await artifacts.get(wanted)).toBe('wanted');
      await expect(artifacts.get(unwanted)).rejects.toMatchObject({ code: 'STORED_DATA_DAMAGED' });
      expect(await artifacts.put('unwanted, é')).toEqual(unwanted);
      expect(await artifacts.get(unwanted)).toBe('unwanted, é');
    });

    test('the first database to claim them has them, and any other is refused', async () => {
      const artifacts = await open();
      const owners: (string | null)[] = [];
      const claimAs = (name: string) =>
        artifacts.claim(async (owner) => {
          owners.push(owner);
          return name;
        });
      await claimAs('one');
      await claimAs('one');
      await expect(claimAs('another')).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID' });
      const swept = { files: 0, bytes: 0 };
      expect(await artifacts.sweep({ keep: () => false, before: Date.now() + 60_000 })).toEqual(swept);
      await expect(claimAs('')).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID' });
      expect(owners).toEqual([null, 'one', 'one', 'one']);
    });

    test('a sweep of an empty store removes nothing', async () => {
      const artifacts = await open();
      expect(await artifacts.sweep({ keep: () => false, before: Date.now() + 60_000 })).toEqual({
        files: 0,
        bytes: 0,
      });
    });

    test('a size that does not fit is a fault', async () => {
      const artifacts = await open();
      const ref = await artifacts.put('abc');
      await expect(artifacts.get({ ...ref, bytes: 4 })).rejects.toMatchObject({
        code: 'STORED_DATA_DAMAGED',
      });
    });
  });
}
