import type { SessionRecord, Sessions } from '../../ports/index.ts';
import { type Db, inStatement } from './connection.ts';
import { storableText } from './rows.ts';
import type { SessionTable } from './schema.ts';

export function sessions(db: Db): Sessions {
  const all = () => db.deleteFrom('runoff.session');
  return {
    async addSession({ hash, userId, login, createdAt, expiresAt }) {
      const row = {
        hash,
        user_id: userId,
        login: storableText(login),
        created_at: createdAt,
        expires_at: expiresAt,
      };
      await inStatement(db.insertInto('runoff.session').values(row).execute());
    },

    async session(hash, at) {
      const found = db
        .selectFrom('runoff.session')
        .selectAll()
        .where('hash', '=', hash)
        .where('expires_at', '>', at);
      const row = await inStatement(found.executeTakeFirst());
      return row === undefined ? null : sessionOfRow(row);
    },

    async prolongSession(hash, expiresAt) {
      const set = db.updateTable('runoff.session').set({ expires_at: expiresAt }).where('hash', '=', hash);
      await inStatement(set.execute());
    },

    async endSession(hash) {
      await inStatement(all().where('hash', '=', hash).execute());
    },

    async endSessionsOf(userId) {
      await inStatement(all().where('user_id', '=', userId).execute());
    },

    async deleteEndedSessions(at) {
      const { numDeletedRows } = await inStatement(all().where('expires_at', '<=', at).executeTakeFirst());
      return Number(numDeletedRows);
    },
  };
}

const sessionOfRow = (row: SessionTable): SessionRecord => ({
  hash: row.hash,
  userId: row.user_id,
  login: row.login,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});
