import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

/** Validity of certificates in milliseconds, and how far it begins in the past, since clocks differ. Our defaults. */
const VALID_MS = 366 * 24 * 60 * 60_000;
const SKEW_MS = 24 * 60 * 60_000;

/** A certificate authority for registries' names, created for one process; its key is never stored. */
export interface Authority {
  /** PEM. */
  readonly certificate: string;
  /** A key and a certificate for a host name or an address, PEM. */
  identityOf(host: string): { readonly key: string; readonly certificate: string };
}

/** Identifiers of X.509 (RFC 5280, RFC 5758), DER. */
const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  basicConstraints: '0603551d13',
  keyUsage: '0603551d0f',
  alternativeName: '0603551d11',
  extendedKeyUsage: '0603551d25',
  serverAuthentication: '06082b06010505070301',
  subjectKey: '0603551d0e',
  authorityKey: '0603551d23',
} as const;

const der = (tag: number, ...parts: readonly (Buffer | string)[]): Buffer => {
  const content = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)),
  );
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
};
const sequence = (...parts: readonly (Buffer | string)[]): Buffer => der(0x30, ...parts);
const text = (value: string): Buffer => der(0x0c, Buffer.from(value));
const nameOf = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(OID.commonName, text(commonName))));
const time = (ms: number): Buffer =>
  // UTCTime: what X.509 wants until 2049.
  der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replaceAll(/[-T:]/g, '')}Z`));
const extension = (oid: string, critical: boolean, value: Buffer): Buffer =>
  sequence(oid, ...(critical ? ['0101ff'] : []), der(0x04, value));
const keyIdOf = (spki: Buffer): Buffer => createHash('sha1').update(spki).digest();

function alternativeName(host: string): Buffer {
  const family = isIP(host);
  return family === 0 ? der(0x82, Buffer.from(host)) : der(0x87, addressBytes(host, family));
}

function addressBytes(host: string, family: number): Buffer {
  if (family === 4) return Buffer.from(host.split('.').map(Number));
  const [head = '', tail] = host.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const all = [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(all.map((group: string) => group.padStart(4, '0')).join(''), 'hex');
}

const SUBJECT = 'Runoff, for package registries with a login';

function certificateOf(
  subject: { readonly name: string; readonly spki: Buffer; readonly extensions: readonly Buffer[] },
  issuer: { readonly key: KeyObject; readonly spki: Buffer },
): string {
  const now = Date.now();
  const algorithm = sequence(OID.ecdsaWithSha256);
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(15)]);
  const extensions = [
    ...subject.extensions,
    extension(OID.subjectKey, false, der(0x04, keyIdOf(subject.spki))),
    extension(OID.authorityKey, false, sequence(der(0x80, keyIdOf(issuer.spki)))),
  ];
  const body = sequence(
    der(0xa0, '020102'),
    der(0x02, serial),
    algorithm,
    nameOf(SUBJECT),
    sequence(time(now - SKEW_MS), time(now + VALID_MS)),
    nameOf(subject.name),
    subject.spki,
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, issuer.key);
  const whole = sequence(body, algorithm, der(0x03, '00', signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function newKey(): { readonly key: KeyObject; readonly spki: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key: privateKey, spki: publicKey.export({ type: 'spki', format: 'der' }) };
}

export function openAuthority(): Authority {
  const own = newKey();
  const extensions = [
    extension(OID.basicConstraints, true, sequence('0101ff', '020100')),
    extension(OID.keyUsage, true, der(0x03, '0204')),
  ];
  return {
    certificate: certificateOf({ name: SUBJECT, spki: own.spki, extensions }, own),
    identityOf(host) {
      const leaf = newKey();
      const certificate = certificateOf(
        {
          name: host.slice(0, 64),
          spki: leaf.spki,
          extensions: [
            extension(OID.basicConstraints, true, sequence()),
            extension(OID.keyUsage, true, der(0x03, '0780')),
            extension(OID.extendedKeyUsage, false, sequence(OID.serverAuthentication)),
            extension(OID.alternativeName, false, sequence(alternativeName(host))),
          ],
        },
        own,
      );
      return { key: leaf.key.export({ type: 'pkcs8', format: 'pem' }).toString(), certificate };
    },
  };
}
