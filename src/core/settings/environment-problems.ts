import { AUTO } from './contestants.ts';
import type { Environment } from './environment.ts';

/** Keys below a variable, as they stand in front of a problem. */
export const where = (path: readonly PropertyKey[]): string =>
  path.length === 0 ? '' : `${path.map((key) => JSON.stringify(String(key).slice(0, 60))).join('.')}: `;

/** Cross-field rules: what each variable allows by itself, but not in combination. */
export function contradictions(env: Environment): readonly EnvironmentProblem[] {
  const problems: EnvironmentProblem[] = [...artifactsProblems(env)];
  if (env.WEBHOOK_SECRET && new Set(env.WEBHOOK_SECRET).size < 6) {
    problems.push({
      name: 'WEBHOOK_SECRET',
      message: 'is too easy to guess; `openssl rand -hex 32` makes a good one',
    });
  }
  if (env.PRIVATE_KEY_PATH && !env.PRIVATE_KEY) {
    problems.push({ name: 'PRIVATE_KEY_PATH', message: 'was not read: the file is missing or empty' });
  }
  if (env.ANTHROPIC_BASE_URL && !env.ANTHROPIC_API_KEY) {
    problems.push({ name: 'ANTHROPIC_BASE_URL', message: 'is set without ANTHROPIC_API_KEY' });
  }
  if (env.GEMINI_BASE_URL && !env.GEMINI_API_KEY) {
    problems.push({ name: 'GEMINI_BASE_URL', message: 'is set without GEMINI_API_KEY' });
  }
  if (env.RUNOFF_SANDBOX === 'container' && !env.RUNOFF_SANDBOX_IMAGE) {
    problems.push({
      name: 'RUNOFF_SANDBOX_IMAGE',
      message: 'is not set; RUNOFF_SANDBOX=container needs an image with git and what your tests need',
    });
  }
  for (const [name, { folder }] of Object.entries(env.AGENT_COMMANDS)) {
    if (name === AUTO) {
      const message = `no agent can be called \`${AUTO}\`: in settings it stands for contestants that Runoff chooses`;
      problems.push({ name: 'AGENT_COMMANDS', message });
    }
    if (folder !== undefined && overlap(folder, env.RUNOFF_DATA)) {
      const message = `${where([name])}its folder holds the data folder or is part of it; sandboxes must not see that`;
      problems.push({ name: 'AGENT_COMMANDS', message });
    }
  }
  if (env.OTEL_EXPORTER_OTLP_HEADERS && !env.OTEL_EXPORTER_OTLP_ENDPOINT) {
    problems.push({
      name: 'OTEL_EXPORTER_OTLP_HEADERS',
      message: 'is set without OTEL_EXPORTER_OTLP_ENDPOINT',
    });
  }
  if (env.GHE_HOST && env.GITHUB_API_URL) {
    problems.push({ name: 'GHE_HOST', message: 'contradicts GITHUB_API_URL; set one of the two' });
  }
  return problems;
}

function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => `${path.replace(/\/+/g, '/').replace(/\/$/, '')}/`) as [
    string,
    string,
  ];
  return a.startsWith(b) || b.startsWith(a);
}

export interface EnvironmentProblem {
  /** The variable. */
  readonly name: string;
  /** Never contains the variable's value: it may be a secret. */
  readonly message: string;
}

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

/** The missing variables for the configured storage. */
function artifactsProblems(env: Environment): readonly EnvironmentProblem[] {
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
