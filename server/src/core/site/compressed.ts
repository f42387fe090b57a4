/** Static responses: compressed once, and answered with 304 if the client already has them. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Reads files of a build's directory, each once. @returns undefined if there is no such file */
export function createKeptFiles(directory: string): (name: string) => Promise<Compressed | undefined> {
  const files = new Map<string, Compressed>();
  return async (name) => {
    const known = files.get(name);
    if (known) return known;
    const content = await readFile(join(directory, name)).catch(() => undefined);
    if (!content) return undefined;
    const file = await compress(content);
    files.set(name, file);
    return file;
  };
}

/** Sends the smallest encoding that the client accepts. Set `Content-Type` and `Cache-Control` before. */
export function sendCompressed(request: Request, response: Response, { etag, bodies }: Compressed): void {
  const accepted = request.acceptsEncodings('br', 'gzip', 'identity') || 'identity';
  const encoding: Encoding = accepted === 'br' || accepted === 'gzip' ? accepted : 'identity';
  response.set({
    ETag: etag,
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
  });
  response.send(bodies[encoding]);
}

/** Makes a file on the first request and keeps it. After a failure, the next request tries again. */
export function createMade(make: () => string | Promise<Buffer>): () => Promise<Compressed> {
  let file: Promise<Compressed> | undefined;
  return () =>
    (file ??= (async () => compress(Buffer.from(await make())))().catch((error: unknown) => {
      file = undefined;
      throw error;
    }));
}

/** Sends a file that changes with every release. */
export function sendMade(request: Request, response: Response, file: Compressed): void {
  response.set('Cache-Control', 'public, max-age=300');
  sendCompressed(request, response, file);
}
