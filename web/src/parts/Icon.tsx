// Icons: 16 px, one stroke. They are decorative; the text beside them or the label of the button names them.

const PATHS = {
  home: "M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5",
  tree: "M3.5 2.5v8a2 2 0 0 0 2 2H9M3.5 5.5H9M9 4h4.5v3H9zM9 11h4.5v3H9z",
  run: "M5 3.5v9l7-4.5z",
  inbox: "M2.5 9.5 4.5 3.5h7l2 6v3h-11zM2.5 9.5h3l1 1.5h3l1-1.5h3",
  plan: "M2.5 4h6M4.5 8h7M7.5 12h6",
  pipeline:
    "M3.5 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M12.5 14.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M5.5 3.5h4a2 2 0 0 1 2 2v0a2 2 0 0 1-2 2h-4a2 2 0 0 0-2 2v1a2 2 0 0 0 2 2h5",
  chat: "M2.5 2.5h8v5.5H6.5l-2 2V8h-2zM12 5.5h1.5V11H12v2l-2-2H7.5",
  usage: "M3 13V8M6.5 13V4M10 13V9.5M13.5 13V6M2 13.5h12.5",
  people:
    "M6 7.5a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5M2 13c0-2.2 1.8-3.8 4-3.8s4 1.6 4 3.8M10.5 3.3a2.25 2.25 0 0 1 0 4M11.8 9.6c1.4.5 2.2 1.8 2.2 3.4",
  settings:
    "M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4M8 2v1.8M8 12.2V14M2 8h1.8M12.2 8H14M3.8 3.8 5 5M11 11l1.2 1.2M3.8 12.2 5 11M11 5l1.2-1.2",
  folder: "M2 4h4l1.5 1.5H14v7H2z",
  folderOpen: "M2 12.5V4h4l1.5 1.5h5V7M2 12.5 4 7h10.5l-2 5.5z",
  thread: "M2.5 3h11v10h-11zM5 6l2 2-2 2M8.5 10.5H11",
  doc: "M4 2h5.5L12 4.5V14H4zM6 7h4M6 9.5h4",
  file: "M4 2h5L12 5v9H4zM9 2v3h3",
  image: "M2.5 3.5h11v9h-11zM2.5 11 6 7.5l3 3 1.5-1.5 3 3M10.5 6.2h0",
  plus: "M8 3v10M3 8h10",
  more: "M3.5 8h0M8 8h0M12.5 8h0",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.5 10.5l3 3",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5 6.5 12 13 4.5",
  chevronRight: "M6 3.5 10.5 8 6 12.5",
  chevronDown: "M3.5 6 8 10.5 12.5 6",
  back: "M9.5 3 4.5 8l5 5",
  panel: "M2.5 3h11v10h-11zM10 3v10",
  sidebar: "M2.5 3h11v10h-11zM6 3v10",
  edit: "M3 13l.7-2.8 7-7 2.1 2.1-7 7z",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.5 9h6l.5-9",
  move: "M2 4h4l1.5 1.5H14v7H2zM6 9h4M8.5 7.5 10 9l-1.5 1.5",
  undo: "M5.5 4 3 6.5 5.5 9M3 6.5h6a3.25 3.25 0 0 1 0 6.5H6",
  history: "M3 8a5 5 0 1 0 1.6-3.7L3 5.8M3 3v2.8h2.8M8 5.5V8l1.8 1.3",
  download: "M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10",
  clip: "M12.5 7.5 7.8 12.2a2.7 2.7 0 0 1-3.8-3.8l5-5a1.8 1.8 0 0 1 2.6 2.6l-4.8 4.8a.9.9 0 0 1-1.3-1.3L9.8 5.2",
  send: "M8 13V3M4 7l4-4 4 4",
  stop: "M4.5 4.5h7v7h-7z",
  pause: "M5.5 4v8M10.5 4v8",
  play: "M5 3.5v9l7-4.5z",
  link: "M6.5 9.5l3-3M7 4.5 8.3 3.2a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.3 1.3a2.8 2.8 0 0 1-4-4L5 7.5",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 7.5V11M8 5.2h0",
  alert: "M8 2.5 14 13H2zM8 6.5v3M8 11.2h0",
  key: "M9.8 8.2a3 3 0 1 0-2-2L3 11v2h2v-1.5h1.5V10z",
  seal: "M8 2l1.6 1.2 2-.1.5 1.9 1.6 1.2-.7 1.8.7 1.8-1.6 1.2-.5 1.9-2-.1L8 14l-1.6-1.2-2 .1-.5-1.9-1.6-1.2L3 8l-.7-1.8 1.6-1.2.5-1.9 2 .1zM5.8 8.2l1.5 1.5 3-3.2",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5",
  workspace: "M2.5 2.5h4.5V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
