// The sign-in of this browser. Browsers send the session cookie to every port of the machine, so the gateway also needs
// the page key, which is kept in the local storage: pages of other ports cannot read it.

const NAME = "accord.page_key";
/** The page key in browsers with disabled storage. */
let unstored: string | undefined;
let isUsedUp = false;

export function pageKey(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? unstored;
  } catch {
    return unstored;
  }
}

function keepPageKey(key: string | undefined): void {
  unstored = key;
  try {
    if (key === undefined) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, key);
  } catch {
    // The storage is disabled; the key is kept in memory.
  }
}

/** Returns the headers that authenticate this page over HTTP. */
export function proof(): Record<string, string> {
  const key = pageKey();
  return key === undefined ? {} : { "Accord-Page-Key": key };
}

/** Returns whether the page was opened with a used or expired sign-in link. */
export const isLinkUsedUp = () => isUsedUp;

const codeInAddress = () => /^#code=(\w+)$/.exec(location.hash)?.[1];

/** Signs in with the code in the address, if present, and removes it from the address. */
export async function signInByAddress(): Promise<void> {
  // Opening a sign-in link in an open tab only changes the fragment.
  addEventListener("hashchange", () => codeInAddress() && location.reload());
  const code = codeInAddress();
  if (!code) return;
  let answer: Response;
  try {
    answer = await fetch("/sign-in", { method: "POST", headers: proof(), body: code, cache: "no-store" });
  } catch {
    // The code was not used and can be tried again.
    return;
  }
  if (answer.status === 200) keepPageKey(((await answer.json()) as { page_key: string }).page_key);
  isUsedUp = answer.status === 401;
  history.replaceState(null, "", location.pathname + location.search);
}

/** Signs this browser out, with all its tabs. */
export async function signOut(): Promise<void> {
  const answer = await fetch("/sign-out", { method: "POST", headers: proof(), cache: "no-store" });
  // 401 means that the session has already ended.
  if (!answer.ok && answer.status !== 401) throw new Error((await answer.text()).trim());
  keepPageKey(undefined);
  location.assign("/");
}
