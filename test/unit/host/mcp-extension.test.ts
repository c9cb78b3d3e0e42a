import { afterEach, describe, expect, it, vi } from 'vitest';
import { mcpExtension } from '../../../src/host/index.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

// MCP-67
describe('mcpExtension', () => {
  it('fills in the preset from the environment and says that it has been done', () => {
    vi.stubEnv('PLAYWRIGHT_ENABLED', 'true');
    vi.stubEnv('PLAYWRIGHT_COMMAND', 'playwright-mcp');
    const playwright = { enabled: true, command: 'playwright-mcp', headless: false };
    expect(mcpExtension({ playwright: { headless: false } }).options).toEqual({ playwright, environment: false });
    expect(mcpExtension({ environment: false }).options).toEqual({ environment: false });
  });

  it('throws with every problem, of the environment too', () => {
    vi.stubEnv('PLAYWRIGHT_ENABLED', 'perhaps');
    const bad = { servers: { a: { command: '' } }, environment: true } as const;
    try {
      mcpExtension(bad);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        code: 'CONFIG_INVALID',
        data: { problems: [expect.stringContaining('servers.a.command'), 'PLAYWRIGHT_ENABLED: must be true or false'] },
      });
    }
  });

  it('grants the variables that its options mention, no others', () => {
    const { env } = mcpExtension({ servers: { a: { command: 'x', env: { A: '${env:TOKEN_OF_A}', B: 'b' } } } });
    expect(env).toEqual(['TOKEN_OF_A']);
  });
});
