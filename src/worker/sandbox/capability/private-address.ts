import { BlockList, isIPv6 } from 'node:net';

const V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // The metadata service of one cloud has a public address.
  ['168.63.129.16', 32],
];
/** Besides loopback and private ones: what wraps an IPv4 address, which would have to be unwrapped to be judged. */
const V6: readonly (readonly [string, number])[] = [
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 32],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const refused = new BlockList();
for (const [net, prefix] of V4) refused.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of V6) refused.addSubnet(net, prefix, 'ipv6');

/** True for loopback, private, link-local, metadata and every other address that is not plainly of the internet. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '');
  if (!isIPv6(bare)) return refused.check(bare, 'ipv4');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined) return refused.check(mapped, 'ipv4');
  return /^::ffff:/i.test(bare) || refused.check(bare, 'ipv6');
}
