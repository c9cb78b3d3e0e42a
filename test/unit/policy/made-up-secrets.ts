import { randomBytes } from 'node:crypto';

/** A secret nobody else has: letters and digits. */
export const newSecret = (prefix = 'sEcr3t') => `${prefix}${randomBytes(9).toString('hex')}`;

/** So many letters and digits, of both cases. Keys are put together here, so that no scanner takes this file for a leak. */
export const letters = (length: number) => 'aZ09'.repeat(Math.ceil(length / 4)).slice(0, length);

/** A PEM block without meaning. */
export const newPem = (lines = 20) => {
  const dashes = '-'.repeat(5);
  const body = Array.from({ length: lines }, () => randomBytes(48).toString('base64'));
  return [`${dashes}BEGIN PRIVATE KEY${dashes}`, ...body, `${dashes}END PRIVATE KEY${dashes}`].join('\n');
};

/** A JSON Web Token without meaning. */
export const newJwt = () =>
  [{ alg: 'HS256' }, { sub: randomBytes(6).toString('hex') }, { signed: false }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');

/** A URL with userinfo, put together here for the same reason. */
export const urlWith = (userinfo: string, rest: string, scheme = 'postgres') =>
  [scheme, '://', userinfo, '@', rest].join('');
