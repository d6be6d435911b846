import { type ApiToken, tokenState } from '../../src/core/tokens/index.ts';
import type { ApiTokens, IdempotencyKeys, KeptApiAnswer, KeyedRequest } from '../../src/ports/index.ts';
import { kept } from './memory-commands.ts';

interface KeyEntry extends Pick<KeyedRequest, 'at' | 'request' | 'work'> {
  holder: string | null;
  answer?: KeptApiAnswer;
}

type TokenPlace = Pick<ApiToken, 'createdAt' | 'id'>;

/** The part of the store that keeps tokens of the API and idempotency keys. */
export function memoryApi(): ApiTokens & IdempotencyKeys {
  const tokens = new Map<string, { token: ApiToken; readonly text: string }>();
  const keys = new Map<string, KeyEntry>();
  const nameOf = (owner: string, key: string): string => JSON.stringify([owner, key]);
  return {
    async addToken(token, text) {
      tokens.set(token.id, { token: kept(token), text });
    },
    async tokenOf(text) {
      return kept([...tokens.values()].find((one) => one.text === text)?.token ?? null);
    },
    async token(id) {
      return kept(tokens.get(id)?.token ?? null);
    },
    async tokens({ userId, validAt, after, limit }) {
      const order = (a: TokenPlace, b: TokenPlace) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1);
      const found = [...tokens.values()]
        .map(({ token }) => token)
        .filter(({ by }) => userId === undefined || by.id === userId)
        .filter((one) => validAt === undefined || tokenState(one, validAt) === 'valid')
        .filter((one) => !after || (one.id !== after.id && order(after, one) < 0));
      return kept(found.toSorted(order).slice(0, limit));
    },
    async revokeToken(id, at) {
      const found = tokens.get(id);
      if (!found || found.token.revokedAt !== undefined) return false;
      found.token = { ...found.token, revokedAt: at };
      return true;
    },
    async noteTokenUse(id, at) {
      const found = tokens.get(id);
      if (found) found.token = { ...found.token, lastUsedAt: at };
    },

    async claimKey({ owner, key, request, holder, work, at, expired }) {
      const known = keys.get(nameOf(owner, key));
      if (!known || known.at < expired) {
        keys.set(nameOf(owner, key), { request, work, holder, at });
        return { kind: 'claimed', work };
      }
      if (known.request !== request) return { kind: 'other-request' };
      if (known.answer) return { kind: 'answered', answer: kept(known.answer) };
      if (known.holder === holder) return { kind: 'in-progress' };
      known.holder = holder;
      return { kind: 'claimed', work: known.work };
    },
    async answerKey(owner, key, answer) {
      const known = keys.get(nameOf(owner, key));
      if (!known) return answer;
      known.answer ??= kept(answer);
      known.holder = null;
      return kept(known.answer);
    },
    async releaseKey(owner, key) {
      const known = keys.get(nameOf(owner, key));
      if (known && !known.answer) known.holder = null;
    },
  };
}
