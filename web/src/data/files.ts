// Files that are being uploaded, kept in the browser so that an upload continues after a reload.

const STORE = "files";

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("accord", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser could not store the file"));
  });
}

async function transact<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const request = act(database.transaction(STORE, mode).objectStore(STORE));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error("the browser could not store the file"));
    });
  } finally {
    database.close();
  }
}

/** Stores a file. If the browser refuses, the upload cannot continue after a reload. */
export async function keepFile(name: string, file: Blob): Promise<void> {
  await transact("readwrite", (store) => store.put(file, name)).catch(() => {});
}

export function readFile(name: string): Promise<Blob | undefined> {
  return transact("readonly", (store) => store.get(name) as IDBRequest<Blob | undefined>).catch(() => undefined);
}

export async function forgetFile(name: string): Promise<void> {
  await transact("readwrite", (store) => store.delete(name)).catch(() => {});
}
