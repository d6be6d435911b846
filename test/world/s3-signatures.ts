import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SignatureV4 } from '@smithy/signature-v4';

/** Hash and HMAC as Amazon's own signer wants them. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    if (secret === undefined) this.#hash = createHash('sha256');
    else this.#hash = createHmac('sha256', typeof secret === 'string' ? secret : bytesOf(secret));
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : bytesOf(data));
  }
  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }
  reset(): void {
    throw new Error('Nobody begins anew with a hash here.');
  }
}

const bytesOf = (data: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);

/** Whether Amazon's own signer, given this request and the secret, comes to the signature that it carries. */
export async function isSigned(
  asked: IncomingMessage,
  body: Buffer,
  key: string,
  secret: string,
): Promise<boolean> {
  const authorization = asked.headers.authorization ?? '';
  const [, region, signed] =
    /Credential=[^/]+\/\d+\/([a-z0-9-]+)\/s3\/aws4_request, SignedHeaders=([^,]+)/.exec(authorization) ?? [];
  const stamp = String(asked.headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
  const payload = asked.headers['x-amz-content-sha256'];
  if (region === undefined || signed === undefined) return false;
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== createHash('sha256').update(body).digest('hex'))
    return false;
  const url = new URL(asked.url ?? '/', `http://${asked.headers.host}`);
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials: { accessKeyId: key, secretAccessKey: secret },
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const names = new Set(signed.split(';'));
  const { headers } = await signer.sign(
    {
      method: asked.method ?? 'GET',
      protocol: 'http:',
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: Object.fromEntries([...names].map((name) => [name, String(asked.headers[name])])),
    },
    { signingDate: new Date(stamp), signableHeaders: names },
  );
  return headers.authorization === authorization;
}
