import { isSecretName } from './secret-names.ts';

/** A secret below this, configured or not, would shred the output. In UTF-16 units. */
export const MIN_SECRET_LENGTH = 6;

/** A host variable's value below this is no secret: replacing it would shred the output. In UTF-16 units. */
const MIN_HOST_SECRET_LENGTH = 8;

/** Shapes of keys that name their issuer. Each starts at a word's edge; none backtracks over more than one run. */
const KEY_SHAPES: readonly string[] = [
  'gh[oprsu]_[A-Za-z0-9]{16,}',
  'github_pat_[A-Za-z0-9_]{16,}',
  'gl(?:pat|oas|dt|rt|cbt|ptt|ft|soat|imt|agent)-[\\w-]{16,}',
  '[rs]k_(?:live|test)_[A-Za-z0-9]{10,}',
  'whsec_[A-Za-z0-9+/]{16,}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{10,}',
  'A(?:KIA|SIA)[A-Z0-9]{16}',
  'AIza[\\w-]{30,}',
  'ya29\\.[\\w-]{20,}',
  'GOCSPX-[\\w-]{20,}',
  'npm_[A-Za-z0-9]{30,}',
  'pypi-[\\w-]{30,}',
  'hf_[A-Za-z0-9]{30,}',
  'gsk_[A-Za-z0-9]{30,}',
  'xai-[A-Za-z0-9]{30,}',
  'r8_[A-Za-z0-9]{30,}',
  'do[oprt]_v1_[a-f0-9]{32,}',
  'dckr_pat_[\\w-]{16,}',
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  'SG\\.[\\w-]{16,}\\.[\\w-]{16,}',
  'lin_api_[A-Za-z0-9]{30,}',
  'ntn_[A-Za-z0-9]{30,}',
  'AGE-SECRET-KEY-1[A-Z0-9]{30,}',
];
/** `sk-` is also the middle of words and paths (`task-`, `/opt/sk-learn-…`), hence the stricter edge and the digit. */
const SK_KEY = '^sk-[\\w-]{16,}$|(?<![\\w/.-])sk-(?=[A-Za-z_-]*\\d)[\\w-]{16,}';
/** Telegram's: in a URL it follows `bot` directly. */
const BOT_TOKEN = '(?<!\\d)\\d{8,10}:[\\w-]{35}(?![\\w-])';
const JWT = '(?<![\\w-])eyJ[\\w-]{5,}\\.[\\w-]{5,}\\.[\\w-]*';
const KEY = new RegExp(`${SK_KEY}|${JWT}|${BOT_TOKEN}|(?<![A-Za-z0-9])(?:${KEY_SHAPES.join('|')})`, 'g');
const PEM = /-----BEGIN [A-Z0-9 ]+-----/;

const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i;
const CREDENTIALS = /^(?:Bearer|Basic|Token|ApiKey)\s+(\S+)$/i;
const USERINFO = /(?<=[a-z0-9]:\/\/)([^\s/?#]*)@/gi;

const CLASSES = [/\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u, /[^\p{Ll}\p{Lu}\p{Nd}]/u] as const;

/** True when the value itself says that it is a secret: a known key, a JWT, a PEM block or a URL with a password. */
export function looksSecret(value: string): boolean {
  return looksLikeKey(value) || PEM.test(value) || userinfoPasswords(value).length > 0;
}

/**
 * True for at least 8 characters that are no single dictionary-like word: two of lower case, upper case, digits and
 * symbols, or 20 characters and more. Says nothing about entropy.
 */
export function looksRandom(value: string): boolean {
  if (value.length < MIN_HOST_SECRET_LENGTH) return false;
  return value.length >= 20 || CLASSES.filter((kind) => kind.test(value)).length >= 2;
}

/**
 * The passwords in the userinfo of every URL in a text, as written and percent-decoded. A token in the user's place
 * (`https://<token>@host`, `https://<token>:x@host`) counts as one.
 */
export function userinfoPasswords(text: string): readonly string[] {
  const found = new Set<string>();
  for (const [, userinfo = ''] of text.matchAll(USERINFO)) {
    const colon = userinfo.indexOf(':');
    const user = colon < 0 ? userinfo : userinfo.slice(0, colon);
    const password = colon < 0 ? '' : userinfo.slice(colon + 1);
    if (password) found.add(password).add(percentDecoded(password));
    if (looksLikeKey(user) || (!password && user.length >= 20 && looksRandom(user))) found.add(user);
  }
  return [...found];
}

/**
 * What of a configured secret is secret: of a URL with userinfo only the password, else the whole and keys in it. Nothing
 * under six characters.
 */
export function secretsIn(value: string): readonly string[] {
  const whole = value.trim();
  const passwords = userinfoPasswords(whole);
  const parts = passwords.length > 0 && URL_START.test(whole) ? passwords : [whole, ...passwords, ...partsOf(whole)];
  return parts.filter((part) => part.length >= MIN_SECRET_LENGTH);
}

/**
 * What of a host variable's value is to be redacted: nothing short, nothing that reads like a plain word, and of a URL
 * only the password (and a key that is known as one).
 */
export function hostSecretsIn(value: string): readonly string[] {
  const whole = value.trim();
  const passwords = userinfoPasswords(whole).filter((password) => isPassword(password, whole));
  const parts = [...passwords, ...partsOf(whole)].filter((part) => part.length >= MIN_HOST_SECRET_LENGTH);
  return !URL_START.test(whole) && looksRandom(whole) ? [whole, ...parts] : parts;
}

/** What a program takes out of a value and shows alone: a key, the credentials of an `Authorization` header. */
function partsOf(whole: string): readonly string[] {
  const credentials = CREDENTIALS.exec(whole)?.[1];
  return [...(whole.match(KEY) ?? []), ...(credentials === undefined ? [] : [credentials])];
}

function looksLikeKey(value: string): boolean {
  return value.search(KEY) >= 0;
}

/** A plain word that its URL also says elsewhere (`postgres://postgres:postgres@…`), or `password`, hides nothing. */
function isPassword(password: string, url: string): boolean {
  if (password.length < MIN_HOST_SECRET_LENGTH) return false;
  return looksRandom(password) || (url.split(password).length === 2 && !isSecretName(password));
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
