import { describe, expect, test } from 'vitest';
import { type ApiToken, tokenText } from '../../src/core/tokens/index.ts';
import type { KeyedRequest, Store } from '../../src/ports/index.ts';

type Fresh = () => Promise<Store>;

const { id, text } = tokenText('0123456789abcdef'.repeat(4));
const other = tokenText('f'.repeat(64));

const token = (over: Partial<ApiToken> = {}): ApiToken => ({
  id,
  name: 'nightly',
  by: { id: 5, login: 'mona' },
  repositories: [{ installationId: 1, repositoryId: 42, owner: 'acme', name: 'shop' }],
  verbs: ['read', 'run'],
  createdAt: 1_000,
  expiresAt: 9_000,
  ...over,
});

const keyed = (over: Partial<KeyedRequest> = {}): KeyedRequest => ({
  owner: 'token:a',
  key: 'night-1',
  request: 'POST /runs {}',
  holder: 'process-1',
  work: 'work-1',
  at: 1_000,
  expired: 0,
  ...over,
});
/** Ids in order, with their texts. */
const idAt = (at: number): string => String(at).padStart(12, '0');
const textAt = (ofId: string): string => tokenText(ofId.padEnd(64, '0')).text;
const answer = { status: 202, headers: { location: '/api/runs/r1' }, body: '{"id":"r1"}' };

/** Tokens of the API, and keys under which a request has its effect once. */
export function apiContract(fresh: Fresh): void {
  describe('tokens of the API', () => {
    test('a token is found by its text and by nothing else', async () => {
      const store = await fresh();
      await store.addToken(token(), text);
      expect(await store.tokenOf(text)).toEqual(token());
      for (const wrong of [
        '',
        id,
        other.text,
        `${text}0`,
        text.toUpperCase(),
        `${text.slice(0, -1)}g`,
        '\0',
        '\ud800',
      ])
        expect(await store.tokenOf(wrong), wrong).toBeNull();
    });

    test('it is revoked once, and its last use is noted', async () => {
      const store = await fresh();
      await store.addToken(token(), text);
      await store.noteTokenUse(id, 2_000);
      expect(await store.revokeToken(id, 3_000)).toBe(true);
      expect(await store.revokeToken(id, 4_000)).toBe(false);
      expect(await store.revokeToken('none', 4_000)).toBe(false);
      expect(await store.tokenOf(text)).toEqual(token({ lastUsedAt: 2_000, revokedAt: 3_000 }));
    });

    test('tokens are listed newest first, for one person or for all', async () => {
      const store = await fresh();
      await store.addToken(token(), text);
      await store.addToken(
        token({ id: other.id, by: { id: 6, login: 'hubot' }, createdAt: 2_000 }),
        other.text,
      );
      expect((await store.tokens({ limit: 9 })).map((one) => one.id)).toEqual([other.id, id]);
      expect((await store.tokens({ limit: 1 })).map((one) => one.id)).toEqual([other.id]);
      expect(await store.tokens({ userId: 5, limit: 9 })).toEqual([token()]);
    });

    test('those that are valid are found behind any number of others, a page at a time, and each by its id', async () => {
      const store = await fresh();
      // Two at each time, so that a page can end between them.
      const all = Array.from({ length: 6 }, (_, at) =>
        token({ ...{ id: idAt(at), createdAt: 1_000 + Math.floor(at / 2) } }),
      );
      for (const one of all) await store.addToken(one, textAt(one.id));
      const ended = token({ id: idAt(6), createdAt: 5_000, expiresAt: 6_000 });
      await store.addToken(ended, textAt(ended.id));
      await store.addToken(token({ id: idAt(7), createdAt: 5_000 }), textAt(idAt(7)));
      await store.revokeToken(idAt(7), 5_500);
      const pages: string[][] = [];
      for (let after: ApiToken | undefined; ; ) {
        const page = await store.tokens({ userId: 5, validAt: 6_000, limit: 3, ...(after ? { after } : {}) });
        if (page.length === 0) break;
        pages.push(page.map((one) => one.id));
        after = page.at(-1);
      }
      expect(pages).toEqual([[4, 5, 2].map(idAt), [3, 0, 1].map(idAt)]);
      expect(await store.token(idAt(6))).toEqual(ended);
      expect(await store.token('none')).toBeNull();
    });
  });

  describe('idempotency keys', () => {
    test('of requests that arrive together, one does the work', async () => {
      const store = await fresh();
      const claims = await Promise.all([...'abcdefgh'].map((work) => store.claimKey(keyed({ work }))));
      expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
      expect(claims.filter(({ kind }) => kind === 'in-progress')).toHaveLength(7);
    });

    test('the same request gets the same answer, another one none', async () => {
      const store = await fresh();
      await store.claimKey(keyed());
      expect(await store.answerKey('token:a', 'night-1', answer)).toEqual(answer);
      expect(await store.answerKey('token:a', 'night-1', { ...answer, status: 500 })).toEqual(answer);
      expect(await store.claimKey(keyed({ holder: 'process-2' }))).toEqual({ kind: 'answered', answer });
      expect(await store.claimKey(keyed({ request: 'POST /runs {"budgetUsd":9}' }))).toEqual({
        kind: 'other-request',
      });
      expect(await store.claimKey(keyed({ owner: 'token:b', work: 'work-2' }))).toEqual({
        kind: 'claimed',
        work: 'work-2',
      });
    });

    test('work that a process left unfinished is continued under its name', async () => {
      const store = await fresh();
      await store.claimKey(keyed());
      const continued = { kind: 'claimed', work: 'work-1' };
      expect(await store.claimKey(keyed({ holder: 'process-2', work: 'work-2' }))).toEqual(continued);
      expect(await store.claimKey(keyed({ holder: 'process-2' }))).toEqual({ kind: 'in-progress' });
      await store.releaseKey('token:a', 'night-1');
      expect(await store.claimKey(keyed({ holder: 'process-2', work: 'work-3' }))).toEqual(continued);
    });

    test('a key is forgotten when it has expired', async () => {
      const store = await fresh();
      await store.claimKey(keyed());
      await store.answerKey('token:a', 'night-1', answer);
      expect(await store.claimKey(keyed({ at: 2_000, expired: 1_000 }))).toMatchObject({ kind: 'answered' });
      expect(await store.claimKey(keyed({ at: 2_000, expired: 1_001, work: 'work-2' }))).toEqual({
        kind: 'claimed',
        work: 'work-2',
      });
    });

    test('a request leaves the keys of other requests alone', async () => {
      const store = await fresh();
      await store.claimKey(keyed({ at: 1_000 }));
      await store.answerKey('token:a', 'night-1', answer);
      await store.claimKey(keyed({ key: 'night-2', at: 9_000, expired: 9_000 }));
      expect(await store.claimKey(keyed({ expired: 0 }))).toEqual({ kind: 'answered', answer });
    });

    test('an answer that is released keeps its answer', async () => {
      const store = await fresh();
      await store.claimKey(keyed());
      await store.answerKey('token:a', 'night-1', answer);
      await store.releaseKey('token:a', 'night-1');
      expect(await store.claimKey(keyed())).toEqual({ kind: 'answered', answer });
    });
  });
}
