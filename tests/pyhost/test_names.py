"""Names that files import: old and new places, six, levels of the log, the version, files that Python 3.8 reads."""

import ast
import importlib
import importlib.util
import io
import logging
import os
import subprocess
import sys
import unittest

import salt

FOLDER = os.path.dirname(os.path.abspath(salt.__file__))
MODULES = sorted(
    os.path.relpath(os.path.join(root, name), os.path.dirname(FOLDER))[:-3].replace(os.sep, ".").replace(".__init__", "")
    for root, _, names in os.walk(FOLDER)
    for name in names
    if name.endswith(".py")
)
YAMLS = ("salt.utils.yaml", "salt.utils.yamlloader", "salt.utils.yamldumper", "salt.utils.mount", "salt.serializers.yaml", "salt.renderers.yaml")
NEED_A_LIBRARY = dict.fromkeys(YAMLS, "yaml")


class Names(unittest.TestCase):
    def test_every_module_imports_alone(self):
        for name in MODULES:
            library = NEED_A_LIBRARY.get(name)
            if library and importlib.util.find_spec(library) is None:
                continue
            with self.subTest(name):
                done = subprocess.run([sys.executable, "-B", "-W", "error", "-c", f"import {name}"], stderr=subprocess.PIPE, check=False)
                self.assertEqual(done.stderr.decode(), "")

    def test_python_3_8_reads_every_file(self):
        for root, _, names in os.walk(FOLDER):
            for name in names:
                if name.endswith(".py"):
                    with open(os.path.join(root, name), encoding="utf-8") as text:
                        ast.parse(text.read(), feature_version=(3, 8))

    def test_parts_are_imported_when_they_are_named(self):
        program = "import salt, salt.utils; salt.utils.files.fopen; salt.client.LocalClient; salt.utils.decorators.path.which; salt.version"
        self.assertEqual(subprocess.run([sys.executable, "-B", "-c", program], check=False).returncode, 0)

    def test_what_is_not_there_is_no_attribute(self):
        with self.assertRaises(AttributeError):
            salt.utils.no_such_thing
        with self.assertRaises(ImportError):
            importlib.import_module("salt.no_such_thing")
        self.assertFalse(hasattr(salt, "no_such_thing"))

    def test_old_flat_names_lead_to_the_new_places(self):
        from salt.utils._flat import OLD_NAMES

        if importlib.util.find_spec("yaml") is None:
            self.skipTest("PyYAML is not installed")
        for old, (module, name) in OLD_NAMES.items():
            with self.subTest(old):
                self.assertIs(getattr(salt.utils, old), getattr(importlib.import_module(module), name))
        self.assertTrue(salt.utils.which("sh"))
        self.assertTrue(salt.utils.is_linux() or sys.platform != "linux")

    def test_six(self):
        from salt.ext import six
        from salt.ext.six import moves
        from salt.ext.six.moves import range, zip  # noqa: F401
        from salt.ext.six.moves.urllib.parse import urlparse

        import salt.ext.six.moves.configparser
        import salt.ext.six.moves.urllib.request

        self.assertEqual(list(six.iteritems({"a": 1})), [("a", 1)])
        self.assertIsInstance("a", six.string_types)
        self.assertEqual(urlparse("http://x/y").netloc, "x")
        self.assertEqual(moves.shlex_quote("a b"), "'a b'")
        self.assertIs(moves.cStringIO, io.StringIO)
        self.assertTrue(salt.ext.six.moves.configparser.ConfigParser)
        with self.assertRaises(AttributeError):
            moves.no_such_thing

        @six.add_metaclass(type("Meta", (type,), {"mark": 5}))
        class Marked:
            pass

        self.assertEqual(Marked.mark, 5)

    def test_levels_of_the_log(self):
        log = logging.getLogger("of.a.module")
        log.setLevel(1)
        with self.assertLogs("of.a.module", 1) as said:
            log.trace("t %s", 1)
            log.garbage("g")
            log.profile("p")
        self.assertEqual([record.levelname for record in said.records], ["TRACE", "GARBAGE", "PROFILE"])

    def test_the_version_is_the_builds(self):
        from salt import _built, syspaths, version

        self.assertEqual(salt.__version__, _built.VERSION)
        self.assertEqual(version.__saltstack_version__.string, _built.VERSION)
        self.assertEqual(syspaths.CONFIG_DIR, os.environ.get("SALT_CONFIG_DIR") or _built.CONFIG_DIR)

    def test_without_pyyaml_the_error_names_the_package(self):
        program = "import sys; sys.modules['yaml'] = None\ntry:\n import salt.utils.yaml\nexcept ImportError as e: print(e)"
        said = subprocess.run([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE, check=False).stdout.decode()
        self.assertIn("python3-yaml", said)

    def test_clients_arguments_need_no_yaml(self):
        program = "import sys; sys.modules['yaml'] = None\nfrom salt.utils import args\nprint([args.yamlify_arg(word) for word in sys.argv[1:]])"
        words = ["5", "1.5", "true", "~", "ls -l", "[1, 2]", '{"a": 1}', "'q'", "a: b", "0644", "x#y"]
        said = subprocess.run([sys.executable, "-B", "-c", program, *words], stdout=subprocess.PIPE, check=False).stdout.decode()
        self.assertEqual(said.strip(), "[5, 1.5, True, None, 'ls -l', [1, 2], {'a': 1}, 'q', 'a: b', 644, 'x#y']")

    def test_what_cant_be_done_says_so(self):
        from salt import cache, client, loader, state

        for call in (
            lambda: loader.states({}, None, None, None),
            lambda: loader.LazyLoader([]),
            lambda: state.HighState({}),
            lambda: client.ProxyCaller(),
            lambda: cache.Cache({}).updated("a", "b"),
        ):
            with self.assertRaises(NotImplementedError) as told:
                call()
            self.assertGreater(len(str(told.exception)), 30)


if __name__ == "__main__":
    unittest.main()
