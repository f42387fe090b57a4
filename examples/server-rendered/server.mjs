/** Renders the page on the server, and sends the built files to the browser: API_URL=… PUBLIC_KEY=… PORT=… node server.mjs */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { env } from 'node:process';
import { render } from './dist/server/entry-server.js';

/** The price comes from the shop's own records. */
const shop = {
  apiUrl: env.API_URL,
  publicKey: env.PUBLIC_KEY,
  order: { reference: env.ORDER ?? 'order-42', amount: 5000 },
};
const client = new URL('dist/client/', import.meta.url);
const template = await readFile(new URL('index.html', client), 'utf8');

createServer(async ({ url = '/' }, response) => {
  if (url === '/' || url === '/tip') {
    const props = { ...shop, path: url };
    const attribute = JSON.stringify(props).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    const page = template.replace('{{props}}', () => attribute).replace('{{app}}', () => render(props));
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
  } else if (/^\/assets\/[\w-]+\.js$/.test(url)) {
    response.writeHead(200, { 'Content-Type': 'text/javascript' });
    response.end(await readFile(new URL(url.slice(1), client)));
  } else response.writeHead(404).end();
}).listen(Number(env.PORT ?? 3000), '127.0.0.1', () => console.log('listening'));
