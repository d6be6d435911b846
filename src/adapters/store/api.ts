import { createHash, timingSafeEqual } from 'node:crypto';
import type { Selectable } from 'kysely';
import { Fault } from '../../core/model/index.ts';
import { type ApiToken, tokenIdIn } from '../../core/tokens/index.ts';
import type { ApiTokens, IdempotencyKeys } from '../../ports/index.ts';
import { type Db, inStatement, inTransaction } from './connection.ts';
import { storableJson, storableText } from './rows.ts';
import type { ApiTokenTable } from './schema.ts';

/** A text has 208 random bits, so one round of SHA-256 is enough: nobody can try them all. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
/** Compared where there is no token, so that the answer takes as long. */
const NO_HASH = digest('');
/** No token has it. */
const NO_ID = '-';

export function apiTokens(db: Db): ApiTokens {
  const all = () => db.selectFrom('runoff.api_token').selectAll();
  return {
    async addToken({ id, by, name, repositories, verbs, createdAt, expiresAt }, text) {
      const row = {
        id,
        hash: digest(text).toString('base64url'),
        user_id: by.id,
        token: storableJson({ by, name, repositories, verbs }),
        created_at: createdAt,
        expires_at: expiresAt,
        last_used_at: null,
        revoked_at: null,
      };
      await inStatement(db.insertInto('runoff.api_token').values(row).execute());
    },

    async tokenOf(text) {
      const id = tokenIdIn(text) ?? NO_ID;
      const row = await inStatement(all().where('id', '=', id).executeTakeFirst());
      const known = row ? Buffer.from(row.hash, 'base64url') : NO_HASH;
      const same = timingSafeEqual(known, digest(text));
      return row && same ? tokenOfRow(row) : null;
    },

    async token(id) {
      const row = await inStatement(all().where('id', '=', storableText(id)).executeTakeFirst());
      return row ? tokenOfRow(row) : null;
    },

    async tokens({ userId, validAt, after, limit }) {
      let found = all().orderBy('created_at', 'desc').orderBy('id').limit(limit);
      if (userId !== undefined) found = found.where('user_id', '=', userId);
      if (validAt !== undefined)
        found = found.where('revoked_at', 'is', null).where('expires_at', '>', validAt);
      if (after)
        found = found.where(({ and, eb, or }) =>
          or([
            eb('created_at', '<', after.createdAt),
            and([eb('created_at', '=', after.createdAt), eb('id', '>', after.id)]),
          ]),
        );
      return (await inStatement(found.execute())).map(tokenOfRow);
    },

    async revokeToken(id, at) {
      const revoked = db
        .updateTable('runoff.api_token')
        .set({ revoked_at: at })
        .where('id', '=', storableText(id))
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return (await inStatement(revoked)).numUpdatedRows > 0n;
    },

    async noteTokenUse(id, at) {
      const noted = db.updateTable('runoff.api_token').set({ last_used_at: at }).where('id', '=', id);
      await inStatement(noted.execute());
    },
  };
}

const tokenOfRow = (row: Selectable<ApiTokenTable>): ApiToken => ({
  id: row.id,
  ...row.token,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
  ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at }),
});

export function idempotencyKeys(db: Db): IdempotencyKeys {
  return {
    claimKey: ({ owner, key, request, holder, work, at, expired }) =>
      inTransaction(db, async (tx) => {
        await tx
          .deleteFrom('runoff.idempotency_key')
          .where('owner', '=', owner)
          .where('key', '=', key)
          .where('at', '<', expired)
          .execute();
        const inserted = await tx
          .insertInto('runoff.idempotency_key')
          .values({ owner, key, request, work, holder, answer: null, at })
          .onConflict((conflict) => conflict.doNothing())
          .returning('key')
          .executeTakeFirst();
        if (inserted) return { kind: 'claimed', work };
        const known = await tx
          .selectFrom('runoff.idempotency_key')
          .selectAll()
          .where('owner', '=', owner)
          .where('key', '=', key)
          .forUpdate()
          .executeTakeFirst();
        if (!known)
          throw new Fault('DATABASE_UNAVAILABLE', 'An idempotency key was deleted while it was read.');
        if (known.request !== request) return { kind: 'other-request' };
        if (known.answer) return { kind: 'answered', answer: known.answer };
        if (known.holder === holder) return { kind: 'in-progress' };
        await tx
          .updateTable('runoff.idempotency_key')
          .set({ holder })
          .where('owner', '=', owner)
          .where('key', '=', key)
          .execute();
        return { kind: 'claimed', work: known.work };
      }),

    answerKey: (owner, key, answer) =>
      inTransaction(db, async (tx) => {
        const own = await tx
          .updateTable('runoff.idempotency_key')
          .set({ answer: storableJson(answer), holder: null })
          .where('owner', '=', owner)
          .where('key', '=', key)
          .where('answer', 'is', null)
          .returning('answer')
          .executeTakeFirst();
        if (own?.answer) return own.answer;
        const first = await tx
          .selectFrom('runoff.idempotency_key')
          .select('answer')
          .where('owner', '=', owner)
          .where('key', '=', key)
          .executeTakeFirst();
        return first?.answer ?? answer;
      }),

    releaseKey: async (owner, key) => {
      const released = db
        .updateTable('runoff.idempotency_key')
        .set({ holder: null })
        .where('owner', '=', owner)
        .where('key', '=', key)
        .where('answer', 'is', null);
      await inStatement(released.execute());
    },
  };
}
