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
dns.lookup = (name, given, done = given) => {
  const options = typeof given === 'object' && given !== null ? given : {};
  const found = answer(name);
  if (!found) lookup(name, options, done);
  else if (options.all) setImmediate(done, null, found);
  else setImmediate(done, null, found[0].address, found[0].family);
};
const lookupPromise = dns.promises.lookup;
dns.promises.lookup = async (name, options = {}) => {
  const found = answer(name);
  if (!found) return lookupPromise(name, options);
  return options.all ? found : found[0];
};
syncBuiltinESMExports();

const { TCP } = process.binding('tcp_wrap');
const { connect } = TCP.prototype;
const lead = function (request, address) {
  return connect.call(this, request, '127.0.0.1', addresses[address] ?? elsewhere);
};
TCP.prototype.connect = lead;
TCP.prototype.connect6 = lead;
