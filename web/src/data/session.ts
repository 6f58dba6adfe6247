// Whether this browser is signed in. The cookie of a session is the browser's business, and browsers send it to every
// port of the machine; the page key is kept here, in a storage that pages of other ports cannot read.

const NAME = "accord.page_key";
/** For browsers that let no page store anything. */
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
    // Kept until the page is closed, then.
  }
}

/** What proves this page to the gateway over HTTP. */
export function proof(): Record<string, string> {
  const key = pageKey();
  return key === undefined ? {} : { "Accord-Page-Key": key };
}

/** Whether the page was opened with a link that no longer signs in. */
export const isLinkUsedUp = () => isUsedUp;

const codeInAddress = () => /^#code=(\w+)$/.exec(location.hash)?.[1];

/** Signs in with the code in the address, if there is one, and takes it out of the address. */
export async function signInByAddress(): Promise<void> {
  // A link that is opened in a tab of ours changes nothing but the part behind the `#`.
  addEventListener("hashchange", () => codeInAddress() && location.reload());
  const code = codeInAddress();
  if (!code) return;
  let answer: Response;
  try {
    answer = await fetch("/sign-in", { method: "POST", headers: proof(), body: code, cache: "no-store" });
  } catch {
    // The code is good for another try.
    return;
  }
  if (answer.status === 200) keepPageKey(((await answer.json()) as { page_key: string }).page_key);
  isUsedUp = answer.status === 401;
  history.replaceState(null, "", location.pathname + location.search);
}

/** Signs this browser out, with all its tabs. */
export async function signOut(): Promise<void> {
  const answer = await fetch("/sign-out", { method: "POST", headers: proof(), cache: "no-store" });
  // A session that has ended already is no reason to stay.
  if (!answer.ok && answer.status !== 401) throw new Error((await answer.text()).trim());
  keepPageKey(undefined);
  location.assign("/");
}
