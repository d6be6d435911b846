import { z } from 'zod';
import { Fault } from '../core/model/index.ts';

/** What we take from `app.yml`; another key is an error, so that a typing mistake cannot ask for a right. */
const AppFile = z.strictObject({
  name: z.string().min(1).max(34),
  description: z.string().max(1_000).optional(),
  url: z.url().optional(),
  public: z.literal(false).default(false),
  default_permissions: z.record(z.string(), z.enum(['read', 'write'])),
  default_events: z.array(z.string()).default([]),
});

export interface ManifestUrls {
  /** Where GitHub reaches this server. */
  readonly publicUrl: string;
  readonly webhooksPath: string;
  /** Where the browser of the person who sets up comes back to. */
  readonly redirectUrl: string;
}

/** What GitHub registers an App from; its fields as GitHub names them. */
export interface Manifest extends z.infer<typeof AppFile> {
  readonly url: string;
  readonly hook_attributes: { readonly url: string };
  readonly redirect_url: string;
}

/** The manifest of the App that `app.yml` describes. Fault SETTINGS_INVALID when the file is not what it should be. */
export function manifestFrom(appFile: unknown, urls: ManifestUrls): Manifest {
  const parsed = AppFile.safeParse(appFile);
  if (!parsed.success) {
    throw new Fault('SETTINGS_INVALID', `app.yml cannot be used: ${z.prettifyError(parsed.error)}`);
  }
  const publicUrl = urls.publicUrl.replace(/\/+$/, '');
  return {
    ...parsed.data,
    url: parsed.data.url ?? publicUrl,
    hook_attributes: { url: `${publicUrl}${urls.webhooksPath}` },
    redirect_url: urls.redirectUrl,
  };
}
