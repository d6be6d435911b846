import { createPrivateKey } from 'node:crypto';

/**
 * The App's key as it is signed with, read once: GitHub hands keys out in an older form, and the library would convert
 * it for every token. A text that is no key is given back as it is; whoever signs with it says what is wrong.
 */
export function signingKey(pem: string): string {
  const read = (): string =>
    createPrivateKey(pem.replaceAll(String.raw`\n`, '\n'))
      .export({ type: 'pkcs8', format: 'pem' })
      .toString();
  try {
    return read();
  } catch {
    // Node 24 can throw an error here that something earlier left behind in OpenSSL; thrown once, it is gone.
    try {
      return read();
    } catch {
      return pem;
    }
  }
}
