import { findMarker, type Marker } from '../core/reports/index.ts';
import type { CommentFacts, GitHub, GitHubReader } from '../ports/index.ts';

export interface OwnComment {
  readonly id: number;
  readonly url: string;
}

/** The comment that we wrote before a crash kept us from recording it: by its marker and our own App's id (I12). */
export async function findOwn(
  github: GitHub,
  reader: GitHubReader,
  on: number,
  wanted: Marker,
): Promise<OwnComment | null> {
  const found = await findComment(reader, on, (comment) => {
    const marker = findMarker(comment.body);
    return (
      comment.performedByAppId === github.appId &&
      marker?.kind === wanted.kind &&
      marker.run === wanted.run &&
      marker.number === wanted.number
    );
  });
  return found ? { id: found.id, url: found.url } : null;
}

/** The newest comment of this kind, however many others have written since. */
export async function findComment(
  reader: GitHubReader,
  on: number,
  wanted: (comment: CommentFacts) => boolean,
): Promise<CommentFacts | null> {
  for await (const page of reader.commentPages(on)) {
    const found = page.findLast(wanted);
    if (found) return found;
  }
  return null;
}
