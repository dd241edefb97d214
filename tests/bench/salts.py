"""salts.py - real Salt's daemons beside ours, where HALITE_SALT names a folder with its package (HALITE_SALT_PYTHON its interpreter)."""

import json
import os
import signal
import subprocess

import fleet

PACKAGE = os.environ.get("HALITE_SALT", "")
PYTHON = os.environ.get("HALITE_SALT_PYTHON", "/usr/bin/python3")
ENVIRON = dict(os.environ, PYTHONPATH=PACKAGE, PYTHONWARNINGS="ignore")
STARTS_S = 120  # on a busy machine


def command(name, *words):
    """The argument list of one of Salt's programs."""
    entry = "salt_main" if name == "salt" else name.replace("-", "_")
    start = f"import sys; sys.argv[0] = '{name}'; from salt.scripts import {entry} as run; run()"
    return [PYTHON, "-c", start, *words]


class SaltPair:
    """A master of Salt's and its minion, in a folder and on ports of their own. Among what a fleet.Site ends."""

    def __init__(self, site, name, roots):
        self.name, self.running, self.root = name, [], site.folder()
        self.conf_dir = os.path.join(self.root, "etc")
        os.mkdir(self.conf_dir)
        publish, ret = fleet.free_ports(2)
        shared = {"root_dir": self.root, "publish_port": publish, "log_level": "error", "log_level_logfile": "quiet"}
        master = {"interface": "127.0.0.1", "ret_port": ret, "auto_accept": True, "worker_threads": 2, "file_roots": {"base": [roots]}, "user": "root"}
        minion = {"master": "127.0.0.1", "master_port": ret, "id": name}
        for side, options in (("master", master), ("minion", minion)):
            with open(os.path.join(self.conf_dir, side), "w") as f:
                f.writelines(f"{key}: {json.dumps(value)}\n" for key, value in {**shared, **options}.items())
        site.open.append(self)

    def start(self):
        for side in ("master", "minion"):
            self.running.append(self._daemon(f"salt-{side}"))
        self.pid = self.running[1].pid
        fleet.wait_for("Salt's minion", STARTS_S, self._answers, 0.5)

    def _answers(self):
        """True once the minion does. An exit code of 0 does not tell: `salt` has it without a master, too."""
        said = subprocess.run(self._command("test.ping", "--out=json"), env=ENVIRON, capture_output=True, text=True, check=False)
        return f'"{self.name}": true' in said.stdout

    def _daemon(self, name):
        with open(os.path.join(self.root, f"{name}.log"), "ab") as log:
            return subprocess.Popen(command(name, "-c", self.conf_dir), env=ENVIRON, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def run(self, fun, *words):
        """Milliseconds of a job as its user sees them, and the exit code."""
        took, code = fleet.run_timed(self._command(fun, *words), env=ENVIRON)
        if code != 0:
            raise fleet.BenchError(f"{fun} of real Salt: exit code {code}")
        return took, code

    def _command(self, *words):
        return command("salt", "-c", self.conf_dir, "-t", "60", self.name, *words)

    def stop(self):
        for process in reversed(self.running):
            # Salt's daemons are groups of processes; each has been made a group of its own above.
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.running = []
