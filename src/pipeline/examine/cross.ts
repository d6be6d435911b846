import { type Evidence, isSurvivor, type PeerTests, peerTests } from '../../core/evidence/index.ts';
import { productionLines } from '../../core/patches/index.ts';
import { areaId, type Bench } from './execute.ts';
import { type Examined, runWithTests } from './one.ts';
import { inParallel } from './parallel.ts';

/** Runs every survivor's added tests on every other survivor's code: nobody is judged by its own tests. */
export async function crossExecute(
  bench: Bench,
  examined: readonly Examined[],
): Promise<readonly Evidence[]> {
  const survivors = examined.filter((one) => isSurvivor(one.gates));
  const pairs = survivors.flatMap((author) =>
    author.added.length === 0
      ? []
      : survivors.filter((peer) => peer !== author).map((peer) => ({ author, peer })),
  );
  const results = new Map<Examined, PeerTests[]>();
  await inParallel(bench.world.parallelChecks, pairs, async ({ author, peer }) => {
    const result = await onPeer(bench, author, peer);
    if (result) results.set(peer, [...(results.get(peer) ?? []), result]);
  });
  return examined.map((one) => evidenceOf(one, results.get(one) ?? []));
}

async function onPeer(bench: Bench, author: Examined, peer: Examined): Promise<PeerTests | null> {
  if (!peer.built || !author.patch) return null;
  const { runId, alias } = peer.candidate;
  const id = areaId(runId, alias, 'from', author.candidate.alias);
  const result = await runWithTests(bench, peer.built, id, author.patch);
  return peerTests(author.candidate.alias, author.added, result.kind === 'ran' ? result.run : null);
}

function evidenceOf(one: Examined, peers: readonly PeerTests[]): Evidence {
  const { candidate, gates, patch, baseTests, added } = one;
  return {
    alias: candidate.alias,
    gates,
    survivor: isSurvivor(gates),
    patchSha256: candidate.patch?.sha256 ?? '',
    productionLines: patch ? productionLines(patch) : 0,
    addedTests: added.length,
    coderMs: candidate.ms,
    ...(baseTests ? { baseTests } : {}),
    peerTests: peers.toSorted((a, b) => a.author.localeCompare(b.author)),
  };
}
