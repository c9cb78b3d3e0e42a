import { describe, expect, test } from 'vitest';
import { effectivePermissions, grantFor } from '../../../src/host/policy/grants.ts';
import { matchesName, type Permissions } from '../../../src/shared/sandbox.ts';
import { fits } from '../../../src/worker/sandbox/capability/net.ts';
import { isGranted } from '../../../src/worker/sandbox/capability/path-patterns.ts';
import { isPrivateAddress } from '../../../src/worker/sandbox/capability/private-address.ts';

const WORKSPACE = '${workspace}';
const EXTENSION = '${extension}';
const effective = (requested: Permissions, granted: Permissions) =>
  effectivePermissions(requested, { hash: 'sha256-x', permissions: granted }, {});

describe('effective permissions', () => {
  const all: Permissions = {
    net: { hosts: ['api.example', '*.wide.example'], methods: ['GET', 'POST'] },
    env: { names: ['A', 'B'] },
    'fs.read': { paths: [`${WORKSPACE}/**`] },
    'fs.write': { paths: [`${WORKSPACE}/out/**`] },
    mcp: { servers: ['github'], tools: ['list_*'] },
    storage: { maxBytes: 100 },
  };

  test('are what was requested when all of it was granted', () => {
    expect(effective(all, all)).toEqual(all);
  });

  test('are nothing without a grant, or for what was not requested', () => {
    expect(effectivePermissions(all, undefined, {})).toEqual({});
    expect(effective({}, all)).toEqual({});
    expect(effective(all, {})).toEqual({});
  });

  test('are the narrower one of both, whichever side it comes from', () => {
    const granted: Permissions = {
      net: { hosts: ['one.wide.example', 'other.example'], methods: ['GET'] },
      env: { names: ['B', 'C'] },
      'fs.read': { paths: [`${WORKSPACE}/src/**`, `${EXTENSION}`] },
      'fs.write': { paths: [`${WORKSPACE}/**`] },
      mcp: { servers: ['github', 'slack'], tools: ['list_issues'] },
      storage: { maxBytes: 500 },
    };
    expect(effective(all, granted)).toEqual({
      net: { hosts: ['one.wide.example'], methods: ['GET'] },
      env: { names: ['B'] },
      'fs.read': { paths: [`${WORKSPACE}/src/**`] },
      'fs.write': { paths: [`${WORKSPACE}/out/**`] },
      mcp: { servers: ['github'], tools: ['list_issues'] },
      storage: { maxBytes: 100 },
    });
  });

  test('are none where nothing is common', () => {
    expect(
      effective(
        { net: { hosts: ['a.example'], methods: ['GET'] } },
        { net: { hosts: ['b.example'], methods: ['GET'] } },
      ),
    ).toEqual({});
    expect(
      effective({ 'fs.read': { paths: [`${WORKSPACE}/a/../b`] } }, { 'fs.read': { paths: [`${WORKSPACE}/a/**`] } }),
    ).toEqual({});
  });

  test('stop at the ceiling', () => {
    expect(effectivePermissions(all, { hash: 'x', permissions: all }, { permissions: ['env'] })).toEqual({
      env: all.env,
    });
  });
});

test('a grant counts for its content only, and a malformed one does not count', () => {
  const grants = (grant: object) => ({ extensionGrants: { x: grant } }) as never;
  const storage = { storage: { maxBytes: 5 } };
  expect(grantFor(grants({ hash: 'sha256-1', permissions: storage }), 'x', 'sha256-1')).toEqual({
    hash: 'sha256-1',
    permissions: storage,
  });
  expect(grantFor(grants({ hash: 'sha256-1', permissions: storage }), 'x', 'sha256-2')).toBeUndefined();
  expect(grantFor(grants({ hash: 'sha256-1', permissions: { everything: {} } }), 'x', 'sha256-1')).toBeUndefined();
  expect(grantFor(grants({}), '__proto__', 'sha256-1')).toBeUndefined();
  expect(grantFor({}, 'x', 'sha256-1')).toBeUndefined();
});

test.each([
  [`${WORKSPACE}/**`, '/work/a/b.txt', true],
  [`${WORKSPACE}/**`, '/workshop/a', false],
  [WORKSPACE, '/work/a/b.txt', true],
  [`${WORKSPACE}/*.txt`, '/work/a.txt', true],
  [`${WORKSPACE}/*.txt`, '/work/a/b.txt', false],
  [`${WORKSPACE}/**/b.txt`, '/work/a/c/b.txt', true],
  [`${WORKSPACE}/a.b`, '/work/aXb', false],
  [`${WORKSPACE}/a.*`, '/work/aXb', false],
  [`${WORKSPACE}/../etc/**`, '/etc/passwd', false],
  [EXTENSION, '/ext/data.json', true],
  ['/data/**', '/data/x', true],
  ['relative/**', '/work/relative/x', false],
])('the path pattern %s and %s: %s', (pattern, real, granted) => {
  expect(isGranted(real, [pattern], { extension: '/ext', workspace: '/work' })).toBe(granted);
});

test.each([
  ['api.example', 'https://api.example/x', true],
  ['api.example', 'https://API.example./x', true],
  ['api.example', 'https://evil.example/?api.example', false],
  ['api.example', 'https://api.example.evil.example/', false],
  ['api.example:8443', 'https://api.example/', false],
  ['api.example:443', 'https://api.example/', true],
  ['api.example:8443', 'https://api.example:8443/', true],
  ['*.example', 'https://a.b.example/', true],
  ['*.example', 'https://example/', false],
  ['*', 'https://api.example/', false],
  ['[::1]', 'http://[::1]:80/', true],
])('the granted host %s and %s: %s', (pattern, url, granted) => {
  expect(fits(pattern, new URL(url))).toBe(granted);
});

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.31.0.1',
  '192.168.1.1',
  '224.0.0.1',
  '168.63.129.16',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1%eth0',
  'ff02::1',
])('%s is no address of the internet', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each(['1.1.1.1', '8.8.8.8', '93.184.216.34', '172.32.0.1', '2606:4700:4700::1111'])(
  '%s is an address of the internet',
  (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  },
);

test.each([
  ['list_*', 'list_issues', true],
  ['list_*', 'List_issues', false],
  ['*_issues', 'list_issues', true],
  ['a*a', 'a', false],
  ['a*b*c', 'aXXbXXc', true],
  ['a*b*c', 'aXXcXXb', false],
  ['*', '', true],
])('the name pattern %s and %s: %s', (pattern, name, fitting) => {
  expect(matchesName(pattern, name)).toBe(fitting);
});
