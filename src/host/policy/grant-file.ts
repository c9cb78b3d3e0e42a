import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { ExtensionHostError } from '../../shared/errors.ts';
import { isRecord } from '../../shared/json.ts';
import type { Grant } from './grants.ts';

/**
 * Writes a grant into `<agentDir>/settings.json`; everything else in it stays as it was, comments too.
 * @throws CONFIG_INVALID when the file is there and cannot be edited
 */
export function writeGrant(agentDir: string, id: string, grant: Grant): string {
  const file = path.join(agentDir, 'settings.json');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}';
  const errors: ParseError[] = [];
  const value: unknown = parse(text.trim() === '' ? '{}' : text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || !isRecord(value)) {
    throw new ExtensionHostError('CONFIG_INVALID', `${file} is no JSON object; mend it first`);
  }
  const edits = modify(text.trim() === '' ? '{}' : text, ['extensionGrants', id], grant, {
    formattingOptions: { insertSpaces: true, tabSize: 2 },
  });
  mkdirSync(agentDir, { recursive: true });
  const fresh = `${file}.${process.pid}.new`;
  writeFileSync(fresh, `${applyEdits(text.trim() === '' ? '{}' : text, edits).trimEnd()}\n`, { mode: 0o600 });
  renameSync(fresh, file);
  return file;
}
