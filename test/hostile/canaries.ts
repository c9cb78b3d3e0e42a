/** What nobody may get at: secrets, a folder outside, listeners. And the one page of the internet that a grant is for. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeWorkspace } from '../support/workspace.ts';

const PUBLIC_ADDRESS = '93.184.216.34';

export class Canaries {
  readonly secrets = { token: secret(), file: secret(), net: secret(), chat: secret(), stored: secret() };
  readonly outside = makeWorkspace('outside');
  readonly agentDir = makeWorkspace('agent');
  readonly file = join(this.outside, 'canary.txt');
  readonly module = join(this.outside, 'canary.mjs');
  readonly writeTarget = join(this.outside, 'written.txt');
  readonly #private: Server;
  readonly #public: Server;
  #hits = 0;

  private constructor() {
    this.#private = createServer((_request, response) => response.end(this.secrets.net));
    this.#private.on('connection', () => {
      this.#hits += 1;
    });
    this.#public = createServer(({ url = '', headers }, response) => {
      const [path, target = ''] = url.split('?');
      if (path === '/to') response.writeHead(302, { location: decodeURIComponent(target) });
      response.end(`public page for ${headers.host}`);
    });
    writeFileSync(this.file, this.secrets.file);
    writeFileSync(this.module, `export const canary = '${this.secrets.file}';`);
    mkdirSync(join(this.agentDir, 'extension-storage'));
    writeFileSync(
      join(this.agentDir, 'extension-storage', 'other.json'),
      JSON.stringify([['token', this.secrets.stored]]),
    );
  }

  static async open(): Promise<Canaries> {
    const canaries = new Canaries();
    for (const server of [canaries.#private, canaries.#public])
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return canaries;
  }

  async close(): Promise<void> {
    for (const server of [this.#private, this.#public])
      await new Promise((done) => server.close(done).closeAllConnections());
  }

  /** How often somebody reached what nobody may. */
  get hits(): number {
    return this.#hits;
  }

  get port(): number {
    return portOf(this.#private);
  }

  /** The argument of the preload that makes a network of these: one public address, everything else is out of bounds. */
  get network(): string {
    const plan = {
      names: {
        'public.example': [[PUBLIC_ADDRESS]],
        // Looked at once it is fine, and from then on it is not.
        'rebind.example': [[PUBLIC_ADDRESS], ['127.0.0.1']],
        'both.example': [
          [PUBLIC_ADDRESS, '127.0.0.1'],
          ['127.0.0.1', PUBLIC_ADDRESS],
        ],
        'mapped.example': [[PUBLIC_ADDRESS, '::ffff:127.0.0.1'], ['::1'], ['fe80::1']],
        'metadata.google.internal': [['169.254.169.254']],
      },
      addresses: { [PUBLIC_ADDRESS]: portOf(this.#public) },
      elsewhere: this.port,
    };
    return `${new URL('../support/fake-network.mjs', import.meta.url).href}?${encodeURIComponent(JSON.stringify(plan))}`;
  }

  get isWritten(): boolean {
    return existsSync(this.writeTarget) || readFileSync(this.file, 'utf8') !== this.secrets.file;
  }

  mend(): void {
    rmSync(this.writeTarget, { force: true });
    writeFileSync(this.file, this.secrets.file);
  }

  /** Backwards as well: redaction must not hide what was read. */
  isSecretIn(text: string): boolean {
    return Object.values(this.secrets).some((value) => text.includes(value) || text.includes(reversed(value)));
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function secret(): string {
  return `canary${randomBytes(12).toString('hex')}`;
}

function reversed(text: string): string {
  return text.split('').reverse().join('');
}
