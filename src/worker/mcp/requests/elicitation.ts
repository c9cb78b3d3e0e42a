import { ExtensionHostError } from '../../../shared/errors.ts';
import { isRecord, setOwn } from '../../../shared/json.ts';
import { printable } from '../../../shared/printable.ts';
import { RequestRefused } from '../connection/client/incoming-requests.ts';
import { readField } from './form-field.ts';
import type { Person } from './server-requests.ts';

const INVALID_PARAMS = -32602;
const MAX_FIELDS = 50;
/** How often a field is asked for whose answer does not fit. */
const ATTEMPTS = 3;

interface Elicitation {
  readonly server: string;
  readonly person: Person | undefined;
  readonly signal: AbortSignal;
}

type ElicitResult =
  | { readonly action: 'accept'; readonly content: Record<string, unknown> }
  | { readonly action: 'decline' | 'cancel' };

/**
 * Puts a server's form to the person, one question a field; without fields, one for the message. Declined where there is
 * nobody to ask; a question that is closed cancels the form.
 * @throws RequestRefused for a form that cannot be asked for
 */
export async function elicit(
  params: Readonly<Record<string, unknown>>,
  { server, person, signal }: Elicitation,
): Promise<ElicitResult> {
  const { mode = 'form', message, requestedSchema } = params;
  if (mode !== 'form') throw new RequestRefused(INVALID_PARAMS, 'this client shows forms only');
  const { properties, required } = isRecord(requestedSchema) ? requestedSchema : {};
  const entries = Object.entries(isRecord(properties) ? properties : {});
  if (entries.length > MAX_FIELDS) throw new RequestRefused(INVALID_PARAMS, `a form has at most ${MAX_FIELDS} fields`);
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = entries.map(([name, schema]) => readField(name, schema, needed.has(name)));
  const unknown = fields.indexOf(undefined);
  if (unknown >= 0) {
    const name = printable(entries[unknown]?.[0] ?? '');
    throw new RequestRefused(INVALID_PARAMS, `the field ${name} of the form is of no type that can be asked for`);
  }
  if (!person?.hasUI) return { action: 'decline' };
  const said = typeof message === 'string' ? plain(message) : '';
  try {
    if (fields.length === 0) return await agree(`${server} asks`, said, person, signal);
    const content = {};
    for (const field of fields) {
      if (!field) continue;
      const title = `${server}: ${field.title}`;
      let problem: string | undefined;
      for (let attempt = 1; ; attempt += 1) {
        const text = [problem, said, field.description].filter(Boolean).join('\n');
        const answer = await person.ui.ask({ ...field.question, title, text }, { signal });
        if (answer === undefined) return { action: 'cancel' };
        const read = field.read(answer);
        if ('value' in read) {
          if (read.value !== undefined) setOwn(content, field.name, read.value);
          break;
        }
        if (attempt === ATTEMPTS) return { action: 'cancel' };
        problem = read.problem;
      }
    }
    return { action: 'accept', content };
  } catch (thrown) {
    // Too many questions at once: nobody has seen this one.
    if (thrown instanceof ExtensionHostError && thrown.code === 'HOST_BUSY') return { action: 'cancel' };
    throw thrown;
  }
}

async function agree(title: string, text: string, person: Person, signal: AbortSignal): Promise<ElicitResult> {
  const answer = await person.ui.ask({ kind: 'confirm', title, text }, { signal });
  if (answer === undefined) return { action: 'cancel' };
  return answer === true ? { action: 'accept', content: {} } : { action: 'decline' };
}

function plain(text: string): string {
  return printable(text, { keepNewlines: true });
}
