// The entry point of the page.

import "./theme/tokens.css";
import "./theme/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App.tsx";
import { applyTheme } from "./app/theme.ts";
import { queries } from "./data/calls.ts";
import { adoptDrafts } from "./data/drafts.ts";
import { listen } from "./data/live.ts";
import { listenToThreads } from "./views/tree/tree.ts";

applyTheme();
listen();
listenToThreads();
await adoptDrafts();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
