// A run: its live events with a filter, its output, and a replay of any moment.

import "../company/company.css";
import "./run.css";
import { useEffect, useMemo, useState } from "react";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import { attempt, call, invalidate, sentence, useCall } from "../../data/calls.ts";
import { reworded } from "../../data/wording.ts";
import { useKeys } from "../../keys/keys.ts";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { count, dollars } from "../../parts/size.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link, navigate, useSearchParam } from "../../router.tsx";
import { at } from "../company/address.ts";
import { Choices } from "../company/Choices.tsx";
import { Comments } from "../company/Comments.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { jobIdOf, useJobsOf } from "../company/jobs.ts";
import { attemptStanding, standingOf } from "../company/meaning.ts";
import { jobName, plural, runName, shortId, useNames } from "../company/names.ts";
import { isPlainCommand } from "../company/worker.ts";
import { CancelJob } from "../job/CancelJob.tsx";
import { EventKinds, EventWords, useEventFilter } from "./EventFilter.tsx";
import { EventDetails, EventRow } from "./EventRow.tsx";
import { Output, OutputTail } from "./Output.tsx";
import { queueOf, queueReason, queueWords } from "./queue.ts";
import { momentOf, useReplay } from "./replay.ts";
import { Seal } from "./Seal.tsx";

/** The polling interval of the queue in milliseconds; no event reports queue positions. */
const LOOK = 5_000;
/** Milliseconds between two events of the replay. */
const STEP = 350;
const PARTS = [
  { id: "events", label: "Events" },
  { id: "output", label: "Output" },
] as const;

export default function RunView({ workspace, dir, params }: CompanyViewProps) {
  const project = params["project"] ?? "";
  const run = params["run"] ?? "";
  const names = useNames(dir);
  const replay = useReplay(dir, project, run);
  const runs = useCall("run.list", { workspace_dir: dir, project_id: project }).data;
  const row = runs?.find(({ run_id }) => run_id === run);
  const sessions = useCall("session.list", { workspace_dir: dir, run_id: run }, { everyMs: LOOK }).data;
  const session = sessions?.[0];
  const asked = Number(useSearchParam("event")) || undefined;
  const filter = useEventFilter(names);
  /** The number of events shown by the replay; undefined shows all events, also new ones. */
  const [shownCount, setShownCount] = useState<number>();
  const [isPlaying, setPlaying] = useState(false);
  const [chosen, setChosen] = useState(asked);

  const { events } = replay;
  const end = shownCount ?? events.length;
  const past = useMemo(() => events.slice(0, end), [events, end]);
  const moment = useMemo(() => momentOf(past), [past]);
  const shown = useMemo(() => past.filter(filter.fits), [past, filter.fits]);
  const bad = useMemo(() => new Set(replay.issues.map(({ seq }) => seq)), [replay.issues]);
  const open = events.find(({ seq }) => seq === chosen);

  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => {
      setShownCount((now) => {
        const next = (now ?? 0) + 1;
        if (next < events.length) return next;
        setPlaying(false);
        return undefined;
      });
    }, STEP);
    return () => clearInterval(timer);
  }, [isPlaying, events.length]);
  const play = () => {
    if (!isPlaying && shownCount === undefined) setShownCount(0);
    setPlaying(!isPlaying);
  };
  useKeys("This run", [{ key: "p", label: "Play or pause the replay", run: play }]);

  const queue = queueOf(session);
  // The document of a run that was never launched has `running`; here that status requires a process.
  const status = queue
    ? "queued"
    : (session?.status ?? (row?.status === "running" ? "not started" : (row?.status ?? "")));
  const session_ref = session?.session_ref ?? null;
  const job = useJobsOf(dir, sessions && [{ project_id: project, run_id: run, session_ref }])(run);
  const jobId = jobIdOf(session_ref) ?? job?.job_id;
  const standing = (status: string) => (jobId ? attemptStanding(status, run, job) : standingOf(status));
  const now = standing(status);
  // During a replay the status comes from the log.
  const stands = shownCount === undefined ? now : standing(moment.status);
  const reason = queue && queueReason(queue);
  const isOpen = session?.status === "running" && session.ended_at_ms == null;
  const isLive = isOpen && !queue;
  const canCancel = sessions !== undefined && status === "not started";
  const stop = () =>
    session &&
    void attempt("Stopping", () => call("session.stop", { session_ref: session.session_ref, workspace_dir: dir }));
  const cancel = () =>
    void attempt("Canceling the run", async () => {
      await call("run.cancel", { workspace_dir: dir, project_id: project, run_id: run, ...ME });
      invalidate(["run.list", "monitor.snapshot", "workspace.home.snapshot"], { workspace_dir: dir });
    });
  const isPlain = isPlainCommand(row?.provider);
  const showsOutput = useSearchParam("show") === "output";
  const show = (part: "events" | "output") =>
    navigate(part === "output" ? at.output(workspace, project, run) : at.run(workspace, project, run), {
      replace: true,
    });
  return (
    <Page
      title={row ? runName(row, names) : shortId(run)}
      back={at.runs(workspace)}
      crumbs={[
        { label: "Runs", to: at.live(workspace) },
        { label: names.project(project), to: at.project(workspace, project) },
      ]}
      state={<Status meaning={now.meaning}>{queue ? queueWords(queue) : now.word}</Status>}
      actions={
        <>
          {isOpen &&
            (jobId ? (
              <CancelJob dir={dir} project={project} job={jobId} />
            ) : (
              <Button kind="danger" icon="stop" onClick={stop}>
                Stop
              </Button>
            ))}
          {canCancel && (
            <Button kind="danger" icon="close" onClick={cancel}>
              Cancel run
            </Button>
          )}
          <InspectorToggle />
        </>
      }
    >
      {(reason || (row?.warnings && row.warnings.length > 0)) && (
        <div className="run-notices">
          {reason && (
            <p className="notice waiting">
              <Icon name="history" />
              <span>Queued: {reason}.</span>
            </p>
          )}
          {row?.warnings?.map((warning) => (
            <p key={warning} className="notice waiting">
              <Icon name="alert" />
              <span>{sentence(warning)}.</span>
            </p>
          ))}
        </div>
      )}
      <div className="toolbar">
        <Choices label="View" options={PARTS} value={showsOutput ? "output" : "events"} onChange={show} />
        {!showsOutput && (
          <>
            <EventKinds filter={filter} />
            <EventWords filter={filter} />
          </>
        )}
        <Seal replay={replay} onShow={setChosen} />
      </div>
      {replay.error !== undefined ? (
        <Failure error={replay.error} onRetry={replay.check} />
      ) : events.length === 0 && !replay.isComplete ? (
        <Loading />
      ) : showsOutput ? (
        moment.output.length === 0 ? (
          <Empty icon="run" title="No output">
            {isLive ? "Output appears here as it is printed." : "This run printed no output."}
          </Empty>
        ) : (
          <Output pieces={moment.output} name={run} isWorker={!isPlain} />
        )
      ) : shown.length === 0 ? (
        <Empty icon="run" title={past.length === 0 ? "No events yet" : "No matching events"}>
          {past.length === 0 ? "Events appear here as they happen." : "Choose another type or clear the filter."}
        </Empty>
      ) : (
        <div className="event-list">
          <List
            label="Events"
            items={shown}
            keyOf={({ seq }) => String(seq)}
            selected={chosen === undefined ? undefined : String(chosen)}
            onOpen={({ seq }) => setChosen(seq)}
            row={(event) => <EventRow event={event} names={names} isBad={bad.has(event.seq)} since={events[0]?.at} />}
            rowHeight={28}
            followsEnd={chosen === undefined && shownCount === undefined}
          />
        </div>
      )}
      <div className="replay">
        <IconButton
          label={isPlaying ? "Pause replay" : "Play replay"}
          icon={isPlaying ? "pause" : "play"}
          hotkey="p"
          onClick={play}
        />
        <input
          type="range"
          aria-label="Replay position"
          aria-valuetext={`Event ${count(end)} of ${count(events.length)}`}
          min={0}
          max={events.length}
          value={end}
          onChange={(event) => {
            const value = Number(event.target.value);
            setPlaying(false);
            setShownCount(value >= events.length ? undefined : value);
          }}
        />
        <span className="replay-place">
          {shownCount === undefined
            ? `${plural(events.length, "event")}${isLive ? ", live" : ""}`
            : `Event ${count(end)} of ${count(events.length)}`}
        </span>
      </div>
      <Inspector title={open ? `Event ${open.seq}` : "Run"}>
        {open && (
          <InspectorPart title="Event">
            <EventDetails event={open} names={names} />
          </InspectorPart>
        )}
        <InspectorPart title={shownCount === undefined ? "Now" : `At event ${count(end)}`}>
          <dl className="facts">
            <dt>Status</dt>
            <dd>
              <Status meaning={stands.meaning}>{stands.word}</Status>
            </dd>
            {shownCount === undefined && queue && (
              <>
                <dt>Queue</dt>
                <dd>{[queueWords(queue), reason].filter(Boolean).join(": ")}</dd>
              </>
            )}
            {job && (
              <>
                <dt>Job</dt>
                <dd>
                  <Link to={at.job(workspace, project, job.job_id)}>{jobName(job)}</Link>
                </dd>
              </>
            )}
            {isPlain ? (
              <>
                <dt>Tokens</dt>
                <dd>None (shell command)</dd>
              </>
            ) : (
              <>
                <dt>Tokens</dt>
                <dd>
                  {moment.tokens === undefined ? "Not reported yet" : count(moment.tokens)}
                  {moment.isEstimated && " (estimated)"}
                </dd>
                <dt>Cost</dt>
                <dd>{moment.cost === undefined ? "Unknown (no price set)" : dollars(moment.cost, 4)}</dd>
              </>
            )}
            <dt>Policy denials</dt>
            <dd>{count(moment.policyDenials)}</dd>
          </dl>
        </InspectorPart>
        {moment.output.length > 0 && !showsOutput && (
          <InspectorPart title="Output">
            <OutputTail pieces={moment.output} isWorker={!isPlain} />
            <p>
              <Link to={at.output(workspace, project, run)}>Full output</Link>
            </p>
          </InspectorPart>
        )}
        <InspectorPart title="Details">
          <dl className="facts">
            {row?.goal && (
              <>
                <dt>Goal</dt>
                <dd className="run-goal">{row.goal}</dd>
              </>
            )}
            <dt>Run</dt>
            <dd className="mono">{run}</dd>
            <dt>Agent</dt>
            <dd>{row && <Link to={at.agent(workspace, row.agent_id)}>{names.actor(row.agent_id)}</Link>}</dd>
            <dt>Worker</dt>
            <dd>{row?.provider}</dd>
            {row && (
              <>
                <dt>Created</dt>
                <dd>
                  <Time at={row.created_at} />
                </dd>
              </>
            )}
            {session?.pid && (
              <>
                <dt>Process id</dt>
                <dd>{session.pid}</dd>
              </>
            )}
            {session?.error && (
              <>
                <dt>Error</dt>
                <dd>{reworded(session.error)}</dd>
              </>
            )}
          </dl>
        </InspectorPart>
        <InspectorPart title="Comments">
          <Comments dir={dir} project={project} target={{ target_run_id: run }} names={names} />
        </InspectorPart>
      </Inspector>
    </Page>
  );
}
