import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { ExtensionHostError, messageOf } from '../../shared/errors.ts';
import { JsoncDocument } from '../jsonc-document.ts';
import { pathInProblem } from '../problem-path.ts';
import { type Deployment, readDeploymentValue } from './deployment.ts';

/**
 * Reads `<folder>/<id>.json`, or the file that a path names (anything with a separator or `.json`). Comments are allowed.
 * @throws INVALID_ARGUMENT when there is no such file; CONFIG_INVALID with every problem and its line
 */
export function readDeployment(idOrPath: string, folder: string): Deployment {
  const file = fileOf(idOrPath, folder);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ExtensionHostError('INVALID_ARGUMENT', `deployment ${file} cannot be read: ${messageOf(error)}`);
  }
  const document = new JsoncDocument(text);
  const inText = document.problems.map(({ line, text: said }) => `${file}:${line}: ${said}`);
  const { deployment, problems } =
    document.value === undefined ? { deployment: undefined, problems: [] } : readDeploymentValue(document.value);
  const all = [...inText, ...problems.map((said) => `${file}:${document.lineOf(pathInProblem(said))}: ${said}`)];
  if (deployment !== undefined && all.length === 0) return deployment;
  throw new ExtensionHostError('CONFIG_INVALID', `the deployment is not valid:\n- ${all.join('\n- ')}`, {
    data: { problems: all },
  });
}

function fileOf(idOrPath: string, folder: string): string {
  const isPath = isAbsolute(idOrPath) || /[/\\]|\.json$/i.test(idOrPath);
  if (!isPath) return join(folder, `${idOrPath}.json`);
  const file = resolve(idOrPath);
  // `open-shop.json` may also be meant as a file of the folder.
  return statSync(file, { throwIfNoEntry: false }) === undefined && !/[/\\]/.test(idOrPath)
    ? join(folder, idOrPath)
    : file;
}
