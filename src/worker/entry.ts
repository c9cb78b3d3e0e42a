// A worker thread starts here. Keep it tiny: coverage does not see into threads, runtime.ts is tested over a MessageChannel.
import { workerData } from 'node:worker_threads';
import type { ThreadBoot } from '../shared/protocol.ts';
import { captureOutput } from './output-capture.ts';
import { startRuntime } from './runtime.ts';

const runtime = startRuntime(workerData as ThreadBoot);
captureOutput(runtime.log);
