/** A passkey in software: answers the server's options as a browser with an authenticator does, or as a thief would. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

export interface Answer {
  readonly origin: string;
  readonly rpId: string;
  readonly challenge: string;
  /** True if the person has shown a finger, a face or a PIN. */
  readonly isVerified?: boolean;
  readonly counter?: number;
}

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

export class Authenticator {
  readonly id = base64url(randomBytes(16));
  readonly #keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject } = generateKeyPairSync(
    'ec',
    {
      namedCurve: 'P-256',
    },
  );

  /** Answers as `navigator.credentials.create` does. */
  create(answer: Answer): Record<string, unknown> {
    const clientDataJSON = clientData('webauthn.create', answer);
    const length = Buffer.alloc(2);
    const id = Buffer.from(this.id, 'base64url');
    length.writeUInt16BE(id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey()]);
    const authData = authenticatorData(answer, credential);
    const attestationObject = cborMap([
      ['fmt', cborText('none')],
      ['attStmt', Buffer.of(0xa0)],
      ['authData', cborBytes(authData)],
    ]);
    const response = {
      clientDataJSON: base64url(clientDataJSON),
      attestationObject: base64url(attestationObject),
      transports: ['internal'],
    };
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response };
  }

  /** Answers as `navigator.credentials.get` does. */
  sign(answer: Answer, userHandle: string): Record<string, unknown> {
    const clientDataJSON = clientData('webauthn.get', answer);
    const authData = authenticatorData(answer);
    const signed = Buffer.concat([authData, sha256(clientDataJSON)]);
    const response = {
      clientDataJSON: base64url(clientDataJSON),
      authenticatorData: base64url(authData),
      signature: base64url(sign('sha256', signed, this.#keys.privateKey)),
      userHandle,
    };
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response };
  }

  /** COSE: an EC2 key for ES256 on P-256. */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.of(0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21),
      cborBytes(Buffer.from(x, 'base64url')),
      Buffer.of(0x22),
      cborBytes(Buffer.from(y, 'base64url')),
    ]);
  }
}

function clientData(type: string, { challenge, origin }: Answer): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}

function authenticatorData({ rpId, isVerified = true, counter = 0 }: Answer, credential?: Buffer): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const flags = 0x01 | (isVerified ? 0x04 : 0) | (credential ? 0x40 : 0);
  return Buffer.concat([sha256(rpId), Buffer.of(flags), count, credential ?? Buffer.alloc(0)]);
}

function cborBytes(bytes: Buffer): Buffer {
  // The shortest form of the length, as COSE wants it.
  const head =
    bytes.length < 256
      ? Buffer.of(0x58, bytes.length)
      : Buffer.of(0x59, bytes.length >> 8, bytes.length & 0xff);
  return Buffer.concat([head, bytes]);
}

const cborText = (text: string) => Buffer.concat([Buffer.of(0x60 | text.length), Buffer.from(text)]);

function cborMap(entries: readonly (readonly [string, Buffer])[]): Buffer {
  return Buffer.concat([
    Buffer.of(0xa0 | entries.length),
    ...entries.flatMap(([name, value]) => [cborText(name), value]),
  ]);
}
