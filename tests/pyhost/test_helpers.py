"""Helpers whose answers depend on this machine or change it: files, programs, HTTP, signatures, locks, contexts, threads."""

import http.server
import os
import shutil
import tempfile
import threading
import unittest

from salt import crypt, output
from salt.exceptions import CommandExecutionError, CommandNotFoundError, FileLockError, SaltInvocationError
from salt.utils import context, decorators, files, functools, hashutils, network, path, platform, process, stringutils, user, versions
from salt.utils import http as salt_http
from salt.utils import jinja


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def at(self, name):
        return os.path.join(self.folder, name)


class Files(InFolder):
    def test_text_is_utf8_and_lines_end_as_they_do(self):
        with files.fopen(self.at("a"), "w") as out:
            out.write("é\r\n")
        with files.fopen(self.at("a"), "rb") as raw:
            self.assertEqual(raw.read(), "é\r\n".encode())
        with files.fopen(self.at("a")) as text:
            self.assertEqual(text.read(), "é\r\n")

    def test_owner_and_mode(self):
        with files.fpopen(self.at("a"), "w", mode=0o640) as out:
            out.write("x")
        self.assertEqual(files.st_mode_to_octal(os.stat(self.at("a")).st_mode), "0640")
        with files.set_umask(0o077):
            self.assertEqual(files.get_umask(), 0o077)

    def test_copies_keep_the_old_mode_and_a_backup(self):
        for name, text in ("new", "2"), ("old", "1"):
            with files.fopen(self.at(name), "w") as out:
                out.write(text)
        os.chmod(self.at("old"), 0o600)
        files.copyfile(self.at("new"), self.at("old"), "minion", self.folder)
        with files.fopen(self.at("old")) as text:
            self.assertEqual(text.read(), "2")
        self.assertEqual(os.stat(self.at("old")).st_mode & 0o777, 0o600)
        kept = [one for one in files.list_files(self.at("file_backup")) if os.path.isfile(one)]
        with files.fopen(kept[0]) as text:
            self.assertEqual((len(kept), text.read()), (1, "1"))

    def test_temporary_files_locks_walks_and_removal(self):
        name = files.mkstemp(dir=self.folder)
        self.assertTrue(os.path.basename(name).startswith("__salt.tmp."))
        files.safe_rm(name)
        files.safe_rm(name)
        files.remove(name)
        with files.wait_lock(name):
            with self.assertRaises(FileLockError), files.wait_lock(name, timeout=0):
                pass
        with files.wait_lock(name, timeout=0):
            pass
        os.makedirs(self.at("d/e"))
        os.symlink(self.at("d"), self.at("d/e/loop"))
        self.assertEqual([root for root, _, _ in files.safe_walk(self.at("d"))], [self.at("d"), self.at("d/e")])
        files.rm_rf(self.at("d"))
        self.assertFalse(os.path.exists(self.at("d")))

    def test_digests(self):
        with files.fopen(self.at("a"), "w") as out:
            out.write("abc")
        self.assertEqual(hashutils.get_hash(self.at("a"), "md5"), "900150983cd24fb0d6963f7d28e17f72")
        collector = hashutils.DigestCollector("md5")
        collector.add(self.at("a"))
        self.assertEqual(collector.digest(), "900150983cd24fb0d6963f7d28e17f72")
        with self.assertRaises(ValueError):
            hashutils.get_hash(self.at("a"), "no")

    def test_signatures(self):
        if path.which("openssl") is None:
            self.skipTest("openssl is not installed")
        key = crypt.gen_keys(self.folder, "k", 2048)
        self.assertEqual(os.stat(key).st_mode & 0o777, 0o400)
        sign = crypt.sign_message(key, "text")
        self.assertTrue(crypt.verify_signature(self.at("k.pub"), "text", sign))
        self.assertFalse(crypt.verify_signature(self.at("k.pub"), "other", sign))
        with self.assertRaises(CommandExecutionError):
            crypt.sign_message(self.at("none.pem"), "text")


class Programs(unittest.TestCase):
    def test_which(self):
        shell = path.which("sh")
        self.assertTrue(os.access(shell, os.X_OK))
        self.assertEqual(path.which(shell), shell)
        self.assertEqual(path.which_bin(["no-such-program", "sh"]), shell)
        self.assertEqual([path.which(name) for name in ("no-such-program", "/no/such/program", "", None)], [None] * 4)
        with self.assertRaises(CommandNotFoundError):
            path.check_or_die("no-such-program")

    def test_the_system_and_its_users(self):
        self.assertEqual(platform.is_linux(), os.uname().sysname == "Linux")
        self.assertFalse(platform.is_windows() or platform.is_proxy())
        self.assertEqual(user.get_uid("root"), 0)
        self.assertIsNone(user.get_gid("no-such-group"))
        self.assertIn(user.get_default_group("root"), user.get_group_list("root"))
        self.assertTrue(process.os_is_running(os.getpid()))

    def test_this_machines_addresses(self):
        self.assertIn("127.0.0.1", network.ip_addrs(include_loopback=True))
        self.assertNotIn("127.0.0.1", network.ip_addrs())
        self.assertTrue(network.in_subnet("127.0.0.0/8", ["127.0.0.1"]))
        self.assertEqual(network.hw_addr("lo"), "00:00:00:00:00:00")
        self.assertRegex(network.gen_mac(), r"^AC:DE:48(:[0-9A-F]{2}){3}$")

    def test_random_texts(self):
        self.assertEqual((len(stringutils.random()), len(stringutils.random(8))), (32, 8))
        self.assertNotEqual(hashutils.random_hash(), hashutils.random_hash())


class Http(unittest.TestCase):
    def setUp(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                missing = self.path.startswith("/missing")
                said = '{"path": "%s", "method": "%s", "body": "%s", "auth": "%s"}' % (
                    self.path, self.command, body, self.headers.get("Authorization", ""))
                self.send_response(404 if missing else 200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(said.encode())

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *args):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def test_queries(self):
        self.assertIn('"path": "/a"', salt_http.query(self.url + "/a")["body"])
        told = salt_http.query(self.url + "/a", "POST", params={"x": 1}, data={"k": "v"}, decode=True, status=True, headers=True,
                               username="u", password="p")
        self.assertEqual((told["status"], told["dict"]["path"], told["dict"]["method"]), (200, "/a?x=1", "POST"))
        self.assertEqual((told["dict"]["body"], told["dict"]["auth"]), ("k=v", "Basic dTpw"))
        self.assertEqual(told["headers"]["Content-Type"], "application/json")
        missing = salt_http.query(self.url + "/missing", status=True)
        self.assertEqual(missing["status"], 404)
        self.assertIn("404", missing["error"])
        self.server.socket.close()
        self.assertIn("error", salt_http.query("http://127.0.0.1:1/"))


class Functions(unittest.TestCase):
    def test_copies_of_functions_have_the_globals_of_their_file(self):
        theirs, ours = {}, {"__name__": "mine", "__salt__": {"a": 1}}
        exec("def fun(x=1):\n    return __salt__['a'] + helper() + x\ndef helper():\n    return 10", theirs)
        copy = functools.namespaced_function(theirs["fun"], ours)
        self.assertEqual((copy(), copy.__module__), (12, "mine"))
        ours["__salt__"] = {"a": 2}
        self.assertEqual(copy(x=2), 14)
        alias = functools.alias_function(theirs["helper"], "other")
        self.assertEqual((alias(), alias.__name__), (10, "other"))

    def test_injected_globals_go_again(self):
        names = {}
        exec("def fun():\n    return there", names)
        with context.func_globals_inject(names["fun"], there=5):
            self.assertEqual(names["fun"](), 5)
        self.assertNotIn("there", names)

    def test_calls_as_states_make_them(self):
        self.assertEqual(functools.call_function(lambda a, b=2: (a, b), 1, {"b": 3}), (1, 3))
        with self.assertRaises(SaltInvocationError):
            functools.call_function(lambda a: a)

    def test_views_of_a_dictionary(self):
        whole = context.ContextDict(a=1)
        with whole.clone(a=2):
            self.assertEqual(whole["a"], 2)
        self.assertEqual(whole["a"], 1)
        outer = {}
        inner = context.NamespacedDictWrapper(outer, ("x", "y"))
        inner["k"] = 1
        self.assertEqual(outer, {"x": {"y": {"k": 1}}})
        self.assertIsInstance(inner, dict)

    def test_warnings_become_faults_at_their_version(self):
        with self.assertWarns(DeprecationWarning):
            versions.warn_until(3099, "until {version}")
        with self.assertRaises(RuntimeError):
            versions.warn_until("Neon", "gone")
        self.assertGreater(versions.LooseVersion("1.10"), versions.LooseVersion("1.9"))
        self.assertEqual(versions.version_cmp("1.0", "1.0a"), -1)

    def test_deprecated_functions(self):
        names = {"__name__": "mine", "__opts__": {}}
        old = decorators.is_deprecated(names, "Argon", with_successor="new")(lambda: 1)
        with self.assertLogs("salt.utils.decorators._deprecation", "WARNING"):
            self.assertEqual(old(), 1)
        gone = decorators.is_deprecated(names, "Neon")(lambda: 1)
        with self.assertRaises(CommandExecutionError), self.assertLogs("salt.utils.decorators._deprecation", "WARNING"):
            gone()

    def test_a_mapping_whose_text_is_yaml(self):
        made = jinja.PrintableDict([("b", "x"), ("a", 1), ("c", jinja.PrintableDict(d="y"))])
        self.assertEqual(str(made), "{'b': 'x', 'a': 1, 'c': {'d': 'y'}}")
        self.assertEqual(repr(made), str(made))

    def test_nested_output(self):
        text = output.out_format({"a": [1, {"b": "x\ny"}], "c": ""}, "nested", {"color": False})
        self.assertEqual(text, "a:\n    - 1\n    |_\n      ----------\n      b:\n          x\n          y\nc:")
        self.assertEqual(output.strip_colors(output.out_format({"a": 1}, "nested", {"color": True})), "a:\n    1")


if __name__ == "__main__":
    unittest.main()
