// A worker thread starts here. Keep it tiny: coverage does not see into threads, runtime.ts is tested over a MessageChannel.
import { apartBytesOf, takeBoot } from './boot.ts';
import { watchChildren } from './child-watch.ts';
import { startHeartbeat } from './heartbeat.ts';
import { endInOrder } from './orderly-end.ts';
import { captureOutput } from './output-capture.ts';
import { startRuntime } from './runtime.ts';

const boot = takeBoot();
const { log, ledger, vitals, note } = startRuntime(boot);
captureOutput(log);
watchChildren(ledger);
endInOrder(ledger, note);
startHeartbeat(vitals, boot.limits, apartBytesOf(boot));
