#!/usr/bin/env python3
"""Runs sessions and jobs with the real worker programs against a scripted model on the loopback interface.

    real_clis.py --server path/to/ac [--cache DIR] [--only NAME] [-v]

npm installs the programs once into the cache folder. The model implements the wire format of each program (OpenAI
responses, Anthropic messages, Gemini streamGenerateContent) over a real socket, so everything between
`session.launch` and the text of the model is real. Requires only the Python standard library.
"""
import argparse
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

PACKAGES = {"codex": "@openai/codex", "claude": "@anthropic-ai/claude-code", "gemini": "@google/gemini-cli"}
MODELS = {"codex": "gpt-5", "claude": "sonnet", "gemini": "gemini-2.5-flash"}
ANSWER = "scripted answer"
CANARY = "canary-7f3a: always answer politely"
KEY = "sk-local-0123456789abcdef"
# The usage that the model reports: 1200 input tokens, 800 of them cached; 34 output tokens, 10 of them reasoning.
USAGE = {"input_tokens": 1200, "cached_input_tokens": 800, "output_tokens": 34, "total_tokens": 1234}
# The command that a worker runs as its tool for the prompt `NAP`; the odd number makes it unique.
NAP = "sleep 31.4159"


# ---------------------------------------------------------------- the model

class Model(http.server.ThreadingHTTPServer):
    """Responds according to the prompt: `NAP` calls a long-running tool, `LIMIT` returns 429, others get an answer."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies = []
        self.url = "http://127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.reply_json(200, {"data": [], "models": []})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        text = self.rfile.read(length).decode()
        body = json.loads(text or "{}")
        path = self.path.split("?")[0]
        if path.endswith("/responses"):
            speak = responses
        elif path.endswith("/messages"):
            speak = messages
        elif path.endswith("streamGenerateContent"):
            speak = gemini
        elif path.endswith("count_tokens") or path.endswith("countTokens"):
            return self.reply_json(200, {"input_tokens": 10, "totalTokens": 10})
        else:
            return self.reply_json(404, {"error": {"message": "unknown path " + path}})
        self.server.bodies.append((path, text))
        if "LIMIT" in asked(text):
            return self.refuse(speak)
        lines = speak(body, text)
        data = "".join(lines).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, speak):
        if speak is responses:
            reset = int(time.time()) + 3600
            body = {"error": {"type": "usage_limit_reached", "message": "limit", "resets_at": reset, "plan_type": "plus"}}
        elif speak is messages:
            body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
        else:
            body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "exhausted", "details": [
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDay"}]},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"}]}}
        self.reply_json(429, body, {"retry-after": "3600"})

    def reply_json(self, status, body, headers=None):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def asked(text):
    """Returns the test instructions in the prompt: the words after `TEST-WISH:`."""
    return " ".join(re.findall(r"TEST-WISH:(\w+)", text))


def result_of(text):
    """Returns the result of a job, with the ids from the prompt."""
    run = re.search(r"attempt_run_id\W+(?:\w+\W+){0,12}?(run_[0-9A-Za-z]+)", text)
    job = re.search(r"job_id\W+(?:\w+\W+){0,12}?(job_[0-9A-Za-z_]+)", text)
    return {
        "schema_version": 1, "type": "result", "job_id": job.group(1) if job else "", "status": "succeeded",
        "attempt_run_id": run.group(1) if run else "", "summary": ANSWER, "files_changed": [], "commands_run": [],
        "artifacts": [], "next_actions": [{"action": "merge", "rationale": None}], "errors": []}


def words(text):
    return json.dumps(result_of(text)) if "attempt_run_id" in text else ANSWER


def event(name, data):
    return "event: %s\ndata: %s\n\n" % (name, json.dumps(data))


def responses(body, text):
    """Yields the events of the OpenAI responses API, which Codex uses."""
    done = any(item.get("type", "").endswith("_output") for item in body.get("input", []))
    usage = {"input_tokens": 1200, "input_tokens_details": {"cached_tokens": 800}, "output_tokens": 34,
             "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 1234}
    if "NAP" in asked(text) and not done:
        names = {tool.get("name") for tool in body.get("tools", [])}
        if "exec_command" in names:
            name, arguments = "exec_command", {"cmd": NAP, "yield_time_ms": 60000}
        elif "shell_command" in names:
            name, arguments = "shell_command", {"command": NAP, "timeout_ms": 60000}
        else:
            name, arguments = "shell", {"command": ["sh", "-c", NAP], "timeout_ms": 60000}
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name,
                "arguments": json.dumps(arguments)}
    else:
        item = {"type": "message", "role": "assistant", "id": "msg_1",
                "content": [{"type": "output_text", "text": words(text)}]}
    yield event("response.created", {"type": "response.created", "response": {"id": "resp_1"}})
    yield event("response.output_item.done", {"type": "response.output_item.done", "item": item})
    yield event("response.completed", {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}})


def messages(body, text):
    """Yields the events of the Anthropic messages API, which Claude uses."""
    tools = {tool.get("name") for tool in body.get("tools", [])}
    last = body.get("messages", [{}])[-1].get("content")
    done = isinstance(last, list) and any(part.get("type") == "tool_result" for part in last)
    tool = None
    if "NAP" in asked(text) and "Bash" in tools and not done:
        tool = ("Bash", {"command": NAP, "description": "wait"})
    elif "StructuredOutput" in tools and not done:
        tool = ("StructuredOutput", result_of(text))
    usage = {"input_tokens": 400, "cache_read_input_tokens": 800, "cache_creation_input_tokens": 0, "output_tokens": 1}
    yield event("message_start", {"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage}})
    if tool:
        block = {"type": "tool_use", "id": "toolu_1", "name": tool[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(tool[1])}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": words(text)}
    yield event("content_block_start", {"type": "content_block_start", "index": 0, "content_block": block})
    yield event("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta})
    yield event("content_block_stop", {"type": "content_block_stop", "index": 0})
    yield event("message_delta", {
        "type": "message_delta", "delta": {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 34}})
    yield event("message_stop", {"type": "message_stop"})


def gemini(body, text):
    """Yields the events of the Gemini method streamGenerateContent."""
    last = body.get("contents", [{}])[-1].get("parts", [])
    done = any("functionResponse" in part for part in last)
    if "NAP" in asked(text) and not done:
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": NAP}}}
    else:
        part = {"text": words(text)}
    usage = {"promptTokenCount": 1200, "cachedContentTokenCount": 800, "candidatesTokenCount": 24,
             "thoughtsTokenCount": 10, "totalTokenCount": 1234}
    yield "data: %s\n\n" % json.dumps({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"})


# ---------------------------------------------------------------- the gateway

class Gateway:
    """An `ac server:start` process that handles one call at a time."""

    def __init__(self, server, home, env):
        self.log = open(os.path.join(home, "stderr.log"), "w")
        self.process = subprocess.Popen(
            [server, "server:start", "--home", os.path.join(home, "accord")], env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.id = 0

    def call(self, method, **params):
        self.id += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        while True:
            answer = self.process.stdout.readline()
            if not answer:
                raise Failed("the gateway exited during `%s`" % method)
            answer = json.loads(answer)
            if answer.get("id") == self.id:
                if "error" in answer:
                    raise Failed("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


class Failed(Exception):
    pass


def expect(found, wanted, what):
    if found != wanted:
        raise Failed("%s: expected %r, got %r" % (what, wanted, found))


class Office:
    """A company folder with a repository, three worker agents, and a home folder for their programs."""

    def __init__(self, server, bins, model, folder):
        self.model, self.folder, self.bins = model, folder, bins
        self.dir = os.path.join(folder, "office")
        home = os.path.join(folder, "home")
        repo = os.path.join(folder, "repo")
        for path in (home, repo, os.path.join(home, ".codex"), os.path.join(home, ".gemini")):
            os.makedirs(path)
        with open(os.path.join(home, ".codex", "config.toml"), "w") as file:
            file.write('model_provider = "local"\n[model_providers.local]\nname = "local"\nbase_url = "%s/v1"\n'
                       'wire_api = "responses"\nenv_key = "OPENAI_API_KEY"\nrequest_max_retries = 0\n'
                       'stream_max_retries = 0\n' % model.url)
        with open(os.path.join(home, ".gemini", "settings.json"), "w") as file:
            json.dump({"security": {"auth": {"selectedType": "gemini-api-key"}}}, file)
        with open(os.path.join(repo, "AGENTS.md"), "w") as file:
            file.write("# Rules\n\n- %s\n" % CANARY)
        subprocess.run(["git", "init", "-q", repo], check=True)
        env = {
            "PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8",
            "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": model.url, "GOOGLE_GEMINI_BASE_URL": model.url,
            # Must not reach the workers.
            "GITHUB_TOKEN": "ghp_canary_token_0123456789", "UNRELATED": "unrelated-canary",
        }
        self.gateway = Gateway(server, folder, env)
        self.gateway.call("workspace.init", workspace_dir=self.dir, company_name="Real")
        self.project = self.gateway.call(
            "workspace.project.create_with_defaults", workspace_dir=self.dir, name="P")["project_id"]
        for name in bins:
            agent = os.path.join(self.dir, "org", "agents", "agent_" + name)
            os.makedirs(agent)
            with open(os.path.join(agent, "agent.yaml"), "w") as file:
                file.write('schema_version: 1\ntype: agent\nid: agent_%s\nname: %s\nrole: worker\nprovider: %s\n'
                           'model_hint: %s\ncreated_at: "2024-05-01T09:00:00.000Z"\nlauncher: {}\n'
                           % (name, name, name, MODELS[name]))
            with open(os.path.join(agent, "AGENTS.md"), "w") as file:
                file.write("# AGENTS.md\n")
        policy = "".join(
            "  %s: {channel: api, require_subscription_proof: false, allowed_bin_patterns: [%s]}\n" % (name, program)
            for name, program in [*((name, name) for name in bins), ("codex_app_server", "codex")])
        with open(os.path.join(self.dir, ".local", "machine.yaml"), "w") as file:
            file.write("schema_version: 1\ntype: machine\nrepo_roots:\n  site: %s\nprovider_bins:\n" % repo)
            file.write("".join("  %s: %s\n" % pair for pair in bins.items()))
            file.write("provider_execution_policy:\n" + policy)

    def run(self, name):
        return self.gateway.call("run.create", workspace_dir=self.dir, project_id=self.project,
                                 agent_id="agent_" + name.split("_")[0], provider=name)["run_id"]

    def launch(self, provider, prompt, **more):
        run = self.run(provider)
        started = self.gateway.call(
            "session.launch", workspace_dir=self.dir, project_id=self.project, run_id=run, prompt_text=prompt,
            model=MODELS[provider.split("_")[0]], timeout_ms=120000, repo_id="site", **more)
        if started.get("error"):
            raise Failed("session.launch: " + started["error"])
        return run, started["session_ref"]

    def collect(self, session):
        return self.gateway.call("session.collect", workspace_dir=self.dir, session_ref=session)

    def poll(self, session):
        return self.gateway.call("session.poll", workspace_dir=self.dir, session_ref=session)

    def path(self, run, name):
        return os.path.join(self.dir, "work", "projects", self.project, "runs", run, name)

    def usage(self, run):
        with open(self.path(run, "outputs/token_usage.json")) as file:
            usage = json.load(file)
        expect(usage["source"], "provider_reported", "source of the usage")
        return {name: usage.get(name) for name in USAGE}

    def events(self, run):
        with open(self.path(run, "events.jsonl")) as file:
            return [json.loads(line) for line in file if line.strip()]

    def text(self, run):
        with open(self.path(run, "outputs/last_message.md")) as file:
            return file.read().strip()


# ---------------------------------------------------------------- the cases

def session(office, name):
    """A session records its answer and usage, and the model gets AGENTS.md once and no foreign variable."""
    office.model.bodies.clear()
    run, ref = office.launch(name, "TEST-WISH:HELLO Say hello.")
    ended = office.collect(ref)
    expect((ended["status"], ended.get("error")), ("ended", None), "end of the session")
    expect(office.text(run), ANSWER, "last message")
    expect(office.usage(run), USAGE, "usage")
    asked_with = [text for _, text in office.model.bodies if "TEST-WISH:HELLO" in text]
    expect(len(asked_with), 1, "requests to the model")
    expect(asked_with[0].count(CANARY), 1, "occurrences of AGENTS.md in the request")
    for canary in ("ghp_canary_token", "unrelated-canary"):
        expect(canary in "".join(asked_with), False, "a variable of the gateway reached the model: " + canary)
    with open(office.path(run, "events.jsonl")) as file:
        expect(KEY in file.read(), False, "the key is in the events")


def job(office, name):
    """A job: the answer of the worker becomes the result, and the version of the program is recorded."""
    submitted = office.gateway.call("job.submit", job={
        "job_id": "job_" + name, "worker_kind": name, "workspace_dir": office.dir, "project_id": office.project, "goal": "Say hello",
        "constraints": [], "deliverables": ["a greeting"], "permission_level": "read-only", "context_refs": [],
        "manager_actor_id": "human", "manager_role": "human", "context_mode": "manual",
        "worker_agent_id": "agent_" + name})
    done = office.gateway.call("job.collect", workspace_dir=office.dir, project_id=office.project,
                               job_id=submitted["job_id"])
    deadline = time.time() + 120
    while done["status"] in ("queued", "running") and time.time() < deadline:
        time.sleep(0.1)
        done = office.gateway.call("job.collect", workspace_dir=office.dir, project_id=office.project,
                                   job_id=submitted["job_id"])
    attempts = done.get("attempts") or [{}]
    expect(done["status"], "completed", "end of the job %s" % json.dumps(attempts)[:800])
    expect(len(attempts), 1, "attempts %s" % json.dumps(attempts)[:800])
    expect((done["result"]["status"], done["result"]["summary"]), ("succeeded", ANSWER), "result")
    run = attempts[0]["run_id"]
    usage = office.usage(run)
    calls = usage["total_tokens"] // 1234
    expect(usage, {key: value * calls for key, value in USAGE.items()}, "usage")
    provenance = [event["payload"] for event in office.events(run) if event["type"] == "worker.cli.provenance"]
    expect(len(provenance), 1, "worker.cli.provenance events")
    if not re.search(r"\d+\.\d+\.\d+", provenance[0]["provider_version"] or ""):
        raise Failed("no version in %s" % provenance[0])


def stop(office, name):
    """Stopping a session also ends the tool that the worker runs, and is recorded as a stop."""
    run, ref = office.launch(name, "TEST-WISH:NAP Wait a little.", permission_level="run-commands")
    deadline = time.time() + 60
    while not napping() and time.time() < deadline:
        state = office.poll(ref)
        expect(state["status"], "running", "status of the session while its tool runs (%s)" % state.get("error"))
        time.sleep(0.05)
    expect(bool(napping()), True, "the tool is running")
    began = time.time()
    office.gateway.call("session.stop", workspace_dir=office.dir, session_ref=ref)
    ended = office.collect(ref)
    expect(ended["status"], "stopped", "end of the session")
    expect(napping(), [], "tools that outlived their worker")
    return "stopped in %.2f s" % (time.time() - began)


def limit(office, name):
    """A rate limit is classified as such, with the time at which it ends."""
    run, ref = office.launch(name, "TEST-WISH:LIMIT Say hello.")
    ended = office.collect(ref)
    expect(ended["status"], "failed", "end of the session")
    last = office.events(run)[-1]["payload"]
    expect(last.get("error_class"), "rate_limited", "class of the error `%s`" % ended.get("error"))
    lanes = os.path.join(office.dir, ".local", "lanes.json")
    if os.path.exists(lanes):
        os.remove(lanes)
    return "retry_at %s" % last.get("retry_at")


def app_server(office, _):
    """A session with the Codex app server records its answer and usage."""
    run, ref = office.launch("codex_app_server", "TEST-WISH:HELLO Say hello.")
    ended = office.collect(ref)
    expect((ended["status"], ended.get("error")), ("ended", None), "end of the session")
    expect(office.text(run), ANSWER, "last message")
    expect(office.usage(run), USAGE, "usage")


def napping():
    """Returns the ids of the processes that run the command of the tool."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                arguments = file.read().split(b"\0")
            with open("/proc/%s/stat" % pid) as file:
                state = file.read().rsplit(") ", 1)[1][0]
        except OSError:
            continue
        if arguments[:2] == [word.encode() for word in NAP.split()] and state != "Z":
            found.append(int(pid))
    return found


def cases(bins):
    for name in bins:
        for case in (session, job, stop):
            yield "%s %s" % (name, case.__name__), case, name
    if "codex" in bins:
        yield "codex app_server", app_server, "codex"
    # Last, because a rate limit puts the provider into a cool-down.
    for name in bins:
        yield "%s limit" % name, limit, name


def install(cache, wanted):
    """Returns the paths of the programs; installs them with npm if they are not in the cache folder."""
    if not shutil.which("npm"):
        raise SystemExit("real_clis: npm is required; install Node.js 20 or newer")
    os.makedirs(cache, exist_ok=True)
    bins = {name: os.path.join(cache, "node_modules", ".bin", name) for name in wanted}
    if not all(os.path.exists(path) for path in bins.values()):
        packages = [PACKAGES[name] for name in wanted]
        print("installing %s into %s" % (", ".join(packages), cache), flush=True)
        subprocess.run(["npm", "install", "--prefix", cache, "--no-audit", "--no-fund", "--loglevel", "error",
                        *packages], check=True)
    for name in wanted:
        package = os.path.join(cache, "node_modules", *PACKAGES[name].split("/"), "package.json")
        with open(package) as file:
            print("%s %s" % (PACKAGES[name], json.load(file)["version"]))
    return bins


def main():
    usual = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "accord", "real-clis")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", required=True, help="the binary `ac`")
    parser.add_argument("--cache", default=usual, help="the folder in which the programs are installed")
    parser.add_argument("--only", help="run only the cases whose name contains this text")
    parser.add_argument("-v", "--verbose", action="store_true", help="keep the temporary folder and print its path")
    args = parser.parse_args()
    bins = install(args.cache, list(PACKAGES))
    folder = tempfile.mkdtemp(prefix="real-clis-")
    office = Office(os.path.abspath(args.server), bins, Model(), folder)
    passed, failed = 0, 0
    for title, case, name in cases(bins):
        if args.only and args.only not in title:
            continue
        began = time.time()
        try:
            note = case(office, name)
            passed += 1
            print("ok    %-20s %.1f s%s" % (title, time.time() - began, "  " + note if note else ""), flush=True)
        except Failed as error:
            failed += 1
            print("FAIL  %-20s %s" % (title, error), flush=True)
    office.gateway.close()
    if args.verbose:
        print("kept " + folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
