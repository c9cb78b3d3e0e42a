import type { JsonObject } from '../shared/json.ts';
import type { Limits } from '../shared/limits.ts';
import type { HostClient, RequestBudget } from './host-client.ts';
import type { LogForwarder } from './log-forwarder.ts';
import type { NoteCredit } from './note-credit.ts';
import type { ProcessLedger } from './process-ledger.ts';

/** What an instance shares with the others of its thread. */
export interface ThreadServices {
  readonly limits: Limits;
  readonly overlapBytes: number;
  readonly options: JsonObject;
  /** The operator's, as the host read them last. */
  readonly settings: { current: JsonObject };
  readonly agentDir: string;
  readonly log: LogForwarder;
  readonly credit: NoteCredit;
  readonly control: HostClient;
  readonly budget: RequestBudget;
  readonly ledger: ProcessLedger;
}
