/**
 * What the design "MCP stateful runtime" asks for, section by section, in the terms of this code base. Tests cite an id in a
 * comment (`// WF-POOL-REUSE`); test/unit/requirements-workflow.test.ts fails when one that is kept or changed is cited nowhere.
 */
export interface Requirement {
  readonly id: string;
  readonly section: string;
  readonly text: string;
  /** `changed`: kept in another shape, which `page` explains. `not-ours`: about something this code base does not have. */
  readonly status: 'kept' | 'changed' | 'not-ours';
  /** Where it is documented. */
  readonly page?: string;
}

const PAGE = 'docs/workflows.md';

export const WORKFLOW_REQUIREMENTS: readonly Requirement[] = [
  {
    id: 'WF-POOL-LIVE',
    section: 'Target design',
    text: 'A connection runtime owns one live upstream session for one connection',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-POOL-REUSE',
    section: 'Target design',
    text: 'The pool reuses that runtime across the calls of workflow nodes',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-POOL-RECONNECT',
    section: 'Target design',
    text: 'The pool reconnects on failure: the next call has a new process',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-POOL-CLOSE',
    section: 'Target design',
    text: 'The pool closes runtimes on explicit shutdown and when the fingerprint of a connection changes',
    status: 'kept',
  },
  {
    id: 'WF-DISCOVERY',
    section: 'Target design',
    text: 'Discovery may use short-lived sessions: a refresh of a connection starts a process that is gone after it',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-PERSISTENT',
    section: 'Target design',
    text: 'Workflow nodes run on the persistent runtime, all on the same upstream session',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-NO-RAW-CALL',
    section: 'Target design',
    text: 'There is no public raw call_tool: nothing opens a session for one call',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-ROOM-RUNTIME',
    section: 'New responsibilities',
    text: 'The runtime knows nothing of workflows: the room of the connections imports nothing of the host',
    status: 'kept',
  },
  {
    id: 'WF-EXECUTOR',
    section: 'New responsibilities',
    text: 'Node specs depend on an execution protocol, not on a client',
    status: 'changed',
    page: PAGE,
  },
  {
    id: 'WF-PLANNER',
    section: 'New responsibilities',
    text: 'The service keeps catalogue, deployments, execution and events: the planner surface in API, rpc and command line',
    status: 'changed',
    page: PAGE,
  },
  {
    id: 'WF-PROXY',
    section: 'New responsibilities',
    text: 'The proxy layer has a package of its own and keeps mounts per fingerprint',
    status: 'not-ours',
  },
  {
    id: 'WF-T1-BLANK-PAGE',
    section: 'Task 1',
    text: 'A snapshot on another session than the navigation is the error "No open pages available"; on the same it works',
    status: 'kept',
  },
  {
    id: 'WF-T2-PROTOCOL',
    section: 'Task 2',
    text: 'ToolExecutor is a protocol that anything may implement',
    status: 'kept',
  },
  {
    id: 'WF-T3-UNSET',
    section: 'Task 3',
    text: 'Input keys that are not set are not sent',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-T4-FINGERPRINT',
    section: 'Task 4',
    text: 'The fingerprint is the transport identity and decides about reuse',
    status: 'kept',
  },
  {
    id: 'WF-T5-INJECTED',
    section: 'Task 5',
    text: 'Generated specs use the executor they are given',
    status: 'kept',
  },
  {
    id: 'WF-T6-TRANSPORTS',
    section: 'Task 6',
    text: 'Persistent sessions over stdio, initialised once and closed with their owner',
    status: 'kept',
  },
  {
    id: 'WF-T7-WHY',
    section: 'Task 7',
    text: 'It is documented why discovery and execution differ',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-T8-DOCS',
    section: 'Task 8',
    text: 'The documentation says what to look at when page state is lost between steps',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-T8-SURFACE',
    section: 'Task 8',
    text: 'Planners have call_capability and run_deployment instead of raw calls',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-T9-NAMES',
    section: 'Task 9',
    text: 'Legacy names of the old code base are explained in its documents',
    status: 'not-ours',
  },
  {
    id: 'WF-T10-PROXY-NAMES',
    section: 'Task 10',
    text: 'Renamed proxy helpers of the old code base',
    status: 'not-ours',
  },
  {
    id: 'WF-T11-CATALOG',
    section: 'Task 11',
    text: 'After a refresh the real browser tools are among the capabilities',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-T11-STATE',
    section: 'Task 11',
    text: 'navigate, snapshot, click, snapshot on the real browser: the page persists, and the output has both snapshots',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-T11-KEYS',
    section: 'Task 11',
    text: 'Snapshot nodes send no argument keys when none is mapped',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-T11-TRACE',
    section: 'Task 11',
    text: 'A run has an event trace: node, outcome, epoch, time, names of arguments',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-NG-GRAPH',
    section: 'Non-goals',
    text: 'The semantics of graphs are not changed: LangGraph runs them as they are',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-NG-NO-HACKS',
    section: 'Non-goals',
    text: 'Nothing of the workflow code knows a particular server',
    status: 'kept',
  },
  {
    id: 'WF-NG-SUBSCRIPTIONS',
    section: 'Non-goals',
    text: 'No claim about forwarding notifications and subscriptions into workflows',
    status: 'not-ours',
  },
  {
    id: 'WF-NG-OLD-NAMES',
    section: 'Non-goals',
    text: 'Retired package names do not come back',
    status: 'not-ours',
  },
  {
    id: 'WF-MIGRATION',
    section: 'Migration rule',
    text: 'Generated node specs use the persistent runtime, and raw call helpers stay away',
    status: 'kept',
  },
  {
    id: 'WF-RISK-CRASH',
    section: 'Risk',
    text: 'The crash of an upstream process and of the host in the middle of a run: state_lost, back to the entry',
    status: 'kept',
    page: PAGE,
  },
  {
    id: 'WF-RISK-LIFECYCLE',
    section: 'Risk',
    text: 'Reload, configuration change and shutdown: no two scopes share a process, none outlives its lease',
    status: 'kept',
  },
];
