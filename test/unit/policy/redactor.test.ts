import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Redactor } from '../../../src/host/policy/redactor.ts';
import type { Content } from '../../../src/shared/tool.ts';
import { newPem, newSecret, urlWith } from './made-up-secrets.ts';

const text = (value: string): Content => ({ type: 'text', text: value });
const image: Content = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
/** Has everything that some encoding escapes. */
const awkward = () => `p4ss"w\\rd/+ &'<ü🚀${newSecret('')}`;

const base64 = (value: string) => Buffer.from(value).toString('base64');
const spellings: Record<string, (secret: string) => string> = {
  'as it is': (secret) => secret,
  'JSON-escaped': (secret) => JSON.stringify(secret).slice(1, -1),
  'JSON-escaped twice': (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  'JSON-escaped by a writer of ASCII': (secret) =>
    JSON.stringify(secret)
      .slice(1, -1)
      .replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'URL-encoded': (secret) => encodeURIComponent(secret),
  'URL-encoded in lower case': (secret) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  'as a query': (secret) => new URLSearchParams({ v: secret }).toString().slice(2),
  'in padded base64': (secret) => base64(secret),
  'in base64 without padding': (secret) => base64(secret).replace(/=+$/, ''),
  'in base64url': (secret) => Buffer.from(secret).toString('base64url'),
};

describe('a secret is redacted', () => {
  for (const [spelling, spell] of Object.entries(spellings)) {
    test(spelling, () => {
      for (const secret of [newSecret(), awkward(), randomBytes(24).toString('base64')]) {
        expect(new Redactor([secret]).text(`before ${spell(secret)} after`)).toBe('before [REDACTED] after');
      }
    });
  }

  test('at each place within the base64 of something longer', () => {
    for (const secret of [newSecret(), awkward(), 'six666']) {
      const redactor = new Redactor([secret]);
      for (const [before, after] of [
        ['', ':x'],
        ['u:', ''],
        ['us:', '@'],
        ['use:', 'yz'],
        ['user:', '\n'],
      ] as const) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const encoded = Buffer.from(before + secret + after).toString(encoding);
          const left = redactor.text(encoded);
          expect(left).toContain('[REDACTED]');
          // What is left decides at most two characters of it, one at each side.
          expect(left.replace('[REDACTED]', '').length).toBeLessThanOrEqual(Math.ceil(before.length / 3) * 4 + 4);
        }
      }
    }
  });

  test('when it is wrapped or split over lines', () => {
    const secret = newSecret();
    const redactor = new Redactor([secret]);
    for (const at of [1, 5, 12, secret.length - 1]) {
      for (const lineBreak of ['\n', '\r\n', '\n\n']) {
        expect(redactor.text(`a\nb ${secret.slice(0, at)}${lineBreak}${secret.slice(at)} c\nd`)).toBe(
          'a\nb [REDACTED] c\nd',
        );
      }
    }
    expect(redactor.text(secret.split('').join('\n'))).toBe('[REDACTED]');
  });

  test('wherever it stands, and however often', () => {
    const secret = newSecret();
    expect(new Redactor([secret]).text(`${secret}${secret}\n${secret}\n`)).toBe('[REDACTED][REDACTED]\n[REDACTED]\n');
  });

  test('together with the longer one around it', () => {
    const short = newSecret('core');
    const long = `${short}-and-its-tail`;
    for (const order of [
      [short, long],
      [long, short],
    ]) {
      expect(new Redactor(order).text(`<${long}> <${short}> <pre-${long}>`)).toBe(
        '<[REDACTED]> <[REDACTED]> <pre-[REDACTED]>',
      );
    }
  });

  test('together with another one that it overlaps', () => {
    expect(new Redactor(['abcdef-one', 'one-uvwxyz']).text('<abcdef-one-uvwxyz>')).toBe('<[REDACTED]>');
  });

  test('when it is long, and begins like another one', () => {
    const common = randomBytes(40).toString('hex');
    const [first, second, beginning] = [`${common}-${newSecret()}`, `${common}-${newSecret()}`, common.slice(0, 12)];
    const redactor = new Redactor([first, second, beginning]);
    expect(redactor.text(`<${second}> <${beginning}> <${first}>`)).toBe('<[REDACTED]> <[REDACTED]> <[REDACTED]>');
    expect(redactor.text(`<${common}>`)).toBe(`<[REDACTED]${common.slice(12)}>`);
  });

  test('whatever its characters mean in a regular expression', () => {
    const secret = '^$.*+?()[]{}|\\/-,:!<>=#&';
    expect(new Redactor([secret]).text(`x${secret}x${'a'.repeat(30)}`)).toBe(`x[REDACTED]x${'a'.repeat(30)}`);
  });

  test('when it has the length of a file', () => {
    const secret = randomBytes(96 * 1024).toString('base64');
    expect(new Redactor([secret]).text(`<${secret}>`)).toBe('<[REDACTED]>');
  });

  test('among five hundred others', () => {
    const secrets = Array.from({ length: 500 }, () => newSecret());
    const redactor = new Redactor(secrets);
    expect(redactor.text(secrets.join(' '))).toBe(secrets.map(() => '[REDACTED]').join(' '));
  });
});

describe('a secret of several lines is redacted', () => {
  const pem = newPem();
  const lines = pem.split('\n');
  const redactor = new Redactor([`${pem}\n`]);

  test('as a whole, in every spelling', () => {
    for (const spell of Object.values(spellings)) expect(redactor.text(`<${spell(pem)}>`)).toBe('<[REDACTED]>');
    expect(redactor.text(pem.replaceAll('\n', '\r\n'))).toBe('[REDACTED]');
  });

  test('line by line, when a line has 16 characters', () => {
    for (const line of lines) expect(redactor.text(`> ${line} <`)).toBe('> [REDACTED] <');
    expect(new Redactor(['first line of it\nshort one\n']).text('first line of it, short one')).toBe(
      '[REDACTED], short one',
    );
  });

  test('when its variable spells the line breaks out', () => {
    const spelled = new Redactor([JSON.stringify({ key: pem })]);
    expect(spelled.text(`<${lines[3]}>`)).toBe('<[REDACTED]>');
  });
});

describe('what is no secret stays', () => {
  test('everything, without secrets', () => {
    const redactor = new Redactor();
    const blocks = [text('a')];
    const value = { a: ['b'] };
    expect(redactor.text('a text')).toBe('a text');
    expect(redactor.content(blocks)).toBe(blocks);
    expect(redactor.json(value)).toBe(value);
    expect(redactor.longestBytes).toBe(0);
  });

  test('values under six characters', () => {
    expect(new Redactor(['', ' ', 'short', '\n\n\n\n\n\n\n']).text('a short text\n\n\n\n\n\n\n')).toBe(
      'a short text\n\n\n\n\n\n\n',
    );
  });

  test('a URL but for its password', () => {
    const redactor = new Redactor([urlWith('app:hunter2%2Fhunter2', 'db.internal:5432/app')]);
    expect(redactor.text(urlWith('app:hunter2%2Fhunter2', 'db.internal:5432/app'))).toBe(
      urlWith('app:[REDACTED]', 'db.internal:5432/app'),
    );
    expect(redactor.text('password hunter2/hunter2 of app')).toBe('password [REDACTED] of app');
  });
});

test('a secret that is added while running is redacted from then on', () => {
  const redactor = new Redactor([newSecret()]);
  const secret = newSecret('late');
  expect(redactor.text(`<${secret}>`)).toBe(`<${secret}>`);
  redactor.add([secret]);
  redactor.add([secret]);
  expect(redactor.text(`<${secret}>`)).toBe('<[REDACTED]>');
});

describe('the overlap', () => {
  test('holds the longest form in bytes, wrapped, and leaves room for secrets that come later', () => {
    const secret = 'ü'.repeat(2000);
    const redactor = new Redactor([secret]);
    expect(redactor.longestBytes).toBeGreaterThanOrEqual(Buffer.byteLength(encodeURIComponent(secret)));
    expect(redactor.overlapBytes).toBe(redactor.longestBytes);
    expect(new Redactor([newSecret()]).longestBytes).toBeLessThan(100);
    expect(new Redactor().overlapBytes).toBe(4096);
  });
});

describe('in content', () => {
  test('a secret split over text blocks is found at every place, also over three, also around an image', () => {
    const secret = newSecret();
    const redactor = new Redactor([secret]);
    for (let at = 1; at < secret.length; at++) {
      const split = [text('head '), text(secret.slice(0, at)), image, text(`${secret.slice(at)}.`), text(' tail')];
      expect(redactor.content(split)).toEqual([text('head '), text('[REDACTED]'), image, text('.'), text(' tail')]);
    }
    const three = [secret.slice(0, 4), secret.slice(4, 9), secret.slice(9)];
    expect(redactor.content(three.map(text))).toEqual([text('[REDACTED]')]);
  });

  test('blocks without a secret come back as they are, and images are not looked at', () => {
    const redactor = new Redactor(['AAAAAAAA']);
    const blocks = [text(''), { ...image, data: 'AAAAAAAAAAAA' }, text('b')];
    expect(redactor.content(blocks)).toBe(blocks);
  });

  test('hidden characters are searched but not shown, and none is halved', () => {
    const secret = newSecret();
    const redactor = new Redactor([secret]);
    expect(redactor.content([text(`a ${secret} b`)], 5)).toEqual([text('a [REDACTED]')]);
    expect(redactor.content([text('a'), image, text('bc')], 3)).toEqual([text('a'), image]);
    expect(redactor.content([text('a🚀b')], 2)).toEqual([text('a')]);
    expect(redactor.content([text('short')], 99)).toEqual([]);
  });
});

describe('in JSON', () => {
  const secret = newSecret();
  const redactor = new Redactor([secret]);

  test('keys and values are redacted at any depth, everything else is kept', () => {
    const value = {
      [`k ${secret}`]: 1,
      list: [secret, 2, null, true, { deep: [`<${encodeURIComponent(secret)}>`] }],
      plain: 'p',
    };
    expect(redactor.json(structuredClone(value))).toEqual({
      'k [REDACTED]': 1,
      list: ['[REDACTED]', 2, null, true, { deep: ['<[REDACTED]>'] }],
      plain: 'p',
    });
    expect(redactor.json(`<${secret}>`)).toBe('<[REDACTED]>');
  });

  test('two keys that become one lose no value', () => {
    expect(redactor.json({ [secret]: 1, [base64(secret)]: 2, '[REDACTED]_2': 3 })).toEqual({
      '[REDACTED]': 1,
      '[REDACTED]_2': 2,
      '[REDACTED]_2_2': 3,
    });
  });

  test('no secret is made up of two strings', () => {
    const split = { a: [secret.slice(0, 9), secret.slice(9)], b: [secret] };
    expect(redactor.json(split)).toEqual({ a: split.a, b: ['[REDACTED]'] });
  });

  test('a value without a secret is not copied, nor changed', () => {
    const value = { a: ['b'] };
    expect(redactor.json(value)).toBe(value);
  });

  test('an own __proto__ key stays data and the prototype clean', () => {
    const value: unknown = JSON.parse(`{"__proto__":{"polluted":"${secret}"},"${secret}":"__proto__"}`);
    const copy = redactor.json(value) as object;
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":"[REDACTED]"},"[REDACTED]":"__proto__"}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('what is shared or goes in a circle is looked at once', () => {
    type Node = { next?: Node; other?: Node; text: string };
    let node: Node = { text: secret };
    for (let i = 0; i < 500; i++) node = { next: node, other: node, text: 'x' };
    const circle: Node = { text: secret, other: node };
    circle.next = circle;
    const copy = redactor.json(structuredClone(circle));
    expect(copy.text).toBe('[REDACTED]');
    expect(copy.next).toBe(copy);
    expect(copy.other?.next).toBe(copy.other?.other);
  });

  test('what is nested too deeply, or is no plain data, becomes a note', () => {
    let deep: unknown = secret;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(JSON.stringify(redactor.json(deep))).toMatch(/^\[{900,1100}"\[nested too deeply: omitted\]"\]+$/);
    expect(redactor.json({ map: new Map([[secret, secret]]), bytes: Buffer.from(secret) })).toEqual({
      map: '[not plain data: omitted]',
      bytes: '[not plain data: omitted]',
    });
  });
});

test('500 secrets in 50 KB cost a few milliseconds', () => {
  const secrets = Array.from({ length: 500 }, () => newSecret());
  const redactor = new Redactor(secrets);
  let long = '';
  for (let line = 0; long.length < 50 * 1024; line++)
    long += `${line} the quick brown fox said ${randomBytes(6).toString('base64')}\n`;
  redactor.text(long);
  const times = Array.from({ length: 20 }, () => {
    const from = performance.now();
    redactor.text(long);
    return performance.now() - from;
  });
  // 0.4 ms on the machine this was written on; the best of twenty, so that a busy one does not matter.
  expect(Math.min(...times)).toBeLessThan(25);
});
