// The editor theme: colours and sizes of the desktop.

import { EditorView } from "@codemirror/view";

export const theme = EditorView.theme({
  "&": { flex: "1", minHeight: "0", height: "100%", background: "transparent", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "13px", lineHeight: "20px", overflow: "auto" },
  ".cm-content": { padding: "12px 0 40vh", caretColor: "var(--accent)", maxWidth: "100ch" },
  ".cm-line": { padding: "0 16px 0 8px" },
  ".cm-gutters": { background: "transparent", border: "none", color: "var(--muted)" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 8px 0 16px", minWidth: "32px" },
  ".cm-activeLine": { background: "color-mix(in srgb, var(--hover) 50%, transparent)" },
  ".cm-activeLineGutter": { background: "transparent", color: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--code-selection)",
  },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-panels": {
    background: "var(--sunken)",
    color: "var(--text)",
    borderColor: "var(--border)",
    fontFamily: "var(--sans)",
  },
  ".cm-panels-top": { borderBottom: "1px solid var(--border)" },
  ".cm-textfield": {
    background: "var(--page)",
    color: "var(--text)",
    border: "1px solid var(--border-strong)",
    borderRadius: "4px",
    fontSize: "13px",
  },
  ".cm-button": {
    background: "var(--floating)",
    color: "var(--text)",
    border: "1px solid var(--border-strong)",
    borderRadius: "4px",
    fontSize: "13px",
  },
  ".cm-searchMatch": { background: "var(--waiting-soft)", outline: "1px solid var(--waiting)" },
  ".cm-searchMatch-selected": { background: "var(--code-selection)" },
});
