/** Serves `examples/medusa-storefront` with the values of a shop, as its readers would set them. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { plugin } from './processes.js';
import type { Stage } from './stage.js';

const folder = join(plugin, '../../examples/medusa-storefront');

/** @param port one that Medusa allows, by its CORS setting */
export async function serveStorefront(stage: Stage, port: number): Promise<Server> {
  const page = (await readFile(join(folder, 'index.html'), 'utf8'))
    .replace('https://pay.example.com', stage.api.url)
    .replace('http://localhost:9000', stage.medusa.url)
    .replace('pk_…', stage.publishableKey);
  const script = await readFile(join(folder, 'storefront.js'), 'utf8');
  const server = createServer(({ url }, response) => {
    const isScript = url === '/storefront.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : page);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
