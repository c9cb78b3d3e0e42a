/** What `work` gives, or `late` after `ms`. */
export async function withDeadline<T>(work: Promise<T>, ms: number, late: Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(late), ms);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
