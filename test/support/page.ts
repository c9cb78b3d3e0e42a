import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const PAGE = (name: string): string => `<!doctype html>
<title>Page of ${name}</title>
<h1>Hello ${name}</h1>
<button onclick="count.textContent = Number(count.textContent) + 1">Count</button>
<p>Clicked <output id="count">0</output> times</p>`;

/** A page on loopback: `/<name>` greets by name and counts clicks. */
export interface LoopbackPage {
  url(name: string): string;
  close(): Promise<void>;
}

export async function servePage(): Promise<LoopbackPage> {
  const server = createServer((request, response) => {
    const name = (request.url ?? '').replace(/[^a-z]/g, '') || 'nobody';
    response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE(name));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
