/** The greatest delay `setTimeout` and `setInterval` know, about 24 days: a longer one fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
