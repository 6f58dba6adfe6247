// The rows of the thread tree: virtual, a tree for screen readers, with keys, menu and drag.
//
// The tree has the focus, not its rows, so that rows can be added and removed without losing it.

import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import {
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
} from "react";
import { address } from "../../address.ts";
import { useKeys } from "../../keys/keys.ts";
import { Icon, type IconName } from "../../parts/Icon.tsx";
import { ContextMenu, type MenuItem } from "../../parts/Menu.tsx";
import { StatusDot } from "../../parts/Status.tsx";
import { isForBrowser, navigate } from "../../router.tsx";
import { setClosed, useClosed } from "./closed.ts";
import { threadName, type FolderId, type Places, type Row } from "./model.ts";
import { useDrag, type Drag } from "./drag.ts";

// Touch targets are larger.
const ROW = matchMedia("(pointer: coarse)").matches ? 40 : 28;

export function TreeRows({
  workspace,
  places,
  openKey,
  openDoc,
  menuOf,
  empty,
}: {
  workspace: string;
  places: Places;
  /** The key of the row whose object is open in main. */
  openKey: string | undefined;
  openDoc: FolderId | undefined;
  /** Returns the menu of a row, or of the root. */
  menuOf: (row: Row | undefined) => MenuItem[];
  empty: ReactNode;
}) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const closed = useClosed(workspace);
  const rows = useMemo(() => places.rows(closed, openDoc), [places, closed, openDoc]);
  const indexOf = useMemo(() => new Map(rows.map(({ key }, index) => [key, index])), [rows]);
  const [activeKey, setActiveKey] = useState(openKey);
  const [menuRow, setMenuRow] = useState<Row>();
  const at = indexOf.get(activeKey ?? "") ?? indexOf.get(openKey ?? "") ?? -1;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 12,
    paddingStart: 4,
    paddingEnd: 48,
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      return at < 0 || shown.includes(at) ? shown : [...shown, at].sort((a, b) => a - b);
    },
  });
  const drag = useDrag(workspace, places);
  useReveal(workspace, places, openKey, indexOf, (index) => virtual.scrollToIndex(index));
  useEffect(() => setActiveKey(openKey), [openKey]);
  useScrollAnchor(scroller, rows, indexOf);

  const here = rows[at];
  const go = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (!row) return;
    setActiveKey(row.key);
    virtual.scrollToIndex(rows.indexOf(row));
  };
  const open = (row: Row | undefined, event?: MouseEvent) => {
    if (!row) return;
    setActiveKey(row.key);
    const to = hrefOf(workspace, row);
    if (event && isForBrowser(event)) window.open(to);
    else if (row.kind === "folder" && event) setClosed(workspace, row.folder.id, row.isOpen);
    else navigate(to);
  };
  const inMenu = (row: Row, hotkey: string) =>
    menuOf(row)
      .find((item) => item.hotkey === hotkey)
      ?.run();
  const moves: Record<string, () => void> = {
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    Home: () => go(0),
    End: () => go(rows.length - 1),
    Enter: () => open(here),
    " ": () => here?.kind === "folder" && setClosed(workspace, here.folder.id, here.isOpen),
    ArrowRight: () => {
      if (here?.kind !== "folder") return;
      if (here.isOpen) go(at + (here.isEmpty ? 0 : 1));
      else setClosed(workspace, here.folder.id, false);
    },
    ArrowLeft: () => {
      if (here?.kind === "folder" && here.isOpen && !here.isEmpty) setClosed(workspace, here.folder.id, true);
      else if (here?.parent) go(indexOf.get(`folder:${here.parent}`) ?? at);
    },
    F2: () => here && inMenu(here, "F2"),
    Delete: () => here && inMenu(here, "Del"),
  };
  useKeys("Threads", [
    { key: "j", label: "Next row", run: () => go(at + 1) },
    { key: "k", label: "Previous row", run: () => go(at - 1) },
    { key: "F2", label: "Rename", run: () => moves["F2"]?.() },
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  };
  const rowUnder = (event: MouseEvent): Row | undefined => {
    const element = (event.target as Element).closest<HTMLElement>("[data-key]");
    // The menu key fires on the tree itself, which has the focus, without a pointer position.
    const isByKey = event.button !== 2 && event.detail === 0 && !element;
    return isByKey ? here : rows[indexOf.get(element?.dataset["key"] ?? "") ?? -1];
  };

  return (
    <ContextMenu list={menuOf(menuRow)}>
      <div
        ref={scroller}
        className="tree"
        role="tree"
        aria-label="Threads"
        aria-activedescendant={here ? `${id}-${at}` : undefined}
        tabIndex={0}
        data-drop={drag.target === null ? "" : undefined}
        onKeyDown={onKeyDown}
        onContextMenu={(event) => setMenuRow(rowUnder(event))}
        {...drag.over(null)}
      >
        {rows.length === 0 && empty}
        <div className="tree-space" role="presentation" style={{ height: rows.length ? virtual.getTotalSize() : 0 }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            return (
              row && (
                <TreeRow
                  key={row.key}
                  id={`${id}-${index}`}
                  row={row}
                  start={start}
                  isOpen={row.key === openKey}
                  isActive={index === at}
                  drag={drag}
                  onOpen={open}
                />
              )
            );
          })}
        </div>
      </div>
    </ContextMenu>
  );
}

function TreeRow({
  id,
  row,
  start,
  isOpen,
  isActive,
  drag,
  onOpen,
}: {
  id: string;
  row: Row;
  start: number;
  isOpen: boolean;
  isActive: boolean;
  drag: Drag;
  onOpen: (row: Row, event?: MouseEvent) => void;
}) {
  const isFolder = row.kind === "folder";
  const icon: IconName = isFolder
    ? row.isOpen && !row.isEmpty
      ? "folderOpen"
      : "folder"
    : row.kind === "doc"
      ? "doc"
      : "thread";
  const isRunning = row.kind === "thread" && row.thread.status === "Active";
  return (
    <div
      id={id}
      className="tree-row"
      data-kind={row.kind}
      role="treeitem"
      data-key={row.key}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={isOpen}
      aria-expanded={isFolder ? row.isOpen : undefined}
      data-active={isActive || undefined}
      data-drop={isFolder && drag.target === row.folder.id ? "" : undefined}
      style={{ translate: `0 ${start}px`, paddingLeft: (row.level - 1) * 16 + 4 }}
      onClick={(event) => onOpen(row, event)}
      onDoubleClick={() => isFolder && onOpen(row)}
      onAuxClick={(event) => event.button === 1 && onOpen(row, event)}
      {...drag.source(row)}
      {...drag.over(isFolder ? row.folder.id : row.parent)}
    >
      <span className="tree-twist">
        {isFolder && !row.isEmpty && <Icon name={row.isOpen ? "chevronDown" : "chevronRight"} />}
      </span>
      <Icon name={icon} />
      <span className="tree-name">{nameOf(row)}</span>
      {row.kind === "doc" && row.doc?.status === "draft" && <span className="tree-tag">draft</span>}
      {isRunning && (
        <span className="tree-tag" title="Answering">
          <StatusDot meaning="running" />
          <span className="visually-hidden">running</span>
        </span>
      )}
      <button
        type="button"
        className="tree-more"
        tabIndex={-1}
        aria-label={`Menu of ${nameOf(row)}`}
        onClick={(event) => {
          event.stopPropagation();
          const { clientX, clientY } = event;
          event.currentTarget.dispatchEvent(
            new window.MouseEvent("contextmenu", { bubbles: true, button: 2, clientX, clientY }),
          );
        }}
      >
        <Icon name="more" />
      </button>
    </div>
  );
}

function nameOf(row: Row): string {
  if (row.kind === "folder") return row.folder.name;
  return row.kind === "doc" ? "AGENTS.md" : threadName(row.thread);
}

function hrefOf(workspace: string, row: Row): string {
  if (row.kind === "folder") return address.folder(workspace, row.folder.id);
  return row.kind === "doc" ? address.agentsDoc(workspace, row.parent) : address.thread(workspace, row.thread.id);
}

/** Expands the folders above the open object and scrolls to it, once per opened object. */
function useReveal(
  workspace: string,
  places: Places,
  openKey: string | undefined,
  indexOf: Map<string, number>,
  scroll: (index: number) => void,
): void {
  const revealed = useRef<string>(undefined);
  const onReveal = useEffectEvent(scroll);
  useEffect(() => {
    if (!openKey || revealed.current === openKey) return;
    const index = indexOf.get(openKey);
    if (index !== undefined) {
      revealed.current = openKey;
      onReveal(index);
      return;
    }
    const [kind, id = ""] = openKey.split(":");
    const parent = kind === "thread" ? places.folderOf(id) : kind === "doc" ? id || null : places.parentOf(id);
    for (const folder of places.pathOf(parent)) setClosed(workspace, folder.id, false);
  }, [workspace, places, openKey, indexOf]);
}

/** Keeps the visible rows in place when rows above them are added or removed. */
function useScrollAnchor(
  scroller: { current: HTMLDivElement | null },
  rows: Row[],
  indexOf: Map<string, number>,
): void {
  const anchor = useRef<{ key: string; offset: number }>(undefined);
  const previous = useRef(rows);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const note = () => {
      const index = Math.floor(element.scrollTop / ROW);
      const key = previous.current[index]?.key;
      anchor.current = key && element.scrollTop > 0 ? { key, offset: element.scrollTop - index * ROW } : undefined;
    };
    element.addEventListener("scroll", note, { passive: true });
    return () => element.removeEventListener("scroll", note);
  }, [scroller]);
  useLayoutEffect(() => {
    previous.current = rows;
    const index = anchor.current && indexOf.get(anchor.current.key);
    if (!scroller.current || !anchor.current || index === undefined) return;
    const top = index * ROW + anchor.current.offset;
    if (Math.abs(scroller.current.scrollTop - top) >= 1) scroller.current.scrollTop = top;
  }, [scroller, rows, indexOf]);
}
