import { AwsClient } from 'aws4fetch';
import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import { type ArtifactRef, Fault, inParallel } from '../../core/model/index.ts';
import type { Bucket } from '../../core/settings/index.ts';
import type { Artifacts, SweepOptions, Swept } from '../../ports/index.ts';
import { artifactName, artifactRef, hashInName, OWNER, requireOwner, verified } from './directory.ts';
import { requester, type S3Request, type S3Response } from './requests.ts';

export interface S3Options extends Bucket {
  readonly fetch?: typeof fetch;
}

/** Bytes of one artifact at most; our default. What Runoff puts is bounded far below where it is made. */
const MAX_ARTIFACT_BYTES = 256 * 2 ** 20;
/** Removals under way at a time; our default. */
const MAX_PARALLEL_REMOVALS = 8;

/** Headers tell times in whole seconds, rounded down. */
const WHOLE_SECOND_MS = 1_000;

/** Address of the bucket, with a final slash. */
function bucketAddress({ bucket, endpoint, region, pathStyle }: S3Options): URL {
  const server = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  if (!server.pathname.endsWith('/')) server.pathname += '/';
  if (pathStyle) server.pathname += `${bucket}/`;
  else server.host = `${bucket}.${server.host}`;
  return server;
}

const isGone = (answer: S3Response): boolean => answer.status === 404 && answer.code !== 'NoSuchBucket';

/**
 * Artifacts as objects of a bucket: `prefix/ab/cdef…`, the same names as in a folder. Written for every S3-compatible
 * server: plain PUT, GET, HEAD, DELETE and the second version of listing, nothing that only some have.
 * A put is always sent, even where the object is there: that renews its time, which `sweep` goes by.
 */
export function openS3Artifacts(options: S3Options): Artifacts {
  const { accessKeyId, secretAccessKey, region, bucket, prefix } = options;
  const where = `s3://${prefix === '' ? bucket : `${bucket}/${prefix}`}`;
  const root = bucketAddress(options);
  const under = prefix === '' ? '' : `${prefix}/`;
  const signer = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });
  const ask = requester({ signer, where, fetch: options.fetch ?? fetch });
  const addressOf = (hash: string): URL => new URL(under + artifactName(hash), root);

  async function must(request: S3Request): Promise<S3Response> {
    const answer = await ask(request);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw faultOf(where, request.method, answer);
  }

  async function* everything(): AsyncGenerator<readonly StoredObject[]> {
    let token: string | null = null;
    do {
      const page = listingUrl(root, under, token);
      const { objects, next } = readListing((await must({ method: 'GET', url: page })).body, where);
      yield objects;
      token = next;
    } while (token !== null);
  }

  /** Looked at once more just before: it may have been put again since the listing, which can be long. */
  async function remove(hash: string, before: number): Promise<boolean> {
    const url = addressOf(hash);
    const now = await ask({ method: 'HEAD', url });
    if (isGone(now)) return false;
    if (now.status !== 200) throw faultOf(where, 'HEAD', now);
    if (!(now.modified + WHOLE_SECOND_MS <= before)) return false;
    await must({ method: 'DELETE', url });
    return true;
  }

  async function sweepPage(page: readonly StoredObject[], { keep, before }: SweepOptions): Promise<Swept> {
    const old = page.flatMap(({ key, bytes, modified }) => {
      const hash = key.startsWith(under) ? hashInName(key.slice(under.length)) : null;
      return hash !== null && modified < before && !keep(hash) ? [{ hash, bytes }] : [];
    });
    const swept = { files: 0, bytes: 0 };
    await inParallel(MAX_PARALLEL_REMOVALS, old, async ({ hash, bytes }) => {
      if (!(await remove(hash, before))) return;
      swept.files += 1;
      swept.bytes += bytes;
    });
    return swept;
  }

  return {
    async put(content) {
      const body = Buffer.from(content, 'utf8');
      if (body.length > MAX_ARTIFACT_BYTES)
        throw new Fault('INTERNAL', `An artifact of ${body.length} bytes is too big.`);
      const ref = artifactRef(body);
      await must({ method: 'PUT', url: addressOf(ref.sha256), body, sha256: ref.sha256 });
      return ref;
    },

    async claim(nameOf) {
      const url = new URL(under + OWNER, root);
      const owner = async (): Promise<string | null> => {
        const answer = await ask({ method: 'GET', url });
        if (isGone(answer)) return null;
        if (answer.status !== 200) throw faultOf(where, 'GET', answer);
        return answer.body.toString();
      };
      const found = await owner();
      const database = await nameOf(found);
      const body = Buffer.from(database);
      if (found === null) await must({ method: 'PUT', url, body, sha256: artifactRef(body).sha256 });
      // Read again: another database may have claimed them at the same moment, and the last one has them. One that reads
      // before the last one writes is refused at its next claim. Some servers ignore or refuse If-None-Match on a PUT.
      requireOwner((await owner()) ?? '', database, where);
    },

    async get(ref: ArtifactRef) {
      const answer = await ask({ method: 'GET', url: addressOf(ref.sha256), maxBytes: ref.bytes });
      if (isGone(answer)) return verified(null, ref, where);
      if (answer.status !== 200) throw faultOf(where, 'GET', answer);
      return verified(answer.body, ref, where);
    },

    async sweep(options) {
      const swept = { files: 0, bytes: 0 };
      for await (const page of everything()) {
        const { files, bytes } = await sweepPage(page, options);
        swept.files += files;
        swept.bytes += bytes;
      }
      return swept;
    },
  };
}

/** What the server says, in its own words and ours: most of these are a mistake in the settings. */
function faultOf(where: string, method: string, { status, code, message }: S3Response): Fault {
  const hints: Readonly<Record<number, string>> = {
    301: 'The bucket is in another region: check S3_REGION.',
    307: 'The bucket is elsewhere: check S3_REGION and S3_ENDPOINT.',
    400: 'Check S3_REGION, and S3_PATH_STYLE.',
    403: 'Check the access key, and that it may read, write, list and delete below this prefix.',
    404: 'Check the name of the bucket: Runoff does not create it.',
  };
  const detail = [code, message].filter((part) => part !== '').join(': ');
  const full = status === 507 || code === 'QuotaExceeded' || code === 'XMinioStorageFull';
  return new Fault(
    full ? 'DISK_FULL' : 'ARTIFACTS_UNAVAILABLE',
    `The artifact store ${where} answered ${method} with ${status}${detail ? ` (${detail.slice(0, 300)})` : ''}. ${hints[status] ?? ''}`.trim(),
  );
}

/** An object as a listing has it. */
interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

const ListingPage = z.object({
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
function listingUrl(root: URL, under: string, token: string | null): URL {
  const url = new URL(root);
  url.searchParams.set('list-type', '2');
  if (under !== '') url.searchParams.set('prefix', under);
  if (token !== null) url.searchParams.set('continuation-token', token);
  return url;
}

/** Fault ARTIFACTS_UNAVAILABLE for what is no listing. */
function readListing(
  body: Buffer,
  where: string,
): { readonly objects: readonly StoredObject[]; readonly next: string | null } {
  const parser = new XMLParser({ parseTagValue: false, isArray: (name) => name === 'Contents' });
  try {
    const { ListBucketResult: page } = ListingPage.parse(parser.parse(body.toString('utf8')));
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
      `The artifact store ${where} does not list its objects as S3 does.`,
      {
        cause: error,
      },
    );
  }
}
