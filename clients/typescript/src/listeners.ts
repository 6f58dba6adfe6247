// Whoever wants to hear of something. A listener that fails is told to the console and keeps nobody else from
// hearing.

export class Listeners<T> {
  readonly #all = new Set<(value: T) => void>();

  /** Adds a listener. Answers how to take it away again. */
  add(listener: (value: T) => void): () => void {
    // A listener may be added twice, and each is taken away by itself.
    const own = (value: T) => listener(value);
    this.#all.add(own);
    return () => {
      this.#all.delete(own);
    };
  }

  tell(value: T): void {
    for (const listener of [...this.#all]) {
      try {
        listener(value);
      } catch (error) {
        console.error(error);
      }
    }
  }
}
