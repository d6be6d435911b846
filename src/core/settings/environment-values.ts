import { z } from 'zod';
import { Argv, MODEL_PROTOCOLS } from './settings.ts';

export const wholeNumber = (least: number, most: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'write a whole number')
    .transform(Number)
    .pipe(z.number().min(least).max(most))
    .prefault(String(fallback));

/**
 * Whole days, written `180d`; milliseconds. At least four: daily caps need the previous day, and missed labels are
 * searched for three days unless their delivery is recorded.
 */
export const days = (fallback: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}d$/, 'write days, such as 180d')
    .transform((text) => Number(text.slice(0, -1)))
    .refine((count) => count >= 4, 'write at least 4d')
    .transform((count) => count * 86_400_000)
    .prefault(`${fallback}d`);

const UNITS = { MB: 1e6, GB: 1e9, TB: 1e12 } as const;

/** Bytes, written `500MB`, `20GB` or 0. */
export const size = (fallback: string) =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,5}(MB|GB|TB))$/, 'write a size, such as 500MB or 20GB, or 0')
    .transform((text) => Number.parseInt(text, 10) * (UNITS[text.slice(-2) as keyof typeof UNITS] ?? 0))
    .prefault(fallback);

export const amount = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,4})?$/, 'write an amount in US dollars, such as 5 or 2.50')
  .transform(Number)
  .pipe(z.number().positive());

export const dollarAmount = (fallback: number) => amount.prefault(String(fallback));

export const longSecret = z
  .string()
  .min(16, 'needs at least 16 characters; `openssl rand -hex 32` makes a good one');

export const commaSeparated = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  )
  .prefault('');

export const webAddress = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
    error: 'write an address that begins with https:// (or http://)',
    abort: true,
  })
  .refine((text) => !/@/.test(URL.parse(text)?.href.split('/', 3).join('/') ?? ''), {
    error: 'must not hold a user name or password',
  })
  .transform((text) => text.replace(/\/+$/, ''));

/** Whether a URL names this machine, so that nobody else sees what is sent to it unencrypted. */
export const isLoopback = ({ hostname }: URL): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);

/** An origin that browsers treat as secure: cookies over plain HTTP could be read by others on the way. */
export const publicAddress = webAddress.refine(
  (text) => {
    const url = URL.parse(text);
    return url?.origin === text && (url.protocol === 'https:' || isLoopback(url));
  },
  { error: 'write https:// and a host name, without a path (http:// only for this machine)' },
);

/** A folder by its absolute path, also as file://, or a bucket with or without a prefix. */
export const artifactsAddress = z
  .string()
  .transform((text) => text.replace(/^file:\/\/(?=\/)/, '').replace(/(?<=.)\/+$/, ''))
  .refine(
    (text) =>
      text.startsWith('/') ||
      /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9._-]{1,200}){0,8}$/.test(text),
    { error: 'write s3://bucket/prefix, or an absolute path' },
  )
  .refine((text) => !text.split('/').some((part) => part === '.' || part === '..'), {
    error: 'write it without . and ..',
  });

export const yesNo = (fallback: boolean) =>
  z
    .enum(['true', 'false', '1', '0'], 'write true or false')
    .transform((text) => text === 'true' || text === '1')
    .prefault(fallback ? 'true' : 'false');

export const optionalYesNo = yesNo(false).unwrap().optional();

/** .env files and dashboards often encode a key as Base 64 of a PEM file, or with literal `\n`. */
export const privateKey = z
  .string()
  .transform((text) => (text.includes('-----BEGIN') ? text : fromBase64(text)).replaceAll('\\n', '\n'))
  .refine(
    (text) =>
      /^-----BEGIN [A-Z ]*PRIVATE KEY-----\n[^-]+-----END [A-Z ]*PRIVATE KEY-----\s*$/.test(text.trim()),
    "this is not a private key in PEM form; download one on the App's settings page",
  );

function fromBase64(text: string): string {
  try {
    return atob(text.replaceAll(/\s/g, ''));
  } catch {
    // Not base 64 either: the check for a PEM file says so.
    return '';
  }
}

export const jsonValue = <T extends z.ZodType>(schema: T, fallback: string) =>
  z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'this is not JSON' });
        return z.NEVER;
      }
    })
    .pipe(schema)
    .prefault(fallback);

/** Must not be the whole disk or a system folder: everything in it is readable by what candidates start. */
const agentFolder = z
  .string()
  .startsWith('/', 'write an absolute path')
  .refine((path) => !path.split('/').some((part) => part === '.' || part === '..' || part.includes('\0')), {
    error: 'write it without . and ..',
  })
  .refine(
    (path) =>
      !/^\/+(bin|boot|dev|etc|home|lib\w*|media|mnt|proc|root|run|sbin|srv|sys|tmp|usr|var)?\/*$/.test(path),
    {
      error: 'name a folder that holds the program and nothing else',
    },
  );

export const AgentCommands = z.record(
  z.string().regex(/^[a-z][a-z0-9-]{0,40}$/, 'name agents with lower-case letters, digits and hyphens'),
  z.strictObject({
    argv: Argv,
    speaks: z.enum(['command', 'acp']).default('command'),
    folder: agentFolder.optional(),
    protocols: z
      .array(z.enum(MODEL_PROTOCOLS))
      .min(1)
      .default([...MODEL_PROTOCOLS]),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({}),
  }),
);

const price = z.number().nonnegative();
export const Prices = z
  .record(
    z.string(),
    z.strictObject({
      input: price,
      output: price,
      cacheRead: price.optional(),
      cacheWrite: price.optional(),
    }),
  )
  .refine((models) => Object.keys(models).every((name) => /^[^/]+\/.+$/.test(name)), {
    error: 'name models as provider/model',
  });

export const hostName = z
  .string()
  .regex(/^[a-zA-Z0-9.-]{1,253}(:\d{1,5})?$/, 'write a host name only, without https://');
/** Hosts that set-up commands may reach: `registries`, `none`, or a list. */
export const networkAllow = commaSeparated
  .prefault('registries')
  .pipe(
    z.array(
      z
        .string()
        .regex(/^[a-z0-9.-]{1,253}(:\d{1,5})?$/, 'write exact host names, or host:port, with commas between'),
    ),
  );
