#!/usr/bin/python3
"""python_calls.py [WORD...] - Salt's own modules through Halite and through Salt's loader: calls that give the same, and the same
names of functions. HALITE_SALT names the folder that has Salt's package, HALITE_SALT_PYTHON its interpreter (/usr/bin/python3);
without the first, nothing is compared, which is said. HALITE_BIN is the folder of our programs (build/bin); tests/lint/tables beside
it tells which functions are built in: their answers are not Salt's files', and are left out.

Each call reads, works in a folder of the test, or is a state in test mode. With WORDs only calls that have one in their names are
made. Prints what differs and a line of figures; exit code 1 when something differs that is not VOLATILE."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2]
SALT = os.environ.get("HALITE_SALT", "")
PYTHON = os.environ.get("HALITE_SALT_PYTHON", "/usr/bin/python3")
BIN = os.environ.get("HALITE_BIN", str(HERE / "build/bin"))
SECONDS = 30  # of one call

# Functions whose answers change from call to call, by what they tell.
VOLATILE = {
    "status.loadavg": "load", "disk.status": "free space", "temp.dir": "a new name", "temp.file": "a new name",
    "timezone.get_hwclock": "clock", "baredoc.list_modules": "order of folders", "baredoc.list_states": "order of folders",
}

ENTRIES = {"output": ".output", "pillar": ".ext_pillar", "renderers": ".render"}  # kinds that Salt lists by file, and their function
OURS_ALONE = "beacons config cp event grains mine pillar publish saltutil schedule state sys".split()

CISCO = "interface eth0\n description one\n ip address 10.0.0.1\n!\ninterface eth1\n shutdown\nrouter bgp 1\n neighbor 10.0.0.2\n  weight 1\n"
OTHER = "interface eth0\n description two\nrouter bgp 1\n neighbor 10.0.0.3\n"
CODENAMES = ("Sodium", "Magnesium", "Aluminium", "Silicon", "Phosphorus", "Sulfur", "Chlorine", "Neon", "Nosuch", "")
LINES = {
    "hosts": "127.0.0.1 localhost l\n10.0.0.1 one two # note\n\n10.0.0.2 three\n",
    "fstab": "/dev/sda1 / ext4 defaults 0 1\nUUID=1-2 /home xfs noatime 0 2\n# note\ntmpfs /tmp tmpfs size=1G 0 0\n",
    "auto.master": "/- /etc/auto.direct\n/misc /etc/auto.misc --timeout=60\n",
    "conf.ini": "top = 1\n[one]\na = 1\nb: two words\n; note\n[two]\nc=\n",
    "conf.xml": "<r><a k='1'>text</a><b><c>deep</c></b></r>\n",
    "logrotate.conf": "weekly\nrotate 4\ncreate\n/var/log/wtmp {\n    monthly\n    rotate 1\n}\n",
    "zone": "$TTL 60\n@ IN SOA ns.x. root.x. ( 1 2 3 4 5 )\n@ IN NS ns.x.\nwww IN A 10.0.0.1\n",
    "pam": "auth required pam_unix.so nullok\n# note\naccount optional pam_x.so\n",
    "dnsmasq.conf": "domain-needed\nport=53\n# note\naddress=/x/10.0.0.1\naddress=/y/10.0.0.2\n",
    "known_hosts": "",
    "plain.txt": "one\ntwo\n",
}


def calls(top):
    """(function, arguments, keywords) of execution modules, then (state, "", keywords)."""
    at = lambda name: os.path.join(top, name)
    found = []

    def add(name, *args, **kwargs):
        found.append((name, list(args), kwargs))

    for name in CODENAMES:
        for fun in "equal", "greater_than", "less_than", "get_release_number":
            add("salt_version." + fun, name)
    for address in "10.0.0.1", "256.1.1.1", "::1", "x", "10.0.0.1/8", "fe80::1%eth0":
        add("dnsutil.check_ip", address)
    add("dnsutil.parse_hosts", at("hosts"))
    add("dnsutil.parse_hosts", hosts=LINES["hosts"])
    add("dnsutil.parse_hosts", at("nosuch"))
    add("dnsutil.parse_zone", at("zone"))
    add("dnsutil.parse_zone", at("zone"), "x")
    add("dnsutil.hosts_append", at("hosts"), "10.0.0.9", "nine,ninth")
    add("dnsutil.hosts_append", at("hosts"), "10.0.0.1", "one")
    add("dnsutil.hosts_remove", at("hosts"), "nine")
    add("dnsutil.parse_hosts", at("hosts"))
    add("dnsutil.serial", "x")
    for fun in "list_aliases",:
        add("aliases." + fun)
    add("aliases.get_target", "nosuch")
    add("aliases.has_target", "nosuch", "x")
    add("aliases.has_target", "nosuch", "")
    for name in "a.tar", "a.tar.gz", "nosuch.tar", "plain.txt":
        add("archive.list", at(name))
    add("archive.list", at("a.tar.gz"), verbose=True)
    add("archive.list", at("a.tar"), archive_format="zip")
    add("archive.tar", "tf", at("a.tar"))
    add("archive.tar", "xf", at("a.tar"), dest=at("out"))
    add("archive.gzip", at("plain.txt"))
    add("archive.gunzip", at("plain.txt.gz"))
    add("archive.gunzip", at("plain.txt.gz"), options="-q")
    add("archive.is_encrypted", at("plain.txt"))
    add("archive.zip", at("z.zip"), at("plain.txt"), cwd=top)
    add("archive.list", at("z.zip"))
    add("archive.unzip", at("z.zip"), at("unzipped"))
    add("archive.is_encrypted", at("z.zip"))
    for item in ("hosts.list_hosts",), ("hosts.get_ip", "localhost"), ("hosts.get_ip", "nosuch"), ("hosts.get_alias", "127.0.0.1"), \
            ("hosts.get_alias", "9.9.9.9"), ("hosts.has_pair", "127.0.0.1", "localhost"), ("hosts.has_pair", "9.9.9.9", "x"), \
            ("incron.list_tab", "root"), ("incron.ls", "root"), ("incron.raw_system_incron",), ("incron.raw_incron", "root"):
        add(*item)
    add("ini.get_ini", at("conf.ini"))
    add("ini.get_ini", at("nosuch.ini"))
    for section in "one", "two", "DEFAULT_IMPLICIT", "nosuch":
        add("ini.get_section", at("conf.ini"), section)
        for option in "a", "b", "c", "top":
            add("ini.get_option", at("conf.ini"), section, option)
    add("ini.set_option", at("conf.ini"), {"one": {"a": "2", "n": 3}, "three": {"x": "y"}})
    add("ini.remove_option", at("conf.ini"), "one", "b")
    add("ini.remove_section", at("conf.ini"), "two")
    add("ini.remove_section", at("conf.ini"), "nosuch")
    add("ini.get_ini", at("conf.ini"))
    for element in "a", "b/c", "nosuch":
        add("xml.get_value", at("conf.xml"), element)
        add("xml.get_attribute", at("conf.xml"), element)
        add("xml.set_value", at("conf.xml"), element, "new")
        add("xml.set_attribute", at("conf.xml"), element, "k", "2")
        add("xml.get_value", at("conf.xml"), element)
    add("sqlite3.version")
    add("sqlite3.sqlite_version")
    for statement in "CREATE TABLE t (a INTEGER, b TEXT)", "INSERT INTO t VALUES (1, 'x')", "INSERT INTO t VALUES (2, NULL)", \
            "CREATE INDEX i ON t (a)", "NO SUCH STATEMENT":
        add("sqlite3.modify", at("a.db"), statement)
    for statement in "SELECT * FROM t", "SELECT count(*) FROM t", "SELECT * FROM nosuch":
        add("sqlite3.fetch", at("a.db"), statement)
    for fun in "tables", "indices", "indexes", "modify", "fetch":
        add("sqlite3." + fun, at("a.db"))
        add("sqlite3." + fun)
    for fun in "active", "swaps", "fstab", "automaster", "filesystems", "vfstab":
        add("mount." + fun)
    add("mount.active", extended=True)
    add("mount.fstab", at("fstab"))
    add("mount.automaster", at("auto.master"))
    for path in "/", "/proc", "/nosuch":
        add("mount.is_mounted", path)
        add("mount.is_fuse_exec", path)
        add("mount.read_mount_cache", path)
        add("mount.get_device_from_path", path)
        add("mount.get_mount_from_path", path)
    add("mount.set_fstab", "/x", "/dev/x", "ext4", config=at("fstab"))
    add("mount.set_fstab", "/x", "/dev/x", "ext4", config=at("fstab"), test=True)
    add("mount.rm_fstab", "/x", "/dev/x", at("fstab"))
    add("mount.set_automaster", "/y", "/dev/y", "ext4", config=at("auto.master"))
    for fun in "available", "lsmod", "mod_list":
        add("kmod." + fun)
    for name in "nosuch", "ext4", "loop":
        add("kmod.is_loaded", name)
        add("kmod.check_available", name)
    for item in ("locale.list_avail",), ("locale.get_locale",), ("locale.avail", "C.UTF-8"), ("locale.avail", "xx_XX"), \
            ("keyboard.get_sys",), ("keyboard.get_x",), ("timezone.get_zone",), ("timezone.get_offset",), ("timezone.get_zonecode",), \
            ("timezone.zone_compare", "Etc/UTC"), ("timezone.zone_compare", "Europe/Berlin"), ("timezone.zone_compare", "No/Such"), \
            ("timezone.get_hwclock",), ("locate.version",), ("genesis.avail_platforms",), ("kernelpkg.active",), \
            ("kernelpkg.list_installed",), ("kernelpkg.latest_installed",), ("kernelpkg.needs_reboot",), ("dnsmasq.version",), \
            ("dnsmasq.fullversion",), ("dnsmasq.get_config", at("dnsmasq.conf")), ("btrfs.version",), ("cryptdev.active",), \
            ("cryptdev.crypttab",), ("freezer.status",), ("freezer.list",), ("rest_sample_utils.get_test_string",), ("temp.dir",), \
            ("temp.file",), ("sdb.get", "plain"), ("sdb.get", "sdb://nosuch/x"), ("pam.read_file", at("pam")), \
            ("pam.read_file", at("nosuch")), ("logrotate.show_conf", at("logrotate.conf")), ("logrotate.get", "rotate"), \
            ("chroot.exist", at("nosuch")), ("support.profiles",), ("support.archives",), ("gem.version",), ("rbenv.is_installed",), \
            ("pyenv.is_installed",), ("rvm.is_installed",), ("baredoc.list_states", "state"), ("baredoc.module_docs", "xml"), \
            ("baredoc.state_docs", "xml"), ("baredoc.module_docs", "nosuch"), ("baredoc.list_modules", "xml"):
        add(*item)
    for key in "rotate", "weekly", "nosuch", "/var/log/wtmp":
        add("logrotate.get", key, conf_file=at("logrotate.conf"))
    add("logrotate.get", "/var/log/wtmp", "rotate", at("logrotate.conf"))
    add("logrotate.set", "rotate", 2, conf_file=at("logrotate.conf"))
    add("logrotate.set", "/var/log/wtmp", "rotate", 3, at("logrotate.conf"))
    add("logrotate.show_conf", at("logrotate.conf"))
    for package in "bash", "nosuch-package":
        for fun in "info", "list_pkgs", "file_list", "file_dict", "bin_pkg_info":
            add("lowpkg." + fun, package)
        add("pkg_resource.version", package)
    for a, oper, b in ("1.0", "<", "1.1"), ("1.0", "==", "1.0"), ("1:1", ">", "2"), ("1-1", "<=", "1-2"), ("2", ">=", "10"), ("1", "!=", "1"):
        add("pkg_resource.version_compare", a, oper, b)
    add("pkg_resource.version_compare", "1:1", ">", "2", ignore_epoch=True)
    for version in "1:2.3-4", "2.3", "", "0:1":
        add("pkg_resource.version_clean", version)
    for row in (None, "1", "1"), ("0", "1", "2"), (2, "1", "3"), ("", "1", ""):
        add("pkg_resource.format_version", *row)
    add("pkg_resource.stringify", {"a": ["1", "2"], "b": ["3"]})
    add("pkg_resource.sort_pkglist", {"a": ["2", "1"]})
    add("pkg_resource.add_pkg", {}, "a", "1")
    add("pkg_resource.pack_sources", [{"a": "salt://a"}, {"b": "http://b"}])
    add("pkg_resource.pack_sources", "[{a: 1}]")
    add("pkg_resource.pack_sources", ["wrong"])
    add("pkg_resource.parse_targets", "a,b")
    add("pkg_resource.parse_targets", "a", normalize=False, version="1")
    add("pkg_resource.parse_targets", pkgs=["a", {"b": "1"}])
    add("pkg_resource.check_extra_requirements", "a", "1")
    add("pkg_resource.format_pkg_list", {"a": [{"version": "1", "epoch": None, "release": "1", "arch": "x", "install_date": "d"}]},
        True, ["version", "arch"])
    add("pkg_resource.format_pkg_list", {"a": [{"version": "1", "arch": "x"}]}, False, None)
    for config in CISCO, OTHER, "":
        for fun in "tree", "clean":
            add("iosconfig." + fun, config=config)
    for fun in "merge_tree", "merge_text", "merge_diff", "diff_tree", "diff_text":
        add("iosconfig." + fun, initial_config=CISCO, merge_config=OTHER) if fun.startswith("merge") else add(
            "iosconfig." + fun, candidate_config=CISCO, running_config=OTHER)
    for out in "json", "yaml", "txt", "raw", "newline_values_only", "nosuch":
        for fun in "string_format", "out_format", "html_format":
            add("out." + fun, {"a": 1, "b": ["x", None]}, out=out)
    for text in "{{ a }}", "x":
        add("highstate_doc.read_file", text)
    for fun in "markdown_basic_jinja_template", "markdown_default_jinja_template", "markdown_full_jinja_template":
        add("highstate_doc." + fun)
    add("zabbix.get_zabbix_id_mapper")
    for defined, existing in ({"a": 1}, {"a": 1}), ({"a": "x"}, {"a": "y"}), ({"a": [1, 2]}, {"a": [2]}), ([1], [1, 2]):
        add("zabbix.compare_params", defined, existing)
        add("zabbix.compare_params", defined, existing, return_old_value=True)
    add("zabbix.substitute_params", {"a": 1, "b": [{"c": "d"}]})
    for item in ("tls.cert_base_path",), ("tls.cert_base_path", top), ("tls.ca_exists", "nosuch", top), ("tls.get_extensions", "server"), \
            ("tls.get_extensions", "nosuch"), ("tls.get_ca", "nosuch", False, top), ("tls.get_expiration_date", at("nosuch")), \
            ("tls.cert_info", at("nosuch")):
        add(*item)
    for path in "kernel/randomize_va_space", "nosuch":
        add("sysfs.read", path)
        add("sysfs.target", path)
    add("sysfs.attr", "/sys/kernel/mm/nosuch")
    add("ssh.check_known_host", "root", "nosuch", config=at("known_hosts"))
    add("ssh.get_known_host_entries", "root", "nosuch", config=at("known_hosts"))
    add("ssh.host_keys", top)
    add("ssh.key_is_encrypted", at("plain.txt"))
    for fun in "version", "freeze", "list":
        add("pip." + fun)
    for name in "pyyaml", "nosuch-package":
        add("pip.is_installed", name)
        add("pip.list", name)
    for name in "add", "nosuch":
        add("travisci.verify_webhook", name, "sig", "body")
    add("git.list_worktrees", at("nosuch"))
    add("git.config_get_regex", "nosuch", cwd=top)

    # ---- states, in test mode ----
    def state(name, thing, **kwargs):
        found.append((name, "", {"name": thing, **kwargs}))

    for name, thing, kwargs in (
        ("alias.present", "nosuch", {"target": "x"}), ("alias.absent", "nosuch", {}),
        ("host.present", "nosuch.x", {"ip": "10.9.9.9"}), ("host.absent", "nosuch.x", {"ip": "10.9.9.9"}),
        ("host.present", "localhost", {"ip": "127.0.0.1"}), ("host.only", "10.9.9.9", {"hostnames": ["a", "b"]}),
        ("ini.options_present", at("conf.ini"), {"sections": {"one": {"a": 9}}}), ("ini.options_absent", at("conf.ini"), {"sections": {"one": ["a"]}}),
        ("ini.sections_present", at("conf.ini"), {"sections": ["one", "new"]}), ("ini.sections_absent", at("conf.ini"), {"sections": ["one", "no"]}),
        ("ini.options_present", at("conf.ini"), {"sections": {"one": {"n": 3}}}), ("ini.options_present", at("new.ini"), {"sections": {"s": {"n": 3}}}),
        ("xml.value_present", at("conf.xml"), {"xpath": "a", "value": "other"}), ("xml.value_present", at("conf.xml"), {"xpath": "a", "value": "new"}),
        ("sqlite3.table_present", "t", {"db": at("a.db"), "schema": ["a INTEGER"]}), ("sqlite3.table_absent", "t", {"db": at("a.db")}),
        ("sqlite3.row_present", "r", {"db": at("a.db"), "table": "t", "data": {"a": 5}, "where_sql": "a=5"}),
        ("sqlite3.row_absent", "r", {"db": at("a.db"), "table": "t", "where_sql": "a=1"}),
        ("sqlite3.row_absent", "r", {"db": at("a.db"), "table": "t", "where_sql": "a=77"}),
        ("mount.mounted", at("m"), {"device": "/dev/nosuch", "fstype": "ext4", "mkmnt": True, "config": at("fstab")}),
        ("mount.mounted", at("m2"), {"device": "/dev/nosuch", "fstype": "ext4", "config": at("fstab")}),
        ("mount.unmounted", at("m"), {"device": "/dev/nosuch", "config": at("fstab")}), ("mount.swap", "/dev/nosuch", {"config": at("fstab")}),
        ("mount.fstab_present", "/dev/n", {"fs_file": "/n", "fs_vfstype": "ext4", "config": at("fstab")}),
        ("mount.fstab_absent", "/dev/sda1", {"fs_file": "/", "config": at("fstab")}),
        ("mount.fstab_absent", "/dev/no", {"fs_file": "/no", "config": at("fstab")}),
        ("kmod.present", "nosuch", {}), ("kmod.absent", "nosuch", {}), ("kmod.present", "n", {"mods": ["nosuch", "loop"]}),
        ("locale.present", "xx_XX.UTF-8", {}), ("locale.present", "C.UTF-8", {}), ("locale.system", "C.UTF-8", {}), ("locale.system", "xx_XX", {}),
        ("keyboard.system", "de", {}), ("keyboard.xorg", "de", {}), ("timezone.system", "Etc/UTC", {}), ("timezone.system", "Europe/Berlin", {"utc": False}),
        ("sysfs.present", "nosuch", {"value": 1}), ("sysfs.present", "kernel/nosuch", {"value": 1}),
        ("logrotate.set", "l", {"key": "rotate", "value": 7, "conf_file": at("logrotate.conf")}),
        ("logrotate.set", "l", {"key": "rotate", "value": 2, "conf_file": at("logrotate.conf")}),
        ("logrotate.set", "l", {"key": "/x", "value": "rotate", "setting": 2, "conf_file": at("logrotate.conf")}),
        ("virtualenv.managed", at("venv"), {}), ("virtualenv.managed", at("venv"), {"requirements": at("nosuch")}),
        ("pip.installed", "nosuch-package", {}), ("pip.installed", "pyyaml", {}), ("pip.removed", "nosuch-package", {}), ("pip.installed", "n", {"pkgs": ["a==1", "b>2"]}),
        ("pip.installed", "a b", {}), ("pip.removed", "pyyaml", {}),
        ("gem.installed", "nosuch-gem", {}), ("gem.removed", "nosuch-gem", {}), ("gem.sources_add", "http://nosuch", {}), ("gem.sources_remove", "http://nosuch", {}),
        ("ssh_known_hosts.absent", "nosuch", {"user": "root", "config": at("known_hosts")}), ("ssh_known_hosts.present", "nosuch", {"user": "root", "key": "bad", "config": at("known_hosts")}),
        ("status.loadavg", "1-min", {"maximum": 1}), ("status.process", "nosuch", {}), ("disk.status", "/", {"maximum": 99}), ("disk.status", "/nosuch", {}),
        ("disk.status", "/", {"minimum": "x"}), ("highstate_doc.note", "n", {"contents": "c"}), ("process.absent", "nosuch-process-name", {}),
        ("http.query", "http://nosuch.invalid", {"status": 200}), ("http.query", "http://nosuch.invalid", {}),
        ("archive.extracted", at("ex"), {"source": at("a.tar")}), ("archive.extracted", at("ex"), {"source": at("nosuch.tar")}),
        ("archive.extracted", at("out"), {"source": at("a.tar"), "enforce_toplevel": False}), ("archive.extracted", "relative", {"source": at("a.tar")}),
        ("archive.extracted", at("ex"), {"source": at("a.tar"), "archive_format": "nosuch"}),
        ("saltutil.sync_all", "s", {}), ("saltutil.sync_modules", "s", {}), ("saltutil.sync_grains", "s", {}),
        ("cryptdev.mapped", "n", {"device": "/dev/nosuch"}), ("cryptdev.unmapped", "n", {}), ("blockdev.tuned", at("nosuch"), {}), ("blockdev.formatted", at("nosuch"), {}),
        ("slack.post_message", "n", {"channel": "c", "from_name": "f", "message": "m", "api_key": "k"}), ("slack.post_message", "n", {}),
        ("msteams.post_card", "n", {"message": "m", "hook_url": "u"}), ("pushover.post_message", "n", {"user": "u", "token": "t", "title": "t", "message": "m"}),
        ("smtp.send_msg", "m", {"recipient": "a@b", "subject": "s", "sender": "c@d"}), ("opsgenie.create_alert", "n", {"api_key": "k"}),
        ("tls.valid_certificate", at("nosuch"), {}), ("incron.absent", "n", {"path": "/x", "mask": "IN_MODIFY", "cmd": "c", "user": "root"}),
        ("incron.present", "n", {"path": "/x", "mask": ["IN_MODIFY"], "cmd": "c", "user": "root"}), ("gpg.absent", "n", {"keys": ["A"]}),
        ("stateconf.set", "n", {}), ("stateconf.context", "n", {}), ("kernelpkg.latest_installed", "n", {}), ("apt.held", "nosuch-package", {}),
        ("rbenv.installed", "1.2", {}), ("pyenv.installed", "1.2", {}), ("rvm.installed", "1.2", {}),
        ("rbenv.install_rbenv", "n", {}), ("pyenv.install_pyenv", "n", {}), ("loop.until_no_eval", "test.ping", {"expected": True}), ("loop.until", "test.ping", {"condition": "m_ret is True"}),
        ("chronos_job.absent", "n", {}), ("dnsmasq.nosuch", "n", {}), ("file.shortcut", "n", {"target": "t"}), ("zenoss.monitored", "n", {}),
    ):
        state(name, thing, **kwargs)
    return found


def furnish(top):
    """The test's folder, as new."""
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(top)
    for name, text in LINES.items():
        pathlib.Path(top, name).write_text(text, encoding="utf-8")
    for name, mode in ("a.tar", "w"), ("a.tar.gz", "w:gz"):
        with tarfile.open(os.path.join(top, name), mode) as archive:
            for member in "plain.txt", "hosts":
                archive.add(os.path.join(top, member), "top/" + member)
    os.makedirs(os.path.join(top, "out"))


def configure(base, *lines):
    os.makedirs(os.path.join(base, "etc"))
    os.makedirs(os.path.join(base, "srv", "_modules"))
    pathlib.Path(base, "etc", "minion").write_text(
        "\n".join([f"root_dir: {base}", "file_client: local", f"file_roots: {{base: [{base}/srv]}}", "id: m1", "log_level: error", *lines, ""]))


# ---- both sides run this: a call -> ["gave", JSON] or ["raised", text] ----

RUN = '''
import json, signal


class Late(Exception):
    pass


def late(signum, frame):
    raise Late("no answer in time")


def told(function, seconds):
    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        return ["gave", json.loads(function())]
    except Exception as e:
        return ["raised", f"{type(e).__name__}: {e}"]
    finally:
        signal.alarm(0)


def essence(single):
    found = {key: single.get(key) for key in ("name", "result", "changes", "comment")}
    if "Traceback" in str(found["comment"]):
        found["comment"] = found["comment"].strip().splitlines()[-1]
    return found
'''

OURS = RUN + '''

def run(calls, answers, seconds):
    said = []
    for name, args, kwargs in json.load(open(calls)):
        if args == "":
            template = "{{ salt['state.single'](%r, test=True, **%r) | json }}" % (name, kwargs)
        else:
            template = "{{ salt[%r](*%r, **%r) | json }}" % (name, args, kwargs)
        answer = told(lambda: __salt__["slsutil.renderer"](string=template, default_renderer="jinja"), seconds)
        if args == "" and isinstance(answer[1], dict):
            answer[1] = essence(list(answer[1].values())[0])
        said.append(answer)
        json.dump(said, open(answers, "w"))
    return len(said)


def names(theirs, answers):
    import __main__

    found = {}
    for word, listed in json.load(open(theirs)).items():
        if word == "utils":  # of the package, so that what its files import is there as well
            found[word] = [name for name in listed if name in __main__.world.loaded(word)]
            continue
        kind = __main__.world.kind(word, True)
        files = [kind.file(stem) for stem in list(kind.paths)]
        found[word] = sorted({f"{name}.{fun}" for file in files if file.why is None for name in file.names for fun in file.functions})
    json.dump(found, open(answers, "w"))
    return len(found)
'''

THEIRS = RUN + '''
import sys
import warnings

warnings.simplefilter("ignore")
import salt.config, salt.loader, salt.utils.json

opts = salt.config.minion_config(sys.argv[1])
opts["grains"] = salt.loader.grains(opts)
opts["pillar"] = {}
utils = salt.loader.utils(opts)
functions = salt.loader.minion_mods(opts, utils=utils)
said = []
for name, args, kwargs in json.load(open(sys.argv[2])):
    if args == "":
        answer = told(lambda: salt.utils.json.dumps(functions["state.single"](name, test=True, **kwargs)), int(sys.argv[4]))
        if isinstance(answer[1], dict):
            answer[1] = essence(list(answer[1].values())[0])
    else:
        answer = told(lambda: salt.utils.json.dumps(functions[name](*args, **kwargs)), int(sys.argv[4]))
    said.append(answer)
    json.dump(said, open(sys.argv[3], "w"))
load = salt.loader
kinds = {
    "modules": functions, "states": load.states(opts, functions, utils, load.serializers(opts)), "returners": load.returners(opts, functions),
    "beacons": load.beacons(opts, functions), "runners": load.runner(opts, utils), "engines": load.engines(opts, functions, {}, utils),
    "sdb": load.sdb(opts), "auth": load.auth(opts), "roster": load.roster(opts, {}), "serializers": load.serializers(opts),
    "executors": load.executors(opts, functions), "matchers": load.matchers(opts),
    "output": load.outputters(opts), "pillar": load.pillars(opts, functions), "grains": load.grain_funcs(opts), "utils": utils,
    "renderers": load.render(opts, functions), "wheel": load.wheels(opts),
}
json.dump({kind: sorted(names) for kind, names in kinds.items()}, open(sys.argv[3] + ".names", "w"))
'''


def answers_of(path):
    return json.loads(pathlib.Path(path).read_text()) if os.path.exists(path) else []


def built_in(kind):
    tables = os.path.join(BIN, "../tests/lint/tables")
    return set(subprocess.run([tables, kind], check=True, capture_output=True, text=True).stdout.split())


def compare(base, words):
    top, asked = os.path.join(base, "work"), os.path.join(base, "calls.json")
    native = {"modules": built_in("modules"), "states": built_in("states")}
    chosen = [call for call in calls(top) if (not words or any(word in call[0] for word in words))
              and call[0] not in native["states" if call[1] == "" else "modules"]]
    pathlib.Path(asked).write_text(json.dumps(chosen))
    configure(os.path.join(base, "salt"))
    configure(os.path.join(base, "halite"), f"python: {PYTHON}", f"python_salt: {SALT}")
    pathlib.Path(base, "halite", "srv", "_modules", "oracle_calls.py").write_text(OURS)
    pathlib.Path(base, "theirs.py").write_text(THEIRS)
    furnish(top)
    theirs, ours = os.path.join(base, "theirs.json"), os.path.join(base, "ours.json")
    subprocess.run([PYTHON, os.path.join(base, "theirs.py"), os.path.join(base, "salt/etc/minion"), asked, theirs, str(SECONDS)],
                   env={**os.environ, "PYTHONPATH": SALT, "PYTHONDONTWRITEBYTECODE": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    furnish(top)
    call = [os.path.join(BIN, "salt-call"), "--local", "-c", os.path.join(base, "halite/etc")]
    subprocess.run([*call, "saltutil.sync_modules"], stdout=subprocess.DEVNULL, check=True)
    subprocess.run([*call, "oracle_calls.run", asked, ours, str(SECONDS)], check=False)
    if words:
        return chosen, answers_of(ours), answers_of(theirs), {}
    subprocess.run([*call, "oracle_calls.names", theirs + ".names", ours + ".names"], stdout=subprocess.DEVNULL, check=False)
    names = compare_names(answers_of(ours + ".names"), answers_of(theirs + ".names"), native)
    return chosen, answers_of(ours), answers_of(theirs), names


def compare_names(ours, theirs, native):
    """{kind: (how many names, names that only one side has)} of Salt's own files, loaded one by one."""
    found = {}
    for kind, names in theirs.items():
        # Functions that speak to Salt's daemons are in C or nowhere. Those of proxies are listed by Salt and can't be called.
        names = {name for name in names if kind != "modules" or name.split(".")[0] not in (*OURS_ALONE, "hue")}
        own = {name.removesuffix(ENTRIES[kind]) for name in ours[kind] if name.endswith(ENTRIES[kind])} if kind in ENTRIES else ours[kind]
        found[kind] = (len(names), sorted(names.symmetric_difference(own) - native.get(kind, set())))
    return found


def verdict(call, ours, theirs):
    # Errors of Salt's commands show the environment, ours do not.
    ours, theirs = (re.sub(r"with the context .*, reason", "reason", json.dumps(answer)) for answer in (ours, theirs))
    ours, theirs = json.loads(ours), json.loads(theirs)
    same = ours == theirs or (ours[0] == theirs[0] == "raised")
    if same:
        return "equal" if theirs[0] == "gave" else "raised in both"
    return "volatile" if call[0] in VOLATILE else "wrong"


def main():
    if not SALT:
        print("python_calls.py: skipped: HALITE_SALT names no folder with Salt's package")
        return 0
    base = tempfile.mkdtemp()
    try:
        chosen, ours, theirs, names = compare(base, sys.argv[1:])
    finally:
        shutil.rmtree(base, ignore_errors=True)
    figures = {"equal": 0, "raised in both": 0, "volatile": 0, "wrong": 0}
    for call, own, their in zip(chosen, ours, theirs):
        found = verdict(call, own, their)
        figures[found] += 1
        if found == "wrong" or os.environ.get("VERBOSE") and own[0] == "raised":
            print(f"{call[0]} {json.dumps(call[1:])}\n    Salt   {json.dumps(their)[:600]}\n    Halite {json.dumps(own)[:600]}")
    for kind, (count, differing) in names.items():
        print(f"{kind}: {count} names of Salt's, {len(differing)} differ", *differing[:20])
        figures["wrong"] += len(differing)
    whole = len(chosen) == len(ours) == len(theirs)
    print(f"{len(chosen)} calls, {len(ours)} answered here, {len(theirs)} by Salt:", ", ".join(f"{n} {word}" for word, n in figures.items()))
    return 0 if whole and not figures["wrong"] else 1


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
