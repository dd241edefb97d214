"""The line to the master: frames, refusals, jobs whose minions answer, fall silent or go away, and the bus."""

import json
import os
import shutil
import socket
import struct
import tempfile
import threading
import unittest

from salt import _job, _local, client, runner
from salt.exceptions import EauthAuthenticationError, PublishError, SaltClientError, SaltReqTimeoutError
from salt.utils import event


class Master(threading.Thread):
    """Answers one connection after another by a function: request -> messages."""

    def __init__(self, answer, node="master"):
        super().__init__(daemon=True)
        self.folder = tempfile.mkdtemp()
        self.answer, self.asked = answer, []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(os.path.join(self.folder, _local.SOCKETS[node]))
        self.socket.listen(8)
        self.opts = {"sock_dir": self.folder, "timeout": 5}
        self.start()

    def run(self):
        while True:
            try:
                line, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(line,), daemon=True).start()

    def serve(self, line):
        with line, line.makefile("rb") as words:
            while True:
                head = words.read(4)
                if len(head) < 4:
                    return
                request = json.loads(words.read(struct.unpack(">I", head)[0]))
                self.asked.append(request)
                for message in self.answer(request):
                    if message is None:
                        return
                    text = json.dumps(message).encode()
                    whole = struct.pack(">I", len(text)) + text
                    # In two pieces, as a stream may bring it.
                    line.sendall(whole[:5])
                    line.sendall(whole[5:])

    def end(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.join()
        shutil.rmtree(self.folder)


def ok(request, **fields):
    return dict(fields, n=request["n"], ok=True)


def ret(id_, value, retcode=0):
    return {"push": "ret", "jid": "1", "id": id_, "fun": "test.ping", "return": value, "retcode": retcode, "success": not retcode}


class Line(unittest.TestCase):
    def master(self, answer, node="master"):
        master = Master(answer, node)
        self.addCleanup(master.end)
        return master

    def job(self, *pushes):
        return self.master(lambda request: [ok(request, jid="1", minions=["a", "b"], missing=["c"]), *pushes])

    def test_pushes_before_the_answer_are_kept(self):
        master = self.master(lambda request: [{"push": "x"}, ok(request, value=5)])
        with _local.connect(master.opts) as line:
            self.assertEqual(line.call("status")["value"], 5)
            self.assertEqual(line.next(0), {"push": "x"})
            self.assertIsNone(line.next(0))

    def test_refusals_have_classes(self):
        codes = {"a": -13, "b": -22}
        master = self.master(lambda request: [{"n": request["n"], "ok": False, "error": "no", "code": codes[request["op"]]}])
        with _local.connect(master.opts) as line:
            with self.assertRaisesRegex(EauthAuthenticationError, "no"):
                line.call("a")
            with self.assertRaisesRegex(PublishError, "no"):
                line.call("b")

    def test_a_silent_master_and_one_that_goes(self):
        silent = self.master(lambda request: [])
        with _local.Line(silent.folder, timeout=0.01) as line, self.assertRaises(SaltReqTimeoutError):
            line.call("status")
        gone = self.master(lambda request: [None])
        with _local.connect(gone.opts) as line, self.assertRaisesRegex(SaltClientError, "closed the connection"):
            line.call("status")

    def test_data_that_json_has_not(self):
        master = self.master(lambda request: [ok(request)])
        with _local.connect(master.opts) as line:
            line.call("x", a=(1, b"b"), b={1: {2}}, c=2**70, d="\udcff")
        asked = master.asked[0]
        self.assertEqual((asked["a"], asked["b"], asked["c"], asked["d"]), ([1, "b"], {"1": [2]}, str(2**70), "?"))

    def test_all_returned(self):
        master = self.job(ret("a", True), ret("a", "twice"), ret("x", 1), ret("b", {"k": 1}, 2))
        self.assertEqual(client.LocalClient(mopts=master.opts).cmd("*", "test.ping"), {"a": True, "b": {"k": 1}, "c": False})

    def test_who_cant_return_is_not_waited_for(self):
        master = self.job(ret("a", True), {"push": "verdict", "jid": "1", "id": "b", "verdict": "not_connected"})
        answers = list(client.LocalClient(mopts=master.opts).cmd_cli("*", "test.ping"))
        self.assertEqual(answers[0]["a"]["ret"], True)
        self.assertEqual([(list(one)[0], one[list(one)[0]]["out"]) for one in answers[1:]], [("b", "no_return"), ("c", "no_return")])

    def test_silence_ends_the_wait_unless_a_minion_runs_the_job(self):
        master = self.job(ret("a", True))
        local = client.LocalClient(mopts=dict(master.opts, timeout=0.05))
        self.assertEqual(local.cmd("*", "test.ping"), {"a": True, "b": False, "c": False})
        job = _job.Job(None, {"jid": "1", "minions": ["a"]}, 0)
        job._take({"push": "verdict", "id": "a", "verdict": "running"})
        self.assertFalse(job.over())
        job._take({"push": "verdict", "id": "a", "verdict": "running", "connected": False})
        self.assertTrue(job.over())

    def test_a_master_that_restarts_is_asked_again(self):
        def answer(request):
            if request["op"] == "publish":
                return [ok(request, jid="1", minions=["a", "b"]), ret("a", 1), None]
            return [ok(request, jid="1", minions=["a", "b"]), ret("a", 1), ret("b", 2)]

        master = self.master(answer)
        self.assertEqual(client.LocalClient(mopts=master.opts).cmd("*", "test.ping"), {"a": 1, "b": 2})
        self.assertEqual([request["op"] for request in master.asked], ["publish", "follow"])

    def test_a_job_that_the_master_forgot_is_over(self):
        def answer(request):
            if request["op"] == "publish":
                return [ok(request, jid="1", minions=["a"]), None]
            return [{"n": request["n"], "ok": False, "error": "no such job", "code": -2}]

        self.assertEqual(client.LocalClient(mopts=self.master(answer).opts).cmd("*", "test.ping"), {"a": False})

    def test_the_request_of_a_job(self):
        master = self.job({"push": "done", "jid": "1"})
        local = client.LocalClient(mopts=master.opts)
        local.cmd("a, b", "cmd.run", ["ls", "cwd=/x"], tgt_type="list", kwarg={"y": [1]}, metadata={"m": 1})
        asked = master.asked[0]
        self.assertEqual((asked["tgt"], asked["fun"], asked["metadata"]), (["a", "b"], "cmd.run", {"m": 1}))
        self.assertEqual(asked["arg"], ["ls", {"cwd": "/x", "y": [1], "__kwarg__": True}])
        with self.assertRaises(EauthAuthenticationError):
            local.cmd("*", "test.ping", eauth="pam", username="u", password="p")

    def test_a_runner_with_progress_before_its_end(self):
        master = self.master(
            lambda request: [
                ok(request, jid="7", tag="salt/run/7"),
                {"push": "progress", "jid": "7"},
                {"push": "runner", "jid": "7", "return": [1], "retcode": 0, "success": True},
            ]
        )
        self.assertEqual(runner.RunnerClient(master.opts).cmd("a.b", ["x"], kwarg={"k": 1}), [1])
        self.assertEqual(master.asked[0]["arg"], ["x", {"k": 1, "__kwarg__": True}])

    def test_the_bus(self):
        def answer(request):
            if request["op"] != "events":
                return [ok(request, seq=1)]
            names = ("a/1", "b/1", "a/2")
            pushes = [{"push": "event", "seq": i, "tag": tag, "data": {"n": i}} for i, tag in enumerate(names)]
            return [ok(request, seq=0), {"push": "missed", "from": 1, "to": 2, "count": 1}, *pushes]

        master = self.master(answer)
        with self.assertLogs("salt.utils.event", "WARNING"), event.get_event("master", opts=master.opts) as bus:
            bus.subscribe("a/")
            self.assertEqual(bus.get_event(tag="b/"), {"n": 1})
            self.assertEqual(bus.get_event(tag="a/", full=True), {"tag": "a/1", "data": {"n": 0}})
            self.assertEqual(bus.get_event(tag="2", match_type="endswith"), {"n": 2})
            self.assertIsNone(bus.get_event(wait=0.01))
            self.assertTrue(bus.fire_event({"x": 1}, "c/d"))
            with self.assertRaises(ValueError):
                bus.fire_event({"x": 1}, "")
        self.assertEqual((master.asked[-1]["op"], master.asked[-1]["tag"], master.asked[-1]["data"]), ("fire", "c/d", {"x": 1}))

    def test_a_minions_bus_has_its_own_operation(self):
        master = self.master(lambda request: [ok(request)], "minion")
        self.assertTrue(event.get_event("minion", opts=master.opts, listen=False).fire_event({}, "t"))
        self.assertEqual(master.asked[0]["op"], "event")


if __name__ == "__main__":
    unittest.main()
