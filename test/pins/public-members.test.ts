import { expect, test } from 'vitest';
import { ExtensionHost, Session } from '../../src/host/index.ts';
import type { HostEvents, SessionEvents } from '../../src/host/options.ts';

const BREAKING =
  'Host programs call and subscribe to these by name. What is renamed or removed breaks them: that is a major release. ' +
  'What is added belongs into docs/host-authors.md and CHANGELOG.md.';

/** Own names of a class, without what is marked internal. */
function membersOf(type: { readonly prototype: object }, internal: readonly string[] = []): string[] {
  return Object.getOwnPropertyNames(type.prototype)
    .filter((name) => name !== 'constructor' && !internal.includes(name))
    .sort();
}

test('a host and a session have these members', () => {
  expect(membersOf(ExtensionHost), BREAKING).toEqual([
    'agentDir',
    'close',
    'inspect',
    'load',
    'on',
    'openSession',
    'reload',
    'start',
  ]);
  expect(
    membersOf(Session, ['onSpawn', 'open', 'reactivate', 'settingsChanged', 'shutdownInstance']),
    BREAKING,
  ).toEqual([
    'activeTools',
    'beforeAgentStart',
    'callTool',
    'callTools',
    'catalog',
    'close',
    'commands',
    'failures',
    'inFlight',
    'on',
    'restart',
    'runCommand',
    'tools',
  ]);
});

test('both can be disposed of', () => {
  for (const type of [ExtensionHost, Session]) expect(Object.hasOwn(type.prototype, Symbol.asyncDispose)).toBe(true);
});

test('the events of a host and a session are these', () => {
  // These compile only while they name exactly the events that exist.
  const host: Record<keyof HostEvents, true> = { 'extension-state': true, log: true };
  const session: Record<keyof SessionEvents, true> = {
    'tools-changed': true,
    message: true,
    notify: true,
    status: true,
  };
  expect([Object.keys(host).length, Object.keys(session).length], BREAKING).toEqual([2, 4]);
});
