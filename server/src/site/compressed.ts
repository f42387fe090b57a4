/** Answers that are the same for everybody: compressed once, and not sent again to those who have them. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

type Encoding = 'br' | 'gzip' | 'identity';

export interface Compressed {
  readonly etag: string;
  readonly bodies: Readonly<Record<Encoding, Buffer>>;
}

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

export async function compress(identity: Buffer): Promise<Compressed> {
  const [br, gz] = await Promise.all([compressBrotli(identity), compressGzip(identity)]);
  const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`;
  return { etag, bodies: { br, gzip: gz, identity } };
}

/** Sends the smallest form that the client takes; type and caching are set before. */
export function sendCompressed(request: Request, response: Response, { etag, bodies }: Compressed): void {
  const encoding = request.acceptsEncodings('br', 'gzip', 'identity') || 'identity';
  const known: Encoding = encoding === 'br' || encoding === 'gzip' ? encoding : 'identity';
  response.set({
    ETag: etag,
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    ...(known !== 'identity' && { 'Content-Encoding': known }),
  });
  response.send(bodies[known]);
}
