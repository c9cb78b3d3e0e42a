import { isRecord } from '../../../shared/json.ts';
import { printable } from '../../../shared/printable.ts';
import { MAX_OPTIONS, type UiAnswer } from '../../../shared/question.ts';

/** A question without its title and text. */
export type FieldQuestion =
  | { readonly kind: 'confirm'; readonly default?: boolean }
  | { readonly kind: 'select'; readonly options: readonly string[]; readonly default?: string }
  | { readonly kind: 'input'; readonly placeholder?: string; readonly default?: string };

/** What an answer means: a value (`undefined` leaves the field out), or why it does not fit. */
export type FieldValue = { readonly value: unknown } | { readonly problem: string };

/** One field of a form as a question. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly question: FieldQuestion;
  read(answer: Exclude<UiAnswer, undefined>): FieldValue;
}

type Schema = Readonly<Record<string, unknown>>;

interface Choice {
  readonly value: string;
  readonly shown: string;
}

/** Reads the schema of one field: text, number, integer, boolean, one of a list or some of it; `undefined` for another one. */
export function readField(name: string, schema: unknown, required: boolean): FormField | undefined {
  if (!isRecord(schema)) return undefined;
  const { title, description, type } = schema;
  const field = {
    name,
    title: printable(typeof title === 'string' && title !== '' ? title : name),
    description: typeof description === 'string' ? printable(description, { keepNewlines: true }) : '',
  };
  if (type === 'boolean') return { ...field, ...booleanField(schema) };
  if (type === 'number' || type === 'integer') return { ...field, ...numberField(schema, required) };
  if (type === 'array')
    return withChoices(schema['items'], (choices) => ({ ...field, ...listField(choices, schema, required) }));
  if (type !== 'string') return undefined;
  if ('enum' in schema || 'oneOf' in schema) {
    return withChoices(schema, (choices) => ({ ...field, ...choiceField(choices, schema['default']) }));
  }
  return { ...field, ...textField(schema, required) };
}

type Part = Pick<FormField, 'question' | 'read'>;

function booleanField({ default: preset }: Schema): Part {
  const more = typeof preset === 'boolean' ? { default: preset } : {};
  return { question: { kind: 'confirm', ...more }, read: (answer) => ({ value: answer === true }) };
}

function textField({ default: preset, minLength, maxLength, format }: Schema, required: boolean): Part {
  return {
    question: {
      kind: 'input',
      ...(typeof format === 'string' ? { placeholder: printable(format) } : {}),
      ...(typeof preset === 'string' ? { default: preset } : {}),
    },
    read(answer) {
      const text = String(answer);
      if (text === '' && !required) return { value: undefined };
      if (typeof minLength === 'number' && text.length < minLength) {
        return { problem: `It needs at least ${minLength} characters.` };
      }
      if (typeof maxLength === 'number' && text.length > maxLength) {
        return { problem: `It may have at most ${maxLength} characters.` };
      }
      return { value: text };
    },
  };
}

function numberField({ type, default: preset, minimum, maximum }: Schema, required: boolean): Part {
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  return {
    question: {
      kind: 'input',
      placeholder: kind,
      ...(typeof preset === 'number' ? { default: String(preset) } : {}),
    },
    read(answer) {
      const text = String(answer).trim();
      if (text === '') return required ? { problem: `It needs ${kind}.` } : { value: undefined };
      const value = Number(text);
      if (!Number.isFinite(value) || (type === 'integer' && !Number.isInteger(value))) {
        return { problem: `It needs ${kind}.` };
      }
      if (typeof minimum === 'number' && value < minimum) return { problem: `It must be at least ${minimum}.` };
      if (typeof maximum === 'number' && value > maximum) return { problem: `It must be at most ${maximum}.` };
      return { value };
    },
  };
}

function choiceField(choices: readonly Choice[], preset: unknown): Part {
  const chosen = choices.find(({ value }) => value === preset);
  return {
    question: {
      kind: 'select',
      options: choices.map(({ shown }) => shown),
      ...(chosen === undefined ? {} : { default: chosen.shown }),
    },
    read(answer) {
      const choice = choices.find(({ shown }) => shown === answer);
      return choice ? { value: choice.value } : { problem: 'It must be one of the options.' };
    },
  };
}

/** Some of a list: there is no such question, so they are typed. */
function listField(
  choices: readonly Choice[],
  { default: preset, minItems, maxItems }: Schema,
  required: boolean,
): Part {
  const find = (word: unknown) => choices.find(({ value, shown }) => shown === word || value === word);
  const chosen = Array.isArray(preset) ? preset.flatMap((value) => find(value)?.shown ?? []) : [];
  return {
    question: {
      kind: 'input',
      placeholder: `some of: ${choices.map(({ shown }) => shown).join(', ')}`,
      ...(chosen.length === 0 ? {} : { default: chosen.join(', ') }),
    },
    read(answer) {
      const words = String(answer)
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== '');
      if (words.length === 0 && !required) return { value: undefined };
      const values = words.flatMap((word) => find(word)?.value ?? []);
      if (values.length < words.length) return { problem: 'Name some of the options, with commas between them.' };
      if (typeof minItems === 'number' && values.length < minItems) return { problem: `Name at least ${minItems}.` };
      if (typeof maxItems === 'number' && values.length > maxItems) return { problem: `Name at most ${maxItems}.` };
      return { value: values };
    },
  };
}

function withChoices(schema: unknown, make: (choices: readonly Choice[]) => FormField): FormField | undefined {
  const choices = isRecord(schema) ? readChoices(schema) : [];
  return choices.length === 0 || choices.length > MAX_OPTIONS ? undefined : make(choices);
}

/** `enum` with or without `enumNames`, or `oneOf` / `anyOf` of `{ const, title }`. Two that look the same are shown by value. */
function readChoices(schema: Schema): readonly Choice[] {
  const { enum: values, enumNames: names } = schema;
  const listed = schema['oneOf'] ?? schema['anyOf'];
  const pairs: (readonly [unknown, unknown])[] = Array.isArray(values)
    ? values.map((value, i) => [value, Array.isArray(names) ? names[i] : undefined] as const)
    : (Array.isArray(listed) ? listed : []).map((each) =>
        isRecord(each) ? ([each['const'], each['title']] as const) : ([undefined, undefined] as const),
      );
  const choices: Choice[] = [];
  for (const [value, name] of pairs) {
    if (typeof value !== 'string') return [];
    choices.push({ value, shown: printable(typeof name === 'string' && name !== '' ? name : value) });
  }
  const distinct = new Set(choices.map(({ shown }) => shown)).size === choices.length;
  return distinct ? choices : choices.map(({ value }) => ({ value, shown: value }));
}
