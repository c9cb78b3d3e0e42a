import { describe, expect, it } from 'vitest';
import { type McpServerOptions, parseMcpOptions, type ServerConfig } from '../../../src/shared/mcp-options.ts';
import { catalogKey } from '../../../src/worker/mcp/config/catalog-key.ts';
import { leaseFingerprint } from '../../../src/worker/mcp/config/fingerprint.ts';

const base: McpServerOptions = {
  command: 'npx',
  args: ['-y', '${workspace}'],
  env: { A: '${env:A}', B: null },
  cwd: null,
};

function config(more: Partial<McpServerOptions> = {}, name = 'demo'): ServerConfig {
  const { config: parsed, problems } = parseMcpOptions(structuredClone({ servers: { [name]: { ...base, ...more } } }));
  const [server] = parsed.servers;
  if (!server) throw new Error(problems.join('\n'));
  return server;
}

const different: Partial<McpServerOptions>[] = [
  { command: 'node' },
  { args: ['-y ${workspace}'] },
  { env: { A: '${env:A}' } },
  { env: { A: '${env:A}', B: '' } },
  { env: {} },
  { cwd: '/x' },
];

// MCP-25
describe('the key of a catalogue', () => {
  it('holds the name and a digest, and nothing of what an entry says', () => {
    const key = catalogKey(config({ env: { TOKEN: 'hunter2' } }));
    expect(key).toMatch(/^catalog\/demo\/[0-9a-f]{64}$/);
    expect(catalogKey(config())).toBe(catalogKey(config()));
  });

  it('changes with name, command, args, env, cwd and prefix, and with nothing else', () => {
    const keys = [
      config(),
      config({}, 'other'),
      config({ toolPrefix: 'x_' }),
      ...different.map((more) => config(more)),
    ].map(catalogKey);
    expect(new Set(keys).size).toBe(keys.length);
    const more: Partial<McpServerOptions> = {
      parallel: true,
      startupTimeoutSeconds: 1,
      idleTimeoutSeconds: 0,
      stderrLevel: 'info',
    };
    expect(catalogKey(config(more))).toBe(catalogKey(config()));
    expect(catalogKey(config({ env: { B: null, A: '${env:A}' } }))).toBe(catalogKey(config()));
  });
});

describe('the fingerprint of a process', () => {
  it('changes with command, args, env and cwd, and not with prefix or timeouts', () => {
    const prints = [config(), ...different.map((more) => config(more))].map(leaseFingerprint);
    expect(new Set(prints).size).toBe(prints.length);
    expect(leaseFingerprint(config({ toolPrefix: 'x_', callTimeoutSeconds: 1 }))).toBe(leaseFingerprint(config()));
  });
});
