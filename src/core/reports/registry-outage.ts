import { cut, visible } from './visible.ts';

/**
 * Messages of package clients about a response that says "later", or about no response. Requests are encrypted, so
 * these messages are the only source.
 */
const LATER: readonly RegExp[] = [
  /\b(?:429 Too Many Requests|500 Internal Server Error|502 Bad Gateway|503 Service (?:Temporarily )?Unavailable|504 Gateway Time-?out)\b/i,
  /\b(?:status(?: code)?|HTTP(?:\/[\d.]+)?(?: error)?|response code|got|indicate success)[: ]{1,3}(?:429|5\d\d)\b/i,
  /\b(?:429|5\d\d) Server Error\b/,
  /\b(?:code E|ERR_PNPM_FETCH_)(?:429|5\d\d)\b/,
  /\b(?:ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|ReadTimeoutError|TLS handshake timeout|i\/o timeout)\b/,
];

/** Failed attempts that were retried: the command may have failed for another reason. */
const REPEATED = /^(?:npm (?:http|warn|info|verb|sill)\b|warn|\s*\S*warning\b|.{0,80}\bretry(?:ing)?\b)/i;

/** Characters at the end of the output that are searched: clients print the final error last. */
const MAX_CHARS = 8_000;
/** Maximum code points of a quoted line. */
const MAX_LINE = 240;

/**
 * Why a set-up command failed, if a package registry is down, slow or overloaded: completes "could not get its
 * packages: …". Null for any other failure, including a blocked host, which waiting does not fix.
 */
export function registryOutage(failed: {
  readonly tail: string;
  readonly refusedHosts: readonly string[];
  readonly failedHosts: readonly { readonly host: string; readonly why: string }[];
  /** Whether it had network access. */
  readonly hasNetwork: boolean;
}): string | null {
  if (failed.refusedHosts.length > 0 || !failed.hasNetwork) return null;
  if (failed.failedHosts.length > 0)
    return failed.failedHosts
      .slice(0, 3)
      .map(({ host, why }) => `${host.replace(/:443$/, '')} ${why}`)
      .join(', ');
  const line = visible(failed.tail.slice(-MAX_CHARS))
    .split('\n')
    .find((one) => !REPEATED.test(one) && LATER.some((pattern) => pattern.test(one)));
  return line === undefined ? null : `\`${cut(line.trim(), { codePoints: MAX_LINE }).replaceAll('`', "'")}\``;
}
