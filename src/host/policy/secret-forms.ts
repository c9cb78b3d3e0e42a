/** A line of a multi-line secret that is long enough to be one by itself. */
const MIN_LINE_LENGTH = 16;

const LINE_BREAK = /\r\n|\r|\n/;

/**
 * Every spelling in which a secret may come out: as it is, JSON-escaped, URL-encoded, in base64 and base64url (also as a
 * part of something longer, whose encoding it then shares), and each long line of a multi-line one by itself.
 */
export function formsOf(secret: string): ReadonlySet<string> {
  const forms = new Set<string>();
  for (const whole of wholesOf(secret)) {
    for (const form of spellingsOf(whole)) forms.add(form);
    for (const form of base64Of(whole)) forms.add(form);
    const lines = whole.split(LINE_BREAK);
    if (lines.length === 1) continue;
    for (const line of lines.map((text) => text.trim())) {
      if (line.length >= MIN_LINE_LENGTH) for (const form of spellingsOf(line)) forms.add(form);
    }
  }
  return forms;
}

/** PEM in a variable is often one line with `\n` spelled out, which its reader turns into line breaks. */
function wholesOf(secret: string): readonly string[] {
  return [secret, secret.replaceAll('\r\n', '\n'), secret.replaceAll('\\r', '').replaceAll('\\n', '\n')];
}

function spellingsOf(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  return [
    text,
    json,
    JSON.stringify(json).slice(1, -1), // JSON in a string of JSON
    json.replaceAll('/', '\\/'), // PHP
    json.replace(/[^ -~]/g, (char) => unicodeEscape(char)), // Python
    json.replace(/[<>&]/g, (char) => unicodeEscape(char)), // Go
    json.replace(/\\"|[^ -~]|[&'+<>`]/g, (char) => unicodeEscape(char.slice(-1)).toUpperCase().replace('U', 'u')), // .NET
    ...urlFormsOf(text),
  ];
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function urlFormsOf(text: string): readonly string[] {
  const forms = [new URLSearchParams([['', text]]).toString().slice(1)];
  try {
    const component = encodeURIComponent(text);
    const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
    forms.push(component, strict, encodeURI(text), strict.replaceAll('%2F', '/'));
  } catch {
    // A lone surrogate has no such form.
  }
  return forms.flatMap((form) => [form, form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

/**
 * The exact encoding, padded and not, and for each of the three places a secret can start within a group of three bytes
 * those characters that its own bytes decide alone: they stand in the base64 of whatever holds the secret.
 */
function base64Of(text: string): readonly string[] {
  const bytes = Buffer.from(text, 'utf8');
  const padded = bytes.toString('base64');
  const forms = [padded, padded.replace(/=+$/, '')];
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    forms.push(encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)));
  }
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}
