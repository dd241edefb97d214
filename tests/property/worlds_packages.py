"""Packages of a repository of the world's own, Python's, and services of a manager that is played."""
from draw import some
from rows import Row, World, given, said

YES = [True, False]
NAMES = ["hal-one", "hal-two"]
REPOSITORY = r"""rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/*; mkdir -p /srv/repo; cd /srv/repo
make() { mkdir -p t/DEBIAN t/usr/share/$1; echo $2 >t/usr/share/$1/v; printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: a <a@b>\nDescription: x\n%s' $1 $2 "$3" >t/DEBIAN/control
    dpkg-deb -b t $1_$2_all.deb >/dev/null; rm -rf t; }
rm -f /var/cache/apt/archives/*.deb; make hal-one 1.0; make hal-one 2.0; make hal-two 1:1.0-1 'Depends: hal-one
'; make hal-virtual 1 'Provides: hal-service
'
for deb in *.deb; do dpkg-deb -f $deb; echo "Filename: ./$deb"; echo "Size: $(stat -c %s $deb)"; echo "SHA256: $(sha256sum <$deb | cut -d' ' -f1)"; echo; done >Packages
echo 'deb [trusted=yes] file:/srv/repo ./' >/etc/apt/sources.list; apt-get -qq update; apt-get -qq install hal-one=1.0 >/dev/null 2>&1; mkdir -p /srv/salt; cp hal-one_2.0_all.deb /srv/salt"""
NEVER = ("ignore_types", "aggregate", "fromrepo", "skip_verify", "cache_valid_time", "update_holds", "normalize", "ignore_epoch", "kwargs", "sources",
         "skip_suggestions", "pkg_verify", "report_reboot_exit_codes", "reinstall", "resolve_capabilities", "split_arch", "saltenv", "downloadonly",
         "bypass_file", "bypass_file_contains", "diff_attr", "no_recommends", "only_upgrade", "force_yes", "force_conf_new", "repo", "disablerepo",
         "enablerepo")

# systemctl, played: units are files of units/, what they are is in files of enabled/, masked/ and active/.
SYSTEMCTL = r"""mkdir -p /srv/sd/units /srv/sd/enabled /srv/sd/active /etc/systemd/system; cd /srv/sd; touch units/web units/db units/off enabled/web active/web active/db
cat >/usr/local/bin/systemctl <<'END'
#!/bin/bash
cd /srv/sd; verb= unit= masks=/etc/systemd/system
for a; do case $a in -*) ;; *) if [ -z "$verb" ]; then verb=$a; else unit=${a%.service}; fi ;; esac; done
case "$*" in *--version*) echo 'systemd 252 (252.5-2)'; exit ;; esac
known() { [ -e "units/$unit" ] || { echo "Failed to $verb unit: Unit file $unit.service does not exist." >&2; exit ${1:-1}; }; }
usable() { known 5; [ ! -L "$masks/$unit.service" ] || { echo "Failed to $verb $unit.service: Unit $unit.service is masked." >&2; exit 1; }; }
case $verb in
is-enabled) known; [ ! -L "$masks/$unit.service" ] || { echo masked; exit 1; }; [ -e "enabled/$unit" ] && echo enabled || { echo disabled; exit 1; } ;;
is-active) [ -e "active/$unit" ] && echo active || { echo inactive; exit 3; } ;;
status) [ -e "units/$unit" ] || { echo "Unit $unit.service could not be found." >&2; exit 4; }
    echo "* $unit.service - x"; if [ -L "$masks/$unit.service" ]; then echo '     Loaded: masked (Reason: x)'; else echo "     Loaded: loaded (/lib/systemd/system/$unit.service; x)"; fi
    [ -e "active/$unit" ] && echo '     Active: active (running)' || { echo '     Active: inactive (dead)'; exit 3; } ;;
show) known; echo "LoadState=loaded"; echo "NeedDaemonReload=no" ;;
start | restart | reload) usable; touch "active/$unit" ;;
stop) known 5; rm -f "active/$unit" ;;
enable) usable; touch "enabled/$unit" ;;
disable) known; rm -f "enabled/$unit" ;;
mask) known; ln -sf /dev/null "$masks/$unit.service" ;;
unmask) known; rm -f "$masks/$unit.service" ;;
list-unit-files) for u in units/*; do u=${u#units/}; s=disabled; [ -e enabled/$u ] && s=enabled; [ -L $masks/$u.service ] && s=masked; echo "$u.service $s enabled"; done ;;
list-units) for u in active/*; do echo "${u#active/}.service loaded active running x"; done ;;
daemon-reload) ;;
*) echo "Unknown command verb $verb." >&2; exit 1 ;;
esac
END
cat >/usr/local/bin/systemd-run <<'END'
#!/bin/sh
while case $1 in --*) ;; *) false ;; esac; do shift; done
exec "$@"
END
chmod 755 /usr/local/bin/systemctl /usr/local/bin/systemd-run"""
TOLD = "Salt tells the changes of services and packages in other words than the run"
UNITS = ["web", "db", "off", "nosuch"]
# supervisorctl, played: a line of procs is a process and its state.
SUPERVISOR = r"""mkdir -p /srv/sv; printf 'api RUNNING\nold STOPPED\n' >/srv/sv/procs
cat >/usr/local/bin/supervisorctl <<'END'
#!/bin/sh
cd /srv/sv; [ "$1" != -c ] || shift 2
turn() { grep -q "^$1 " procs || { echo "$1: ERROR (no such process)"; exit 1; }; sed "s/^$1 .*/$1 $2/" procs >n; cat n >procs; rm n; }
case $1 in
status) if [ -n "$2" ]; then grep "^$2 " procs || { echo "$2: ERROR (no such process)"; exit 4; }; else sed 's/RUNNING$/RUNNING   pid 7, uptime 0:01:02/; s/STOPPED$/STOPPED   Not started/' procs; fi ;;
start) turn "$2" RUNNING; echo "$2: started" ;;
stop) turn "$2" STOPPED; echo "$2: stopped" ;;
restart) turn "$2" RUNNING; echo "$2: stopped"; echo "$2: started" ;;
add) grep -q "^$2 " procs || echo "$2 RUNNING" >>procs; echo "$2: added process group" ;;
reread) echo 'No config updates to processes' ;;
update) ;;
esac
END
chmod 755 /usr/local/bin/supervisorctl"""
WHEELS = r"""mkdir -p /srv/wheels; cd /srv/wheels; python3 - <<'END'
import zipfile
for name, version in (("halone", "1.0"), ("halone", "2.0"), ("haltwo", "1.0")):
    with zipfile.ZipFile(f"{name}-{version}-py3-none-any.whl", "w") as z:
        info = f"{name}-{version}.dist-info"
        z.writestr(f"{name}.py", "x = 1\n")
        z.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
END
/usr/bin/python3 -m venv /srv/venv; /srv/venv/bin/pip install -q --no-index --find-links /srv/wheels halone==1.0 2>/dev/null"""

WORLDS = {
    "packages": World(
        needs="dpkg-deb apt-get", setup=REPOSITORY,
                      look="dpkg-query -W -f '${Package} ${Version} ${Status}\\n' 'hal-*' 2>/dev/null; apt-mark showhold", steps=8,
        ignored=("var/lib/dpkg/status-old", "var/lib/dpkg/status", "var/lib/dpkg/info", "var/lib/dpkg/available", "var/lib/dpkg/available-old",
                 "var/lib/apt/extended_states", "var/lib/apt/lists", "usr/share/hal-one", "usr/share/hal-two",
                 "usr/share/hal-virtual", "var/lib/dpkg/diversions", "var/lib/dpkg/diversions-old", "var/lib/dpkg/triggers"),
        rows={
            "pkg.installed": Row({"name": NAMES + ["hal-none", "hal-virtual"]},
                                 {"version": ["1.0", "2.0", "1:1.0-1", ">=1.5", "3.0"],
                                  "pkgs": [["hal-one", "hal-two"], [{"hal-one": "1.0"}], ["hal-none"]], "refresh": YES, "hold": YES,
                                  "allow_updates": YES,
                                                                                     "install_recommends": YES}, never=NEVER, nasty=0.05, untold=TOLD,
                                 weight=3, unforeseen=said("rror|failed|not", "the program's own refusal")),
            "pkg.latest": Row({"name": NAMES + ["hal-none"]}, {"pkgs": [["hal-one", "hal-two"]], "refresh": YES}, never=NEVER, nasty=0.05,
                              untold=TOLD, unforeseen=said("rror|ailed|No information", "apt finds no such package")),
            "pkg.removed": Row({"name": NAMES + ["hal-none"]}, {"version": ["1.0", "2.0"], "pkgs": [["hal-one", "hal-two"]]}, never=NEVER, nasty=0.05,
                               untold=TOLD),
            "pkg.purged": Row({"name": NAMES + ["hal-none"]}, {"pkgs": [["hal-one", "hal-two"]]}, never=NEVER, nasty=0.05, untold=TOLD),
            "pkg.held": Row({"name": NAMES}, {"pkgs": [["hal-one", "hal-two"]], "replace": YES}, tame=("name",), never=NEVER, nasty=0.05,
                            untold=TOLD),
            "pkg.unheld": Row({"name": NAMES}, {"pkgs": [["hal-one"]], "all": YES}, never=NEVER, nasty=0.05, untold=TOLD),
            "pkg.uptodate": Row({"name": "u"}, {"refresh": YES, "pkgs": [["hal-one"]]}, never=NEVER, nasty=0.05, untold=TOLD),
            "pkg.downloaded": Row({"name": NAMES + ["hal-none"]}, {"version": ["1.0", "2.0"]}, never=NEVER, nasty=0.05, untold=TOLD,
                                  unforeseen=said("rror|ailed", "apt finds no such package"), hollow="the cache is no part of what is compared"),
        }),
    "sources": World(
        setup="rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*; printf '# c\\ndeb http://a.invalid/x stable main\\n' >/etc/apt/sources.list; mkdir -p /var/lib/apt/lists", needs="apt-get", ignored=("var/lib/apt/lists", "etc/apt/sources.list.d"),
        look="cat /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^$'",
        rows={
            "pkgrepo.managed": Row({"name": ["deb http://a.invalid/x stable main", "deb http://b.invalid/x stable main contrib",
                                             "deb [arch=amd64] http://c.invalid/ ./"], "refresh": False},
                                   {"file": ["/etc/apt/sources.list.d/x.list", "/etc/apt/sources.list"], "disabled": YES, "comments": [["c"]],
                                    "clean_file": YES, "architectures": ["amd64"]},
                                   tame=("name", "refresh"), never=("ppa", "copr", "aptkey", "kwargs", "dist", "comps"),
                                   unforeseen=said(".", "the source's own refusal"), weight=2),
            "pkgrepo.absent": Row({"name": ["deb http://a.invalid/x stable main", "deb http://b.invalid/x stable main contrib"]},
                                  {"file": ["/etc/apt/sources.list.d/x.list"]}, tame=("name",), never=("ppa", "copr", "kwargs"), untold=TOLD),
        }),
    "pip": World(
        needs="python3 pip3", setup=WHEELS, look="cd /srv/venv/lib/python3*/site-packages; ls -d hal*.dist-info", ignored=("srv/venv/lib",),
        rows={
            "pip.installed": Row({"name": ["halone", "halone==1.0", "halone >= 2.0", "haltwo", "halnone"], "bin_env": "/srv/venv", "no_index": True,
                                  "find_links": "/srv/wheels"}, {"upgrade": YES, "pkgs": [["halone", "haltwo"]]},
                                 never=tuple("""env_vars requirements editable use_wheel no_use_wheel log proxy timeout repo index_url extra_index_url mirrors build target download source ignore_installed exists_action no_deps
                                             no_install no_download install_options global_options user cwd pre_releases cert allow_all_external allow_external allow_unverified process_dependency_links trusted_host no_cache_dir
                                             cache_dir no_binary use_vt extra_args force_reinstall download_cache""".split()),
                                 tame=("no_index", "find_links", "bin_env"), unforeseen=said("rror|ailed", "pip's own refusal"),
                                 vague=given("Salt can't tell whether there is a newer one", "upgrade"),
                                 untold="Salt's words: test mode tells no changes",
                                 again=given("Salt can't tell whether there is a newer one", "upgrade")),
            "pip.removed": Row({"name": ["halone", "haltwo", "halnone"], "bin_env": "/srv/venv"},
                               never=("requirements", "log", "proxy", "timeout", "user", "cwd", "use_vt"), tame=("bin_env",),
                               untold="Salt's words: test mode tells no changes"),
        }),
    "services": World(
        setup=SYSTEMCTL, start="mkdir -p /run/systemd/system", ignored=(),
        rows={
            "service.running": Row({"name": UNITS}, {"enable": YES, "reload": YES, "unmask": YES, "unmask_runtime": YES},
                                   never=("sig", "init_delay", "no_block", "kwargs", "wait"), weight=2, untold=TOLD,
                                   unforeseen=said("masked|not available|ailed|not exist", "the manager's own refusal")),
            "service.dead": Row({"name": UNITS}, {"enable": YES}, vague=said("not available", "another state may make the unit first"),
                                never=("sig", "init_delay", "no_block", "kwargs"), untold=TOLD,
                                unforeseen=said("ailed|not available|masked", "the manager's own refusal")),
            "service.enabled": Row({"name": UNITS}, never=("kwargs",), untold=TOLD,
                                   unforeseen=said("ailed|not available|masked", "the manager's own refusal")),
            "service.disabled": Row({"name": UNITS}, vague=said("not available", "another state may make the unit first"), never=("kwargs",),
                                    untold=TOLD, unforeseen=said("ailed|not available|masked", "the manager's own refusal")),
            "service.masked": Row({"name": UNITS}, {"runtime": [False]}, unforeseen=said("not exist", "another state may make the unit first")),
            "service.unmasked": Row({"name": UNITS}, {"runtime": [False]}),
        }),
    "supervisor": World(
        setup=SUPERVISOR,
        rows={
            "supervisord.running": Row({"name": ["api", "old", "nosuch"]}, {"update": YES},
                                       never=("user", "conf_file", "bin_env", "kwargs", "restart"), unforeseen="supervisorctl's own refusal",
                                       untold="Salt's words: what supervisorctl prints"),
            "supervisord.dead": Row({"name": ["api", "old", "nosuch"]}, never=("user", "conf_file", "bin_env", "kwargs"),
                                    untold="Salt's words: what supervisorctl prints"),
        }),
    "sync": World(
        setup="for k in modules states grains; do mkdir -p /srv/salt/_$k; echo 'x = 1' >/srv/salt/_$k/own.py; done",
        rows={f"saltutil.sync_{what}": Row({"name": "x"}, never=("kwargs",), tame=("name",), untold="what is new is told by the run",
                                           vague="Salt's test mode does not look", hollow="the cache is no part of what is compared")
              for what in """all beacons clouds engines executors grains log_handlers matchers modules output outputters pillar proxymodules renderers returners sdb serializers states thorium utils""".split()}),
    "commands": World(
        setup="mkdir -p /srv/w /srv/salt; printf '#!/bin/sh\\necho $1 >/srv/w/c\\n' >/srv/salt/s.sh",
        rows={
            "cmd.run": Row({"name": ["echo x >/srv/w/a", "false"], "creates": ["/srv/w/a", ["/srv/w/a", "/srv/w/b"]]},
                           {"cwd": ["/srv/w", "/none"], "shell": ["/bin/bash", "/none"], "env": [{"A": "b"}], "timeout": [5]},
                           never=("runas", "stateful", "success_retcodes", "umask", "output_loglevel", "hide_output", "use_vt", "kwargs",
                           "success_stdout", "success_stderr", "root", "windows_codepage", "group"), tame=("name", "creates"),
                           untold="the change is what the program prints", unforeseen=said(".", "the command fails in the run alone"),
                           hollow="the command may do nothing",
                           again=said("/srv/w/b|false|true", "one of several paths is not made")),
            "cmd.script": Row({"name": ["salt://s.sh", "salt://none"], "creates": "/srv/w/c"}, {"args": ["a"], "cwd": ["/srv/w"]},
                              never=("runas", "stateful", "template", "env", "shell", "umask", "timeout", "use_vt", "context", "defaults", "source",
                                     "success_retcodes", "success_stdout", "success_stderr", "output_loglevel",
                              "hide_output", "password", "kwargs"), tame=("name", "creates"), untold="the change is what the program prints",
                              unforeseen=said(".", "the command fails in the run alone")),
        }),
}
