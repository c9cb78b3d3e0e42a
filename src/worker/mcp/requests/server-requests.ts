import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ExtensionContext } from '../../../shared/extension-api.ts';
import type { RequestHandler } from '../connection/client/client-port.ts';
import { elicit } from './elicitation.ts';
import { sample } from './sampling.ts';

/** Whom a server's questions go to. */
export type Person = Pick<ExtensionContext, 'hasUI' | 'canSample' | 'ui' | 'sample'>;

export interface ServerRequestsOptions {
  readonly server: string;
  /** Absolute folders the server is to work in. */
  readonly roots: readonly string[];
  /** Absent for a discovery and for a server of all sessions: they have nobody to ask. */
  readonly person?: Person;
  /** Called when somebody is being asked, which takes its time; what it returns, when that is over. */
  readonly onAsking: () => () => void;
}

/** What a server may ask of this client; `undefined` for everything else. */
export function serverRequests({ server, roots, person, onAsking }: ServerRequestsOptions): RequestHandler {
  const asking = async <T>(work: () => Promise<T>): Promise<T> => {
    const done = onAsking();
    try {
      return await work();
    } finally {
      done();
    }
  };
  return (method, params, signal) => {
    switch (method) {
      case 'roots/list':
        return Promise.resolve({
          roots: roots.map((folder) => ({ uri: pathToFileURL(folder).href, name: basename(folder) })),
        });
      case 'elicitation/create':
        return asking(() => elicit(params, { server, person, signal }));
      case 'sampling/createMessage':
        return asking(() => sample(params, { server, person, signal }));
      default:
        return undefined;
    }
  };
}
