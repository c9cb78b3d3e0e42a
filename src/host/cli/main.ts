#!/usr/bin/env node
import { runCommandLine } from './program.ts';

// Whoever reads may leave early (`caldera demo | head`): nothing of that is an error.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

// A command ends when it says so: a handle that somebody left open must not keep the process.
process.exit(await runCommandLine(process.argv.slice(2)));
