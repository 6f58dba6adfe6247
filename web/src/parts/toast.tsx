// A short word about what just happened, with a way back where there is one.

import "./floating.css";
import { useEffect, useState, useSyncExternalStore } from "react";
import { Button, IconButton } from "./Button.tsx";
import { Icon } from "./Icon.tsx";

export interface Toast {
  text: string;
  tone?: "done" | "failed";
  /** What it is about; a toast goes when `dismissAbout` says that this has changed. */
  about?: string;
  action?: { label: string; run: () => void };
  /** Called when it goes without the action having been chosen. */
  onExpire?: () => void;
}

type Shown = Toast & { id: number };

/** Milliseconds a toast stays. */
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

/** Takes away the toasts about something that has changed since. */
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
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(expire, STAY);
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
