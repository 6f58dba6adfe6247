// Keeps a list scrolled to its end while it grows, until the user scrolls up.

import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from "react";

/** Pixels from the end within which a list counts as being at its end. */
const NEAR = 24;

export interface EndFollower {
  /** Whether new lines scroll into view. */
  isFollowing: boolean;
  /** For the scroller's `onScroll`. */
  onScroll: () => void;
  /** Scrolls to the end and keeps following it. */
  follow: () => void;
}

/** `size` is any value that changes when the list grows, such as its height. */
export function useFollowEnd(scroller: RefObject<HTMLElement | null>, size: unknown, isOn = true): EndFollower {
  const [isFollowing, setFollowing] = useState(true);
  const held = useRef(true);
  const set = useCallback((value: boolean) => {
    held.current = value;
    setFollowing(value);
  }, []);
  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [scroller]);
  useLayoutEffect(() => {
    if (isOn && held.current) toEnd();
  }, [size, isOn, toEnd]);
  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element) set(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR);
  }, [scroller, set]);
  const follow = useCallback(() => {
    set(true);
    toEnd();
  }, [set, toEnd]);
  return { isFollowing, onScroll, follow };
}
