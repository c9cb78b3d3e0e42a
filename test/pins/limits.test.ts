import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/shared/limits.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

test('the limits and their defaults are these', () => {
  expect(
    DEFAULT_LIMITS,
    'Operators set limits by name and rely on the defaults. A renamed limit makes their configuration invalid; another ' +
      'default changes what models see or when things end. Change it here on purpose, with docs/configuration.md and CHANGELOG.md.',
  ).toEqual({
    lineBytes: 16 * MiB,
    textLines: 2000,
    textBytes: 50 * KiB,
    imageBytes: 5 * MiB,
    imagesPerResult: 8,
    imagesBytes: 10 * MiB,
    imageSidePixels: 8000,
    detailsBytes: 256 * KiB,
    structuredBytes: 256 * KiB,
    jsonDepth: 64,
    descriptionBytes: 16 * KiB,
    toolBytes: 256 * KiB,
    toolsPerExtension: 2000,
    toolTableBytes: 4 * MiB,
    notesPerSecond: 2000,
    logBytesPerSecond: 4 * MiB,
    losslessNotesPerSecond: 10_000,
    losslessBytesPerSecond: 16 * MiB,
    stderrTailLines: 20,
    stderrTailBytes: 8 * KiB,
    stderrLogLinesPerSecond: 50,
    factoryMs: 30_000,
    loadMs: 15_000,
    callTimeoutMs: 900_000,
    eventHandlerMs: 2000,
    commandMs: 60_000,
    hostRequestsInFlight: 64,
    hostRequestsQueued: 4096,
    questionsPerSession: 8,
    questionMs: 300_000,
    approvalMs: 300_000,
    heartbeatMs: 250,
    stallWarnMs: 1000,
    stallMs: 5000,
    softMemoryMb: 512,
    oldGenerationMb: 2048,
    restartBackoffMs: [0, 1000, 4000, 16_000],
    crashLoopDeaths: 5,
    crashLoopWindowMs: 300_000,
    sandboxMemoryMb: 32,
    sandboxCpuMs: 1000,
    sandboxCallMs: 10_000,
    sandboxResultBytes: 64 * KiB,
    sandboxTotalMb: 512,
  });
});
