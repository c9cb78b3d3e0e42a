/** A site to log in at, on loopback: `/login` sets a cookie that lives for a day, `/` says whether it came. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export interface LoginPage {
  readonly url: string;
  readonly login: string;
}

const closing: (() => void)[] = [];

afterAll(() => {
  for (const close of closing.splice(0)) close();
});

/** It is gone when the test file is done. */
export async function serveLogin(): Promise<LoginPage> {
  const server = createServer(({ url, headers }, response) => {
    response.setHeader('content-type', 'text/html');
    if (url === '/login') {
      response.setHeader('set-cookie', 'login=ada; Max-Age=86400; Path=/; HttpOnly; SameSite=Lax');
      response.end('<!doctype html><title>Login</title><h1>Logged in</h1>');
      return;
    }
    const known = /\blogin=ada\b/.test(headers.cookie ?? '');
    response.end(`<!doctype html><title>Site</title><h1>${known ? 'Welcome back, Ada' : 'Who are you?'}</h1>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, login: `${url}login` };
}
