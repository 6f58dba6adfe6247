// A set of listeners. If a listener throws, the error is logged to the console and the others are still called.

export class Listeners<T> {
  readonly #all = new Set<(value: T) => void>();

  /** Adds a listener. Returns a function that removes it. */
  add(listener: (value: T) => void): () => void {
    // The wrapper allows adding the same listener twice and removing each addition separately.
    const entry = (value: T) => listener(value);
    this.#all.add(entry);
    return () => {
      this.#all.delete(entry);
    };
  }

  /** Calls all listeners with `value`. */
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
