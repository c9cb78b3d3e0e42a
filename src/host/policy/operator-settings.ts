import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ParseError, parse } from 'jsonc-parser';
import { isRecord, type JsonObject } from '../../shared/json.ts';

/** `<agentDir>/settings.json` as it is now; `{}` when it is missing or cannot be read: then nothing is granted. */
export function readOperatorSettings(agentDir: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(path.join(agentDir, 'settings.json'), 'utf8');
  } catch {
    return {};
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  return errors.length === 0 && isRecord(value) ? (value as JsonObject) : {};
}
