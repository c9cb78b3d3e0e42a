import type { Failure, ToolDescriptor } from '../shared/tool.ts';

/** Whose tool it is: a key the registry compares and never looks into. */
export interface ToolOwner {
  /** For messages. */
  readonly name: string;
}

export interface RegisteredTool {
  readonly descriptor: ToolDescriptor;
  readonly owner: ToolOwner;
}

/**
 * The tools of one session by name. Built-ins are never replaced; at opening the first in load order has a name; later a
 * held name is never taken away.
 */
export class ToolRegistry {
  readonly #owners: ToolOwner[] = [];
  readonly #tools = new Map<string, RegisteredTool>();
  readonly #byOwner = new Map<ToolOwner, readonly ToolDescriptor[]>();
  #listed: readonly ToolDescriptor[] | undefined;

  /** Sets what an owner offers now. Gives a failure for each name it cannot have. Owners list in the order they first came. */
  set(owner: ToolOwner, offered: readonly ToolDescriptor[]): readonly Omit<Failure, 'extension'>[] {
    if (!this.#owners.includes(owner)) this.#owners.push(owner);
    for (const { name } of this.#byOwner.get(owner) ?? []) this.#tools.delete(name);
    const refused: Omit<Failure, 'extension'>[] = [];
    const kept: ToolDescriptor[] = [];
    for (const descriptor of offered) {
      const { name } = descriptor;
      const holder = this.#tools.get(name);
      if (holder) {
        refused.push({ tool: name, code: 'NAME_TAKEN', message: takenMessage(name, owner, holder) });
        continue;
      }
      this.#tools.set(name, { descriptor, owner });
      kept.push(descriptor);
    }
    this.#byOwner.set(owner, kept);
    this.#listed = undefined;
    return refused;
  }

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name);
  }

  /** Every tool: built-ins first, then by extension in load order. */
  get list(): readonly ToolDescriptor[] {
    this.#listed ??= Object.freeze(this.#owners.flatMap((owner) => this.#byOwner.get(owner) ?? []));
    return this.#listed;
  }
}

function takenMessage(name: string, owner: ToolOwner, holder: RegisteredTool): string {
  return holder.descriptor.source.kind === 'built-in'
    ? `tool ${name} of ${owner.name} is refused: it is the name of a built-in tool; choose another name or a prefix`
    : `tool ${name} of ${owner.name} is refused: ${holder.owner.name} has that name already; choose another name or a prefix`;
}
