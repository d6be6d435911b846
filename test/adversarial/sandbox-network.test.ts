import { beforeAll, describe, expect, test } from 'vitest';
import { openDirtyBubblewrap } from './escape/dirty.ts';
import { networkSuite } from './escape/network.ts';
import { type Tried, tryPrivateNetwork } from './escape/private-net.ts';

networkSuite('bubblewrap', openDirtyBubblewrap);

describe('a network where everything answers, from bubblewrap', () => {
  let tried: Tried;
  beforeAll(async () => {
    tried = await tryPrivateNetwork();
  });

  test.each([
    ['[n03] a neighbour in the same network', 'neighbour'],
    ['[n04] a cloud’s metadata service', 'metadata'],
    ['[n14] its IPv6 twin', 'metadataV6'],
    ['[n15] the internet', 'internet'],
  ])('%s has no route', (_title, place) => {
    expect(tried.free[place]).toBe(place);
    expect(tried.held[place]).toMatch(/^ENETUNREACH/);
  });

  test.each([
    ['[n05] a name asked of the host’s resolver', 'lookup', /^(EAI_AGAIN|ENOTFOUND)$/],
    ['[n06] a name asked of a name server', 'query', /^(ECONNREFUSED|ETIMEOUT)$/],
  ])('%s gets no answer', (_title, way, refusal) => {
    expect(tried.free[way]).toBe('10.99.0.2');
    expect(tried.held[way]).toMatch(refusal);
  });
});
