import { accessSync, constants, statSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path';
import type { PreparedProcess } from '../../../../shared/extension-api.ts';
import { isRecord } from '../../../../shared/json.ts';

/**
 * What is wrong with a process before it is spawned; `undefined` when nothing is. Node reports a missing cwd as a missing
 * command, and throws synchronously for an empty command or a NUL.
 */
export async function findSpawnProblem({ command, args, cwd, env }: PreparedProcess): Promise<string | undefined> {
  if (command.trim() === '') return 'the command is empty';
  const texts = [command, ...args, cwd, ...Object.entries(env).flat()];
  if (texts.some((text) => text.includes('\0')))
    return 'the command, an argument, the cwd or the env holds a NUL character';
  try {
    if (!(await stat(cwd)).isDirectory()) return `the working directory (cwd) is not a directory: ${cwd}`;
    await access(cwd, constants.X_OK);
  } catch (thrown) {
    const code = codeOf(thrown);
    return code === 'ENOENT'
      ? `the working directory (cwd) does not exist: ${cwd}`
      : `the working directory (cwd) cannot be used: ${cwd} (${code})`;
  }
  return undefined;
}

/** Says what a failed spawn means, in the operator's terms. */
export function explainSpawnError(thrown: unknown, { command, cwd, env }: PreparedProcess): string {
  const code = codeOf(thrown);
  const file = locate(command, cwd, env);
  switch (code) {
    case 'ENOENT':
      if (file) return `${command} cannot run: the interpreter in its first line (#!) does not exist (ENOENT)`;
      return command.includes('/') || command.includes(sep)
        ? `the command ${command} does not exist (ENOENT)`
        : `the command ${command} was not found in the PATH of its environment (ENOENT)`;
    case 'EACCES':
      if (file && isDirectory(file)) return `the command ${command} is a directory (EACCES)`;
      return `the command ${command} is not executable (EACCES)`;
    case 'E2BIG':
      return `the arguments and environment of ${command} are too long (E2BIG)`;
    default:
      return `the command ${command} could not be started (${code})`;
  }
}

function codeOf(thrown: unknown): string {
  return isRecord(thrown) && typeof thrown['code'] === 'string' ? thrown['code'] : String(thrown);
}

/** The file a command names, as execvp(3) looks for it; `undefined` when there is none. */
function locate(command: string, cwd: string, env: PreparedProcess['env']): string | undefined {
  const named = command.includes('/') || isAbsolute(command);
  const folders = named ? [''] : (env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => resolve(cwd, join(folder, command))).find(exists);
}

function exists(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}

function isDirectory(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false;
  }
}
