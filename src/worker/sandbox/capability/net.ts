import { lookup } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ExtensionHostError, messageOf } from '../../../shared/errors.ts';
import { isRecord } from '../../../shared/json.ts';
import { isPrivateAddress } from './private-address.ts';

/** One answer, and one request's body. */
const BODY_BYTES = 1024 * 1024;
const REDIRECTS = 5;
const HEADERS = 64;
/** What decides where and how a request goes is not the extension's to say. */
const OWN_HEADERS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|expect|proxy-.*)$/;

export interface NetGrant {
  readonly hosts: readonly string[];
  readonly methods: readonly string[];
}

export interface NetRequest {
  readonly url: string;
  readonly method?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
}

export interface NetAnswer {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * `fetch` of a sandboxed extension. Names are resolved once and the connection goes to the address that was judged; every
 * redirect is a request of its own, judged anew.
 */
export class SandboxNet {
  readonly #grant: NetGrant;
  readonly #allowPrivate: boolean;

  constructor(grant: NetGrant, allowPrivateNetwork: boolean) {
    this.#grant = grant;
    this.#allowPrivate = allowPrivateNetwork;
  }

  /** @throws PERMISSION_DENIED, INVALID_ARGUMENT, ABORTED */
  async fetch(given: NetRequest, signal: AbortSignal): Promise<NetAnswer> {
    let hop = readRequest(given);
    for (let redirects = 0; ; redirects++) {
      const response = await this.#send(hop, signal);
      const next = redirectOf(hop, response);
      if (!next) return readAnswer(hop.url, response);
      response.destroy();
      if (redirects >= REDIRECTS)
        throw new ExtensionHostError('INVALID_ARGUMENT', `${hop.url.host} redirects more than ${REDIRECTS} times`);
      hop = next;
    }
  }

  async #send(hop: Hop, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, method } = hop;
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw denied(`${url.protocol} is not granted: only http: and https:`);
    if (!this.#grant.methods.includes(method)) throw denied(`the method ${method} is not granted`);
    if (!this.#grant.hosts.some((pattern) => fits(pattern, url))) throw denied(`the host ${url.host} is not granted`);
    const address = await this.#resolve(nameOf(url));
    return send(hop, address, signal);
  }

  async #resolve(name: string): Promise<{ readonly address: string; readonly family: number }> {
    const found = isIP(name)
      ? [{ address: name, family: isIP(name) }]
      : await lookup(name, { all: true, verbatim: true }).catch(() => []);
    const [first] = found;
    if (!first) throw new ExtensionHostError('INVALID_ARGUMENT', `the host ${name} has no address`);
    // One private address among public ones is refused too: which one is taken must not be a matter of luck.
    if (!this.#allowPrivate && found.some(({ address }) => isPrivateAddress(address))) {
      throw denied(`the host ${name} has a loopback, private or link-local address`);
    }
    return first;
  }
}

/** True when a granted host stands for the host of a URL. */
export function fits(pattern: string, url: URL): boolean {
  const [, host = pattern, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(pattern) ?? [];
  if (port !== undefined && port !== portOf(url)) return false;
  const wanted = host.replace(/^\[|\]$/g, '').toLowerCase();
  const name = nameOf(url);
  return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) && name.length > wanted.length - 1 : name === wanted;
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}

/** Without brackets and without the final dot, which is the same host. */
function nameOf(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

function readRequest({ url, method = 'GET', headers = {}, body }: NetRequest): Hop {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new ExtensionHostError('INVALID_ARGUMENT', 'fetch needs an absolute URL');
  }
  if (typeof method !== 'string' || !/^[A-Za-z]{1,20}$/.test(method))
    throw new ExtensionHostError('INVALID_ARGUMENT', 'the method of fetch is no name');
  if (body !== undefined && typeof body !== 'string')
    throw new ExtensionHostError('INVALID_ARGUMENT', 'the body of fetch must be a string');
  if (body !== undefined && Buffer.byteLength(body) > BODY_BYTES) {
    throw new ExtensionHostError('INVALID_ARGUMENT', `the body of fetch is larger than ${BODY_BYTES} bytes`);
  }
  parsed.username = '';
  parsed.password = '';
  return { url: parsed, method: method.toUpperCase(), headers: readHeaders(headers), body };
}

function readHeaders(given: unknown): Record<string, string> {
  if (!isRecord(given))
    throw new ExtensionHostError('INVALID_ARGUMENT', 'the headers of fetch must be an object of strings');
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given).slice(0, HEADERS)) {
    if (
      !/^[\w!#$%&'*+.^`|~-]{1,128}$/.test(name) ||
      typeof value !== 'string' ||
      !/^[\t\x20-\x7e\x80-\xff]{0,8192}$/.test(value)
    ) {
      throw new ExtensionHostError('INVALID_ARGUMENT', 'a header of fetch has a name or value that cannot be sent');
    }
    const folded = name.toLowerCase();
    if (folded !== '__proto__' && !OWN_HEADERS.test(folded)) headers[folded] = value;
  }
  return headers;
}

function send(
  { url, method, headers, body }: Hop,
  address: { readonly address: string; readonly family: number },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  // Pinned: a second resolution could give another address than the one that was judged.
  const pinned: LookupFunction = (_name, options, done) => {
    if (options.all) done(null, [address]);
    else done(null, address.address, address.family);
  };
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const outgoing: ClientRequest = start(url, {
      method,
      headers: {
        'user-agent': 'caldera',
        'accept-encoding': 'identity',
        ...headers,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
      lookup: pinned,
      agent: false,
      signal,
      maxHeaderSize: 32 * 1024,
    });
    outgoing.on('response', resolve);
    outgoing.on('error', (error) => {
      const code = signal.aborted ? 'ABORTED' : 'INVALID_ARGUMENT';
      reject(new ExtensionHostError(code, `${url.host} did not answer: ${messageOf(error)}`));
    });
    outgoing.end(body);
  });
}

function redirectOf(hop: Hop, response: IncomingMessage): Hop | undefined {
  const { statusCode = 0 } = response;
  const { location } = response.headers;
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined;
  let url: URL;
  try {
    url = new URL(location, hop.url);
  } catch {
    throw new ExtensionHostError('INVALID_ARGUMENT', `${hop.url.host} redirects to what is no URL`);
  }
  const asGet = statusCode === 303 || (hop.method === 'POST' && (statusCode === 301 || statusCode === 302));
  const { authorization: _a, cookie: _c, ...others } = hop.headers;
  return {
    url,
    method: asGet && hop.method !== 'HEAD' ? 'GET' : hop.method,
    // What was meant for one host is not handed to another.
    headers: url.origin === hop.url.origin ? hop.headers : others,
    body: asGet ? undefined : hop.body,
  };
}

async function readAnswer(url: URL, response: IncomingMessage): Promise<NetAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > BODY_BYTES)
        throw new ExtensionHostError(
          'INVALID_ARGUMENT',
          `the answer of ${url.host} is larger than ${BODY_BYTES} bytes`,
        );
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ExtensionHostError) throw error;
    throw new ExtensionHostError('INVALID_ARGUMENT', `the answer of ${url.host} broke off: ${messageOf(error)}`);
  } finally {
    response.destroy();
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) if (value !== undefined) headers[name] = String(value);
  return { url: url.href, status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks).toString('utf8') };
}

function denied(message: string): ExtensionHostError {
  return new ExtensionHostError('PERMISSION_DENIED', message);
}
