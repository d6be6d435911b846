import type { Environment } from './environment.ts';
import type { EnvironmentProblem } from './operator.ts';

/** A bucket of an S3-compatible server. Holds a secret: never log it. */
export interface Bucket {
  readonly bucket: string;
  /** Folders in the bucket, `a/b`, without a slash at either end; empty: the bucket is ours alone. */
  readonly prefix: string;
  /** Address of the server, e.g. https://minio.example:9000; absent: Amazon's of the region. */
  readonly endpoint?: string;
  /** Name that requests are signed for. */
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** True: `https://server/bucket/name`; false: `https://bucket.server/name`. */
  readonly pathStyle: boolean;
}

/** Where artifacts are kept. */
export type ArtifactsPlace =
  | { readonly kind: 'folder'; readonly path: string }
  | ({ readonly kind: 's3' } & Bucket);

/** Both or none: half a pair of one kind is not completed by the other. */
function keysOf(env: Environment): { readonly id: string; readonly secret: string } | null {
  const [id, secret] =
    env.S3_ACCESS_KEY_ID || env.S3_SECRET_ACCESS_KEY
      ? [env.S3_ACCESS_KEY_ID, env.S3_SECRET_ACCESS_KEY]
      : [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY];
  return id && secret ? { id, secret } : null;
}

/** Null: below the data folder. */
export function artifactsPlace(env: Environment): ArtifactsPlace | null {
  const { ARTIFACTS_URL: url, S3_ENDPOINT: endpoint } = env;
  if (url === undefined) return null;
  if (!url.startsWith('s3://')) return { kind: 'folder', path: url };
  const [bucket = '', ...folders] = url.slice('s3://'.length).split('/');
  const keys = keysOf(env);
  return {
    kind: 's3',
    bucket,
    prefix: folders.join('/'),
    ...(endpoint ? { endpoint } : {}),
    region: env.S3_REGION ?? env.AWS_REGION ?? 'us-east-1',
    accessKeyId: keys?.id ?? '',
    secretAccessKey: keys?.secret ?? '',
    pathStyle: env.S3_PATH_STYLE ?? endpoint !== undefined,
  };
}

/** What is missing for the place that was named. */
export function artifactsProblems(env: Environment): readonly EnvironmentProblem[] {
  const isBucket = env.ARTIFACTS_URL?.startsWith('s3://') ?? false;
  if (!isBucket) {
    return env.S3_ENDPOINT
      ? [{ name: 'S3_ENDPOINT', message: 'is set without ARTIFACTS_URL=s3://bucket' }]
      : [];
  }
  if (keysOf(env) !== null) return [];
  const message =
    'names a bucket, and S3_ACCESS_KEY_ID with S3_SECRET_ACCESS_KEY (or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY) is not set';
  return [{ name: 'ARTIFACTS_URL', message }];
}
