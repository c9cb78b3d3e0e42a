import { describe, expect, test } from 'vitest';
import { isProxyName, isSecretName, isSystemName } from '../../../src/host/policy/secret-names.ts';

describe('a name is secret', () => {
  test.each([
    ...[
      'TOKEN',
      'GITHUB_TOKEN',
      'MY_SECRET',
      'DB_PASSWORD',
      'DB_PASSWD',
      'SSH_PASSPHRASE',
      'APP_CREDENTIAL',
      'STRIPE_APIKEY',
    ],
    ...['GITLAB_PAT', 'SENTRY_DSN', 'SESSION_COOKIE', 'BASIC_AUTH', 'HTTP_AUTHORIZATION', 'NPM_AUTHTOKEN', 'AUTH_URL'],
    ...['GOOGLE_APPLICATION_CREDENTIALS_JSON_CREDENTIAL', 'npm_config__authToken_TOKEN', 'TOKEN_FILE'],
  ])('by one of its words: %s', (name) => expect(isSecretName(name)).toBe(true));

  test.each([
    'ACCESS_TOKENS',
    'MY_SECRETS',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'SITE_COOKIES',
    'OLD_PATS',
    'ALL_APIKEYS',
  ])('by the plural of a word: %s', (name) => expect(isSecretName(name)).toBe(true));

  test.each(['OPENAI_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'SIGNING_PRIVATE_KEY', 'APP_SESSION_KEY', 'my_key'])(
    'by its end: %s',
    (name) => expect(isSecretName(name)).toBe(true),
  );

  test.each(['PGPASSWORD', 'MYSQL_PWD', 'SSHPASS', 'pgpassword'])('as a whole: %s', (name) =>
    expect(isSecretName(name)).toBe(true),
  );

  test.each(['github_token', 'Db_Password', 'npm_config_//registry.example/:_authToken'])(
    'in any case and between other punctuation: %s',
    (name) => expect(isSecretName(name)).toBe(true),
  );
});

describe('a name is not secret', () => {
  test.each([
    ...[
      'NORMAL_VAR',
      'AUTHOR',
      'AUTHORITY',
      'TOKENIZER_PATH',
      'KEYBOARD',
      'MONKEY',
      'KEY',
      'PATTERN',
      'PATH',
      'COMPATIBLE',
    ],
    ...[
      'SECRETARY',
      'NODE_ENV',
      'HTTPS_PROXY',
      'NO_PROXY',
      'PLAYWRIGHT_BROWSERS_PATH',
      'XAUTHORITY',
      'SSH_ASKPASS',
      'PWD',
    ],
  ])('because a word only looks like one: %s', (name) => expect(isSecretName(name)).toBe(false));

  test('when it is the socket of the ssh agent', () => {
    expect(isSecretName('SSH_AUTH_SOCK')).toBe(false);
    expect(isSecretName('SSH_AUTH_SOCKET')).toBe(true);
  });
});

test.each([
  'PATH',
  'Path',
  'HOME',
  'LANG',
  'LC_ALL',
  'XDG_CONFIG_HOME',
  'SSH_AUTH_SOCK',
  'PLAYWRIGHT_BROWSERS_PATH',
  'SystemRoot',
])('%s belongs to the system', (name) => expect(isSystemName(name)).toBe(true));

test.each(['MY_PATH', 'XDG_SESSION_COOKIE', 'HOMEPAGE', '__proto__'])('%s does not belong to the system', (name) =>
  expect(isSystemName(name)).toBe(false),
);

test.each(['HTTP_PROXY', 'https_proxy', 'ALL_PROXY', 'NO_PROXY', 'npm_config_https_proxy', 'npm_config_proxy'])(
  '%s is a proxy setting',
  (name) => expect(isProxyName(name)).toBe(true),
);

test.each(['PROXY_TOKEN', 'MY_TOKEN_PROXY', 'REVERSE_PROXY'])('%s is no proxy setting', (name) =>
  expect(isProxyName(name)).toBe(false),
);
