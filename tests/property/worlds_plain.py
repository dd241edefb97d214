"""States of files, whatever they are."""
from draw import some
from rows import Row, When, World, given, said

PLAIN = ["/srv/w/one", "/srv/w/two", "/srv/w/empty", "/srv/w/new", "/srv/w/sub/three", "/srv/w/far/away", "/srv/w/link", "/srv/w/sub"]
FILES = PLAIN[:3]
LINES = ["alpha", "beta", "red = 1", "# green = 3", "", "  indented", "two\nlines", "zwölf €", "-x"]
TEXTS = ["", "alpha\n", "alpha\nbeta\n", "beta", "zwölf €\n", "{{ 1 + 1 }}\n", "a\r\nb\r\n"]
OWNERS = {"user": ["root", "daemon", 1, "daemon", "bin", 2, "nobody9"], "group": ["root", "daemon", 1, "daemon", "bin", 2, "nogroup9"]}
NAMED = {"user": ["root", "daemon"], "group": ["root", "daemon"]}
# What the run alone can know: what earlier states of the same run make, and what a command says of the new file.
LATER = said("not found|not available|not present|not exist|No such file|ot a directory|s a directory|o directory to create|arent director|Unable to manage|check_cmd|cache salt", "another state may make it first, or a command looks at the new file")
MODES = ["0644", "0600", "755", 644, "4755", "keep"]
YES = [True, False]

MADE = r"""mkdir -p /srv/w/sub /srv/w/full/deep /srv/salt/tree/sub /srv/salt/tree/empty; cd /srv/w
printf 'alpha\nbeta\nred = 1\n# green = 3\n\n  indented\nlast' >one; printf 'beta\nalpha\nbeta\n# begin\nold\n# end\nblue=2\n' >two; : >empty
printf 'x\n' >sub/three; printf 'y\n' >full/a; printf 'z\n' >full/deep/b; ln -s one link; ln -s nowhere dangling; chmod 600 two
cd /srv/salt; printf 'alpha\n' >plain; printf 'a={{ 1 + 1 }}\n' >t.jinja; printf 'one\n' >tree/a; printf 'two\n' >tree/sub/b; ln -s a tree/c
printf -- '--- a\n+++ b\n@@ -1,2 +1,2 @@\n-alpha\n+ALPHA\n beta\n' >one.patch
for d in 01 02 03 10 28; do : >/srv/w/full/b-2026-01-$d; done"""

SALT_WORDS = "Salt's words of test mode are others than the run's"

WORLDS = {
    "files": World(
        setup=MADE, steps=8,
        rows={
            "file.absent": Row({"name": PLAIN}),
            "file.accumulated": Row({"name": "acc", "filename": FILES, "text": LINES}, hollow="the text waits for the state that takes it",
                                    again="the text waits for the state that takes it", untold="the text waits", unforeseen="nobody takes the text"),
            "file.append": Row({"name": PLAIN}, {"text": some(*LINES, least=1), "source": ["salt://plain"], "makedirs": YES,
                                                 "ignore_whitespace": YES},
                               never=("sources", "source_hash", "source_hashes"), untold=SALT_WORDS),
            "file.prepend": Row({"name": PLAIN}, {"text": some(*LINES, least=1), "source": ["salt://plain"], "makedirs": YES, "header": YES},
                                never=("sources", "source_hash", "source_hashes"), untold=SALT_WORDS),
            "file.blockreplace": Row({"name": FILES, "marker_start": ["# begin"], "marker_end": ["# end"]},
                                     {"content": TEXTS, "append_if_not_found": YES, "prepend_if_not_found": YES, "backup": [False, ".bak"],
                                      "append_newline": [True, False, None],
                                      "insert_before_match": ["beta"], "insert_after_match": ["alpha"], "show_changes": YES},
                                     never=("source", "sources", "source_hash", "source_hashes", "template", "defaults", "context"), weight=2),
            "file.comment": Row({"name": FILES, "regex": ["^red", "beta", "alpha$", "nothing", "^(alpha|beta)"]},
                                {"char": ["#", "//"], "backup": [".bak", ""], "ignore_missing": YES}, untold=SALT_WORDS),
            "file.uncomment": Row({"name": FILES, "regex": ["green", "beta", "alpha$", "nothing"]}, {"char": ["#", "//"], "backup": [".bak", ""]},
                                  untold=SALT_WORDS),
            "file.copy": Row({"name": PLAIN, "source": ["/srv/w/one", "/srv/w/full", "/srv/none"]},
                             {"force": YES, "makedirs": YES, "preserve": YES, "subdir": YES, "mode": MODES[:3], **OWNERS}, untold=SALT_WORDS,
                             again=given("Salt copies each time when it is forced, and what has owner and mode", "force", "user", "group", "mode",
                                         "subdir")),
            "file.decode": Row({"name": PLAIN}, {"encoded_data": ["YWxwaGE=", "!!", ""], "encoding_type": ["base64"], "checksum": ["md5", "sha256"]},
                               never=("contents_pillar",)),
            "file.directory": Row({"name": PLAIN + ["/srv/w/full"]},
                                  {"dir_mode": MODES[:3], "file_mode": MODES[:2],
                                   "recurse": some("user", "group", "mode", "ignore_files", "ignore_dirs", "silent"), "makedirs": YES, "clean": YES,
                                   "force": YES, "backupname": ["/srv/w/kept"], "allow_symlink": YES, "children_only": YES, "max_depth": [0, 1],
                                   "exclude_pat": ["a", "E@^b"], "follow_symlinks": YES,
                                   **OWNERS}, never=("win_owner", "win_perms", "win_deny_perms", "win_inheritance", "win_perms_reset"), weight=2,
                                  untold=SALT_WORDS),
            "file.exists": Row({"name": PLAIN}),
            "file.missing": Row({"name": PLAIN}),
            "file.hardlink": Row({"name": PLAIN, "target": FILES * 2 + ["/srv/none"]}, {"force": YES, "makedirs": YES, "dir_mode": MODES[:2]},
                                 untold=SALT_WORDS),
            "file.keyvalue": Row({"name": FILES + ["/srv/w/new"]},
                                 {"key": ["red", "blue", "green", "white"], "value": ["1", "2", 3, "x y", ""],
                                  "key_values": [{"red": "2", "white": "w"}, {}], "separator": ["=", " = ", ":"],
                                  "append_if_not_found": YES, "prepend_if_not_found": YES, "search_only": YES, "show_changes": YES,
                                  "ignore_if_missing": YES, "count": [1, 2], "uncomment": ["#", "# "],
                                  "key_ignore_case": YES, "value_ignore_case": YES, "create_if_missing": YES},
                                 again=given("Salt adds one each time, up to the count", "count")),
            "file.line": Row({"name": FILES},
                             {"content": LINES, "match": ["alpha", "be", "red"], "mode": ["ensure", "replace", "delete", "insert"],
                              "location": ["start", "end"], "before": ["beta", "red"],
                              "after": ["alpha", "be"], "show_changes": YES, "backup": YES, "quiet": YES, "indent": YES, "create": YES,
                              "file_mode": MODES[:2]}, untold=SALT_WORDS,
                             again=When("Salt inserts before what it does not look at", lambda t: t.args.get("mode") == "insert"), weight=2),
            "file.managed": Row({"name": PLAIN},
                                {"contents": TEXTS + [["a", "b"], 5], "source": ["salt://plain", "salt://plain", "salt://t.jinja", "salt://none"],
                                 "mode": MODES, "replace": YES, "create": YES, "makedirs": YES,
                                 "template": ["jinja"], "contents_newline": YES, "force": YES, "backup": ["minion", ""], "show_changes": YES,
                                 "dir_mode": MODES[:2], "follow_symlinks": YES,
                                 "allow_empty": YES, "check_cmd": ["grep -q .", "grep -q alpha"], "encoding": ["utf-8", "latin-1"],
                                 "new_file_diff": YES, "attrs": [], **OWNERS},
                                never=("attrs", "win_owner", "win_perms", "win_deny_perms", "win_inheritance", "win_perms_reset", "contents_pillar",
                                       "contents_grains", "use_etag", "verify_ssl",
                                       "skip_verify", "source_hash", "source_hash_name", "selinux", "sig_backend"), weight=4, untold=SALT_WORDS),
            "file.mknod": Row({"name": ["/srv/w/pipe", "/srv/w/one"], "ntype": ["p", "c", "b", "x"], "major": 1, "minor": 3},
                              { "mode": MODES[:2], **OWNERS}),
            "file.patch": Row({"name": FILES + ["/srv/w/new"], "source": ["salt://one.patch", "salt://none"]},
                              {"options": ["-p0", "-R"], "strip": [0], "reject_file": ["/srv/w/rej"], "dry_run_first": YES},
                              never=("source_hash", "source_hash_name", "skip_verify", "template", "context", "defaults"),
                              untold="the change is what the program prints",
                              silent=given("patch leaves what it rejects", "reject_file"),
                              again=given("patch leaves what it rejects", "reject_file")),
            "file.pruned": Row({"name": PLAIN + ["/srv/w/full"]}, {"recurse": YES, "ignore_errors": YES, "older_than": [0]}, untold=SALT_WORDS,
                               unforeseen=said("not empty", "another state may empty it first")),
            "file.recurse": Row({"name": PLAIN + ["/srv/w/full"], "source": ["salt://tree", "salt://tree/sub", "salt://none", "salt://plain"]},
                                {"clean": YES, "dir_mode": MODES[:3], "file_mode": MODES[:3], "include_empty": YES, "exclude_pat": ["a", "E@^s"],
                                 "include_pat": ["a", "E@b$"], "maxdepth": [0, 1],
                                 "keep_symlinks": YES, "force_symlinks": YES, "replace": YES, "backup": ["minion"], "template": ["jinja"],
                                 "recurse": YES, **OWNERS},
                                never=("win_owner", "win_perms", "win_deny_perms", "win_inheritance", "sym_mode"), untold=SALT_WORDS,
                                silent="Salt makes a folder for nothing without telling", weight=2),
            "file.rename": Row({"name": PLAIN, "source": ["/srv/w/one", "/srv/w/full", "/srv/none"]}, {"force": YES, "makedirs": YES}),
            "file.replace": Row({"name": FILES + ["/srv/w/new"], "pattern": ["^alpha$", "b[a-z]+", "=", "nothing", "^"],
                                 "repl": ["omega", "= ", "", "\\g<0>x", "beta"]},
                                {"count": [0, 1], "flags": [["IGNORECASE", "MULTILINE"], 8], "bufsize": ["file", 1], "append_if_not_found": YES,
                                 "prepend_if_not_found": YES, "not_found_content": ["nf"],
                                 "backup": [False, ".bak"], "show_changes": YES, "ignore_if_missing": YES, "backslash_literal": YES},
                                again="the new text may hold what the pattern seeks"),
            "file.retention_schedule": Row({"name": ["/srv/w/full", "/srv/w/sub", "/srv/none"],
                                            "retain": [{"most_recent": 1}, {"most_recent": 2, "first_of_week": 1}, {"first_of_day": "all"}, {}]},
                                           {"strptime_format": ["b-%Y-%m-%d"], "timezone": [None]}),
            "file.serialize": Row({"name": PLAIN}, {"dataset": [{"k": 1, "l": [1, "x"]}, {}, {"k": {"m": None}}, [1, 2], "text"],
                                                    "serializer": ["json", "yaml", "toml", "configparser", "python", "nosuch"],
                                                    "formatter": ["yaml", "json"], "merge_if_exists": YES, "create": YES, "makedirs": YES,
                                                    "mode": MODES[:3], "show_changes": YES, **OWNERS},
                                  never=("dataset_pillar", "serializer_opts", "deserializer_opts", "encoding", "encoding_errors", "backup"),
                                  untold=SALT_WORDS, weight=2),
            "file.symlink": Row({"name": PLAIN + ["/srv/w/dangling"], "target": ["/srv/w/one", "/nowhere", "one"]},
                                {"force": YES, "backupname": ["/srv/w/kept"], "makedirs": YES, "atomic": YES, "disallow_copy_and_unlink": YES,
                                 "inherit_user_and_group": YES, "follow_symlinks": YES, "mode": MODES[:2], **NAMED},
                                never=("win_owner", "win_perms", "win_deny_perms", "win_inheritance"), untold=SALT_WORDS),
            "file.tidied": Row({"name": PLAIN + ["/srv/w/full"]}, {"age": [0, 1], "matches": some("a", "b.*", ".*"), "rmdirs": YES, "size": [0, "1k"],
                                                                   "exclude": some("a"), "full_path_match": YES, "followlinks": YES,
                                                                   "time_comparison": ["atime", "mtime", "ctime", "xtime"],
                                                                   "age_size_logical_operator": ["AND", "OR"], "age_size_only": ["age", "size"],
                                                                   "rmlinks": YES}),
            "file.touch": Row({"name": PLAIN}, {"makedirs": YES, "atime": [100000], "mtime": [200000]}, again="a file is touched again",
                              hollow="times are no part of what is compared"),
            "file.cached": Row({"name": ["salt://plain", "salt://none", "/srv/w/one"]},
                               never=("source_hash", "source_hash_name", "skip_verify", "use_etag"),
                               vague="Salt's test mode does not look at the cache", untold="Salt's test mode does not look at the cache",
                               hollow="the cache is no part of what is compared"),
            "file.not_cached": Row({"name": ["salt://plain", "salt://none", "/srv/w/one"]}, hollow="the cache is no part of what is compared"),
        }),
    "archive": World(
        needs="zip unzip tar",
        setup=r"""mkdir -p /tmp/a/top/sub; echo 1 >/tmp/a/top/one; echo 2 >/tmp/a/top/sub/two; cd /tmp/a; tar czf /srv/salt/a.tar.gz top; tar cf /srv/salt/a.tar top; zip -qr /srv/salt/a.zip top
            zip -qr -P pw /srv/salt/locked.zip top; (cd top && tar cJf /srv/salt/flat.tar.xz *); echo no >/srv/salt/bad.tar; mkdir -p /srv/w/full; echo x >/srv/w/full/x; echo y >/srv/w/file""",
        rows={
            "archive.extracted": Row({"name": ["/srv/w/new", "/srv/w/full", "/srv/w/file", "/srv/w/deep/new"],
                                      "source": ["salt://a.tar.gz", "salt://a.tar", "salt://a.zip", "salt://locked.zip", "salt://flat.tar.xz",
                                                 "salt://bad.tar", "salt://none.tar"]},
                                     {"password": ["pw", "no"], "options": ["--strip-components=1", "v", "-j"], "force": YES,
                                      "if_missing": ["/srv/w/full/x", "/srv/none"],
                                      "trim_output": [True, 1], "use_cmd_unzip": YES, "extract_perms": YES, "enforce_toplevel": YES,
                                      "enforce_ownership_on": ["/srv/w/new/top"], "archive_format": ["tar", "zip", "rar"],
                                      "user": ["daemon", "nobody9"], "group": ["daemon"], "source_hash_update": YES},
                                     never=("overwrite", "clean", "clean_parent", "source_hash", "source_hash_name", "use_etag",
                                            "skip_files_list_verify", "list_options", "signature", "source_hash_sig", "signed_by_any", "signed_by_all", "keyring", "gnupghome", "skip_verify", "kwargs"),
                                     untold="what is unpacked is told by the run", vague="Salt reads the archive in the run alone",
                                     unforeseen="Salt reads the archive in the run alone", weight=3),
        }),
    "rsync": World(
        needs="rsync", setup=r"""mkdir -p /srv/from/sub /srv/to; echo 1 >/srv/from/one; echo 2 >/srv/from/sub/two; ln -s one /srv/from/l; echo 3 >/srv/to/extra; echo '*.o' >/srv/ex; echo o >/srv/from/x.o""",
        rows={
            "rsync.synchronized": Row({"name": ["/srv/to", "/srv/new", "/srv/deep/new"], "source": ["/srv/from/", "/srv/from", "/srv/none/"]},
                                      {"delete": YES, "force": YES, "update": YES, "excludefrom": ["/srv/ex"], "exclude": ["sub", "one"],
                                       "prepare": YES, "additional_opts": [["--chmod=F644"]]},
                                      never=("passwordfile", "dryrun"), untold="the run tells what rsync prints"),
        }),
    "acl": World(
        needs="setfacl getfacl", setup="mkdir -p /srv/w/sub; touch /srv/w/f /srv/w/sub/g; setfacl -m u:daemon:r /srv/w/f",
        rows={
            "acl.present": Row({"name": ["/srv/w/f", "/srv/w/sub", "/srv/none"], "acl_type": ["user", "group", "mask", "other", "default:user",
                "d:g"], "acl_name": ["daemon", "root", "", "nobody9"], "perms": ["r", "rx", "rwx", ""]},
                               {"recurse": YES, "force": YES}, unforeseen="setfacl refuses the name"),
            "acl.absent": Row({"name": ["/srv/w/f", "/srv/w/sub", "/srv/none"], "acl_type": ["user", "group", "default:user"],
                               "acl_name": ["daemon", "root", "", "nobody9"]}, {"perms": ["r"], "recurse": YES}),
            "acl.list_present": Row({"name": ["/srv/w/f", "/srv/w/sub", "/srv/none"], "acl_type": ["user", "group"],
                                     "acl_names": some("daemon", "bin", "sys", least=1), "perms": ["r", "rx"]}, {"recurse": YES, "force": YES}),
            "acl.list_absent": Row({"name": ["/srv/w/f", "/srv/w/sub", "/srv/none"], "acl_type": ["user", "group"],
                                    "acl_names": some("daemon", "bin", "sys", least=1)}, {"recurse": YES}),
        }),
}
for row in WORLDS["files"].rows.values():
    row.unforeseen = (row.unforeseen, LATER)
