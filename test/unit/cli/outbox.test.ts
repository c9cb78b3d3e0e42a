import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Dropped, Outbox } from '../../../src/host/cli/outbox.ts';

/** A client that reads only when it is told to. */
function slowClient(): { stream: Writable; received: () => string[]; readOn: () => void } {
  let text = '';
  let waiting: (() => void) | undefined;
  let reading = false;
  const stream = new Writable({
    highWaterMark: 1024,
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      if (reading) done();
      else waiting = done;
    },
  });
  const readOn = (): void => {
    reading = true;
    waiting?.();
  };
  return { stream, received: () => text.split('\n').slice(0, -1), readOn };
}

const BIG = { filling: 'x'.repeat(1_500_000) };

describe('Outbox', () => {
  it('writes one line of JSON a message', () => {
    const { stream, received, readOn } = slowClient();
    const outbox = new Outbox(stream, { onDropped: () => {}, onGone: () => {} });
    readOn();
    outbox.send({ a: 'line\nbreak' });
    outbox.offer('log', { b: 1 });
    outbox.replace('key', () => ({ c: 1 }));
    expect(received()).toEqual(['{"a":"line\\nbreak"}', '{"b":1}', '{"c":1}']);
  });

  it('behind a client that does not read: keeps answers, counts what is lossy, keeps the last of what is replaced', async () => {
    const { stream, received, readOn } = slowClient();
    const dropped: Dropped[] = [];
    const outbox = new Outbox(stream, { onDropped: (counts) => dropped.push(counts), onGone: () => {} });
    outbox.send(BIG);
    outbox.send({ answer: 1 });
    for (let i = 0; i < 5; i++) outbox.offer('log', { log: i });
    outbox.offer('$/progress', { progress: 1 });
    for (let i = 0; i < 3; i++) outbox.replace('tools a', () => ({ tools: i }));
    readOn();
    await outbox.caughtUp();
    expect(received().slice(1)).toEqual(['{"answer":1}', '{"tools":2}']);
    expect(dropped).toEqual([{ log: 5, '$/progress': 1 }]);
  });

  it('waits for a client that does not read no longer than it is told', async () => {
    const { stream } = slowClient();
    const outbox = new Outbox(stream, { onDropped: () => {}, onGone: () => {} });
    outbox.send(BIG);
    await outbox.flushed(20);
    expect(outbox.queuedBytes).toBeGreaterThan(0);
  });

  it('tells once that the client is gone, and then drops everything', async () => {
    const { stream } = slowClient();
    let gone = 0;
    const outbox = new Outbox(stream, { onDropped: () => {}, onGone: () => gone++ });
    stream.destroy(new Error('EPIPE'));
    await new Promise((resolve) => setImmediate(resolve));
    outbox.send({ a: 1 });
    await outbox.caughtUp();
    expect(gone).toBe(1);
  });
});
