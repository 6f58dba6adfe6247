// A CodeMirror editor for Markdown in a shadow root, where CodeMirror uses constructed style sheets. The
// Content-Security-Policy forbids inline styles.

import "./editor.css";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { useEffect, useRef } from "react";
import { flushSync } from "react-dom";
import { markdown } from "./markdown.ts";
import { theme } from "./theme.ts";

export interface EditorProps {
  /** The name of the editor for screen readers. */
  label: string;
  value: string;
  onChange?: (value: string) => void;
  /** Called on Ctrl-S. */
  onSave?: () => void;
  readOnly?: boolean;
  hint?: string;
  autoFocus?: boolean;
}

const nameOf = (label: string) => EditorView.contentAttributes.of({ "aria-label": label });

export function Editor({
  label,
  value,
  onChange,
  onSave,
  readOnly = false,
  hint = "",
  autoFocus = false,
}: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const handlers = useRef({ onChange, onSave });
  handlers.current = { onChange, onSave };
  const locked = useRef(new Compartment());
  const named = useRef(new Compartment());

  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          readOnly ? [] : [highlightActiveLine(), highlightActiveLineGutter()],
          search({ top: true }),
          EditorView.lineWrapping,
          named.current.of(nameOf(label)),
          EditorView.contentAttributes.of({ spellcheck: "true", tabindex: "0" }),
          placeholder(hint),
          markdown,
          theme,
          keymap.of([
            {
              key: "Mod-s",
              run: () => {
                handlers.current.onSave?.();
                return true;
              },
            },
            ...defaultKeymap,
            ...historyKeymap,
            ...searchKeymap,
          ]),
          locked.current.of(EditorState.readOnly.of(readOnly)),
          EditorView.updateListener.of((update) => {
            const isOurs = update.transactions.some((one) => one.isUserEvent("set"));
            // Synchronous: a `value` that is rendered after the next keystroke would undo that keystroke.
            if (update.docChanged && !isOurs) flushSync(() => handlers.current.onChange?.(update.state.doc.toString()));
          }),
        ],
      }),
    });
    view.current = editor;
    if (autoFocus) editor.focus();
    return () => editor.destroy();
    // Created once: the effects below apply later changes of the props to the existing editor.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const old = editor.state.doc.toString();
    if (old === value) return;
    // Replaces only the difference, so that the cursor stays in place.
    let from = 0;
    while (from < old.length && from < value.length && old[from] === value[from]) from += 1;
    let end = 0;
    while (
      end < old.length - from &&
      end < value.length - from &&
      old[old.length - 1 - end] === value[value.length - 1 - end]
    ) {
      end += 1;
    }
    editor.dispatch({
      changes: { from, to: old.length - end, insert: value.slice(from, value.length - end) },
      userEvent: "set",
    });
  }, [value]);

  useEffect(() => {
    view.current?.dispatch({ effects: locked.current.reconfigure(EditorState.readOnly.of(readOnly)) });
  }, [readOnly]);

  useEffect(() => {
    view.current?.dispatch({ effects: named.current.reconfigure(nameOf(label)) });
  }, [label]);

  return <div className="editor" ref={host} />;
}
