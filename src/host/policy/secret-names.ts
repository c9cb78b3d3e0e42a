/** Words that make a name secret when they stand between underscores; each one's plural too. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  [
    'TOKEN',
    'SECRET',
    'PASSWORD',
    'PASSWD',
    'PASSPHRASE',
    'CREDENTIAL',
    'APIKEY',
    'PAT',
    'DSN',
    'COOKIE',
    'AUTH',
    'AUTHORIZATION',
    'AUTHTOKEN',
  ].flatMap((word) => [word, `${word}S`]),
);

/** Secret names without such a word. */
const SECRET_NAMES: ReadonlySet<string> = new Set(['PGPASSWORD', 'MYSQL_PWD', 'SSHPASS']);

/** Variables a program can hardly do without; whatever they hold, they stay and are no secret. */
const SYSTEM_NAMES: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'LANG', 'LANGUAGE', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TZ', 'PWD', 'OLDPWD', 'HOSTNAME'],
  ...['TMPDIR', 'TMP', 'TEMP', 'NODE_ENV', 'SSH_AUTH_SOCK', 'PLAYWRIGHT_BROWSERS_PATH'],
  // Windows: a child without these does not start, or does not find its programs.
  ...['PATHEXT', 'COMSPEC', 'SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'USERNAME', 'USERPROFILE', 'HOMEDRIVE', 'HOMEPATH'],
  ...['APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)', 'PUBLIC'],
]);
const SYSTEM_FAMILIES = /^(?:LC_[A-Z]+|XDG_(?:CONFIG|DATA|CACHE|STATE|RUNTIME)_(?:HOME|DIRS?))$/;

const PROXY_NAME = /^(?:NPM_CONFIG_|YARN_|GLOBAL_AGENT_)?(?:(?:HTTP|HTTPS|ALL|FTP|NO|SOCKS)_)?PROXY$/;

/**
 * True when the name of a variable says that it holds a secret, in any case. Words end at underscores (and other
 * punctuation), not at a change of case: `authToken` is one word.
 */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  if (upper === 'SSH_AUTH_SOCK') return false;
  if (upper.endsWith('_KEY') || SECRET_NAMES.has(upper)) return true;
  return upper.split(/[^A-Z0-9]+/).some((word) => SECRET_WORDS.has(word));
}

/** True for a variable that stays whatever it holds: `PATH`, `HOME` and the like. */
export function isSystemName(name: string): boolean {
  const upper = name.toUpperCase();
  return SYSTEM_NAMES.has(upper) || SYSTEM_FAMILIES.test(upper);
}

/** True for a proxy setting. It stays, userinfo included; the password in it is a secret all the same. */
export function isProxyName(name: string): boolean {
  return PROXY_NAME.test(name.toUpperCase());
}
