/** A checkpoint saver of LangGraph's; its own types stay out of ours, since it is an optional peer. */
export interface CheckpointSaver {
  /** Removes what is kept of a run. */
  deleteThread(threadId: string): Promise<void>;
}
