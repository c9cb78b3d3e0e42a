import { expect, test } from 'vitest';
import { makeDropInHost, toolOf } from '../../support/drop-ins.ts';
import { openSession, textOf } from '../../support/extension-fixtures.ts';

test('a tool gets its parameters and its session, streams progress, and hears an abort', async () => {
  const { host } = await makeDropInHost([
    {
      source: toolOf(`
      onUpdate({ progress: 1, total: 2, message: 'half' });
      if (params.wait) await new Promise((_, reject) => signal.addEventListener('abort', () => { api.logger.warn('heard ' + signal.aborted); reject(signal.reason); }));
      return text([params.n, ctx.sessionId, ctx.cwd, typeof callId].join());`),
    },
  ]);
  const logged: string[] = [];
  host.on('log', ({ message }) => logged.push(message));
  const session = await openSession(host);
  const progress: unknown[] = [];
  const result = await session.callTool(
    { name: 'run', arguments: { n: 7 } },
    { onProgress: (one) => progress.push(one) },
  );
  expect(textOf(result)).toBe(`7,${session.id},${session.cwd},string`);
  expect(progress).toEqual([{ progress: 1, total: 2, message: 'half' }]);
  const aborting = new AbortController();
  const call = session.callTool(
    { name: 'run', arguments: { wait: true } },
    { signal: aborting.signal, onProgress: () => aborting.abort() },
  );
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  await expect.poll(() => logged).toContain('heard true');
});

test('an error result keeps its text, a throw its message, and what is no result is named', async () => {
  const { host } = await makeDropInHost([
    {
      source: toolOf(
        `
      switch (params.how) {
        case 'error': throw new ToolExecutionError({ content: [{ type: 'text', text: 'kept' }] });
        case 'throw': throw new Error('mine');
        case 'nothing': return;
        case 'text': return 'plain';
        case 'cyclic': { const v = {}; v.v = v; return { content: [], structuredContent: v }; }
        case 'many': return { content: Array.from({ length: 5000 }, () => ({ type: 'text', text: 'x'.repeat(100) })) };
      }`,
        "import { ToolExecutionError } from 'caldera/extension';",
      ),
    },
  ]);
  const session = await openSession(host);
  const of = async (how: string) => session.callTool({ name: 'run', arguments: { how } });
  expect(await of('error')).toMatchObject({ isError: true, content: [{ text: 'kept' }] });
  expect(await of('throw')).toMatchObject({ isError: true, content: [{ text: 'mine' }] });
  expect(await of('nothing')).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/returned nothing/) }],
  });
  expect(await of('text')).toMatchObject({ isError: false, content: [{ text: 'plain' }] });
  expect(await of('cyclic')).toMatchObject({ isError: true });
  expect(JSON.stringify(await of('many')).length).toBeLessThan(70 * 1024);
});

test('commands, events, messages, notifications and failures work as in a trusted extension', async () => {
  const { host } = await makeDropInHost([
    {
      source: `export default (api) => {
      let started = [];
      api.on('session_start', ({ reason }) => { started.push(reason); });
      api.on('before_agent_start', ({ prompt }) => ({ sections: { mine: 'for ' + prompt } }));
      api.registerCommand('say', { description: 'Says.', handler: async (args, ctx) => { ctx.ui.notify('told', 'warning'); api.sendMessage({ customType: 'note', content: { a: 1 } }); return args + started.join(); } });
      api.reportFailure({ tool: 'x', code: 'TOOL_QUARANTINED', message: 'not today' });
    };`,
    },
  ]);
  const session = await openSession(host);
  const seen: unknown[] = [];
  session.on('notify', ({ level, text }) => seen.push([level, text]));
  session.on('message', ({ customType, content }) => seen.push([customType, content]));
  expect(await session.runCommand('say', 'hi ')).toEqual({ text: 'hi startup' });
  expect(seen).toEqual([
    ['warning', 'told'],
    ['note', { a: 1 }],
  ]);
  expect(await session.beforeAgentStart({ prompt: 'you' })).toEqual({ sections: { mine: 'for you' } });
  expect(session.failures).toEqual([{ extension: 'probe', tool: 'x', code: 'TOOL_QUARANTINED', message: 'not today' }]);
});

test('questions reach the person of the session, and nobody without one', async () => {
  const { host } = await makeDropInHost([
    {
      source: toolOf(
        `return text([await ctx.ui.confirm('Sure?', 'really'), await ctx.ui.select('Which?', ['a', 'b']) ?? null, await ctx.ui.input('Name?') ?? null]);`,
      ),
    },
  ]);
  const seen: string[] = [];
  const session = await openSession(host, {
    ui: {
      confirm: async (title, { text, extension }) => {
        seen.push(title, text ?? '', extension);
        return true;
      },
      select: async (title, options) => {
        seen.push(title);
        return options[1];
      },
      input: async (title) => {
        seen.push(title);
        return 'Ada';
      },
    },
  });
  expect(JSON.parse(textOf(await session.callTool({ name: 'run' })))).toEqual([true, 'b', 'Ada']);
  expect(seen).toEqual(['Sure?', 'really', 'probe', 'Which?', 'Name?']);
  const alone = await openSession(host);
  expect(JSON.parse(textOf(await alone.callTool({ name: 'run' })))).toEqual([false, null, null]);
});

test('what the tier does not have is there, rejects, and is counted', async () => {
  const { host } = await makeDropInHost(
    [
      {
        source: toolOf(`
      const said = [];
      for (const work of [
        () => api.processes.prepare({}), () => api.processes.track({}), () => api.cache.once('k', async () => 1, { failureTtlMs: 0 }), () => api.cache.drop('k'),
        () => api.setActiveTools([]), () => api.settings, () => api.agentDir, () => api.limits, () => ctx.processes.prepare({}),
        () => api.on('tool_result', () => {}), () => api.on('process_spawn', () => {}),
      ]) said.push((await refused(work)).split(':')[0]);
      return text({ said, own: api.getAllTools().map((tool) => tool.name), confirm: await ctx.ui.confirm('a', 'b') });`),
      },
    ],
    { builtinTools: [{ name: 'secret_tool', description: 'x', parameters: { type: 'object' }, execute: () => '' }] },
  );
  const session = await openSession(host);
  const { said, own, confirm } = JSON.parse(textOf(await session.callTool({ name: 'run' })));
  expect(said).toEqual(Array.from({ length: 11 }, () => 'PERMISSION_DENIED'));
  expect(own).toEqual(['run']);
  expect(confirm).toBe(false);
  await expect.poll(() => host.inspect().extensions[0]?.permissions?.denied.api).toBe(11);
});

test('a tool cannot pass itself off as one of an MCP server', async () => {
  const { host } = await makeDropInHost([
    {
      source:
        "export default (api) => { api.registerTool({ name: 'x', description: 'x', parameters: { type: 'object' }, source: { server: 'github', tool: 'x' }, execute: () => '' }); };",
    },
  ]);
  const session = await openSession(host);
  expect(session.tools[0]?.source).toEqual({ kind: 'extension', extension: 'probe' });
});

test('each session has a machine of its own, and one that is stopped comes back without its state', async () => {
  const { host } = await makeDropInHost([
    {
      source: `let count = 0; ${toolOf("if (params.how === 'loop') for (;;); if (params.how === 'memory') { const all = []; for (;;) all.push('x'.repeat(1000) + all.length); } return text([++count, started.join()].join(';'));").replace('const text', "const started = []; api.on('session_start', ({ reason }) => { started.push(reason); }); const text")}`,
    },
  ]);
  const [first, second] = [await openSession(host), await openSession(host)];
  const call = async (session: typeof first, how = '') => session.callTool({ name: 'run', arguments: { how } });
  await call(first);
  expect(textOf(await call(first))).toBe('2;startup');
  expect(textOf(await call(second))).toBe('1;startup');
  expect(await call(first, 'loop')).toMatchObject({
    isError: true,
    details: { error: { code: 'CALL_TIMEOUT' }, outcome: 'sent-unknown' },
  });
  expect(textOf(await call(first))).toBe('1;recovered');
  expect(await call(first, 'memory')).toMatchObject({ isError: true, details: { error: { code: 'THREAD_MEMORY' } } });
  expect(textOf(await call(first))).toBe('1;recovered');
  expect(textOf(await call(second))).toBe('2;startup');
  expect(host.inspect().extensions[0]?.threads[0]?.generation).toBe(1);
});

test('a manifest can ask for less than the limits, never for more', async () => {
  const { host } = await makeDropInHost(
    [
      { name: 'less', source: toolOf('await new Promise(() => {});'), manifest: { limits: { callMs: 200 } } },
      {
        name: 'more',
        source: toolOf('await new Promise(() => {});').replace("'run'", "'more'"),
        manifest: { limits: { callMs: 60_000 } },
      },
    ],
    { limits: { sandboxCallMs: 400 } },
  );
  const session = await openSession(host);
  expect(textOf(await session.callTool({ name: 'run' }))).toMatch(/limit of 200 ms/);
  expect(textOf(await session.callTool({ name: 'more' }))).toMatch(/limit of 400 ms/);
});

test('calls of one session run at once in its machine', async () => {
  const { host } = await makeDropInHost([
    {
      source: `const waiting = []; ${toolOf("if (params.last) { for (const go of waiting) go(); return 'last'; } await new Promise((done) => waiting.push(done)); return 'first';")}`,
    },
  ]);
  const session = await openSession(host);
  const [a, b] = await session.callTools([{ name: 'run' }, { name: 'run', arguments: { last: true } }]);
  expect([a, b].map((one) => one && textOf(one))).toEqual(['first', 'last']);
});

test('a person can be asked, and answers', async () => {
  const { host } = await makeDropInHost([
    {
      source: toolOf(
        "return text([ctx.hasUI, await ctx.ui.confirm('Sure?', 'really'), await ctx.ui.select('Which?', ['a', 'b']), await ctx.ui.input('Name?'), ctx.canSample, (await refused(() => ctx.sample({}))).split(':')[0]]);",
      ),
    },
  ]);
  const session = await openSession(host, {
    ui: { confirm: async () => true, select: async (_title, options) => options[1], input: async () => 'me' },
  });
  expect(JSON.parse(textOf(await session.callTool({ name: 'run' })))).toEqual([
    true,
    true,
    'b',
    'me',
    false,
    'PERMISSION_DENIED',
  ]);
});
