"""Inside of the running program: functions, options, grains and events come from the module halite_host."""

import sys
import types
import unittest
from unittest import mock


class Inside(unittest.TestCase):
    def setUp(self):
        self.calls, self.fired = [], []
        self.host = types.ModuleType("halite_host")
        self.kinds = {
            "modules": {
                "test.echo": lambda *args, **kwargs: self.called("test.echo", args, kwargs),
                "cmd.run": lambda *args, **kwargs: self.called("cmd.run", args, kwargs),
                "cp.cache_file": lambda *args, **kwargs: self.called("cp.cache_file", args, kwargs),
                "pillar.items": lambda **kwargs: {"mine": kwargs},
                "network.ip_addrs": lambda **kwargs: self.called("network.ip_addrs", (), kwargs),
                "file.apply_template_on_contents": lambda *args: self.called("template", args, {}),
            },
            "states": {"git.latest": lambda name: {"name": name}},
            "runners": {"cache.fetch": lambda bank, key: {"bank": bank, "key": key}},
            "output": {"shout.output": lambda data, **kwargs: str(data).upper()},
            "renderers": {},
        }
        self.host.functions = lambda kind: self.kinds.get(kind, {})
        self.host.opts = lambda: {"id": "m1", "__role": "minion", "conf_file": "/nonexistent/etc/minion", "test": False}
        self.host.grains = lambda: {"os": "Debian", "fqdn": "m1.x", "host": "m1", "saltversion": "3006.0"}
        self.host.pillar = lambda: {"p": 1}
        self.host.fire = lambda tag, data: self.fired.append((tag, data)) or True
        self.host.loader = lambda kind: self.kinds[kind]
        patched = mock.patch.dict(sys.modules, {"halite_host": self.host})
        patched.start()
        self.addCleanup(patched.stop)

    def called(self, name, args, kwargs):
        self.calls.append((name, args, kwargs))
        return name

    def test_the_loader_returns_the_programs_functions(self):
        from salt import loader

        self.assertIs(loader.minion_mods({}), self.kinds["modules"])
        self.assertIs(loader.states({}, None, None, None), self.kinds["states"])
        self.assertEqual(list(loader.raw_mod({}, "cmd", None)), ["cmd.run"])
        self.assertEqual(loader.grains({})["os"], "Debian")

    def test_the_configuration_is_the_programs_copy(self):
        from salt import config

        opts = config.minion_config("/etc/no/such/minion")
        self.assertEqual(opts["id"], "m1")
        opts["id"] = "other"
        self.assertEqual(config.minion_config(None)["id"], "m1")

    def test_caller_and_cmdmod_call_functions(self):
        from salt import client
        from salt.modules import cmdmod

        self.assertEqual(client.Caller().cmd("test.echo", "a=5", 7, b=[1]), "test.echo")
        cmdmod._run_quiet("uptime", python_shell=True)
        self.assertEqual(
            self.calls, [("test.echo", (7,), {"a": 5, "b": [1]}), ("cmd.run", ("uptime",), {"python_shell": True, "output_loglevel": "quiet"})]
        )

    def test_modules_that_files_import_are_the_programs(self):
        import salt.modules.network
        import salt.states.git

        self.assertEqual(salt.modules.network.ip_addrs(cidr="10.0.0.0/8"), "network.ip_addrs")
        self.assertEqual(salt.states.git.latest("x"), {"name": "x"})
        with self.assertRaises(ImportError):
            import salt.states.no_such_module  # noqa: F401
        with self.assertRaises(AttributeError):
            salt.states.git.no_such_function

    def test_events_go_to_the_master(self):
        from salt.utils import event

        bus = event.MinionEvent({"sock_dir": "/nonexistent"}, listen=False)
        self.assertTrue(bus.fire_master({"a": 1}, "my/tag"))
        self.assertEqual(self.fired, [("my/tag", {"a": 1})])

    def test_grains_files_templates_pillar_cache_and_outputters(self):
        from salt import cache, fileclient, output, pillar
        from salt.grains import core
        from salt.utils import templates

        self.assertEqual(core.hostname(), {"fqdn": "m1.x", "host": "m1"})
        self.assertEqual(fileclient.get_file_client({}).cache_file("salt://x", "dev"), "cp.cache_file")
        self.assertEqual(pillar.get_pillar({}, {}, "m1").compile_pillar()["mine"]["saltenv"], "base")
        self.assertEqual(cache.factory({}).fetch("minions/m1", "data"), {"bank": "minions/m1", "key": "data"})
        self.assertEqual(output.out_format("a", "shout"), "A")
        told = templates.TEMPLATE_REGISTRY["jinja"]("{{ a }}", from_str=True, to_str=True, a=5, saltenv="dev", salt={})
        self.assertEqual(told, {"result": True, "data": "template"})
        self.assertEqual(self.calls[-1], ("template", ("{{ a }}", "jinja", {"a": 5}, {}, "dev"), {}))

    def test_depends(self):
        from salt.utils.decorators import depends

        names = {"__name__": "halite.loaded.modules.mine", "depends": depends, "there": 1}
        source = "\n".join(
            (
                "@depends('there')\ndef one(): return 1",
                "@depends('missing')\ndef two(): return 2",
                "def instead(): return 3",
                "@depends('missing', fallback_function=instead)\ndef three(): pass",
                "@depends(False)\ndef four(): pass",
                "@depends('true', retcode=0)\ndef five(): return 5",
                "@depends('false', retcode=0)\ndef six(): pass",
            )
        )
        exec(source, names)
        functions = {f"mine.{name}": names[name] for name in ("one", "two", "three", "four", "five", "six")}
        depends.enforce_dependencies(functions, "modules", "mine")
        self.assertEqual(sorted(functions), ["mine.five", "mine.one", "mine.three"])
        self.assertEqual(functions["mine.three"](), 3)


if __name__ == "__main__":
    unittest.main()
