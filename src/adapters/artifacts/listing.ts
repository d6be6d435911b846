import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';

/** An object as a listing has it. */
export interface Stored {
  readonly key: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

const Page = z.object({
  ListBucketResult: z.object({
    IsTruncated: z.string().optional(),
    NextContinuationToken: z.string().min(1).optional(),
    Contents: z
      .array(
        z.object({
          Key: z.string(),
          Size: z.string().regex(/^\d+$/).transform(Number),
          LastModified: z.string().transform((text) => Date.parse(text)),
        }),
      )
      .default([]),
  }),
});

/** Address of one page of the names that begin with `under`. */
export function listed(root: URL, under: string, token: string | null): URL {
  const url = new URL(root);
  url.searchParams.set('list-type', '2');
  if (under !== '') url.searchParams.set('prefix', under);
  if (token !== null) url.searchParams.set('continuation-token', token);
  return url;
}

/** Fault ARTIFACTS_UNAVAILABLE for what is no listing. */
export function readListing(
  body: Buffer,
  where: string,
): { readonly objects: readonly Stored[]; readonly next: string | null } {
  const parser = new XMLParser({ parseTagValue: false, isArray: (name) => name === 'Contents' });
  try {
    const { ListBucketResult: page } = Page.parse(parser.parse(body.toString('utf8')));
    const more = page.IsTruncated === 'true' ? page.NextContinuationToken : undefined;
    return {
      objects: page.Contents.map(({ Key, Size, LastModified }) => ({
        key: Key,
        bytes: Size,
        modified: LastModified,
      })),
      next: more ?? null,
    };
  } catch (error) {
    throw new Fault(
      'ARTIFACTS_UNAVAILABLE',
      `The store of artifacts ${where} does not list its objects as S3 does.`,
      {
        cause: error,
      },
    );
  }
}
