import { constants } from 'node:fs';
import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { Fault } from '../core/model/index.ts';
import { SIGN_IN_CALLBACK_PATH, schemaProblem } from '../core/settings/index.ts';

/** What GitHub returns once, after it has registered the App. */
export interface Credentials {
  readonly appId: number;
  readonly webhookSecret: string;
  /** PEM. */
  readonly privateKey: string;
  /** For signing in to the pages. */
  readonly client?: { readonly id: string; readonly secret: string };
}

export interface SavedCredentials {
  readonly keyFile: string;
  readonly envFile: string;
}

/** Where the App's credentials are written. */
export interface CredentialStore {
  /** Null if `keep` can write, else one sentence. Called before anything is created on GitHub. */
  check(): Promise<string | null>;
  keep(credentials: Credentials): Promise<SavedCredentials>;
}

/**
 * Writes the key to `app.pem` in the data folder, and its path, the App's id and the secret to `.env`. Only their owner
 * can read the files, and each is replaced in one step. Other lines of `.env` stay; an earlier key is kept as
 * `app.pem.old`.
 */
export function fileCredentialStore(paths: {
  readonly dataFolder: string;
  readonly envFile: string;
}): CredentialStore {
  const dataFolder = resolve(paths.dataFolder);
  const envFile = resolve(paths.envFile);
  const keyFile = join(dataFolder, 'app.pem');
  return {
    async check() {
      try {
        await mkdir(dataFolder, { recursive: true, mode: 0o700 });
        await access(dataFolder, constants.W_OK);
        await access(dirname(envFile), constants.W_OK);
        return null;
      } catch (thrown) {
        return `The App's key and secret cannot be written to ${keyFile} and ${envFile}: ${(thrown as Error).message}.`;
      }
    },
    async keep({ appId, webhookSecret, privateKey, client }) {
      await mkdir(dataFolder, { recursive: true, mode: 0o700 });
      await rename(keyFile, `${keyFile}.old`).catch(unlessMissing);
      await replace(keyFile, privateKey.endsWith('\n') ? privateKey : `${privateKey}\n`);
      const before = await readFile(envFile, 'utf8').catch((thrown: unknown) => unlessMissing(thrown) ?? '');
      const lines = {
        APP_ID: String(appId),
        WEBHOOK_SECRET: webhookSecret,
        PRIVATE_KEY_PATH: keyFile,
        ...(client ? { GITHUB_CLIENT_ID: client.id, GITHUB_CLIENT_SECRET: client.secret } : {}),
      };
      await replace(envFile, withLines(before, lines));
      return { keyFile, envFile };
    },
  };
}

function unlessMissing(thrown: unknown): undefined {
  if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
  return undefined;
}

/** Writes a file completely or not at all, with mode 0600 from the start. */
async function replace(path: string, text: string): Promise<void> {
  const building = `${path}.new`;
  await rm(building, { force: true });
  try {
    const file = await open(building, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(building, path);
  } catch (thrown) {
    await rm(building, { force: true });
    throw thrown;
  }
}

/** `.env` text with these variables set: a line that sets one of them is replaced, the rest stays as it is. */
export function withLines(text: string, values: Readonly<Record<string, string>>): string {
  const missing = new Map(Object.entries(values));
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const kept = lines.flatMap((line) => {
    const name = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/.exec(line)?.[1];
    const value = name === undefined ? undefined : values[name];
    if (name === undefined || value === undefined) return [line];
    return missing.delete(name) ? [`${name}=${quote(value)}`] : [];
  });
  const added = [...missing].map(([name, value]) => `${name}=${quote(value)}`);
  return `${[...kept, ...added].join('\n')}\n`;
}

function quote(value: string): string {
  if (/^[\w./:@-]*$/.test(value)) return value;
  const mark = ["'", '`'].find((candidate) => !value.includes(candidate));
  if (mark === undefined || /[\r\n]/.test(value)) {
    throw new Error(
      'A value with line breaks, or with both kinds of quotes, cannot be written to an .env file.',
    );
  }
  return `${mark}${value}${mark}`;
}

/** The keys of `app.yml` that we use. Any other key is an error, so that a typo cannot request a permission. */
const AppFile = z.strictObject({
  name: z.string().min(1).max(34),
  description: z.string().max(1_000).optional(),
  url: z.url().optional(),
  public: z.literal(false).default(false),
  default_permissions: z.record(z.string(), z.enum(['read', 'write'])),
  default_events: z.array(z.string()).default([]),
});

interface ManifestUrls {
  /** Where GitHub reaches this server. */
  readonly publicUrl: string;
  readonly webhooksPath: string;
  /** Where GitHub redirects the browser of the person who sets up Runoff. */
  readonly redirectUrl: string;
}

/** The manifest from which GitHub registers an App, with GitHub's field names. */
export interface AppManifest extends z.infer<typeof AppFile> {
  readonly url: string;
  readonly hook_attributes: { readonly url: string };
  readonly redirect_url: string;
  /** Where GitHub sends people who sign in to the pages. */
  readonly callback_urls: readonly string[];
}

/** The manifest of the App that `app.yml` describes. Fault SETTINGS_INVALID if the file is invalid. */
export function manifestFrom(appFile: unknown, urls: ManifestUrls): AppManifest {
  const parsed = AppFile.safeParse(appFile);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) =>
        `${issue.path.length === 0 ? 'the file' : `\`${issue.path.join('.')}\``}: ${schemaProblem(issue)}`,
    );
    throw new Fault('SETTINGS_INVALID', `app.yml cannot be used: ${problems.join('; ')}.`);
  }
  const publicUrl = urls.publicUrl.replace(/\/+$/, '');
  return {
    ...parsed.data,
    url: parsed.data.url ?? publicUrl,
    hook_attributes: { url: `${publicUrl}${urls.webhooksPath}` },
    redirect_url: urls.redirectUrl,
    callback_urls: [`${publicUrl}${SIGN_IN_CALLBACK_PATH}`],
  };
}
