// What a process printed: every line at full width, with its colours, at its end while it grows.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { handOver } from "../../data/hand-over.ts";
import { AnsiSpans } from "../../parts/Ansi.tsx";
import { AnsiReader, plainText, type AnsiLine } from "../../parts/ansi.ts";
import { Button } from "../../parts/Button.tsx";
import { useFollowEnd } from "../../parts/follow.ts";
import { bytes, count } from "../../parts/size.ts";

/** The lines of some pieces of output. Pieces that were read before are not read again while they only grow. */
export function useOutputLines(pieces: string[]): AnsiLine[] {
  const held = useRef<{ reader: AnsiReader; read: string[] }>(undefined);
  const before = held.current;
  const goesOn = before !== undefined && before.read.every((piece, i) => pieces[i] === piece);
  const { reader, read } = goesOn ? before : { reader: new AnsiReader(), read: [] };
  for (const piece of pieces.slice(read.length)) reader.write(piece);
  held.current = { reader, read: pieces };
  const { lines } = reader;
  // What follows the last line end is no line yet.
  return lines.at(-1)?.length === 0 ? lines.slice(0, -1) : lines.slice();
}

export function Output({ pieces, name }: { pieces: string[]; name: string }) {
  const lines = useOutputLines(pieces);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 18,
    overscan: 20,
  });
  const end = useFollowEnd(scroller, virtual.getTotalSize());
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const save = () => handOver(new Blob([plainText(pieces.join(""))], { type: "text/plain" }), `${name}.txt`);
  return (
    <div className="output">
      <div className="output-bar">
        <span className="muted" role="status">
          {lines.length === 1 ? "1 line" : `${count(lines.length)} lines`}, {bytes(size)}
        </span>
        {!end.isFollowing && (
          <Button icon="chevronDown" onClick={end.follow}>
            Follow the end
          </Button>
        )}
        <Button icon="download" onClick={save}>
          Save as a file
        </Button>
      </div>
      <div
        ref={scroller}
        className="output-lines"
        role="log"
        aria-label="Output"
        aria-live="off"
        tabIndex={0}
        onScroll={end.onScroll}
      >
        <div className="list-space" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="output-line"
              style={{ translate: `0 ${start}px` }}
            >
              <AnsiSpans line={lines[index] ?? []} />
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

/** Lines of the end that the inspector shows. */
const TAIL = 200;

/** The last lines, for a narrow column. */
export function OutputTail({ pieces }: { pieces: string[] }) {
  const lines = useOutputLines(pieces);
  const scroller = useRef<HTMLPreElement>(null);
  const end = useFollowEnd(scroller, lines);
  const tail = lines.slice(-TAIL);
  return (
    <pre
      ref={scroller}
      className="code-block output-tail"
      tabIndex={0}
      role="region"
      aria-label="Output so far"
      onScroll={end.onScroll}
    >
      {tail.map((line, i) => (
        <div key={lines.length - tail.length + i}>
          <AnsiSpans line={line} />
        </div>
      ))}
    </pre>
  );
}
