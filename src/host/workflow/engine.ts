import type { BaseCheckpointSaver } from '@langchain/langgraph';
import { ExtensionHostError, messageOf } from '../../shared/errors.ts';

type LangGraph = typeof import('@langchain/langgraph');

/** A checkpoint saver of LangGraph's; its own types stay out of ours, since it is an optional peer. */
export interface CheckpointSaver {
  /** Removes what is kept of a run. */
  deleteThread(threadId: string): Promise<void>;
}

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
