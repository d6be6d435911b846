import { generateKeyPairSync } from 'node:crypto';

/** A private key as GitHub gives one to an App: PEM, PKCS #1. */
export const newAppKey = (): string =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }).privateKey;
