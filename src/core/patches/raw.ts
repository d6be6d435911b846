/** One changed path as `git diff-tree --raw` names it. */
export interface RawEntry {
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldSha: string;
  readonly newSha: string;
  readonly status: 'A' | 'M' | 'D' | 'T';
  readonly path: string;
}

export type RawList =
  | { readonly kind: 'ok'; readonly entries: readonly RawEntry[] }
  | { readonly kind: 'refused'; readonly why: string };

const META = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) ([AMDT])$/;

/** Reads `git diff-tree -r --raw -z --no-renames --no-abbrev base tree`: records of meta, NUL, path, NUL. */
export function parseRaw(raw: string): RawList {
  if (raw === '') return { kind: 'ok', entries: [] };
  if (!raw.endsWith('\0'))
    return { kind: 'refused', why: 'The list of changed files ends in the middle of an entry.' };
  const fields = raw.slice(0, -1).split('\0');
  if (fields.length % 2 !== 0)
    return { kind: 'refused', why: 'The list of changed files has an entry without a path.' };
  const entries: RawEntry[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const meta = META.exec(fields[i] as string);
    if (!meta)
      return { kind: 'refused', why: `Entry ${i / 2 + 1} of the list of changed files is not readable.` };
    const [, oldMode, newMode, oldSha, newSha, status] = meta as unknown as readonly [
      string,
      string,
      string,
      string,
      string,
      RawEntry['status'],
    ];
    entries.push({ oldMode, newMode, oldSha, newSha, status, path: fields[i + 1] as string });
  }
  return { kind: 'ok', entries };
}
