import { readFile } from 'node:fs/promises';
import type { RegistryAccess } from '../../ports/index.ts';
import { type Login, loginIn } from './logins.ts';

/** Registry settings of a client on this machine. */
export interface ClientAnswer extends Omit<RegistryAccess, 'logins'> {
  readonly logins: readonly Login[];
  /** PEM of certificate authorities that it trusts besides the machine's. */
  readonly authorities: readonly string[];
}

/** `host:port` of an HTTPS URL; null for any other text, including folders and plain HTTP. */
export function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port } = new URL(url);
  return protocol === 'https:' && hostname !== '' ? `${hostname}:${port || '443'}` : null;
}

/** Without a login: a sandbox gets none. */
export function withoutLogin(url: string): string {
  const clean = new URL(url);
  clean.username = '';
  clean.password = '';
  return clean.href;
}

export const urlsIn = (text: string): readonly string[] => text.match(/https:\/\/[^\s'",|]+/g) ?? [];

export const accessTo = (urls: readonly string[], settings: Partial<ClientAnswer> = {}): ClientAnswer => ({
  hosts: [...new Set(urls.flatMap((url) => hostOf(url) ?? []))],
  env: {},
  files: {},
  folders: [],
  logins: urls.flatMap((url) => loginIn(url)),
  authorities: [],
  ...settings,
});

export const isText = (value: unknown): value is string => typeof value === 'string';

/** Text of a file named in a setting; empty if there is none. */
export const fileText = async (path: unknown): Promise<string> =>
  isText(path) && path !== '' ? readFile(path, 'utf8').catch(() => '') : '';

/** The certificates in the text of a PEM file, without its other blocks, such as a private key. */
export const certificatesIn = (text: string): string =>
  (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).join('\n');

/** For an index `…/simple` (devpi: `…/+simple`), its files are in a sibling folder. */
export const besideIndex = (url: string): string | undefined =>
  URL.canParse(url)
    ? new URL(url).pathname.replace(/(?:\+?simple\/?)?$/, '').replace(/\/?$/, '/')
    : undefined;
