// A virtual list of objects to open, with `j`, `k`, arrows and `Enter`; a listbox for screen readers.
//
// The list has the focus, not its rows, so that rows can be added and removed without losing it.

import "./list.css";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useId, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import { useKeys } from "../keys/keys.ts";
import { isForBrowser, navigate } from "../router.tsx";
import { useFollowEnd } from "./follow.ts";

export interface ListProps<T> {
  /** The name of the list for screen readers and the shortcut help. */
  label: string;
  items: T[];
  keyOf: (item: T) => string;
  /** The address that a row opens. A list without addresses calls `onOpen`. */
  hrefOf?: (item: T) => string;
  onOpen?: (item: T) => void;
  /** The key of the open row. */
  selected?: string | undefined;
  row: (item: T) => ReactNode;
  /** The height of a row in pixels before it is measured. Default 44. */
  rowHeight?: number;
  /** Whether the list stays scrolled to its end while it grows, until the user scrolls up. Default false. */
  followsEnd?: boolean;
  /** Whether moving to a row opens it. Default false. */
  opensOnMove?: boolean;
}

export function List<T>({
  label,
  items,
  keyOf,
  hrefOf,
  onOpen,
  selected,
  row,
  rowHeight = 44,
  followsEnd = false,
  opensOnMove = false,
}: ListProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const [active, setActive] = useState<string>();
  const indexOf = (key: string | undefined) =>
    key === undefined ? -1 : items.findIndex((item) => keyOf(item) === key);
  const at = Math.max(indexOf(active), indexOf(active) < 0 ? indexOf(selected) : -1);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => keyOf(items[index] as T),
    overscan: 8,
    // The active row must be rendered, because `aria-activedescendant` refers to it.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      return at < 0 || shown.includes(at) ? shown : [...shown, at].sort((a, b) => a - b);
    },
  });
  useEffect(() => setActive(undefined), [selected]);
  const end = useFollowEnd(scroller, virtual.getTotalSize(), followsEnd);

  const go = (index: number) => {
    const item = items[Math.min(Math.max(index, 0), items.length - 1)];
    if (!item) return;
    setActive(keyOf(item));
    virtual.scrollToIndex(items.indexOf(item));
    if (opensOnMove) open(item);
  };
  const open = (item: T | undefined, event?: MouseEvent) => {
    if (!item) return;
    const href = hrefOf?.(item);
    if (href && event && isForBrowser(event)) window.open(href);
    else if (href) navigate(href);
    onOpen?.(item);
  };
  const here = () => items[at];
  useKeys(label, [
    { key: "j", label: opensOnMove ? "Open next" : "Next", run: () => go(at + 1) },
    { key: "k", label: opensOnMove ? "Open previous" : "Previous", run: () => go(at - 1) },
    { key: "Enter", label: "Open", run: () => open(here()) },
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(items.length - 1),
      Enter: () => open(here()),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move();
  };

  return (
    <div
      ref={scroller}
      className="list"
      role="listbox"
      aria-label={label}
      aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={end.onScroll}
    >
      <div className="list-space" role="presentation" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const item = items[index] as T;
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              id={`${id}-${index}`}
              data-index={index}
              className="list-row"
              role="option"
              aria-selected={keyOf(item) === selected}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              data-active={index === at || undefined}
              style={{ translate: `0 ${start}px` }}
              onClick={(event) => open(item, event)}
              onAuxClick={(event) => event.button === 1 && open(item, event)}
            >
              {row(item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
