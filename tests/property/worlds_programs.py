"""States over programs: repositories of sources, packages of languages, web servers' configuration, keys."""
from draw import pairs, some
from rows import Row, When, World, given

YES = [True, False]
GIT = r"""export HOME=/root; git config --global user.name a; git config --global user.email a@b; git config --global safe.directory '*'; git config --global init.defaultBranch main
mkdir -p /srv/g; cd /srv/g; git init -q src; cd src; echo 1 >f; git add f; git commit -qm one; git tag v1; git checkout -q -b dev; echo d >d; git add d; git commit -qm dev; git checkout -q main; echo 2 >>f
git commit -qam two; cd ..; git clone -q src old; (cd src; echo 3 >>f; git commit -qam three); git clone -q src dirty; echo local >>dirty/f; mkdir full; echo x >full/x; git init -q --bare bare"""
REMOTES = ["file:///srv/g/src"] * 4 + ["file:///srv/g/none"]
GIT_TARGETS = ["/srv/g/new", "/srv/g/old", "/srv/g/dirty", "/srv/g/full", "/srv/g/far/new"]

WORLDS = {
    "git": World(
        needs="git", setup=GIT, ignored=tuple(f"{d}/{f}" for d in ("srv/g/old", "srv/g/dirty", "srv/g/new", "srv/g/far/new",
                                                                   "srv/g/full") for f in (".git", "FETCH_HEAD", "refs", "objects", "packed-refs",
                                                                       "ORIG_HEAD")),
        look="for d in /srv/g/*/ /srv/g/far/new; do echo $d; git -C $d rev-parse HEAD --abbrev-ref HEAD; git -C $d status --porcelain -b; git -C $d for-each-ref; git -C $d config --list --local; done 2>/dev/null",
        rows={
            "git.latest": Row({"name": REMOTES, "target": GIT_TARGETS},
                              {"rev": ["HEAD", "main", "dev", "v1", "none"], "branch": ["main", "dev", "own"], "force_checkout": YES,
                               "force_clone": YES, "force_fetch": YES, "force_reset": [True, False, "remote-changes"],
                               "submodules": YES, "remote": ["origin"], "fetch_tags": YES, "sync_tags": YES, "update_head": YES},
                              never=("depth", "bare", "mirror", "user", "password", "identity", "https_user", "https_pass", "output_encoding",
                                     "refspec_branch", "refspec_tag"), weight=3,
                              untold="what is cloned or fetched is not known before", unforeseen="what git refuses when it clones"),
            "git.detached": Row({"name": REMOTES[:1], "rev": ["main", "dev", "v1", "none"], "target": GIT_TARGETS},
                                {"remote": ["origin"], "force_clone": YES, "force_checkout": YES, "fetch_remote": YES, "hard_reset": YES,
                                 "submodules": YES},
                                never=("user", "password", "identity", "https_user", "https_pass", "output_encoding"),
                                untold="what is cloned or fetched is not known before", vague="Salt fetches what is no commit each time",
                                silent="Salt sets the remote without telling", unforeseen="what git refuses when it clones"),
            "git.cloned": Row({"name": REMOTES, "target": GIT_TARGETS}, {"branch": ["main", "dev", "none"]},
                              never=("user", "password", "identity", "https_user", "https_pass", "output_encoding"),
                              unforeseen="what git refuses when it clones"),
            "git.present": Row({"name": ["/srv/g/src", "/srv/g/bare", "/srv/g/new", "/srv/g/full", "/srv/g/far/new"]},
                               {"force": YES, "bare": YES, "template": ["/srv/none"], "shared": ["group", "0660"]},
                               never=("separate_git_dir", "user", "password", "output_encoding", "template")),
            "git.config_set": Row({"name": ["user.name", "core.x", "a.b.c"], "value": ["1", "two words", True, 5], "repo": "/srv/g/src"},
                                  {"repo": ["/srv/g/none"]},
                                  never=("user", "password", "output_encoding", "global", "multivar")),
            "git.config_unset": Row({"name": ["user.name", "core.bare", "a.b.c", "core..*"], "repo": "/srv/g/src"},
                                    {"value_regex": ["a", "^1$"], "all": YES}, never=("user", "password", "output_encoding", "global")),
        }),
    "svn": World(
        needs="svn svnadmin", played="svn-repository", ignored=tuple(f"srv/played/{d}/.svn" for d in ("old", "new", "b",
            "full")) + ("srv/played/repo",),
        look="for d in /srv/played/*/; do svn info $d 2>/dev/null | grep -E '^(URL|Rev)'; done",
        rows={
            "svn.latest": Row({"name": ["file:///srv/played/repo/trunk", "file:///srv/played/none"],
                               "target": [f"/srv/played/{d}" for d in ("old", "new", "b", "full", "plain")]},
                              {"rev": [1, 2, "HEAD"], "force": YES, "externals": YES, "trust": YES}, never=("user", "username", "password"),
                              untold="Salt's words: what svn prints", unforeseen="svn's own refusal"),
            "svn.export": Row({"name": ["file:///srv/played/repo/trunk", "file:///srv/played/none"],
                               "target": [f"/srv/played/{d}" for d in ("b", "full", "plain")]},
                              {"rev": [1, 2], "force": YES, "overwrite": YES, "externals": YES}, never=("user", "username", "password"),
                              untold="Salt's words: what svn prints", unforeseen="svn's own refusal",
                              again="an export is made each time"),
        }),
    "hg": World(
        needs="hg", played="hg-repository", ignored=tuple(f"srv/played/{d}/.hg" for d in ("old", "new", "b", "full",
                                                                                          "empty")) + ("srv/played/src/.hg/cache",),
        look="for d in old new b empty; do hg -R /srv/played/$d id 2>&1; done",
        rows={
            "hg.latest": Row({"name": ["/srv/played/src"], "target": [f"/srv/played/{d}" for d in ("old", "new", "b", "full", "empty")]},
                             {"rev": ["v1", "tip", "default", "0"], "clean": YES, "force": YES, "update_head": YES},
                             never=("user", "identity", "opts"), untold="Salt's words", unforeseen="hg's own refusal"),
        }),
    "gem": World(
        needs="ruby gem", played="ruby-gems-real", look="/usr/local/sbin/gem list; /usr/local/sbin/gem sources",
                 ignored=("srv/played/gems", "srv/played/specs"),
        rows={
            "gem.installed": Row({"name": ["greet", "nosuch"]}, {"version": ["1.2.0", "2.0.0", ">= 1.0", "< 2.0"], "rdoc": YES, "ri": YES,
                                                                 "pre_releases": YES}, never=("user", "gem_bin", "proxy", "source", "ruby"),
                                 unforeseen="there is no such gem"),
            "gem.removed": Row({"name": ["greet", "nosuch"]}, never=("user", "gem_bin", "ruby")),
            "gem.sources_add": Row({"name": ["file:///srv/played/repo/", "file:///srv/none/"]}, never=("user", "ruby"), tame=("name",),
                                   unforeseen="the source does not answer"),
            "gem.sources_remove": Row({"name": ["file:///srv/played/repo/", "file:///srv/none/"]}, never=("user", "ruby"), tame=("name",)),
        }),
    "apache": World(
        played="apache-debian",
        rows={
            "apache.configfile": Row({"name": ["/etc/apache2/x.conf", "/etc/apache2/old.conf"],
                                      "config": [[{"Listen": "80"}], [{"VirtualHost": {"this": "*:80", "ServerName": ["a.b"]}}], [],
                                                 [{"A": 5}, {"B": ["c", "d"]}]]}, untold="Salt's words"),
            "apache_site.enabled": Row({"name": ["new", "000-default", "shop", "nosuch"]}, tame=("name",), unforeseen="a2ensite refuses"),
            "apache_site.disabled": Row({"name": ["new", "000-default", "shop"]}, tame=("name",)),
            "apache_module.enabled": Row({"name": ["new", "status", "nosuch"]}, tame=("name",), unforeseen="a2enmod refuses"),
            "apache_module.disabled": Row({"name": ["new", "status"]}, tame=("name",)),
            "apache_conf.enabled": Row({"name": ["new", "security", "nosuch"]}, tame=("name",), unforeseen="a2enconf refuses"),
            "apache_conf.disabled": Row({"name": ["new", "security"]}, tame=("name",)),
        }),
    "htpasswd": World(
        needs="htpasswd", setup="htpasswd -bc /srv/users moe old", look="true",
        rows={
            "webutil.user_exists": Row({"name": ["moe", "larry", "a b"], "password": ["s", "old", "p w"],
                                        "htpasswd_file": ["/srv/users", "/srv/new"]}, {"options": ["d", "s"], "force": YES, "update": YES},
                                       never=("runas", "options"),
                                       unforeseen="htpasswd's own refusal", again="forced: the password is written each time"),
            "webutil.user_absent": Row({"name": ["moe", "larry", "a b"], "htpasswd_file": ["/srv/users", "/srv/new"]}, never=("runas",)),
        }),
    "gpg": World(
        needs="gpg", played="gpg", setup="mkdir -p -m 700 /srv/gh /root/.gnupg; gpg --homedir /srv/gh --batch --import /srv/played/joe.pub.asc 2>/dev/null", ignored=("srv/gh", "root/.gnupg"),
        look="for d in /srv/gh /root/.gnupg; do gpg --homedir $d --list-keys --with-colons 2>/dev/null | grep -E '^(pub|fpr)' | cut -d: -f1,2,5,9,10; done",
        rows={
            "gpg.present": Row({"name": ["D5063BC25491A333", "1234567812345678"], "gnupghome": ["/srv/gh", "/root/.gnupg"]},
                               {"trust": ["fully", "ultimately", "nosuch"]}, never=("user", "keyserver", "kwargs"),
                               unforeseen="no key server answers", untold="the trust is told by the run"),
            "gpg.absent": Row({"name": ["D5063BC25491A333", "1234567812345678"], "gnupghome": ["/srv/gh", "/root/.gnupg"]},
                              never=("user", "kwargs", "keyserver")),
        }),
    "logrotate": World(
        played="logrotate", setup="cp -a /srv/played/lr.conf /etc/logrotate.conf; ln -sfn /srv/played/lr.d /etc/lr.d",
        rows={
            "logrotate.set": Row({"name": "n", "key": ["rotate", "weekly", "create", "new"], "value": [2, 4, True, False],
                                  "conf_file": "/srv/played/lr.conf"},
                                 {}, unforeseen="a setting that the file can't hold"),
        }),
    "x509": World(
        needs="openssl", setup=r"""mkdir -p /srv/x; cd /srv/x; for n in ca www; do openssl genrsa -out $n.key 2048; done; openssl req -x509 -new -key ca.key -subj /CN=ca -days 3650 -out ca.crt
            openssl req -new -key www.key -subj /CN=www -out www.csr; openssl x509 -req -in www.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out www.crt; echo text >plain""",
        rows={
            "x509.private_key_managed": Row({"name": ["/srv/x/ca.key", "/srv/x/new.key", "/srv/x/plain", "/srv/x/far/new.key"]},
                                            {"bits": [2048], "keysize": [2048], "algo": ["rsa", "ec", "ed25519"],
                                             "encoding": ["pem", "der", "pkcs12"], "passphrase": ["pw"], "new": [False], "overwrite": YES,
                                             "mode": ["0600", "0640"],
                                             "makedirs": YES, "backup": YES}, never=("cipher", "verbose", "user", "group", "new", "kwargs"),
                                            untold="a key is made at random"),
            "x509.csr_managed": Row({"name": ["/srv/x/www.csr", "/srv/x/new.csr"], "private_key": ["/srv/x/www.key", "/srv/x/ca.key"]},
                                    {"CN": ["www", "x"], "C": ["DE", "DE", "FR", "too long"], "subjectAltName": ["DNS:a.b", "IP:1.2.3.4"],
                                     "keyUsage": ["digitalSignature"], "digest": ["sha256", "sha512"], "encoding": ["pem", "der"], "mode": ["0600"]},
                                    unforeseen="Salt looks at the values when it issues"),
            "x509.certificate_managed": Row({"name": ["/srv/x/www.crt", "/srv/x/new.crt"], "signing_private_key": "/srv/x/ca.key"},
                                            {"signing_cert": ["/srv/x/ca.crt"], "private_key": ["/srv/x/www.key"], "CN": ["www", "ca"],
                                             "days_valid": [90, 365], "days_remaining": [7, 60], "basicConstraints": ["critical CA:true"],
                                             "subjectKeyIdentifier": ["hash"], "subjectAltName": ["DNS:a.b"], "digest": ["sha256"],
                                             "encoding": ["pem", "der"], "mode": ["0644"]}, never=("ca_server", "signing_policy"),
                                            unforeseen="Salt looks at the values when it issues", untold="a serial number is made at random"),
            "x509.crl_managed": Row({"name": ["/srv/x/ca.crl", "/srv/x/new.crl"], "signing_private_key": "/srv/x/ca.key",
                                     "signing_cert": "/srv/x/ca.crt",
                                     "revoked": [[], [{"serial_number": "0a:bc"}], [{"certificate": "/srv/x/www.crt"}]]},
                                    {"days_valid": [30, 100], "days_remaining": [7], "digest": ["sha256"], "encoding": ["pem", "der"]}),
            "x509.pem_managed": Row({"name": ["/srv/x/www.crt", "/srv/x/new.pem", "/srv/x/plain"],
                                     "text": ["/srv/x/ca.crt", "-----BEGIN X-----", "/srv/x/plain"]}, {"mode": ["0600", "0640"]},
                                    untold="file.managed's words"),
            "tls.valid_certificate": Row({"name": ["/srv/x/www.crt", "/srv/x/ca.crt", "/srv/x/plain", "/srv/none"]},
                                         {"weeks": [1, 5000], "days": [2], "hours": [1], "minutes": [1], "seconds": [5]}),
        }),
    "virtualenv": World(
        played="virtualenv", setup="mkdir -p /srv/full; echo x >/srv/full/x", ignored=("srv/e/more",),
        rows={
            "virtualenv.managed": Row({"name": ["/srv/e", "/srv/full", "/srv/played/bad"]}, {"system_site_packages": YES},
                                      never=tuple("""venv_bin distribute extra_search_dir never_download prompt python pip_download pip_download_cache pip_exists_action pip_ignore_installed pip_upgrade proxy env_vars use_vt
                                      index_url extra_index_url no_deps pre_releases pip_no_cache_dir pip_cache_dir process_dependency_links no_binary requirements use_wheel no_use_wheel user cwd kwargs clear pip_pkgs""".split()), tame=("name",),
                                      untold="the run tells what pip made of it", unforeseen="the program's own refusal"),
            "virtualenv.manage": Row({"name": ["/srv/e", "/srv/full"]},
                                     never=tuple("""venv_bin clear distribute extra_search_dir never_download prompt python pip_download pip_download_cache pip_exists_action pip_ignore_installed
                                      pip_upgrade proxy env_vars use_vt index_url extra_index_url no_deps pre_releases pip_no_cache_dir pip_cache_dir process_dependency_links no_binary requirements use_wheel no_use_wheel user cwd
                                      kwargs pip_pkgs""".split()), tame=("name",), untold="the run tells what pip made of it",
                                     unforeseen="the program's own refusal"),
        }),
}
