"""Accounts, their keys and their tables."""
from draw import some
from rows import Row, When, World, given, said

USERS = ["hugo", "eva", "new", "other", "root"]
GROUPS = ["staff2", "hugo", "newgroup", "daemon"]
MADE = """groupadd -g 1900 staff2; useradd -m -u 1901 -U -G staff2,daemon -s /bin/sh -c 'Hugo,1,2,3' hugo; useradd -m -u 1902 -N -g staff2 eva"""
KEYS = ["AAAAB3NzaC1yc2EAAAADAQABAAAAQQC1", "AAAAC3NzaC1lZDI1NTE5AAAAIKxk",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOther hugo@web", "AAAAB3NzaC1yc2EAAAADAQABAAAAQQD2"]
HASHES = ["$6$salt$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "!", "*"]

WORLDS = {
    "accounts": World(
        setup=MADE,
        rows={
            "user.present": Row({"name": USERS[:4]},
                                {"uid": [1901, 1902, 1950], "gid": ["staff2", 1900, "daemon", 7777], "groups": some("staff2", "daemon", "nogroup9"),
                                 "optional_groups": some("staff2", "nogroup9"), "remove_groups": [True, False], "home": ["/home/hugo", "/srv/new"],
                                 "createhome": [True, False], "password": HASHES, "enforce_password": [True, False], "empty_password": [True],
                                 "shell": ["/bin/sh", "/bin/bash"], "system": [True, False], "fullname": ["Hugo", "Eva Zwei", ""],
                                 "roomnumber": [1, "2"],
                                 "workphone": ["1", 23], "homephone": ["3"], "other": ["o"], "unique": [True, False], "usergroup": [True, False],
                                 "date": [18000], "mindays": [0, 1], "maxdays": [99, 9999], "inactdays": [5], "warndays": [7], "expire": [20000],
                                 "allow_uid_change": [True, False], "allow_gid_change": [True, False], "password_lock": [True, False]},
                                never=("loginclass", "nologinit", "hash_password"), untold="Salt tells the changes in the comment",
                                unforeseen="useradd and usermod refuse",
                                again=(given("empty_password and password contradict each other", "empty_password"),
                                       When("usermod unlocks no account without a password", lambda t: t.args.get("password_lock") is False)), weight=4),
            "user.absent": Row({"name": USERS[:4]}, {"purge": [True, False], "force": [True, False]}),
            "group.present": Row({"name": GROUPS[:3]},
                                 {"gid": [1900, 1910, 1911], "system": [True, False], "members": some("hugo", "eva", "nobody9"),
                                  "addusers": some("hugo", "eva"), "delusers": some("hugo", "eva")}, untold="Salt tells the changes in the comment",
                                 unforeseen="groupadd and groupmod refuse", weight=2),
            "group.absent": Row({"name": GROUPS[:3]}, unforeseen="a user's own group stays"),
        }),
    "ssh": World(
        setup=MADE + """; mkdir -p -m 700 ~hugo/.ssh; printf '# c\\nssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAQQC1 hugo\\n' >~hugo/.ssh/authorized_keys
            chown -R hugo: ~hugo/.ssh""",
        rows={
            "ssh_known_hosts.present": Row({"name": ["a.example", "b.example", "[c.example]:2222"], "user": ["hugo", "eva", None],
                                            "key": KEYS[:2] + ["AAAAB3NzaC1yc2EAAAADAQABAAAAQQD2"], "enc": ["ssh-rsa", "ssh-ed25519"]},
                                           {"config": ["/etc/ssh/known"], "hash_known_hosts": [True, False]},
                                           never=("fingerprint", "port", "timeout", "fingerprint_hash_type", "hash_known_hosts"),
                                           unforeseen=said(".", "ssh-keygen's own refusal")),
            "ssh_known_hosts.absent": Row({"name": ["a.example", "b.example"], "user": ["hugo", "eva", None]}, {"config": ["/etc/ssh/known"]},
                                          never=("port",)),
            "ssh_auth.present": Row({"name": KEYS, "user": ["hugo", "eva", "nobody9"]},
                                    {"enc": ["ssh-rsa", "ed25519", "ssh-ed25519"], "comment": ["hugo", "a b"],
                                     "options": some("no-pty", 'command="x y"', 'from="10.0.0.1,10.0.0.2"'),
                                     "config": [".ssh/authorized_keys", "%h/.ssh/keys2"]}, never=("source",),
                                    unforeseen=said("home directory", "another state may make the user first")),
            "ssh_auth.absent": Row({"name": KEYS, "user": ["hugo", "eva", "nobody9"]}, {"enc": ["ssh-rsa", "ssh-ed25519"], "comment": ["hugo"]},
                                   never=("source",)),
            "ssh_auth.manage": Row({"name": "keys", "user": ["hugo", "eva"], "ssh_keys": some(*KEYS)}, {"enc": ["ssh-rsa"]}, never=("source",)),
        }),
    "cron": World(
        setup=MADE + r"""; printf '# c\nMAILTO=root\n# Lines below here are managed by Salt, do not edit\n# the job SALT_CRON_IDENTIFIER:one\n5 * * * * /bin/one\n@daily /bin/two\n' | crontab -u hugo -
            printf '1 1 * * * /bin/x\n' >/srv/salt/tab""",
        needs="crontab",
        rows={
            "cron.present": Row({"name": ["/bin/one", "/bin/two", "/bin/new", "echo %x"], "user": ["hugo", "eva"]},
                                {"minute": ["5", "*", 0, "random"], "hour": [1, "*/2"], "dayweek": ["1-5"], "comment": ["the job", "two\nlines"],
                                 "commented": [True, False], "identifier": ["one", "two", False], "special": ["@daily", "@reboot"]}, weight=3),
            "cron.absent": Row({"name": ["/bin/one", "/bin/two", "/bin/new"], "user": ["hugo", "eva"]},
                               {"identifier": ["one", "two", False], "special": ["@daily"]}),
            "cron.env_present": Row({"name": ["MAILTO", "PATH", "A"], "value": ["root", "/bin", "x y", 1], "user": ["hugo", "eva"]}),
            "cron.env_absent": Row({"name": ["MAILTO", "PATH", "A"], "user": ["hugo", "eva"]}),
            "cron.file": Row({"name": ["salt://tab", "salt://none"], "user": ["hugo", "eva"]}, {"replace": [True, False]}),
        }),
}
