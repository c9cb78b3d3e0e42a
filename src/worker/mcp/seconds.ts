/** Milliseconds as seconds for a text: `2`, `0.5`. */
export function seconds(milliseconds: number): string {
  return String(Number((milliseconds / 1000).toFixed(2)));
}
