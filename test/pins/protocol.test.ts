/**
 * The boundary between the threads. Both sides ship together, so a change here breaks no user; a red pin asks whether the
 * boundary was meant to grow. It is the attack surface of the main thread: each name is something a hostile thread can send.
 */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { EVENT_NAMES } from '../../src/shared/events.ts';
import {
  HOST_REQUESTS,
  HostRequestSchema,
  LOG_LEVELS,
  SessionNoteSchema,
  type SessionRemote,
  ThreadNoteSchema,
  type ThreadRemote,
} from '../../src/shared/protocol.ts';

const GROWTH =
  'A red pin means: what a thread may send to the main thread has changed. Was that meant? Then is it validated, bounded ' +
  'and tested with hostile values? Only then change the pin.';

const ObjectShape = z.object({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()) });
const NoteShape = ObjectShape.extend({ properties: z.looseObject({ type: z.object({ const: z.string() }) }) });
const UnionShape = z.object({ oneOf: z.array(NoteShape) });

const jsonSchemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { unrepresentable: 'any' });

/** The fields of an object; `?` marks what may be missing. */
function fieldsOf({ properties, required }: z.infer<typeof ObjectShape>): string[] {
  return Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
}

/** The fields of an object's schema. */
function payloadOf(schema: z.ZodType): string[] {
  return fieldsOf(ObjectShape.parse(jsonSchemaOf(schema)));
}

/** The variants of a union of notes, by `type`, with their other fields. */
function notesOf(schema: z.ZodType): Record<string, string[]> {
  const notes = UnionShape.parse(jsonSchemaOf(schema)).oneOf;
  return Object.fromEntries(
    notes.map((note) => [note.properties.type.const, fieldsOf(note).filter((name) => name !== 'type')]),
  );
}

describe('worker → host', () => {
  test('the host requests and their payloads are these', () => {
    const table = Object.fromEntries(Object.entries(HOST_REQUESTS).map(([name, schema]) => [name, payloadOf(schema)]));
    expect(table, GROWTH).toEqual({
      'process.prepare': ['purpose', 'origin', 'command', 'args', 'cwd', 'env'],
      'env.get': ['name'],
      'cache.claim': ['key', 'persist'],
      'cache.settle': ['ticket', 'outcome'],
      'cache.drop': ['key'],
      'tool.call': ['server', 'tool', 'arguments'],
      'ui.confirm': ['ticket', 'title', 'text?', 'default?'],
      'ui.select': ['ticket', 'title', 'text?', 'options', 'default?'],
      'ui.input': ['ticket', 'title', 'text?', 'placeholder?', 'default?'],
      'model.sample': ['ticket', 'origin', 'params'],
      'question.close': ['ticket'],
    });
    expect(payloadOf(HostRequestSchema.shape.request), GROWTH).toEqual(['id', 'op', 'payload']);
  });

  test('the notes of a thread are these', () => {
    expect(notesOf(ThreadNoteSchema), GROWTH).toEqual({
      log: ['level', 'message', 'facts?'],
      process: ['pid', 'group', 'state', 'start?', 'server?', 'sessionId?'],
      dying: ['message'],
      'permission-use': ['use'],
    });
    expect(LOG_LEVELS, GROWTH).toEqual(['debug', 'info', 'warn', 'error']);
  });

  test('the notes of a session are these', () => {
    expect(notesOf(SessionNoteSchema), GROWTH).toEqual({
      progress: ['callId', 'progress'],
      notify: ['level', 'text'],
      status: ['key', 'text'],
      message: ['customType', 'content', 'display'],
      commit: ['commit'],
      'active-tools': ['names'],
      failure: ['failure'],
    });
  });
});

describe('host → worker', () => {
  // These compile only while they name exactly the methods that exist.
  const thread: Record<keyof ThreadRemote, true> = {
    load: true,
    openSession: true,
    settings: true,
    shutdown: true,
    answer: true,
  };
  const session: Record<keyof SessionRemote, true> = {
    table: true,
    call: true,
    cancel: true,
    command: true,
    emit: true,
    snapshot: true,
    answer: true,
    close: true,
  };

  test('a thread has five methods and a session eight', () => {
    expect([Object.keys(thread).length, Object.keys(session).length]).toEqual([5, 8]);
  });

  test('the events are these', () => {
    expect(
      EVENT_NAMES,
      'Extensions subscribe to events by name. Removing or renaming one silences them: that is a major release.',
    ).toEqual([
      'session_start',
      'session_shutdown',
      'before_agent_start',
      'tool_call',
      'tool_result',
      'process_spawn',
      'tools_changed',
      'settings_changed',
    ]);
  });
});
