import { createContext, Script } from 'node:vm';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { type JsonObject, setOwn } from '../../../shared/json.ts';
import { printable } from '../../../shared/printable.ts';

/** Schema and data both come from the server, so neither the compiling nor the checking may take for ever (`pattern`, recursion). */
const COMPILE_MS = 250;
const CHECK_MS = 100;
const MAX_SHOWN = 300;

/**
 * Compares structured content with a tool's output schema (JSON Schema 2020-12). It only ever warns: a schema that cannot be
 * compiled, refers to another document or takes too long means that there is no check. Compiled once, when first needed.
 */
export class OutputCheck {
  readonly #schema: JsonObject;
  #validate: ValidateFunction | 'none' | undefined;

  constructor(schema: JsonObject) {
    this.#schema = schema;
  }

  /** What is wrong with the content, or undefined. */
  mismatch(structured: unknown): string | undefined {
    if (structured === undefined)
      return 'the answer lacks the structured content that the output schema of the tool announces';
    this.#validate ??= compile(this.#schema) ?? 'none';
    const validate = this.#validate;
    if (validate === 'none') return undefined;
    const valid = bounded(() => validate(structured) === true, CHECK_MS);
    // One that was too slow once is not tried again: each try would hold up every session of the thread.
    if (valid === undefined) this.#validate = 'none';
    if (valid !== false) return undefined;
    return `the structured content does not match the output schema of the tool: ${describe(validate.errors?.[0])}`;
  }
}

function compile(schema: JsonObject): ValidateFunction | undefined {
  // The dialect it names would have to be known to ajv, and most schemas mean the same in all of them.
  const plain = {};
  for (const key of Object.keys(schema)) if (key !== '$schema') setOwn(plain, key, schema[key]);
  return bounded(() => {
    const ajv = new Ajv2020({
      strict: false,
      meta: false,
      validateSchema: false,
      validateFormats: false,
      logger: false,
    });
    const validate = ajv.compile(plain);
    // An `$async` schema answers with a promise that nobody would wait for.
    return '$async' in validate ? undefined : validate;
  }, COMPILE_MS);
}

function describe(error: ErrorObject | undefined): string {
  const place = error?.instancePath ? `${error.instancePath} ` : '';
  return printable(`${place}${error?.message ?? 'it is not valid'}`).slice(0, MAX_SHOWN);
}

const context = createContext({ work: undefined });
const script = new Script('work()');

/** Runs work that may not end. `undefined` when it took too long or threw. */
function bounded<T>(work: () => T, timeoutMs: number): T | undefined {
  try {
    // A script's time limit ends regular expressions and loops too; it costs about 0.15 ms.
    context['work'] = work;
    return script.runInContext(context, { timeout: timeoutMs }) as T;
  } catch {
    return undefined;
  } finally {
    context['work'] = undefined;
  }
}
