import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelProtocol } from '../../../../src/core/settings/index.ts';

/** What a real agent sent in the version of the catalogue; long texts and schemas of tools are shortened. */
export interface RecordedBody {
  readonly agent: string;
  readonly protocol: ModelProtocol;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

export const RECORDED: readonly RecordedBody[] = readFileSync(
  join(import.meta.dirname, 'bodies.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
