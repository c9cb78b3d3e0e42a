import { describe, expect, test } from 'vitest';
import { OWNER_VARIABLE, SpawnPolicy } from '../../../src/host/policy/spawn-policy.ts';
import { letters, newJwt, newPem, newSecret, urlWith } from './made-up-secrets.ts';

const ownerMark = '123:456:nonce';
const policy = new SpawnPolicy({ ownerMark, platform: 'linux' });
const basics = { PATH: '/usr/bin:/bin', HOME: '/home/someone', LANG: 'C.UTF-8' };
const request = { explicit: {}, purpose: 'mcp-server' } as const;

describe('the environment of a process', () => {
  test('has what is plain, and neither secret names nor values that look secret', () => {
    const hostEnv = {
      ...basics,
      NORMAL_VAR: 'plain',
      AUTHOR: 'somebody',
      PLAYWRIGHT_BROWSERS_PATH: '/ms-playwright',
      SSH_AUTH_SOCK: '/run/agent',
      OPENAI_API_KEY: 'k',
      DB_PASSWORD: '',
      INNOCENT: `${'gh'}p_${letters(36)}`,
      DATABASE_URL: urlWith('app:hunter2hunter2', 'db/app'),
      CERTIFICATE: newPem(),
      SESSION: newJwt(),
      UNSET: undefined,
    };
    expect(policy.environmentFor({ ...request, hostEnv })).toEqual({
      ...basics,
      NORMAL_VAR: 'plain',
      AUTHOR: 'somebody',
      PLAYWRIGHT_BROWSERS_PATH: '/ms-playwright',
      SSH_AUTH_SOCK: '/run/agent',
      CALDERA_OWNER: ownerMark,
    });
  });

  test('keeps proxies with their userinfo', () => {
    const hostEnv = { HTTPS_PROXY: urlWith('u:pr0xy-password', 'proxy:3128', 'http'), no_proxy: 'localhost' };
    expect(policy.environmentFor({ ...request, hostEnv })).toMatchObject(hostEnv);
  });

  test('has no variable that holds a configured secret, but keeps PATH and HOME', () => {
    const secret = newSecret('word');
    const configured = new SpawnPolicy({
      ownerMark,
      secrets: [secret, urlWith('u:web-pa55', 'h/', 'https'), 'tiny'],
      platform: 'linux',
    });
    const hostEnv = { HOME: `/home/${secret}`, A: secret, B: `--key ${secret}`, C: 'web-pa55', D: 'tiny' };
    expect(configured.environmentFor({ ...request, hostEnv })).toEqual({
      HOME: `/home/${secret}`,
      D: 'tiny',
      CALDERA_OWNER: ownerMark,
    });
  });

  // MCP-08 MCP-28
  test('has explicit entries though they are deny-listed, and not what null removes', () => {
    const hostEnv = { ...basics, NORMAL_VAR: 'plain', GITHUB_TOKEN: newSecret() };
    const explicit = {
      GITHUB_TOKEN: 'given',
      OPENAI_API_KEY: 'given too',
      NORMAL_VAR: null,
      NEVER_THERE: null,
      DOLLAR: "$& $1 $'",
    };
    expect(policy.environmentFor({ ...request, hostEnv, explicit })).toEqual({
      ...basics,
      GITHUB_TOKEN: 'given',
      OPENAI_API_KEY: 'given too',
      DOLLAR: "$& $1 $'",
      CALDERA_OWNER: ownerMark,
    });
  });

  test("has the session's time zone, unless the server's own entry says otherwise", () => {
    const hostEnv = { TZ: 'UTC' };
    expect(policy.environmentFor({ ...request, hostEnv })).toMatchObject({ TZ: 'UTC' });
    expect(policy.environmentFor({ ...request, hostEnv, timeZone: 'Asia/Tokyo' })).toMatchObject({ TZ: 'Asia/Tokyo' });
    const explicit = { TZ: 'America/Lima' };
    expect(policy.environmentFor({ ...request, hostEnv, timeZone: 'Asia/Tokyo', explicit })).toMatchObject(explicit);
  });

  test('has the owner mark, which nothing replaces or removes', () => {
    for (const value of [null, 'forged']) {
      const explicit = { [OWNER_VARIABLE]: value };
      const env = policy.environmentFor({ ...request, hostEnv: { [OWNER_VARIABLE]: 'of another host' }, explicit });
      expect(env).toEqual({ CALDERA_OWNER: ownerMark });
      expect(Object.keys(env).at(-1)).toBe(OWNER_VARIABLE);
    }
  });

  test('keeps odd names as data', () => {
    const hostEnv = Object.fromEntries([
      ['__proto__', 'polluted'],
      ['constructor', 'c'],
    ]);
    const env = structuredClone(policy.environmentFor({ ...request, hostEnv }));
    expect(Object.keys(env)).toEqual(['__proto__', 'constructor', OWNER_VARIABLE]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('on Windows folds the case of names and sets no TZ', () => {
    const windows = new SpawnPolicy({ ownerMark, platform: 'win32' });
    const hostEnv = { Path: 'C:\\bin', Temp: 'C:\\t', caldera_owner: 'x' };
    const explicit = { PATH: 'D:\\bin', TEMP: null };
    expect(windows.environmentFor({ ...request, hostEnv, explicit, timeZone: 'Asia/Tokyo' })).toEqual({
      PATH: 'D:\\bin',
      CALDERA_OWNER: ownerMark,
    });
  });
});

test('a thread gets the filtered environment with the mark', () => {
  expect(policy.workerEnvironment({ ...basics, GITHUB_TOKEN: newSecret(), TZ: 'UTC' })).toEqual({
    ...basics,
    TZ: 'UTC',
    CALDERA_OWNER: ownerMark,
  });
});

describe('what the filter removed', () => {
  test('is a secret when it is long and random enough', () => {
    const secret = newSecret();
    const hostEnv = {
      ...basics,
      A_TOKEN: 'text',
      B_SECRET: '1',
      C_PASSWORD: '',
      D_TOKEN: 'x7Kq2Zp',
      E_PASSWORD: 'postgres',
      F_TOKEN: secret,
    };
    expect(policy.removedBy(hostEnv)).toEqual([secret]);
  });

  test('is only the password of a URL, of a kept proxy too', () => {
    const hostEnv = {
      DATABASE_URL: urlWith('app:hunter2hunter2', 'db/app'),
      HTTPS_PROXY: urlWith('u:pr0xy-password', 'proxy:3128', 'http'),
      all_proxy: 'u:0ther-password@proxy:1080',
      NO_PROXY: 'localhost,127.0.0.1',
      http_proxy: 'proxy.internal:3128',
    };
    expect(policy.removedBy(hostEnv)).toEqual(['hunter2hunter2', 'pr0xy-password', '0ther-password']);
  });

  test('is no secret when a kept variable has the same value', () => {
    expect(
      policy.removedBy({
        HOME: '/home/some-1',
        MY_SECRET: '/home/some-1',
        NAME: 'host-name-1',
        MY_TOKEN: 'host-name-1',
      }),
    ).toEqual([]);
  });
});

describe('what was handed out to an extension', () => {
  test('is a secret although its name is innocent', () => {
    const value = newSecret('innocent');
    expect(policy.handedOut({ ...basics, INNOCENT: value }, 'INNOCENT')).toEqual([value]);
    expect(policy.handedOut({ GITHUB_TOKEN: value }, 'GITHUB_TOKEN')).toEqual([value]);
  });

  test('is none for HOME and the like, for a plain word, for what another kept variable has, and for nothing', () => {
    const hostEnv = { ...basics, WORD: 'plain', FIRST: 'the-same-1', SECOND: 'the-same-1' };
    for (const name of ['HOME', 'PATH', 'WORD', 'FIRST', 'NO_SUCH', '__proto__', 'toString'])
      expect(policy.handedOut(hostEnv, name)).toEqual([]);
  });
});
