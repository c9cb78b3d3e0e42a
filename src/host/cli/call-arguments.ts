import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { ExtensionHostError, messageOf } from '../../shared/errors.ts';
import { isRecord, type JsonObject } from '../../shared/json.ts';

/**
 * The arguments of a call as the command line gives them: JSON, `@FILE`, `-` for stdin; nothing is `{}`.
 * @throws ExtensionHostError INVALID_ARGUMENT that says how to write them
 */
export async function readCallArguments(given: string | undefined, stdin: NodeJS.ReadableStream): Promise<JsonObject> {
  if (given === undefined) return {};
  const { origin, content } = await contentOf(given, stdin);
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw refusal(`${origin} is no JSON: ${messageOf(error)}`);
  }
  if (!isRecord(value)) throw refusal(`${origin} is no JSON object`);
  return value as JsonObject;
}

async function contentOf(
  given: string,
  stdin: NodeJS.ReadableStream,
): Promise<{ readonly origin: string; readonly content: string }> {
  if (given === '-') return { origin: 'what stdin gave', content: await text(stdin) };
  if (!given.startsWith('@')) return { origin: 'the argument', content: given };
  const file = given.slice(1);
  try {
    return { origin: file, content: await readFile(file, 'utf8') };
  } catch (error) {
    throw refusal(`${file} cannot be read: ${messageOf(error)}`);
  }
}

function refusal(why: string): ExtensionHostError {
  const mend = `give the tool's arguments as '{"name": "value"}', as @FILE, or as - for stdin`;
  return new ExtensionHostError('INVALID_ARGUMENT', `${why}; ${mend}`);
}
