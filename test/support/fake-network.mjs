// Preload (--import, with a plan as its query) for a host under attack: what names resolve to, and where addresses lead. Threads
// inherit it. Nothing that is connected to leaves the machine, and no module of ours knows of it: it is Node's own resolver,
// and the system call below its sockets, that answer otherwise.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

/**
 * `names`: the answers of each lookup in this thread, one after another; the last one stays. `addresses`: the loopback port
 * behind an address, whatever port was asked for; every other address leads to the port `elsewhere`.
 */
const { names, addresses, elsewhere } = JSON.parse(decodeURIComponent(new URL(import.meta.url).search.slice(1)));
const asked = new Map();

function answer(name) {
  const answers = Object.hasOwn(names, name) ? names[name] : undefined;
  if (!answers) return undefined;
  const count = asked.get(name) ?? 0;
  asked.set(name, count + 1);
  return answers[Math.min(count, answers.length - 1)].map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));
}

const { lookup } = dns;
dns.lookup = (name, ...given) => {
  const found = answer(name);
  if (!found) return lookup(name, ...given);
  const done = given[given.length - 1];
  const [{ address, family }] = found;
  setImmediate(() => (given[0].all ? done(null, found) : done(null, address, family)));
};
const lookupPromise = dns.promises.lookup;
dns.promises.lookup = async (name, ...given) => {
  const found = answer(name);
  if (!found) return lookupPromise(name, ...given);
  return given[0]?.all ? found : found[0];
};
syncBuiltinESMExports();

const { TCP } = process.binding('tcp_wrap');
const { connect } = TCP.prototype;
const lead = function (request, address) {
  return connect.call(this, request, '127.0.0.1', addresses[address] ?? elsewhere);
};
TCP.prototype.connect = lead;
TCP.prototype.connect6 = lead;
