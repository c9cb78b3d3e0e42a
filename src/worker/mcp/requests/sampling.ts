import { ExtensionHostError } from '../../../shared/errors.ts';
import { isRecord, type JsonObject } from '../../../shared/json.ts';
import { RequestRefused } from '../connection/client/incoming-requests.ts';
import type { Person } from './server-requests.ts';

/** What MCP says for a request that the user has refused. */
const REFUSED_BY_USER = -1;

/**
 * Passes a server's `sampling/createMessage` on to the model of the host.
 * @throws RequestRefused when there is none, or it refuses
 */
export async function sample(
  params: Readonly<Record<string, unknown>>,
  {
    server,
    person,
    signal,
  }: { readonly server: string; readonly person: Person | undefined; readonly signal: AbortSignal },
): Promise<Record<string, unknown>> {
  if (!person?.canSample) throw new RequestRefused(REFUSED_BY_USER, 'sampling is not available in this session');
  let message: unknown;
  try {
    // The request's own metadata (a progress token) is between the server and this client.
    const { _meta: _, ...request } = params;
    message = await person.sample({ origin: server, params: request as JsonObject }, { signal });
  } catch (thrown) {
    if (!(thrown instanceof ExtensionHostError) || thrown.code !== 'PERMISSION_DENIED') throw thrown;
    throw new RequestRefused(REFUSED_BY_USER, thrown.message);
  }
  if (!isRecord(message) || !isRecord(message['content'])) {
    throw new Error('the model gave no message with a role and a content');
  }
  const { role = 'assistant', model = 'unknown' } = message;
  return { ...message, role, model };
}
