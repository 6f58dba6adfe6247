// The command palette (Ctrl-K): finds objects and actions by name.

import "./palette.css";
import * as Radix from "@radix-ui/react-dialog";
import { useEffect, useId, useRef, useState, useSyncExternalStore } from "react";
import { Icon } from "../parts/Icon.tsx";
import { Kbd } from "../parts/Kbd.tsx";
import { useKeys } from "../keys/keys.ts";
import { search, sourcesVersion, type Entry } from "./registry.ts";

let openPalette: () => void = () => {};

/** Opens the palette. */
export const showPalette = () => openPalette();

export function Palette() {
  const [isOpen, setOpen] = useState(false);
  openPalette = () => setOpen(true);
  useKeys("Everywhere", [{ key: "Ctrl-k", label: "Find anything", run: () => setOpen(true) }]);
  return (
    <Radix.Root open={isOpen} onOpenChange={setOpen}>
      <Radix.Portal>
        <div className="overlay" />
        <Radix.Content className="dialog palette" aria-describedby={undefined}>
          <Radix.Title className="visually-hidden">Find anything</Radix.Title>
          <Finder onDone={() => setOpen(false)} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Finder({ onDone }: { onDone: () => void }) {
  const [query, setQuery] = useState("");
  const [groups, setGroups] = useState<{ group: string; entries: Entry[] }[]>();
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const version = useSyncExternalStore(sourcesVersion.subscribe, sourcesVersion.current);
  useEffect(() => {
    const abort = new AbortController();
    void search(query.trim(), abort.signal).then((found) => {
      if (abort.signal.aborted) return;
      setGroups(found);
      setAt(0);
    });
    return () => abort.abort();
  }, [query, version]);
  const entries = groups?.flatMap((group) => group.entries) ?? [];
  useEffect(() => {
    list.current?.querySelector(`[data-at="${at}"]`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    onDone();
    entry.run();
  };
  let index = -1;
  return (
    <>
      <div className="palette-head">
        <Icon name="search" />
        <input
          className="palette-input"
          role="combobox"
          aria-label="Find anything"
          aria-expanded={entries.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={entries[at] ? `${id}-${at}` : undefined}
          placeholder="Search threads, projects, agents, files and actions"
          autoFocus
          spellCheck={false}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={(event) => {
            const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
            if (step !== 0) {
              event.preventDefault();
              setAt((at + step + entries.length) % Math.max(1, entries.length));
            }
            if (event.key === "Enter") {
              event.preventDefault();
              run(entries[at]);
            }
          }}
        />
        <Kbd keys="Esc" />
      </div>
      <div className="palette-list" id={`${id}-list`} role="listbox" aria-label="Results" ref={list}>
        {groups?.map(({ group, entries }) => (
          <div key={group} role="group" aria-label={group}>
            <div className="palette-group" aria-hidden="true">
              {group}
            </div>
            {entries.map((entry) => {
              index += 1;
              const here = index;
              return (
                <div
                  key={entry.id}
                  id={`${id}-${here}`}
                  data-at={here}
                  className="palette-entry"
                  role="option"
                  aria-selected={here === at}
                  onPointerMove={() => setAt(here)}
                  onClick={() => run(entry)}
                >
                  <Icon name={entry.icon} />
                  <span className="palette-title">{entry.title}</span>
                  {entry.hint && <span className="palette-hint">{entry.hint}</span>}
                  {entry.key && <Kbd keys={entry.key} />}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {groups && entries.length === 0 && <p className="palette-none">No results for “{query}”.</p>}
    </>
  );
}
