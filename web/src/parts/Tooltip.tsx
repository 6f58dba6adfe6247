// A tooltip, shown on hover and focus.

import "./floating.css";
import * as Radix from "@radix-ui/react-tooltip";
import type { ReactNode } from "react";
import { Kbd } from "./Kbd.tsx";

export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Radix.Provider delayDuration={400} skipDelayDuration={200}>
    {children}
  </Radix.Provider>
);

export function Tooltip({
  text,
  hotkey,
  side = "bottom",
  children,
}: {
  text: string;
  hotkey?: string | undefined;
  side?: "bottom" | "right" | "top";
  children: ReactNode;
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className="tooltip" side={side} sideOffset={6} collisionPadding={8}>
          {text}
          {hotkey && <Kbd keys={hotkey} />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
