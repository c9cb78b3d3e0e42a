import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { WORKFLOW_REQUIREMENTS } from '../requirements-workflow.ts';
import { importsOf } from './architecture/source-imports.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'requirements-workflow.ts')
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'));

describe('the requirements of workflows', () => {
  const cited = read('test').join('\n');

  test('have ids of their own', () => {
    expect(new Set(WORKFLOW_REQUIREMENTS.map(({ id }) => id)).size).toBe(WORKFLOW_REQUIREMENTS.length);
  });

  test('are each cited by a test, unless they are about something that is not here', () => {
    const ours = WORKFLOW_REQUIREMENTS.filter(({ status }) => status !== 'not-ours');
    expect(ours.filter(({ id }) => !new RegExp(`${id}\\b(?!-)`).test(cited)).map(({ id }) => id)).toEqual([]);
  });

  test('are cited by no id that does not exist', () => {
    const ids = new Set(WORKFLOW_REQUIREMENTS.map(({ id }) => id));
    const mentioned = [...cited.matchAll(/\bWF-[A-Z0-9]+(?:-[A-Z0-9]+)*/g)].map(([id]) => id);
    expect(mentioned.filter((id) => !ids.has(id))).toEqual([]);
  });

  test('have the pages they name', () => {
    for (const { page } of WORKFLOW_REQUIREMENTS)
      if (page !== undefined) expect(existsSync(join(ROOT, page))).toBe(true);
  });

  // WF-T7-WHY, WF-T8-DOCS
  test('the page says why discovery and execution differ, and what to look for when state is lost', () => {
    const page = readFileSync(join(ROOT, 'docs/workflows.md'), 'utf8');
    expect(page).toContain('## Why discovery and execution differ');
    expect(page).toContain('## "Page state is lost between steps"');
  });
});

describe('the workflow code', () => {
  // WF-NG-NO-HACKS
  test('knows no particular server', () => {
    for (const text of read('src/host/workflow')) expect(text.toLowerCase()).not.toMatch(/playwright|browser_/);
  });

  // WF-EXECUTOR, WF-ROOM-RUNTIME, WF-NG-GRAPH
  test('reaches servers through an executor only: its node specs and nodes import no session and no client', () => {
    for (const file of ['node-spec.ts', 'graph-node.ts', 'build-graph.ts', 'run-deployment.ts']) {
      const source = readFileSync(join(ROOT, 'src/host/workflow', file), 'utf8');
      const imported = importsOf(source, `host/workflow/${file}`).map(({ to }) => to ?? '');
      expect(imported.filter((to) => !/^(?:shared|host\/workflow)\/|^node:crypto$/.test(to))).toEqual([]);
    }
  });

  // WF-NO-RAW-CALL, WF-MIGRATION
  test('offers nothing that calls a tool without a session', async () => {
    const offered = Object.keys(await import('../../src/host/workflow/index.ts'));
    expect(offered.filter((name) => /call/i.test(name))).toEqual([]);
  });
});
