"""The system's own settings."""
from draw import pairs, some
from rows import Row, World, given, said

YES = [True, False]
LVM = "the run tells what lvm prints"
# debconf-get-selections of debconf-utils, over debconf's own library.
SELECTIONS = r"""cat >/usr/local/bin/debconf-get-selections <<'END'
#!/usr/bin/perl
use Debconf::Db; use Debconf::Question; Debconf::Db->load(readonly => "true");
my $all = Debconf::Question->iterator;
while (my $q = $all->iterate) { print join("\t", $_, $q->name, $q->type, $q->value // ""), "\n" for split ", ", $q->owners; }
END
chmod 755 /usr/local/bin/debconf-get-selections; """

WORLDS = {
    "fstab": World(
        setup=r"""printf '# c\nUUID=1 / ext4 defaults 0 1\n/dev/sdb1\t/srv/data xfs noatime,nofail 0 2\ntmpfs /srv/ram tmpfs size=1m 0 0\n' >/etc/fstab; mkdir -p /srv/data /srv/ram""",
        rows={
            "mount.fstab_present": Row({"name": ["UUID=1", "/dev/sdb1", "/dev/sdc1", "tmpfs"], "fs_file": ["/srv/data", "/srv/new", "/srv/ram"],
                                        "fs_vfstype": ["ext4", "xfs", "tmpfs"]},
                                       {"fs_mntops": ["defaults", "noatime,nofail", ["a", "b"]], "fs_freq": [0, 1], "fs_passno": [0, 2, "1"],
                                        "match_on": ["auto", "device", "name", ["fs_file"]],
                                        "not_change": [True, False], "config": ["/etc/fstab", "/etc/fstab.new"], "mount": [False],
                                        "fs_mount": [False]},
                                       never=("mount", "mount_by")),
            "mount.fstab_absent": Row({"name": ["UUID=1", "/dev/sdb1", "tmpfs"], "fs_file": ["/srv/data", "/srv/new", "/srv/ram"]},
                                      never=("mount_by",)),
        }),
    "mounts": World(
        setup="mkdir -p /srv/one /srv/two /srv/from; touch /srv/from/x", look="grep /srv /proc/self/mounts",
        rows={
            "mount.mounted": Row({"name": ["/srv/one", "/srv/two", "/srv/three"], "device": ["tmpfs", "/srv/from"], "fstype": ["tmpfs"]},
                                 {"opts": ["defaults", "size=1m", ["noexec", "size=2m"], "bind"], "mkmnt": [True, False], "persist": [True, False],
                                  "dump": [0, 1], "pass_num": [0, 2],
                                  "match_on": ["auto", "name"]}, never=("user", "device_name_regex", "extra_mount_invisible_options",
                                                                        "extra_mount_translate_options"), tame=("name",),
                                 unforeseen=said("not present", "another state may make the folder first")),
            "mount.unmounted": Row({"name": ["/srv/one", "/srv/two", "/srv/three"]}, {"device": ["tmpfs"], "persist": [True, False]}, never=("user",),
                                   tame=("name",)),
        }),
    "kmod": World(
        rows={
            "kmod.present": Row({"name": ["dummy", "loop", "veth", "nosuchmod"]}, {"persist": [True, False], "mods": some("dummy", "loop")},
                                unforeseen=said("unavailable", "a package may bring it first")),
            "kmod.absent": Row({"name": ["dummy", "loop", "veth", "nosuchmod"]},
                               {"persist": [True, False], "comment": [True, False], "mods": some("dummy", "loop")}),
        }),
    "sysctl": World(
        setup="rm -rf /etc/sysctl.d/* /etc/sysctl.conf",
        rows={
            "sysctl.present": Row({"name": ["net.ipv4.ip_forward", "net.core.somaxconn", "net.ipv4.ip_local_port_range", "no.such"],
                                   "value": [0, 1, "128", "32768 60000", True]},
                                  {"config": ["/etc/sysctl.conf", "/etc/sysctl.d/x.conf"]}, untold="Salt tells the change in the comment",
                                  unforeseen="the kernel refuses the value", again="the kernel shows another value than it was given"),
        }),
    "alternatives": World(
        needs="update-alternatives",
        setup="mkdir -p /opt/a; for n in one two three; do echo $n >/opt/a/$n; done; update-alternatives --quiet --install /usr/bin/thing thing /opt/a/one 10; update-alternatives --quiet --install /usr/bin/thing thing /opt/a/two 20",
        rows={
            "alternatives.install": Row({"name": ["thing", "thing", "other"], "link": "/usr/bin/thing",
                                         "path": ["/opt/a/one", "/opt/a/three", "/opt/a/two", "/opt/none"], "priority": [10, 30]}, tame=("link",),
                                        unforeseen="update-alternatives refuses"),
            "alternatives.remove": Row({"name": ["thing", "other"], "path": ["/opt/a/one", "/opt/a/three"]}, again="Salt fails when there is none",
                                       untold="Salt tells what took its place", silent="Salt tells nothing of the last one"),
            "alternatives.set": Row({"name": ["thing", "other"], "path": ["/opt/a/one", "/opt/a/two", "/opt/a/three"]}),
            "alternatives.auto": Row({"name": ["thing", "other"]}, untold="the change is what the program prints",
                                     unforeseen="update-alternatives refuses",
                                     again="without alternatives the program's error is the change",
                                     hollow="without alternatives the program's error is the change"),
        }),
    "at": World(
        played="at", ignored=("srv/played/jobs.new",),
        rows={
            "at.present": Row({"name": ["echo a", "echo b"], "timespec": ["13:05", "23:00"], "tag": ["love", "rose"]},
                              {"job": ["echo c"], "unique_tag": YES}, never=("user", "kwargs"), untold="at gives the number and the time",
                              tame=("timespec",), unforeseen="at's own refusal",
                              again="a job is added each time, but for a tag that is unique"),
            "at.absent": Row({"name": "x"}, {"tag": ["love", "rose"], "jobid": [1, 99], "hour": [13]}, unforeseen="at's own refusal"),
        }),
    "incron": World(
        played="incron",
        rows={
            "incron.present": Row({"name": ["w"], "path": ["/srv/in", "/srv/out", "/srv/new"],
                                   "mask": [["IN_MODIFY"], ["IN_CREATE", "IN_MODIFY"], "IN_DELETE", ["NOSUCH"]],
                                   "cmd": ["/usr/bin/take $@ now", "/bin/new"]}, {"user": ["root"]}, unforeseen="incrontab's own refusal"),
            "incron.absent": Row({"name": ["w"], "path": ["/srv/in", "/srv/out", "/srv/new"], "mask": [["IN_MODIFY", "IN_CREATE"], "IN_DELETE"],
                                  "cmd": ["/usr/bin/take $@ now", "/usr/bin/tell $#  all"]}, {"user": ["root"]}),
        }),
    "tuned": World(
        played="tuned",
        rows={
            "tuned.profile": Row({"name": ["balanced", "desktop", "virtual-guest", "own", "nosuch"]}, unforeseen="tuned-adm's own refusal"),
            "tuned.off": Row({"name": ["x", None]}),
        }),
    "timezone": World(
        setup="ln -sfn /usr/share/zoneinfo/UTC /etc/localtime; echo UTC >/etc/timezone; printf '0.0 0 0.0\\n0\\nUTC\\n' >/etc/adjtime; rm -f /usr/bin/timedatectl",
        rows={"timezone.system": Row({"name": ["UTC", "Europe/Berlin", "Etc/UTC", "No/Where"]}, {"utc": [True, False]}, unforeseen="no such zone")}),
    "keyboard": World(
        setup="printf '# c\\nXKBMODEL=\"pc105\"\\nXKBLAYOUT=\"us\"\\n' >/etc/default/keyboard; rm -f /usr/bin/localectl; printf '#!/bin/sh\\n[ \"$1\" = -query ] && echo \"layout:     $(cat /srv/x)\" || echo $1 >/srv/x\\n' >/usr/local/bin/setxkbmap; chmod 755 /usr/local/bin/setxkbmap; echo us >/srv/x",
        rows={
            "keyboard.system": Row({"name": ["us", "de", "dvorak"]}, tame=("name",)),
            "keyboard.xorg": Row({"name": ["us", "de", "dvorak"]}, tame=("name",)),
        }),
    "locale": World(
        needs="locale-gen update-locale localedef", ignored=("usr/lib/locale",), look="locale -a",
        setup="rm -f /usr/bin/localectl; printf 'LANG=C.UTF-8\\n' >/etc/default/locale; printf '# de_DE.UTF-8 UTF-8\\n# en_US.UTF-8 UTF-8\\n' >/etc/locale.gen; printf '#!/bin/sh\\nexit 0\\n' >/usr/local/sbin/localedef",
        rows={
            "locale.present": Row({"name": ["C.UTF-8", "de_DE.UTF-8", "nosuch"]}, tame=("name",), unforeseen="no such locale"),
            "locale.system": Row({"name": ["C.UTF-8", "C", "POSIX"]}, tame=("name",)),
        }),
    "debconf": World(
        needs="debconf-set-selections perl",
                     setup=SELECTIONS + "printf 'x-pkg x/q select a\\nx-pkg x/flag boolean true\\n' | debconf-set-selections; printf 'x-pkg x/y string z\\n' >/srv/salt/a.sel; printf 'x-pkg x/y string {{ v }}\\n' >/srv/salt/t.sel",
        ignored=("var/cache/debconf",), look="debconf-get-selections | grep x/ | sort",
        rows={
            "debconf.set": Row({"name": "x-pkg", "data": [{"x/q": {"type": "select", "value": "b"}}, {"x/flag": {"type": "boolean", "value": True}},
                                                          {"x/new": {"type": "string", "value": "two words"},
                                                           "x/q": {"type": "select", "value": "a"}},
                                                        {"x/pw": {"type": "password", "value": "s"}}]}, untold="Salt's words: New value"),
            "debconf.set_file": Row({"name": "n", "source": ["salt://a.sel", "salt://t.sel", "salt://none"]},
                                    {"template": ["jinja"], "context": [{"v": "w"}], "defaults": [{"v": "d"}]}, untold="Salt's words",
                                    vague="Salt's set_file can't tell what is there", silent="Salt's set_file can't tell what is there",
                                    unforeseen="the file is read in the run alone", errs="the file is read in the run alone"),
        }),
    "environ": World(
        rows={"environ.setenv": Row({"name": ["A", "PATH", "B"], "value": ["1", "", {"A": "1", "B": False}, False]},
                                    {"false_unsets": [True, False], "clear_all": [True, False], "update_minion": [True, False]},
                                    hollow="the environment ends with the run",
                                    again="the environment ends with the run")}),
    "schedule": World(
        rows={
            "schedule.present": Row({"name": ["one", "two"], "function": ["test.ping", "state.apply"], "offline": True},
                                    {"seconds": [60, 61], "job_args": [["a"]], "job_kwargs": [{"k": 1}], "maxrunning": [1], "enabled": [True, False],
                                     "splay": [5], "persist": [True]}),
            "schedule.absent": Row({"name": ["one", "two"], "offline": True}),
        }),
    "test": World(
        rows={
            "test.nop": Row({"name": "x"}), "test.succeed_without_changes": Row({"name": "x"}), "test.fail_without_changes": Row({"name": "x"}),
            "test.show_notification": Row({"name": "x", "text": ["a", "", 5]}), "stateconf.context": Row({"name": "x"}),
              "stateconf.set": Row({"name": "a::b"}, {"port": [80]}),
            "test.check_pillar": Row({"name": "x"}, {"present": ["a", ["a", "b:c"]], "boolean": ["a"], "integer": ["i"], "string": ["s"],
                                                     "listing": ["l"], "dictionary": ["d"]}),
        }, pillar={"a": True, "b": {"c": 1}, "i": 1, "s": "t", "l": [1], "d": {"k": 1}}),
    "process": World(
        start="sleep 12345 >/dev/null 2>&1 & sleep 23456 >/dev/null 2>&1 &", look="ps -eo args | grep '^sleep [12]'",
        rows={"process.absent": Row({"name": ["sleep 12345", "sleep 23456", "sleep 3456"]}, tame=("name",), never=("user", "signal"),
                                    untold="the change is what pkill prints")}),
    "lvm": World(
        played="lvm-volumes",
        rows={
            "lvm.pv_present": Row({"name": ["/srv/played/dev/used", "/srv/played/dev/free", "/srv/played/dev/new"]}, tame=("name",),
                                  never=("kwargs",), untold=LVM, unforeseen=said(".", "lvm's own refusal")),
            "lvm.pv_absent": Row({"name": ["/srv/played/dev/free", "/srv/played/dev/new"]}, tame=("name",), untold=LVM,
                                 unforeseen=said(".", "lvm's own refusal")),
            "lvm.vg_present": Row({"name": ["old", "new"], "devices": ["/srv/played/dev/free", "/srv/played/dev/used"]}, tame=("name", "devices"),
                                  never=("kwargs",), untold=LVM, unforeseen=said(".", "lvm's own refusal")),
            "lvm.vg_absent": Row({"name": ["old", "new"]}, tame=("name",), untold=LVM, unforeseen=said(".", "lvm's own refusal")),
            "lvm.lv_present": Row({"name": ["data", "more"], "vgname": "old", "size": ["100M", "1G", "200M"]}, {"force": YES, "resizefs": [False]},
                                  tame=("name", "vgname", "size"), never=("kwargs", "pv", "snapshot", "thinvolume", "thinpool", "extents", "resizefs",
                                                                          "force"),
                                  untold=LVM, unforeseen=said(".", "lvm's own refusal")),
            "lvm.lv_absent": Row({"name": ["data", "more"], "vgname": "old"}, tame=("name", "vgname"), untold=LVM,
                                 unforeseen=said(".", "lvm's own refusal")),
        }),
    "selinux": World(
        played="selinux", ignored=("srv/played/applied",),
        rows={
            "selinux.fcontext_policy_present": Row({"name": ["/srv/www(/.*)?", "/srv/new"], "sel_type": ["var_t", "httpd_sys_content_t"]},
                                                   {"filetype": ["a", "f"], "sel_user": ["system_u"], "sel_level": ["s0"]}, tame=("name", "sel_type"),
                                                   unforeseen="semanage's own refusal"),
            "selinux.fcontext_policy_absent": Row({"name": ["/srv/www(/.*)?", "/srv/new"]}, {"filetype": ["a", "f"], "sel_type": ["var_t"]},
                                                  tame=("name",), unforeseen="semanage's own refusal"),
        }),
    "rabbitmq": World(
        played="rabbitmq",
        rows={
            "rabbitmq_user.present": Row({"name": ["me", "new"]}, {"password": ["s", "new-one"], "force": YES, "tags": ["a b", ["administrator"]],
                                                                   "perms": [[{"/": ["a", "b", "c"]}]]}, tame=("name",), never=("runas",),
                                         unforeseen=said(".", "the broker's own refusal"),
                                         again=given("the password is set each time when it is forced", "force")),
            "rabbitmq_user.absent": Row({"name": ["me", "new"]}, tame=("name",), never=("runas",)),
            "rabbitmq_vhost.present": Row({"name": ["/", "new"]}, tame=("name",), never=("runas", "owner", "conf", "write", "read")),
            "rabbitmq_vhost.absent": Row({"name": ["/", "new"]}, tame=("name",), never=("runas",)),
            "rabbitmq_policy.absent": Row({"name": ["HA", "new"]}, {"vhost": ["/"]}, tame=("name",), never=("runas",)),
            "rabbitmq_plugin.enabled": Row({"name": ["foo", "bar"]}, tame=("name",), never=("runas",),
                                           unforeseen=said(".", "the broker's own refusal")),
            "rabbitmq_plugin.disabled": Row({"name": ["foo", "bar"]}, tame=("name",), never=("runas",),
                                            unforeseen=said(".", "the broker's own refusal")),
        }),
    "quota": World(
        played="quota",
        rows={"quota.mode": Row({"name": "/home", "mode": YES, "quotatype": ["user", "group"]}, tame=("name", "mode", "quotatype"))}),
}
