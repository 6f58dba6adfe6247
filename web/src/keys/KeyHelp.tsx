// The dialog with the keyboard shortcuts of this view, opened with `?`.

import { useState } from "react";
import { Dialog } from "../parts/Dialog.tsx";
import { Kbd } from "../parts/Kbd.tsx";
import { activeKeymaps, useKeys, type Keymap } from "./keys.ts";

export function KeyHelp() {
  const [shown, setShown] = useState<Keymap[]>();
  useKeys("Everywhere", [{ key: "?", label: "Show keyboard shortcuts", run: () => setShown(activeKeymaps()) }]);
  const titles = [...new Set(shown?.map(({ title }) => title))];
  return (
    <Dialog title="Keyboard shortcuts" open={shown !== undefined} onClose={() => setShown(undefined)}>
      <div className="key-help">
        {titles.map((title) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {shown
                ?.filter((keymap) => keymap.title === title)
                .flatMap(({ keys }) => keys)
                .map(({ key, label }) => (
                  <div key={key + label}>
                    <dt>{label}</dt>
                    <dd>
                      <Kbd keys={key} />
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
