import type { ToolSnapshot } from '../shared/protocol.ts';
import type { Failure, ToolDescriptor } from '../shared/tool.ts';
import type { BuiltinTools } from './builtin-tools.ts';
import { type RegisteredTool, type ToolOwner, ToolRegistry } from './tool-registry.ts';
import { catalogOf, type WorkflowCatalog } from './workflow/capability.ts';

/** Which tools a session has, and which of them can be called. */
export class SessionTools {
  readonly #registry = new ToolRegistry();
  readonly #builtins: readonly ToolDescriptor[];
  readonly #onChanged: () => void;
  /** Unset = every tool. */
  #active: readonly string[] | undefined;
  #isToBeTold = false;

  /** `onChanged` is called once for all changes of a turn: a server that registers a hundred tools is one change. */
  constructor(builtins: BuiltinTools, active: readonly string[] | undefined, onChanged: () => void) {
    this.#builtins = builtins.descriptors;
    this.#active = active;
    this.#onChanged = onChanged;
    this.#registry.set(builtins, builtins.descriptors);
  }

  get list(): readonly ToolDescriptor[] {
    return this.#registry.list;
  }

  get activeNames(): readonly string[] {
    if (this.#active === undefined) return this.list.map(({ name }) => name);
    return this.#active.filter((name) => this.#registry.get(name));
  }

  /** The active ones as capabilities. */
  get catalog(): WorkflowCatalog {
    return catalogOf(this.#active === undefined ? this.list : this.list.filter(({ name }) => this.isActive(name)));
  }

  get snapshot(): ToolSnapshot {
    return { tools: this.list.map(({ name, source }) => ({ name, source })), active: this.activeNames };
  }

  /** What a factory sees: built-ins only; what the others register comes with the next snapshot. */
  get openingSnapshot(): ToolSnapshot {
    const tools = this.#builtins.map(({ name, source }) => ({ name, source }));
    return { tools, active: tools.map(({ name }) => name).filter((name) => this.isActive(name)) };
  }

  get(name: string): RegisteredTool | undefined {
    return this.#registry.get(name);
  }

  isActive(name: string): boolean {
    return this.#active?.includes(name) ?? true;
  }

  /** Sets what an owner offers now. Gives a failure for each name it cannot have. Say `changed` when it is to be told. */
  set(owner: ToolOwner, offered: readonly ToolDescriptor[]): readonly Omit<Failure, 'extension'>[] {
    return this.#registry.set(owner, offered);
  }

  setActive(names: readonly string[]): void {
    this.#active = names;
    this.changed();
  }

  changed(): void {
    if (this.#isToBeTold) return;
    this.#isToBeTold = true;
    setImmediate(() => {
      this.#isToBeTold = false;
      this.#onChanged();
    });
  }
}
