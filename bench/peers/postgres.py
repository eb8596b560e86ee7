"""A temporary PostgreSQL server for the peers that need one, with the default durability (`fsync` is on)."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


class Postgres:
    """Runs Debian's binaries on a free port of the loopback interface."""

    def __enter__(self):
        versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
        if not versions:
            raise RuntimeError("no PostgreSQL: apt-get install postgresql")
        self.programs = versions[-1].parent
        self.folder = tempfile.mkdtemp(prefix="peer-postgres-")
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        # PostgreSQL refuses to run as root. Debian's package creates the user `postgres`.
        self.user = []
        if os.geteuid() == 0:
            self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]
            shutil.chown(self.folder, "postgres", "postgres")
        data = f"{self.folder}/data"
        self.run(*self.user, self.program("initdb"), "-D", data, "-U", "postgres", "--auth", "trust", "--no-sync")
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "", "max_connections": 200}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.server = subprocess.Popen(
            [*self.user, self.program("postgres"), "-D", data, *options], cwd="/", stderr=subprocess.DEVNULL
        )
        self.run(self.program("pg_isready"), "--host", "127.0.0.1", "--port", str(self.port), tries=100)
        return self

    def __exit__(self, *_):
        self.server.send_signal(signal.SIGINT)
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self, name):
        self.run(self.program("createdb"), *self.reach(), name)
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def version(self):
        said = self.run(self.program("psql"), *self.reach(), "-Atc", "SHOW server_version")
        return f"PostgreSQL {said.split()[0]}"

    def reach(self):
        return ["--host", "127.0.0.1", "--port", str(self.port), "--username", "postgres"]

    def program(self, name):
        return str(self.programs / name)

    def run(self, *command, tries=1):
        for _ in range(tries):
            done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return done.stdout
            time.sleep(0.1)
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
