import { describe, expect, test } from 'vitest';
import {
  hostSecretsIn,
  looksRandom,
  looksSecret,
  secretsIn,
  userinfoPasswords,
} from '../../../src/host/policy/secret-values.ts';
import { letters, newJwt, newPem, newSecret, urlWith } from './made-up-secrets.ts';

const keys = {
  github: `${'gh'}p_${letters(36)}`,
  'github fine-grained': `${'github'}_pat_${letters(22)}_${letters(59)}`,
  gitlab: `${'gl'}pat-${letters(20)}`,
  openai: `${'sk'}-proj-${letters(40)}`,
  anthropic: `${'sk'}-ant-api03-${letters(40)}`,
  slack: `${'xo'}xb-${'1'.repeat(12)}-${letters(24)}`,
  aws: `${'AK'}IA${'Q7'.repeat(8)}`,
  google: `${'AI'}za${letters(35)}`,
  npm: `${'np'}m_${letters(36)}`,
  stripe: `${'sk'}_live_${letters(24)}`,
  telegram: `${'1234567890'}:${letters(35)}`,
};

describe('a value looks secret', () => {
  test.each(Object.entries(keys))('as a key of %s, alone or inside a text', (_issuer, key) => {
    for (const text of [key, `Bearer ${key}`, `--token=${key} --verbose`, `{"key":"${key}"}`])
      expect(looksSecret(text)).toBe(true);
  });

  test('as a JSON Web Token', () => expect(looksSecret(`jwt ${newJwt()}`)).toBe(true));

  test('as a PEM block', () => expect(looksSecret(newPem())).toBe(true));

  test('as a URL with a password', () => {
    expect(looksSecret(urlWith('app:hunter2', 'db.internal:5432/app'))).toBe(true);
    expect(looksSecret(`--index-url ${urlWith('user:pw', 'pypi.example/simple', 'https')}`)).toBe(true);
    expect(looksSecret(`https://${keys.github}@github.example/o/r`)).toBe(true);
  });

  test.each([
    'plain',
    'value-of-TOKENIZER_PATH',
    '/opt/sk-learn-2/site-packages-of-python',
    'task-1234567890123456789',
    'npm_config_registry_is_long_enough_to_be_one',
    'http://127.0.0.1:3128',
    'https://host.example/a:b@c',
    'ssh://git@github.example/o/r',
    'someone@example.com',
    '2026-01-01T00:00:00Z',
  ])('not as %s', (value) => expect(looksSecret(value)).toBe(false));

  test('or not in a time that does not grow with the square of its length', () => {
    const from = performance.now();
    for (const long of ['a'.repeat(1e6), 'sk-'.repeat(3e5), 'eyJ'.repeat(3e5), '://'.repeat(3e5), '1'.repeat(1e6)])
      looksSecret(long);
    expect(performance.now() - from).toBeLessThan(5000);
  });
});

describe('a value looks random', () => {
  test.each(['hunter2hunter2', 'Kxqzvbnm', 'with-dash', 'ABCD1234', 'a'.repeat(20), 'pässw0rd'])('as %s', (value) =>
    expect(looksRandom(value)).toBe(true),
  );

  test.each(['', 'text', 'x7Kq2Zp', 'postgres', 'PRODUCTION', '12345678', 'a'.repeat(19)])('not as "%s"', (value) =>
    expect(looksRandom(value)).toBe(false),
  );
});

describe('the password of a URL', () => {
  test('is found as written and decoded, up to the last @ before the path', () => {
    expect(userinfoPasswords(urlWith('u:p%40ss%20word', 'h/x', 'https'))).toEqual(['p%40ss%20word', 'p@ss word']);
    expect(userinfoPasswords(urlWith(':only-password', 'h', 'redis'))).toEqual(['only-password']);
    expect(userinfoPasswords(urlWith('u:a@b', 'h/path@x', 'amqp'))).toEqual(['a@b']);
    expect(userinfoPasswords(urlWith('u:100%', 'h', 'https'))).toEqual(['100%']);
  });

  test('is found in every URL of a text', () => {
    expect(userinfoPasswords(`${urlWith('u:one', 'a')},${urlWith('u:two', 'b')} and http://c/`)).toEqual([
      'one',
      'two',
    ]);
  });

  test('may stand in place of the user', () => {
    expect(userinfoPasswords(`https://${keys.github}@h`)).toEqual([keys.github]);
    expect(userinfoPasswords(urlWith(`${keys.stripe}:`, 'h', 'https'))).toEqual([keys.stripe]);
    expect(userinfoPasswords(`https://${letters(32)}@sentry.example/1`)).toEqual([letters(32)]);
    expect(userinfoPasswords('ssh://git@h and https://first.last@h')).toEqual([]);
  });
});

describe('of a host variable', () => {
  test('a random value is a secret, without the white space around it', () => {
    const secret = newSecret();
    expect(hostSecretsIn(` ${secret}\n`)).toEqual([secret]);
  });

  test.each(['', 'text', 'x7Kq2Zp', 'postgres', '12345678'])('"%s" is none: it would shred the output', (value) =>
    expect(hostSecretsIn(value)).toEqual([]),
  );

  test('a URL is none, but its password is', () => {
    expect(hostSecretsIn(urlWith('app:hunter2hunter2', 'db.internal:5432/app'))).toEqual(['hunter2hunter2']);
    expect(hostSecretsIn(urlWith('app:correcthorse', 'db.internal/app', 'https'))).toEqual(['correcthorse']);
    expect(hostSecretsIn('https://login.example.com/some/Path-1')).toEqual([]);
    expect(hostSecretsIn(`https://api.example/bot${keys.telegram}/send`)).toEqual([keys.telegram]);
  });

  test('a password is none that is short, the word "password", or said elsewhere in its URL', () => {
    for (const password of ['hunter2', 'password', 'postgres']) {
      expect(hostSecretsIn(urlWith(`postgres:${password}`, 'localhost/app'))).toEqual([]);
    }
  });

  test('what a program takes out of a value is a secret by itself', () => {
    const token = newSecret('bearer');
    expect(hostSecretsIn(`Bearer ${token}`)).toEqual([`Bearer ${token}`, token]);
    expect(hostSecretsIn(`--token=${keys.github} -v`)).toContain(keys.github);
  });
});

test('a configured secret counts whatever it looks like, of a URL only the password', () => {
  expect(secretsIn(' simple ')).toEqual(['simple']);
  expect(secretsIn('short')).toEqual([]);
  expect(secretsIn(urlWith('u:simple', 'h/', 'https'))).toEqual(['simple']);
  expect(secretsIn('https://h/hook')).toEqual(['https://h/hook']);
});
