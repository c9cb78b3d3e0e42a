/** Every import of src/**, read from the syntax tree: static, type-only, dynamic, re-exports, `import('x').T`, `require`. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url));

/** The folders under src/ that have walls around them. A file belongs to the longest one that holds it. */
const ROOMS = ['shared', 'host', 'worker', 'worker/mcp', 'worker/proxy', 'worker/sandbox', 'worker/programs'] as const;

export type Room = (typeof ROOMS)[number];

export interface SourceImport {
  /** Below src/, with forward slashes: `host/thread/link.ts`. */
  readonly from: string;
  /** One of our files below src/ (`shared/tool.ts`), a package's name, `node:…`, or `undefined` when it is computed. */
  readonly to: string | undefined;
  readonly kind: 'ours' | 'package' | 'node' | 'computed';
}

/** Below src/, sorted. */
export const sourceFiles: readonly string[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts'))
  .sort();

export const sourceImports: readonly SourceImport[] = sourceFiles.flatMap((file) =>
  importsOf(readFileSync(`${SRC}${file}`, 'utf8'), file),
);

/** The room of a path below src/; `undefined` outside all rooms, and outside src/. */
export function roomOf(path: string): Room | undefined {
  return ROOMS.filter((room) => path.startsWith(`${room}/`)).at(-1);
}

/** What a source text imports, in the order of the tree. `from` is its path below src/. */
export function importsOf(source: string, from: string): SourceImport[] {
  return [...specifiers(parseAst(source, { lang: 'ts' }))].map((specifier) => ({ from, ...target(specifier, from) }));
}

function target(specifier: string | undefined, from: string): Pick<SourceImport, 'to' | 'kind'> {
  if (specifier === undefined) return { to: undefined, kind: 'computed' };
  if (specifier.startsWith('.')) return { to: posix.join(dirname(from), specifier), kind: 'ours' };
  if (specifier.startsWith('node:')) return { to: specifier, kind: 'node' };
  const parts = specifier.split('/');
  return { to: parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/'), kind: 'package' };
}

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

function* specifiers(node: unknown): Generator<string | undefined> {
  if (Array.isArray(node)) {
    for (const each of node) yield* specifiers(each);
    return;
  }
  if (!isNode(node)) return;
  const named = namedBy(node);
  if (named) yield isNode(named) && typeof named['value'] === 'string' ? named['value'] : undefined;
  for (const value of Object.values(node)) yield* specifiers(value);
}

/** The node that says what is imported, when `node` imports something. */
function namedBy(node: Node): unknown {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return node['source'];
    case 'TSExternalModuleReference':
      return node['expression'];
    case 'CallExpression': {
      const callee = node['callee'];
      const isRequire = isNode(callee) && callee.type === 'Identifier' && callee['name'] === 'require';
      return isRequire ? (node['arguments'] as readonly unknown[])[0] : undefined;
    }
    default:
      return undefined;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
