import type { BaseCheckpointSaver } from '@langchain/langgraph';
import { ExtensionHostError, messageOf } from '../../shared/errors.ts';
import type { CheckpointSaver } from './checkpoint-saver.ts';

type LangGraph = typeof import('@langchain/langgraph');

/** @throws CONFIG_INVALID when the optional peer is not installed */
export async function loadLangGraph(): Promise<LangGraph> {
  try {
    return await import('@langchain/langgraph');
  } catch (error) {
    const text =
      'workflows run on LangGraph.js, which is not installed; run: npm install @langchain/langgraph @langchain/core';
    throw new ExtensionHostError('CONFIG_INVALID', `${text} (${messageOf(error).split('\n', 1)[0] ?? ''})`);
  }
}

/** A saver as LangGraph's own types have it. */
export function asLangGraphSaver(saver: CheckpointSaver): BaseCheckpointSaver {
  return saver as BaseCheckpointSaver;
}
