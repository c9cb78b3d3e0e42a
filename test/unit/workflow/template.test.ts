import { describe, expect, test } from 'vitest';
import { fillTemplates, MissingValueError, pathSteps, templatePaths } from '../../../src/host/workflow/template.ts';

const scope = {
  input: { url: 'https://a.test/$&', limit: 3, none: null },
  nodes: {
    snap1: { outcome: 'ok', output: { content: 'text', structured: { items: [{ ref: 'e1' }, { 'odd key': true }] } } },
  },
};

describe('a template', () => {
  test('that is the whole string becomes what it names, of its own type', () => {
    expect(fillTemplates('${input.limit}', scope)).toBe(3);
    expect(fillTemplates('${input.none}', scope)).toBe(null);
    expect(fillTemplates('${nodes.snap1.output.structured.items[0].ref}', scope)).toBe('e1');
    expect(fillTemplates('${nodes.snap1.output.structured.items[1]["odd key"]}', scope)).toBe(true);
    expect(fillTemplates('${nodes.snap1.output.structured.items}', scope)).toEqual([
      { ref: 'e1' },
      { 'odd key': true },
    ]);
    expect(fillTemplates('${input}', scope)).toEqual(scope.input);
  });

  test('inside a text becomes text, and nothing in a value is taken for a pattern', () => {
    expect(fillTemplates('go to ${input.url} ${input.limit} times', scope)).toBe('go to https://a.test/$& 3 times');
    expect(fillTemplates('${nodes.snap1.output.content}${nodes.snap1.output.content}', scope)).toBe('texttext');
    expect(fillTemplates('items: ${nodes.snap1.output.structured.items}', scope)).toBe(
      'items: [{"ref":"e1"},{"odd key":true}]',
    );
  });

  test('is found in lists and objects, whose keys stay data', () => {
    const value: unknown = JSON.parse('{ "a": ["${input.limit}", { "__proto__": "${input.url}" }], "b": 1 }');
    const filled = fillTemplates(value as never, scope);
    expect(JSON.stringify(filled)).toBe('{"a":[3,{"__proto__":"https://a.test/$&"}],"b":1}');
  });

  test('behind a second dollar is a literal', () => {
    expect(fillTemplates('$${input.url} costs $5', scope)).toBe('${input.url} costs $5');
    expect(templatePaths('$${input.url} ${input.limit}')).toEqual(['input.limit']);
  });

  test.each(['${input.missing}', '${nodes.other.output}', '${nodes.snap1.output.constructor}', 'x ${input.none.deep}'])(
    '%s names something that is not there',
    (text) => {
      expect(() => fillTemplates(text, scope)).toThrow(MissingValueError);
    },
  );

  test.each(['', 'process.env.HOME', 'input url', 'nodes..x', 'nodes[x]', 'input.a()'])(
    'cannot have the path "%s"',
    (path) => {
      expect(pathSteps(path)).toEqual([]);
    },
  );
});
