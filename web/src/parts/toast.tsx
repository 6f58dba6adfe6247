// Toasts: short messages about an action, with an undo button where possible.

import "./floating.css";
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { Button, IconButton } from "./Button.tsx";
import { Icon } from "./Icon.tsx";

export interface Toast {
  text: string;
  tone?: "done" | "failed";
  /** The subject of the toast; `dismissAbout` removes the toasts of a subject. */
  about?: string;
  action?: { label: string; run: () => void };
  /** Called when the toast disappears without its action being used. */
  onExpire?: () => void;
}

type Shown = Toast & { id: number };

/** Milliseconds for which a toast is shown. */
const STAY = 7000;

let shown: Shown[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function update(next: Shown[]): void {
  shown = next;
  listeners.forEach((listener) => listener());
}

export function toast(one: Toast): void {
  update([...shown, { ...one, id: nextId++ }]);
}

/** Removes the toasts about a subject that has changed. */
export const dismissAbout = (about: string) => update(shown.filter((one) => one.about !== about));

const remove = (id: number) => update(shown.filter((one) => one.id !== id));

export function Toasts() {
  const list = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {list.map((one) => (
        <ToastRow key={one.id} toast={one} />
      ))}
    </div>
  );
}

function ToastRow({ toast: { id, text, tone = "done", action, onExpire } }: { toast: Shown }) {
  const [isHeld, setHeld] = useState(false);
  const expire = () => {
    remove(id);
    onExpire?.();
  };
  const onTimeout = useEffectEvent(expire);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => onTimeout(), STAY);
    return () => clearTimeout(timer);
  }, [isHeld]);
  return (
    <div
      className={`toast ${tone}`}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={tone === "failed" ? "alert" : "check"} />
      <span className="toast-text">{text}</span>
      {action && (
        <Button
          kind="quiet"
          onClick={() => {
            remove(id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton label="Dismiss" icon="close" onClick={expire} />
    </div>
  );
}
