// Preload (--import): writes the URL of every module this thread imports, and at its end the path of every one it
// required, one a line, to file descriptor 3.
import { writeSync } from 'node:fs';
import { createRequire, register } from 'node:module';

const hooks = `
import { writeSync } from 'node:fs';
export async function load(url, context, nextLoad) {
  writeSync(3, url + '\\n');
  return nextLoad(url, context);
}
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

const { cache } = createRequire(import.meta.url);
process.on('exit', () => {
  for (const path of Object.keys(cache)) writeSync(3, `${path}\n`);
});
