"""What a user's file may say to the loader, and what each file gets. Everything here is what Salt 3006.0's loader does with the
same files, except for rows that say otherwise."""

import os
import py_compile
import shutil
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import otherend  # noqa: E402

PACKAGE = next((p for p in sys.path if os.path.isfile(os.path.join(p, "salt", "_kinds.py"))), None)
CALLS = "def call():\n    return 1\n"


class Loading(unittest.TestCase):
    def setUp(self):
        self.top = self.base = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.base)

    def interpreter(self, files=None, kinds=("modules",), **given):
        """An interpreter with these files, {"modules/x.py": text} or {"x.py": text} of modules; without files, with the last
        ones: bytecode is as old as the file's second, so that each test's files need a folder of their own."""
        self.top = os.path.join(self.base, str(len(os.listdir(self.base)))) if files else self.top
        files = {name if "/" in name and name.split("/")[0] in kinds else f"modules/{name}": text
                 for name, text in (files or {}).items()}
        otherend.folder_of(self.top, files)
        dirs = {kind: [os.path.join(self.top, kind)] for kind in kinds}
        opts = {"cachedir": self.top, **given.pop("opts", {})}
        found = otherend.Interpreter(dirs, opts=opts, package=PACKAGE, **given)
        self.addCleanup(found.__exit__, None, None, None)
        return found

    def loaded(self, text, **given):
        """(names, reason, functions) of a module x.py."""
        with self.interpreter({"x.py": text}, **given) as line:
            file, = line.described("modules", "x")
        return file["names"], file["why"], otherend.names_of(file)

    def each(self, texts):
        """loaded() of several modules, which one interpreter loads; each is told as x."""
        stems = [f"x{i:02d}x" for i in range(len(texts))]
        with self.interpreter({f"{stem}.py": text.replace("'x'", f"'{stem}'") for stem, text in zip(stems, texts)}) as line:
            for stem, file in zip(stems, line.described("modules")):
                yield ([name.replace(stem, "x") for name in file["names"]], file["why"] and file["why"].replace(stem, "x"),
                       otherend.names_of(file))

    def calls(self, text, function="call", *args, **given):
        with self.interpreter({"x.py": text}, **given) as line:
            return line.call(f"x.{function}", *args)


class Printing(Loading):
    def test_what_ends_without_a_line_end_is_a_line_of_the_log_too(self):
        text = ("import sys\n\n\ndef inner():\n    print('in', end='')\n\n\ndef call(fails=False):\n    print('one\\ntwo', end='')\n"
                "    inner()\n    print('err', end='', file=sys.stderr)\n    return 1 / (not fails)\n")
        for fails in False, True:
            with self.subTest(fails=fails), self.interpreter({"x.py": text}) as line:
                try:
                    line.call("x.call", fails=fails)
                except otherend.Failed as e:
                    self.assertIn("ZeroDivisionError", e.text)
                said = [text.rpartition(": ")[2] for _, text in line.logged]
                self.assertEqual([word for word in said if word in ("one", "twoin", "err")], ["one", "twoin", "err"])


class PackageUtils(Loading):
    """__utils__ of files of Salt's own package, for which a folder stands."""

    FILES = {
        "salt/__init__.py": "",
        "salt/utils/__init__.py": "",
        "salt/utils/sees.py": "def __virtual__():\n    return __opts__['id'] == 'm1'\n\n\ndef told():\n    return __grains__['role']\n",
        "salt/utils/raises.py": "def __virtual__():\n    raise RuntimeError('not here')\n\n\ndef told():\n    return 1\n",
        "salt/utils/silent.py": "__salt__ = None\n\n\ndef __virtual__():\n    return None if __salt__ else False\n\n\ndef told():\n    return 1\n",
        "salt/utils/broken.py": "raise ValueError('broken')\n",
        "salt/utils/says_no.py": "def __virtual__():\n    return False, 'no'\n\n\ndef told():\n    return 1\n",
    }

    def test_they_get_what_users_files_get_and_one_that_fails_is_absent(self):
        own = os.path.join(self.base, "package")
        otherend.folder_of(own, self.FILES)
        text = ("def call():\n    names = ('sees', 'silent', 'raises', 'broken', 'says_no', 'nosuch')\n"
                "    return [[n for n in names if n + '.told' in __utils__], __utils__['sees.told']()]\n")
        said = self.calls(text, salt=own, opts={"id": "m1"}, grains={"role": "web"})
        self.assertEqual(said, [["sees", "silent"], "web"])


class Virtual(Loading):
    def virtual(self, *rows):
        """Each row is the file's head, the body of __virtual__, and the expected names and reason."""
        texts = [f"{head}\n\ndef __virtual__():\n    {body}\n\n\n{CALLS}" for head, body, _, _ in rows]
        for row, said in zip(rows, self.each(texts)):
            with self.subTest(row[0] + row[1]):
                self.assertEqual(said[:2], row[2:])

    def test_what_it_returns(self):
        raised = "Exception raised when processing __virtual__ function for salt.loaded.ext.module.x. Module will not be loaded: "
        self.virtual(
            ("", "return True", ["x"], None),
            ("", "return 'y'", ["y"], None),
            ("", "return 'x'", ["x"], None),
            ("", "return True, 'loads with a reason'", ["x"], None),
            ("", "return False", ["x"], ""),
            ("", "return None", ["x"], ""),
            ("", "pass", ["x"], ""),
            ("", "return ''", ["x"], ""),
            ("", "return False, 'no frobnicator'", ["x"], "no frobnicator"),
            ("", "return False, None", ["x"], ""),
            ("", "return False, ['a', 1]", ["x"], "['a', 1]"),
            ("", "return None, 'nothing'", ["x"], "nothing"),
            ("", "raise OSError('no disk')", ["x"], raised + "no disk"),
            ("", "return __grains__['shelf']", ["x"], raised + "'shelf'"),
            ("", "return __salt__['nosuch.fun']()", ["x"], raised + "'nosuch.fun'"),
        )

    def test_the_name_that_the_file_gives(self):
        self.virtual(
            ("__virtualname__ = 'y'", "return True", ["y"], None),
            ("__virtualname__ = 'y'", "return 'y'", ["y"], None),
            ("__virtualname__ = 'y'", "return 'z'", ["y"], None),
            ("__virtualname__ = 'y'", "return 'x'", ["x"], None),
            ("__virtual_aliases__ = ('a', 'b')", "return True", ["x", "a", "b"], None),
            ("__virtualname__ = 'y'\n__virtual_aliases__ = ['a']", "return 'y'", ["y", "a"], None),
        )
        self.assertEqual(self.loaded("__virtualname__ = 'y'\n" + CALLS)[0], ["x"])
        self.assertEqual(self.loaded("__virtual__ = 'y'\n" + CALLS)[0], ["x"])

    def test_less_than_a_reason(self):
        """Salt takes the first two for a failure of its own."""
        self.virtual(("", "return (False,)", ["x"], ""), ("", "return ()", ["x"], ""), ("", "return 1", ["x"], None))

    def test_a_mismatch_and_none_are_told(self):
        line = self.interpreter({"x.py": "__virtualname__ = 'y'\n\n\ndef __virtual__():\n    return 'z'\n"})
        line.described("modules")
        self.assertTrue([text for level, text in line.logged if level == 40 and "'z'" in text and "'y'" in text])
        line = self.interpreter({"x.py": "def __virtual__():\n    pass\n"})
        line.described("modules")
        self.assertTrue([text for level, text in line.logged if level == 30 and "None" in text])

    def test_it_may_ask_for_functions_of_its_own_kind(self):
        line = self.interpreter({
            "asks.py": "def __virtual__():\n    return 'later.call' in __salt__ and 'asks.call' not in __salt__\n\n\n" + CALLS,
            "also.py": "def __virtual__():\n    return 'nosuch.call' not in __salt__ or (False, 'why')\n\n\n" + CALLS,
            "later.py": "def __virtual__():\n    return 'asks.call' not in __salt__\n\n\n"
                        "def both():\n    return ['asks.call' in __salt__, __salt__['asks.call']()]\n\n\n" + CALLS,
        })
        self.assertEqual({file["stem"]: file["why"] for file in line.described("modules")},
                         {"also": None, "asks": None, "later": None})
        self.assertEqual(line.call("later.both"), [True, 1])


class Functions(Loading):
    def test_which_are_public(self):
        rows = (
            ("def b():\n    pass\n\n\ndef a():\n    pass\n\n\ndef _c():\n    pass\n", ["a", "b"]),
            ("__all__ = ['a']\n\n\ndef b():\n    pass\n\n\ndef a():\n    pass\n", ["a"]),
            ("__load__ = ['b']\n__all__ = ['a']\n\n\ndef b():\n    pass\n\n\ndef a():\n    pass\n", ["b"]),
            ("__load__ = []\n\n\ndef a():\n    pass\n", []),
            ("__all__ = ()\n\n\ndef a():\n    pass\n", []),
            ("from os.path import join\nimport os\n\n\nclass A:\n    pass\n\n\nb = 1\nc = lambda: 1\n", ["c"]),
            ("__func_alias__ = {'list_': 'list', 'set_': 'set'}\n\n\ndef list_():\n    pass\n", ["list"]),
            ("import functools\n\n\ndef a():\n    pass\n\n\nb = functools.partial(a)\n", ["a"]),
            ("import functools\n\n\ndef a():\n    pass\n\n\nb = functools.partial(a)\nb.__module__ = __name__\n", ["a", "b"]),
            ("import functools\n\n\ndef _w(f):\n    @functools.wraps(f)\n    def g(*args):\n        return f(*args)\n    return g\n"
             "\n\n@_w\ndef a():\n    pass\n", ["a"]),
            ("class A:\n    def __call__(self):\n        return 1\n\n\na = A()\n", []),
            ("def __call__():\n    pass\n", ["__call__"]),
        )
        for (text, names), said in zip(rows, self.each([text for text, _ in rows])):
            with self.subTest(text):
                self.assertEqual(said[2], names)

    def test_namespaced_functions_and_imported_ones(self):
        text = ("import shared\nfrom shared import said, other\nfrom salt.utils.functools import namespaced_function\n\n"
                "said = namespaced_function(said, globals())\n")
        line = self.interpreter({"x.py": text, "utils/shared.py": "def said():\n    return __opts__['id']\n\n\ndef other():\n    pass\n"},
                                kinds=("modules", "utils"))
        self.assertEqual(otherend.names_of(line.described("modules")[0]), ["said"])
        self.assertEqual(line.call("x.said"), "m1")

    def test_depends(self):
        text = ("from salt.utils.decorators import depends\n\ntry:\n    import nosuch_library\n    HAS = True\nexcept ImportError:\n"
                "    HAS = False\nTHERE = True\n\n\ndef _instead():\n    return 'instead'\n\n\n"
                "@depends('json')\ndef a():\n    return 'a'\n\n\n@depends('nosuch_library')\ndef b():\n    pass\n\n\n"
                "@depends('nosuch_library', fallback_function=_instead)\ndef c():\n    pass\n\n\n"
                "@depends(HAS)\ndef d():\n    pass\n\n\n@depends(THERE)\ndef e():\n    return 'e'\n")
        line = self.interpreter({"x.py": "import json\n" + text})
        self.assertEqual(otherend.names_of(line.described("modules")[0]), ["a", "c", "e"])
        self.assertEqual([line.call("x.a"), line.call("x.c"), line.call("x.e")], ["a", "instead", "e"])


class Files(Loading):
    def test_packages_bytecode_and_archives(self):
        line = self.interpreter({
            "pack/__init__.py": "from .inner import value\n\n\ndef call():\n    return value\n",
            "pack/inner.py": "value = 'inner'\n",
            "dir/readme.py": CALLS,
            "_private.py": CALLS,
            "x.py": CALLS,
        })
        folder = os.path.join(self.top, "modules")
        with zipfile.ZipFile(os.path.join(folder, "zipped.zip"), "w") as archive:
            archive.writestr("zipped.py", "def call():\n    return [__opts__['id'], __salt__['x.call']()]\n")
        line = self.interpreter()
        self.assertEqual([file["stem"] for file in line.described("modules")], ["pack", "x", "zipped"])
        self.assertEqual([line.call("pack.call"), line.call("zipped.call")], ["inner", ["m1", 1]])

    def test_bytecode_without_its_source_is_loaded(self):
        """Salt takes it from __pycache__ only, where it may be stale."""
        path = os.path.join(otherend.folder_of(self.top, {"modules/compiled.py": CALLS}), "modules", "compiled.py")
        py_compile.compile(path, cfile=path + "c")
        os.remove(path)
        self.assertEqual(self.interpreter().call("compiled.call"), 1)

    def test_a_file_imports_its_siblings(self):
        line = self.interpreter({"x.py": "import helper\n\n\ndef call():\n    return helper.call()\n", "helper.py": CALLS})
        self.assertEqual(line.call("x.call"), 1)

    def test_a_folder_is_looked_into_for_its_own_files_alone(self):
        line = self.interpreter({
            "helper.py": CALLS,
            "x.py": "def call():\n    return __utils__['other.has']()\n",
            "utils/other.py": "try:\n    import helper\nexcept ImportError:\n    helper = None\n\n\ndef has():\n    return helper is not None\n",
        }, kinds=("modules", "utils"))
        line.described("modules", "helper")
        self.assertFalse(line.call("x.call"))

    def test_an_error_of_the_body_names_the_line(self):
        rows = (
            ("import nosuch_library\n", "line 1: ModuleNotFoundError: No module named 'nosuch_library'"),
            ("\n\n__salt__['test.echo'](1)\n", "line 3: NameError: name '__salt__' is not defined"),
            ("x = (\n", "line 1: SyntaxError: '(' was never closed"),
            ("import sys\nsys.exit(3)\n", "line 2: SystemExit: 3"),
        )
        for (text, why), said in zip(rows, self.each([text for text, _ in rows])):
            with self.subTest(text):
                self.assertEqual(said[1], why)


class Given(Loading):
    def test_init_runs_before_virtual_and_may_fail_by_a_typeerror_alone(self):
        text = "\n\ndef __virtual__():\n    return __context__.get('name') or True\n\n\n" + CALLS
        names, why, _ = self.loaded("def __init__(opts):\n    __context__['name'] = opts['id']\n" + text)
        self.assertEqual((names, why), (["m1"], None))
        self.assertEqual(self.loaded("def __init__():\n    pass\n" + text)[:2], (["x"], None))
        names, why, functions = self.loaded("def __init__(opts):\n    raise ValueError('no')\n" + text)
        self.assertEqual((functions, why), ([], "__init__ failed: line 2: ValueError: no"))

    def test_own_options_are_defaults(self):
        text = "__opts__ = {'a': 1, 'id': 'mine'}\n\n\ndef call():\n    return [__opts__['a'], __opts__['id']]\n"
        self.assertEqual(self.calls(text), [1, "m1"])
        self.assertEqual(self.calls(text, opts={"a": 2}), [2, "m1"])

    def test_a_change_of_options_stays_in_the_file(self):
        line = self.interpreter({
            "x.py": "def call():\n    __opts__['new'] = 1\n    __context__['new'] = 1\n",
            "y.py": "def call():\n    return ['new' in __opts__, 'new' in __context__, __opts__['test']]\n",
        })
        line.call("x.call")
        self.assertEqual(line.call("y.call", test=True), [False, True, True])

    def test_dunder_dicts_have_value(self):
        text = ("def call():\n    return [type(d.value()).__name__ != '', isinstance(d, dict)] * 1 if False else "
                "[isinstance(d.value(), dict) for d in (__opts__, __grains__, __pillar__, __context__)]\n")
        self.assertEqual(self.calls(text), [True] * 4)

    def test_functions_by_name(self):
        text = ("def call():\n    return ['x.call' in __salt__, 'test.echo' in __salt__, 3 in __salt__, __salt__.get('no.such', 7),\n"
                "            __salt__.test.echo(5), len(__salt__) == len(list(__salt__)), __salt__['test.echo'](6),\n"
                "            __salt__.missing_fun_string('no.such')]\n")
        self.assertEqual(self.calls(text), [True, True, False, 7, 5, True, 6, "'no.such' is not available."])

    def test_utils_of_both_sorts(self):
        line = self.interpreter({
            "x.py": "def call():\n    return [__utils__['own.said'](), __utils__['path.join']('/a', 'b'), 'no.such' in __utils__]\n",
            "utils/own.py": "def said():\n    return __opts__['id'] + __salt__['test.echo']('!')\n",
        }, kinds=("modules", "utils"))
        self.assertEqual(line.call("x.call"), ["m1!", "/a/b", False])

    def test_grains_of_the_interpreter(self):
        text = ("import sys\n\n\ndef call():\n    return [__grains__['pythonversion'] == list(sys.version_info), __grains__['os'],\n"
                "            __grains__['pythonpath'] == sys.path, __grains__['pythonexecutable'] == sys.executable]\n")
        self.assertEqual(self.calls(text), [True, "Debian", True, True])

    def test_a_function_that_edits_lines_of_the_log_stays_here(self):
        asked = []
        program = {"modules": {"cmd.run": lambda *args, **kwargs: asked.append((args, kwargs))}}
        text = "def call():\n    return __salt__['cmd.run']('true', log_callback=lambda line: line, cwd='/')\n"
        with self.interpreter({"x.py": text}, functions=program) as line:
            line.call("x.call")
        self.assertEqual(asked, [(("true",), {"log_callback": None, "output_loglevel": "quiet", "cwd": "/"})])
