// The output of a process with its colours. JSON of worker programs is shown as readable text. The view follows the end.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { handOver } from "../../data/hand-over.ts";
import { AnsiSpans } from "../../parts/Ansi.tsx";
import { AnsiReader, ansiLines, plainText, type AnsiLine } from "../../parts/ansi.ts";
import { Button } from "../../parts/Button.tsx";
import { useFollowEnd } from "../../parts/follow.ts";
import { bytes, count } from "../../parts/size.ts";
import { readable, WorkerReader } from "../company/worker-output.ts";

/**
 * Returns the lines of pieces of output. Parses only new pieces while the list grows. JSON is interpreted only for worker
 * programs.
 */
export function useOutputLines(pieces: string[], isWorker: boolean): AnsiLine[] {
  const held = useRef<{ reader: AnsiReader; worker: WorkerReader; read: string[]; isWorker: boolean }>(undefined);
  const before = held.current;
  const goesOn =
    before !== undefined && before.isWorker === isWorker && before.read.every((piece, i) => pieces[i] === piece);
  const { reader, worker, read } = goesOn ? before : { reader: new AnsiReader(), worker: new WorkerReader(), read: [] };
  for (const piece of pieces.slice(read.length)) reader.write(isWorker ? worker.read(piece) : piece);
  held.current = { reader, worker, read: pieces, isWorker };
  const { lines } = reader;
  // The text after the last line break is not a line yet.
  const whole = lines.at(-1)?.length === 0 ? lines.slice(0, -1) : lines.slice();
  return worker.rest ? [...whole, ...ansiLines(readable(worker.rest))] : whole;
}

export function Output({ pieces, name, isWorker }: { pieces: string[]; name: string; isWorker: boolean }) {
  const lines = useOutputLines(pieces, isWorker);
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
            Scroll to end
          </Button>
        )}
        <Button icon="download" onClick={save}>
          Download
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

/** The number of lines that the inspector shows. */
const TAIL = 200;

/** The last lines of the output, for the inspector. */
export function OutputTail({ pieces, isWorker }: { pieces: string[]; isWorker: boolean }) {
  const lines = useOutputLines(pieces, isWorker);
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
