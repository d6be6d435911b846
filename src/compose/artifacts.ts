import { openArtifacts, openS3Artifacts } from '../adapters/artifacts/index.ts';
import type { Operator } from '../core/policy/index.ts';
import type { Artifacts } from '../ports/index.ts';
import { dataPaths } from './paths.ts';

/** The store of artifacts that the operator chose. Opening it asks nothing; `putToTheTest` does. */
export function artifactsOf({ artifacts: place, data }: Operator): Artifacts {
  if (place === undefined) return openArtifacts(dataPaths(data).artifacts);
  return place.kind === 'folder' ? openArtifacts(place.path) : openS3Artifacts(place);
}

/** For people: where artifacts are, without secrets. */
export function artifactsWords({ artifacts: place, data }: Operator): string {
  if (place === undefined) return dataPaths(data).artifacts;
  if (place.kind === 'folder') return place.path;
  const { bucket, prefix, endpoint, region } = place;
  return `s3://${[bucket, prefix].filter(Boolean).join('/')} at ${endpoint ?? `Amazon ${region}`}`;
}

/** Always the same text, so that it lies there once. */
const PROBE = 'Written by `runoff doctor` to see whether artifacts can be kept here. It may be removed.\n';

/** Puts a small text, reads it back, and rejects with what is wrong. */
export async function putToTheTest(artifacts: Artifacts): Promise<void> {
  await artifacts.get(await artifacts.put(PROBE));
}
