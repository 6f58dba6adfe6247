#!/usr/bin/env python3
"""Runs the gateway conformance groups that must pass so far.

Cases in ci/gateway-pending.txt need methods that are not built yet. Such a case must fail: one that passes has to
leave the list, so that the list can only shrink.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GROUPS = "^(transport|threads|tree|agents_doc|agents_resolve|turns|schemas)/"


def pending():
    with open(os.path.join(ROOT, "ci", "gateway-pending.txt"), encoding="utf-8") as lines:
        names = (line.split("#")[0].strip() for line in lines)
        return {name for name in names if name}


def run(report):
    server = os.path.join(ROOT, "target", "release", "ac")
    suite = os.path.join(ROOT, "conformance", "gateway", "check.py")
    command = [sys.executable, suite, "--server", server, "-k", GROUPS, "--junit", report]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    cases = ET.parse(report).getroot().iter("testcase") if os.path.getsize(report) else []
    results = {f"{case.get('classname')}/{case.get('name')}": case.find("failure") is None for case in cases}
    if not results:
        print(done.stdout)
    return results


def main():
    waiting = pending()
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        results = run(report.name)
    problems = []
    for name, passed in results.items():
        if passed and name in waiting:
            problems.append(f"{name} passes: take it off ci/gateway-pending.txt")
        elif not passed and name not in waiting:
            problems.append(f"{name} fails: python3 conformance/gateway/check.py --server target/release/ac -v -k '{re.escape(name)}'")
    problems += [f"{name} is on ci/gateway-pending.txt and is no case" for name in sorted(waiting - results.keys())]
    for problem in problems:
        print(problem)
    passed = sum(results.values())
    print(f"{passed} cases pass, {len(results) - passed} wait for later methods")
    return 1 if problems or not results else 0


if __name__ == "__main__":
    sys.exit(main())
