#!/usr/bin/env python3
"""Measures the time from the start of the gateway to its first response, and its memory when idle.

    benches/start.py [--server target/release/ac] [--runs 30]

Prints a table and exits with code 1 if a target is missed. Requires Linux and only the Python standard library.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

TARGET_MILLISECONDS = 20
TARGET_MEGABYTES = 30
LIST = {"jsonrpc": "2.0", "id": 1, "method": "workspace/list", "params": {}}


def milliseconds_since(started):
    return (time.perf_counter() - started) * 1000


def stdio(server, home):
    """Returns the milliseconds from the start of the process to the response on standard output."""
    request = (json.dumps(LIST) + "\n").encode()
    started = time.perf_counter()
    process = subprocess.Popen(
        [server, "server:start", "--home", home], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdin.write(request)
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    elapsed = milliseconds_since(started)
    assert "result" in answer, answer
    process.stdin.close()
    assert process.wait(timeout=10) == 0
    return elapsed


class Serve:
    """A running `ac serve`."""

    def __init__(self, server, home):
        self.process = subprocess.Popen(
            [server, "serve", "--home", home, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
        )
        first = self.process.stdout.readline()
        self.host, port = first.split("http://")[1].strip().strip("/").rsplit(":", 1)
        self.port = int(port)
        self.home = home

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)

    def is_ready(self):
        """Returns whether `GET /ready` responds with 200."""
        with socket.create_connection((self.host, self.port)) as connection:
            connection.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return connection.recv(4096).startswith(b"HTTP/1.1 200")

    def call(self):
        """Calls `workspace/list` over a new WebSocket and returns the result."""
        with open(os.path.join(self.home, "token")) as file:
            token = file.read().strip()
        with socket.create_connection((self.host, self.port)) as connection:
            connection.sendall(
                "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                f"Authorization: Bearer {token}\r\n\r\n".encode()
            )
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(4096)
            head, received = received.split(b"\r\n\r\n", 1)
            assert head.startswith(b"HTTP/1.1 101"), head
            payload = json.dumps(LIST).encode()
            assert len(payload) < 126
            # A text frame, masked with zeros.
            connection.sendall(bytes([0x81, 0x80 | len(payload)]) + bytes(4) + payload)
            while True:
                if len(received) >= 2:
                    length, start = received[1], 2
                    if length == 126 and len(received) >= 4:
                        length, start = int.from_bytes(received[2:4], "big"), 4
                    if length != 126 and len(received) >= start + length:
                        return json.loads(received[start : start + length])["result"]
                received += connection.recv(4096)

    def resident_megabytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
        raise RuntimeError("the process has no VmRSS")


def ready(server, home):
    """Returns the milliseconds from the start of the process to a 200 of `/ready`."""
    started = time.perf_counter()
    with Serve(server, home) as serve:
        assert serve.is_ready()
        return milliseconds_since(started)


def websocket(server, home):
    """Returns the milliseconds from the start of the process to the response over WebSocket."""
    started = time.perf_counter()
    with Serve(server, home) as serve:
        serve.call()
        return milliseconds_since(started)


def memory(server, home):
    """Returns the resident memory in megabytes after the start and one request."""
    with Serve(server, home) as serve:
        serve.call()
        return serve.resident_megabytes()


def existing(measure, server, runs):
    """Returns the median of runs on one existing home."""
    with tempfile.TemporaryDirectory() as home:
        measure(server, home)
        return statistics.median(measure(server, home) for _ in range(runs))


def fresh(measure, server, runs):
    """Returns the median of runs with a new home each."""
    values = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as home:
            values.append(measure(server, home))
    return statistics.median(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", default="target/release/ac", help="path of the binary to measure")
    parser.add_argument("--runs", type=int, default=30, help="number of runs per measurement")
    options = parser.parse_args()
    if not os.access(options.server, os.X_OK):
        sys.exit(f"{options.server} does not exist: build it with `cargo build --release`, or pass --server")

    rows = [
        ("first response, stdio, existing home", existing, stdio, "ms", TARGET_MILLISECONDS),
        ("first response, stdio, fresh home", fresh, stdio, "ms", TARGET_MILLISECONDS),
        ("HTTP ready, serve, existing home", existing, ready, "ms", TARGET_MILLISECONDS),
        ("HTTP ready, serve, fresh home", fresh, ready, "ms", TARGET_MILLISECONDS),
        ("first response, WebSocket, existing home", existing, websocket, "ms", TARGET_MILLISECONDS),
        ("first response, WebSocket, fresh home", fresh, websocket, "ms", TARGET_MILLISECONDS),
        ("idle memory, serve", existing, memory, "MB", TARGET_MEGABYTES),
    ]
    missed = False
    print(f"{'median of ' + str(options.runs) + ' runs':<42}{'value':>10}{'target':>10}")
    for title, on, measure, unit, target in rows:
        value = on(measure, options.server, options.runs)
        is_missed = value > target
        missed |= is_missed
        print(f"{title:<42}{f'{value:.1f} {unit}':>10}{f'{target} {unit}':>10}{'  missed' if is_missed else ''}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
