/** Where the weather comes from; the manifest names the same host. */
export const SERVICE = 'https://api.open-meteo.com';
