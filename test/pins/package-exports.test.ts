import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const BREAKING =
  'Programs and extensions import these. What is renamed or removed breaks them: that is a major release. What is added ' +
  'has to be kept: document it and name it in CHANGELOG.md before the pin changes.';

describe('the package', () => {
  test('has these entry points and this program', () => {
    expect(manifest, BREAKING).toMatchObject({
      name: 'caldera',
      type: 'module',
      bin: { caldera: 'dist/host/cli/main.js' },
      engines: { node: '>=20.19' },
    });
    expect((manifest as { exports: unknown }).exports, BREAKING).toEqual({
      '.': { types: './dist/host/index.d.ts', default: './dist/host/index.js' },
      './extension': { types: './dist/shared/extension-api.d.ts', default: './dist/shared/extension-api.js' },
      './workflow': { types: './dist/host/workflow/index.d.ts', default: './dist/host/workflow/index.js' },
      './package.json': './package.json',
    });
  });

  test('`caldera` exports these values', async () => {
    expect(Object.keys(await import('../../src/host/index.ts')).sort(), BREAKING).toEqual([
      'DEFAULT_LIMITS',
      'ERROR_CODES',
      'ExtensionHost',
      'ExtensionHostError',
      'Session',
      'closeOnSignals',
      'mcpExtension',
    ]);
  });

  test('`caldera/workflow` exports these values', async () => {
    expect(Object.keys(await import('../../src/host/workflow/index.ts')).sort(), BREAKING).toEqual([
      'Planner',
      'buildGraph',
      'createFileSaver',
      'nodeSpecs',
      'parseDeployment',
      'readDeployment',
      'runChannels',
      'toLangGraphNode',
    ]);
  });

  test('`caldera/extension` exports these values', async () => {
    expect(Object.keys(await import('../../src/shared/extension-api.ts')).sort(), BREAKING).toEqual([
      'ToolExecutionError',
      'defineExtension',
      'fetch',
      'fs',
      'mcp',
      'storage',
    ]);
  });
});
