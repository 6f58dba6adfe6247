// The inspector: a column with details of the object in main. Views fill it with `Inspector`.

import "./inspector.css";
import { useEffect, useSyncExternalStore, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { setPreference, usePreference } from "../data/preference.ts";
import { useKeys } from "../keys/keys.ts";
import { IconButton } from "../parts/Button.tsx";

let slot: HTMLElement | null = null;
let users = 0;
const listeners = new Set<() => void>();
const changed = () => listeners.forEach((listener) => listener());
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** On a narrow screen the inspector covers the page, so it is closed by default. */
const isNarrow = () => matchMedia("(max-width: 1100px)").matches;

function useIsOpen(): boolean {
  const preference = usePreference("inspector");
  return preference === null ? !isNarrow() : preference === "open";
}

/** The element of the shell into which views render their inspector. */
export function InspectorSlot() {
  const isOpen = useIsOpen();
  const isUsed = useSyncExternalStore(subscribe, () => users > 0);
  return (
    <aside
      className="inspector"
      aria-label="Inspector"
      hidden={!isOpen || !isUsed}
      ref={(element) => {
        slot = element;
        changed();
      }}
    />
  );
}

/** Renders its children into the inspector while this component is mounted. */
export function Inspector({ title, children }: { title: string; children: ReactNode }) {
  const target = useSyncExternalStore(subscribe, () => slot);
  useEffect(() => {
    users += 1;
    changed();
    return () => {
      users -= 1;
      changed();
    };
  }, []);
  if (!target) return null;
  return createPortal(
    <>
      <header className="inspector-head">
        <h2>{title}</h2>
        <IconButton label="Close the inspector" icon="close" onClick={() => setPreference("inspector", "closed")} />
      </header>
      <div className="inspector-body">{children}</div>
    </>,
    target,
  );
}

/** The button and the key `i` that open and close the inspector. */
export function InspectorToggle() {
  const isOpen = useIsOpen();
  const toggle = () => setPreference("inspector", isOpen ? "closed" : "open");
  useKeys("This view", [{ key: "i", label: "Show or hide the inspector", run: toggle }]);
  return <IconButton label="Inspector" icon="panel" hotkey="i" aria-pressed={isOpen} onClick={toggle} />;
}

/** A section of the inspector with a title. */
export function InspectorPart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="inspector-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
