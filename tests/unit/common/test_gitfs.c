/* test_gitfs.c - repositories as environments: branches, tags, mountpoint, root, fallback, lists, links,
 * fetching. */
#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "salt/value.h"
#include "unit/unit.h"

static char root[40];

static void
shell(const char *commands)
{
    AUTO_FREE char *line = xasprintf("cd '%s' && export HOME='%s' GIT_CONFIG_NOSYSTEM=1 && (set -e\n%s\n)",
                                     root, root, commands);
    assert_int_equal(system(line), 0);
}

#define COMMIT "git add -A && git -c user.name=t -c user.email=t@t commit -qm x"

static int
setup(void **state)
{
    str_copy(root, sizeof(root), "/tmp/test_gitfs.XXXXXX");
    if (!mkdtemp(root))
        return 1;
    shell(
        "git init -q -b master one && cd one && mkdir -p sub/deep && echo top >a && echo deep >sub/deep/b && "
        "echo run >sub/x && chmod +x sub/x && ln -s ../a sub/link && ln -s /etc/passwd out && " COMMIT
        " && git tag v1 && git branch dev && git branch feature/x && git checkout -q dev && echo dev >a "
        "&& " COMMIT " && git checkout -q master");
    shell("git init -q -b main two && cd two && echo two >a && echo only >c && " COMMIT);
    return 0;
}

static int
teardown(void **state)
{
    return fs_remove_tree(root, NULL);
}

/* A client for the options, in which every "@" is the test's folder. */
static fileclient_t *
client(const char *more, json_t **ret_opts)
{
    AUTO_FREE char *json = xasprintf(
        "{\"cachedir\": \"@/cache\", \"hash_type\": \"md5\", \"fileserver_backend\": [\"gitfs\"],"
        " \"gitfs_base\": \"master\", \"gitfs_ref_types\": [\"branch\", \"tag\", \"sha\"],"
        " \"gitfs_update_interval\": 1, %s}",
        more);
    AUTO_FREE char *text = str_replace(json, "@", root);
    *ret_opts = json_loads(text, 0, NULL);
    assert_non_null(*ret_opts);
    return fileclient_local(*ret_opts, NULL);
}

static void
assert_json(json_t *got, const char *want)
{
    AUTO_FREE char *text = got ? value_dump(got) : xstrdup("NULL");
    assert_string_equal(text, want);
    json_decref(got);
}

/* "" when there is no such file. */
static void
assert_text(fileclient_t *files, const char *url, const char *env, const char *want)
{
    AUTO_FREE char *path = NULL;
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    int rc = fileclient_cache(files, url, env, &path, &err);
    assert_true(rc == 0 || (rc == -ENOENT && !err.text));
    if (rc == 0)
        assert_int_equal(fs_read(path, 1000, &text, NULL), 0);
    assert_string_equal(buf_str(&text), want);
}

static void
test_environments(void **state)
{
    json_auto_t *opts = NULL;
    AUTO(fileclient) files = client("\"gitfs_remotes\": [\"@/one\"]", &opts);
    assert_json(fileclient_envs(files, NULL), "[\"base\",\"dev\",\"feature/x\",\"v1\"]");
    assert_text(files, "salt://a", NULL, "top\n");
    assert_text(files, "salt://a", "dev", "dev\n");
    assert_text(files, "salt://sub/deep/b", "feature/x", "deep\n");
    assert_text(files, "salt://sub/link", "v1", "top\n");
    assert_text(files, "salt://out", NULL, "");
    assert_text(files, "salt://sub", NULL, "");
    assert_text(files, "salt://a", "master", "top\n");
    assert_text(files, "salt://a", "nosuch", "");
    assert_text(files, "salt://a", "--help", "");
    assert_text(files, "salt://a", "0123456", "");
    assert_json(fileclient_list(files, FILES_FILES, NULL, "", NULL),
                "[\"a\",\"out\",\"sub/deep/b\",\"sub/link\",\"sub/x\"]");
    assert_json(fileclient_list(files, FILES_DIRS, "dev", "sub", NULL), "[\"sub\",\"sub/deep\"]");
    assert_json(fileclient_list(files, FILES_SYMLINKS, NULL, "sub", NULL), "{\"sub/link\":\"../a\"}");
    assert_json(fileclient_list(files, FILES_EMPTYDIRS, NULL, "", NULL), "[]");
    json_t *stat = NULL;
    assert_int_equal(fileclient_stat(files, "salt://sub/x", NULL, &stat, NULL), 0);
    assert_int_equal(value_int(stat, "mode", 0), S_IFREG | 0755);
    json_decref(stat);
}

static void
test_settings(void **state)
{
    json_auto_t *opts = NULL;
    AUTO(fileclient)
    files = client("\"gitfs_remotes\": [{\"@/one\": [{\"root\": \"sub\"}, {\"mountpoint\": \"salt://web/\"}, "
                   "{\"name\": \"n\"}]},"
                   " {\"@/two\": [{\"base\": \"main\"}, {\"fallback\": \"main\"}]}],"
                   " \"gitfs_saltenv\": [{\"prod\": [{\"ref\": \"v1\"}, {\"mountpoint\": \"p\"}]}],"
                   " \"gitfs_saltenv_blacklist\": [\"feat.*\"]",
                   &opts);
    assert_json(fileclient_envs(files, NULL), "[\"base\",\"dev\",\"prod\"]");
    assert_text(files, "salt://web/deep/b", NULL, "deep\n");
    assert_text(files, "salt://deep/b", NULL, "");
    assert_text(files, "salt://a", NULL, "two\n");
    assert_text(files, "salt://p/deep/b", "prod", "deep\n");
    assert_text(files, "salt://web/deep/b", "feature/x", "");
    assert_text(files, "salt://c", "anything", "only\n");
    assert_json(fileclient_list(files, FILES_FILES, NULL, "", NULL),
                "[\"a\",\"c\",\"web/deep/b\",\"web/link\",\"web/x\"]");
    assert_json(fileclient_list(files, FILES_DIRS, NULL, "", NULL), "[\"web\",\"web/deep\"]");
}

/* NEW id of what a ref of the first repository names, of `n` digits. */
static char *
id_of(const char *ref, int n)
{
    AUTO_FREE char *line = xasprintf("git -C one rev-parse --short=%d %s >id", n, ref);
    AUTO_FREE char *path = fs_join(root, "id");
    buf_auto_t text = BUF_INIT;
    shell(line);
    assert_int_equal(fs_read(path, 100, &text, NULL), 0);
    return xstrndup(buf_str(&text), strcspn(buf_str(&text), "\n"));
}

/* A commit is had by its id where an environment that is not forbidden has it in its history. */
static void
test_ids(void **state)
{
    json_auto_t *opts = NULL, *again = NULL;
    AUTO_FREE char *secret = id_of("dev", 40), *cut = id_of("dev", 7), *open = id_of("dev~1", 40);
    AUTO(fileclient) all = client("\"gitfs_remotes\": [\"@/one\"]", &opts);
    assert_text(all, "salt://a", secret, "dev\n");
    AUTO(fileclient)
    files = client("\"gitfs_remotes\": [\"@/one\"], \"gitfs_saltenv_blacklist\": [\"dev\"]", &again);
    assert_text(files, "salt://a", "dev", "");
    assert_text(files, "salt://a", secret, "");
    assert_text(files, "salt://a", cut, "");
    assert_text(files, "salt://a", open, "top\n");
}

/* A tree that git itself would not make: nothing of it is listed or had by a name that leads out, and a link that
 * is too long says so without the place of the master's copy. */
static void
test_crafted(void **state)
{
    shell(
        "git init -q --bare -b master bad && cd bad && b=$(echo x | git hash-object -w --stdin) && "
        "l=$(printf 'x%.0s' $(seq 5000) | git hash-object -w --stdin) && "
        "i=$(printf '100644 blob %s\\tharm\\n' $b | git mktree) && "
        "t=$(printf '040000 tree %s\\t..\\n120000 blob %s\\tlong\\n100644 blob %s\\tok\\n' $i $l $b | git mktree) "
        "&& git update-ref refs/heads/master "
        "$(git -c user.name=t -c user.email=t@t commit-tree $t -m x)");
    json_auto_t *opts = NULL;
    AUTO(fileclient) files = client("\"gitfs_remotes\": [\"@/bad\"]", &opts);
    AUTO_FREE char *path = NULL;
    fail_auto_t err = FAIL_INIT;
    assert_json(fileclient_list(files, FILES_FILES, NULL, "", NULL), "[\"long\",\"ok\"]");
    assert_true(fileclient_cache(files, "salt://long", NULL, &path, &err) < 0);
    assert_non_null(strstr(fail_text(&err), "a target of more than 4096 bytes"));
    assert_null(strstr(fail_text(&err), root));
}

/* What was given out stays; the next fetch brings what is new; a remote that is gone takes nothing away. */
static void
test_fetching(void **state)
{
    static const char remotes[] = "\"gitfs_remotes\": [\"@/one\"]";
    json_auto_t *opts = NULL, *again = NULL, *last = NULL;
    AUTO(fileclient) files = client(remotes, &opts);
    AUTO_FREE char *old = NULL;
    buf_auto_t text = BUF_INIT;
    assert_int_equal(fileclient_cache(files, "salt://a", NULL, &old, NULL), 0);
    shell("cd one && echo new >a && " COMMIT
          " && git branch -q -D dev && touch -d '1 hour ago' ../cache/gitfs/*/fetched");
    AUTO(fileclient) fresh = client(remotes, &again);
    assert_text(fresh, "salt://a", NULL, "new\n");
    assert_text(files, "salt://a", NULL, "new\n");
    assert_json(fileclient_envs(fresh, NULL), "[\"base\",\"feature/x\",\"v1\"]");
    assert_int_equal(fs_read(old, 100, &text, NULL), 0);
    assert_string_equal(buf_str(&text), "top\n");
    shell("mv one gone && touch -d '1 hour ago' cache/gitfs/*/fetched");
    AUTO(fileclient) kept = client(remotes, &last);
    assert_text(kept, "salt://a", NULL, "new\n");
}

/* Files by content: one that the disk has lost is made anew, one that nobody wants goes. */
static void
test_blobs(void **state)
{
    static const char remotes[] = "\"gitfs_remotes\": [\"@/one\"]";
    static const char *const damages[] = { ": >\"$b\"", "printf bad >\"$b\"", "printf 'tap\\n' >\"$b\"",
                                           "rm \"$b\"" };
    for (size_t i = 0; i < NELEMS(damages); i++) {
        json_auto_t *opts = NULL, *again = NULL;
        AUTO(fileclient) files = client(remotes, &opts);
        assert_text(files, "salt://a", NULL, "top\n");
        AUTO_FREE char *damage = xasprintf("b=cache/gitfs/blobs/$(git -C one rev-parse master:a); %s",
                                           damages[i]);
        shell(damage);
        AUTO(fileclient) fresh = client(remotes, &again);
        assert_text(fresh, "salt://a", NULL, "top\n");
    }
    shell("cd cache/gitfs/blobs && echo old >old && echo late >late && touch -d '40 days ago' old late * &&"
          " touch -a late && touch -d '2 days ago' .swept ../*/fetched");
    json_auto_t *opts = NULL;
    AUTO(fileclient) files = client(remotes, &opts);
    shell("cd cache/gitfs/blobs && test ! -e old && test -e late && test \"$(ls | wc -l)\" = 1");
    assert_text(files, "salt://a", NULL, "top\n");
    shell("cd cache/gitfs/blobs && echo old >old && touch -d '40 days ago' old && touch -d '1 hour ago' "
          "../*/fetched");
    json_auto_t *again = NULL;
    AUTO(fileclient) soon = client(remotes, &again);
    shell("test -e cache/gitfs/blobs/old"); /* once a day */
}

/* From now on git fails, once, where `word` is one of its arguments. */
static void
fail_at(const char *word)
{
    AUTO_FREE char *line = xasprintf("touch 'fail-%s'", word);
    shell(line);
}

/* What git or the disk could not say is no "there is none". */
static void
test_failing_git(void **state)
{
    static const char settings[] = "\"gitfs_remotes\": [{\"@/one\": [{\"fallback\": \"dev\"}]}]";
    AUTO_FREE char *before = xstrdup(getenv("PATH"));
    AUTO_FREE char *path = xasprintf("%s/bin:%s", root, before);
    json_auto_t *opts = NULL, *again = NULL, *last = NULL;
    AUTO_FREE char *found = NULL;
    shell("git=$(command -v git) && mkdir bin && printf '#!/bin/sh\\nfor w; do [ -e \"%s/fail-$w\" ] && "
          "rm \"%s/fail-$w\" && exit 128; done\\nexec %s \"$@\"\\n' \"$PWD\" \"$PWD\" \"$git\" >bin/git && "
          "chmod +x bin/git && git -C one rev-parse master >sha");
    assert_int_equal(setenv("PATH", path, 1), 0);
    AUTO_FREE char *file = fs_join(root, "sha");
    buf_auto_t sha = BUF_INIT;
    assert_int_equal(fs_read(file, 100, &sha, NULL), 0);
    AUTO_FREE char *env = xstrndup(buf_str(&sha), strcspn(buf_str(&sha), "\n"));
    AUTO(fileclient) files = client(settings, &opts);
    fail_at("unpack-file");
    assert_null(fileclient_list(files, FILES_SYMLINKS, NULL, "", NULL));
    assert_json(fileclient_list(files, FILES_SYMLINKS, NULL, "", NULL),
                "{\"out\":\"/etc/passwd\",\"sub/link\":\"../a\"}");
    fail_at("rev-parse");
    assert_true(fileclient_cache(files, "salt://a", env, &found, NULL) < 0);
    assert_text(files, "salt://a", env, "top\n");
    assert_text(files, "salt://a", "0123456", "dev\n");
    shell("cd cache/gitfs && for d in ?????*; do test ! -e $d/fetched || (cd $d && rm fetched && ln -s "
          "fetched fetched "
          "&& touch tried); done");
    AUTO_FREE char *slow = xasprintf("\"gitfs_update_interval\": 3600, %s", settings);
    AUTO(fileclient) blind = client(slow, &again);
    assert_null(fileclient_list(blind, FILES_FILES, NULL, "", NULL));
    shell("rm cache/gitfs/*/fetched cache/gitfs/*/tried");
    AUTO(fileclient) seeing = client(slow, &last);
    assert_text(seeing, "salt://a", NULL, "top\n");
    assert_int_equal(setenv("PATH", before, 1), 0);
}

static void
test_bad_settings(void **state)
{
    static const struct {
        const char *remotes, *text;
    } rows[] = {
        { "[{\"/r\": [{\"rooot\": \"x\"}]}]", "gitfs_remotes: '/r': 'rooot' can't be set for a remote" },
        { "[\"--upload-pack=x\"]", "gitfs_remotes: an item is not a URL" },
        { "[5]", "gitfs_remotes: an item is not a URL" },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *opts = NULL;
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *more = xasprintf("\"gitfs_remotes\": %s", rows[i].remotes);
        AUTO(fileclient) files = client(more, &opts);
        assert_null(fileclient_envs(files, &err));
        assert_true(str_starts(fail_text(&err), rows[i].text));
    }
}

/* Addresses as git takes them are taken; what fails is the git that is not there. */
static void
test_addresses(void **state)
{
    static const char *const rows[] = { "git@host.example:team/states.git", "host:states.git", "~/states.git",
                                        "ssh://git@host.example:2222/team/states.git", "/srv/states.git" };
    AUTO_FREE char *before = xstrdup(getenv("PATH"));

    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *opts = NULL;
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *more = xasprintf("\"gitfs_update_interval\": 3600, \"gitfs_remotes\": [\"%s\"]",
                                         rows[i]);
        AUTO(fileclient) files = client(more, &opts);
        json_decref(fileclient_envs(files, &err));
        assert_null(strstr(fail_text(&err), "is not a URL"));
        assert_null(strstr(fail_text(&err), "can't be set"));
    }
    assert_int_equal(setenv("PATH", before, 1), 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

UNIT_MAIN(T(test_environments), T(test_settings), T(test_ids), T(test_crafted), T(test_fetching),
          T(test_blobs), T(test_failing_git), T(test_bad_settings), T(test_addresses))
