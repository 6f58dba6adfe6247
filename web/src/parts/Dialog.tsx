// A modal dialog. It has its own overlay, because that of Radix needs inline styles.

import "./button.css";
import "./floating.css";
import * as Radix from "@radix-ui/react-dialog";
import type { ReactNode } from "react";
import { Icon } from "./Icon.tsx";

export function Dialog({
  title,
  description,
  open,
  onClose,
  wide = false,
  children,
}: {
  title: string;
  description?: ReactNode;
  open: boolean;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <div className="overlay" />
        <Radix.Content
          className={wide ? "dialog wide" : "dialog"}
          {...(description ? {} : { "aria-describedby": undefined })}
        >
          <header className="dialog-head">
            <Radix.Title>{title}</Radix.Title>
            {/* Without a tooltip, which would handle the first Escape. */}
            <Radix.Close className="icon-button" aria-label="Close">
              <Icon name="close" />
            </Radix.Close>
          </header>
          {description && <Radix.Description className="dialog-description">{description}</Radix.Description>}
          <div className="dialog-body">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** The row of buttons at the end of a dialog. */
export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className="dialog-actions">{children}</div>
);
