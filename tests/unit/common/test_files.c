/* test_files.c - the file server's URLs, roots, ignore rules and links. What Salt 3006's roots.py answers for
 * the same folders is the expectation. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "common/files/fileserver.h"
#include "salt/value.h"
#include "unit/unit.h"

static char root[40];
static int names_left = -1; /* until the disk fails, once; below 0: it does not */

/* For the code under test too. */
struct dirent *
readdir(DIR *dir)
{
    if (names_left-- != 0)
        return (struct dirent *) readdir64(dir);
    errno = EUCLEAN;
    return NULL;
}

static int
setup(void **state)
{
    str_copy(root, sizeof(root), "/tmp/test_files.XXXXXX");
    return mkdtemp(root) == NULL;
}

static int
teardown(void **state)
{
    return fs_remove_tree(root, NULL);
}

/* Write `text` to a path below the test's folder; folders are made. */
static void
put(const char *path, const char *text)
{
    AUTO_FREE char *full = fs_join(root, path);
    AUTO_FREE char *dir = xstrdup(full);
    *strrchr(dir, '/') = '\0';
    assert_int_equal(fs_mkdirs(dir, 0755, NULL), 0);
    assert_int_equal(fs_write_quick(full, text, strlen(text), 0644, NULL), 0);
}

static void
mkdirs(const char *path)
{
    AUTO_FREE char *full = fs_join(root, path);
    assert_int_equal(fs_mkdirs(full, 0755, NULL), 0);
}

static void
link_to(const char *target, const char *path)
{
    AUTO_FREE char *full = fs_join(root, path);
    assert_int_equal(symlink(target, full), 0);
}

/* Configuration from JSON in which every "@" is the test's folder. NEW. */
static json_t *
options(const char *json)
{
    AUTO_FREE char *text = str_replace(json, "@", root);
    json_t *opts = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(opts);
    return opts;
}

static void
assert_json(json_t *got, const char *want)
{
    json_auto_t *expected = options(want);
    AUTO_FREE char *text = value_dump(got);
    if (!json_equal(got, expected))
        print_message("got %s\n", text);
    assert_true(json_equal(got, expected));
    json_decref(got);
}

/* ---- URLs ------------------------------------------------------------------------------------ */

static void
test_split(void **state)
{
    static const struct {
        const char *url, *given, *path, *env;
    } rows[] = {
        { "salt://a/b.conf", NULL, "a/b.conf", "base" },
        { "salt://a/b.conf", "dev", "a/b.conf", "dev" },
        { "salt://a/b.conf?saltenv=prod", "dev", "a/b.conf", "prod" },
        { "salt://a?saltenv=", "dev", "a", "dev" },
        { "salt://a?env=prod", "dev", "a", "dev" },
        { "salt://a?x=1&saltenv=prod", NULL, "a", "prod" },
        { "salt://a?x", NULL, "a", "base" },
        { "salt://|a?b&c", NULL, "a?b&c", "base" },
        { "salt://|a?b?saltenv=prod", NULL, "a?b", "prod" },
        { "a//b/./c/", NULL, "a/b/c", "base" },
        { "salt://a..b/..c/c..", NULL, "a..b/..c/c..", "base" },
        { "salt:///etc/passwd", NULL, "etc/passwd", "base" },
        { "salt://feature", "feature/x", "feature", "feature/x" },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *path = NULL, *env = NULL;
        assert_int_equal(fileclient_split(rows[i].url, rows[i].given, &path, &env, NULL), 0);
        assert_string_equal(path, rows[i].path);
        assert_string_equal(env, rows[i].env);
    }
}

static void
test_split_refuses(void **state)
{
    static const struct {
        const char *url, *env, *text;
    } rows[] = {
        { "http://x/y", NULL, "Unsupported path: http://x/y" },
        { "salt://../etc/passwd", NULL,
          "'salt://../etc/passwd' is not a path below the file server's roots" },
        { "salt://a/../../b", NULL, "'salt://a/../../b' is not a path below the file server's roots" },
        { "salt://a/..", NULL, "'salt://a/..' is not a path below the file server's roots" },
        { "salt:///../etc/passwd", NULL,
          "'salt:///../etc/passwd' is not a path below the file server's roots" },
        { "salt:///", NULL, "'salt:///' is not a path below the file server's roots" },
        { "/etc/passwd", NULL, "'/etc/passwd' is not a path below the file server's roots" },
        { "salt://", NULL, "'salt://' is not a path below the file server's roots" },
        { "salt://a", "../..", "'../..' is not an environment" },
        { "salt://a?saltenv=/etc", NULL, "'/etc' is not an environment" },
        { "salt://a?saltenv=x/../..", NULL, "'x/../..' is not an environment" },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        char *path = NULL, *env = NULL;
        assert_int_equal(fileclient_split(rows[i].url, rows[i].env, &path, &env, &err), -EINVAL);
        assert_string_equal(fail_text(&err), rows[i].text);
        assert_null(path);
    }
}

/* ---- roots ----------------------------------------------------------------------------------- */

static char *
cached(fileclient_t *files, const char *url, const char *env)
{
    char *local = NULL;
    fail_auto_t err = FAIL_INIT;
    int rc = fileclient_cache(files, url, env, &local, &err);
    if (rc < 0) {
        assert_int_equal(rc, -ENOENT);
        assert_null(err.text);
    }
    return local;
}

static void
assert_cached(fileclient_t *files, const char *url, const char *env, const char *below)
{
    AUTO_FREE char *got = cached(files, url, env);
    AUTO_FREE char *want = below ? fs_join(root, below) : NULL;
    if (!want) {
        assert_null(got);
        return;
    }
    assert_non_null(got);
    assert_string_equal(got, want);
}

static void
test_first_folder_wins(void **state)
{
    put("one/a", "1");
    put("two/a", "2");
    put("two/d/b", "b");
    mkdirs("one/d");
    json_auto_t *opts = options(
        "{\"file_roots\": {\"base\": [\"@/nosuch\", \"@/one\", \"@/two\"], \"dev\": [\"@/two\"]}}");
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    assert_cached(files, "salt://a", NULL, "one/a");
    assert_cached(files, "salt://a?saltenv=dev", NULL, "two/a");
    assert_cached(files, "salt://d/b", NULL, "two/d/b");
    assert_cached(files, "salt://d", NULL, NULL);
    assert_cached(files, "salt://nosuch", NULL, NULL);
    assert_cached(files, "salt://a/b", NULL, NULL);
    assert_cached(files, "salt://a", "nosuch", NULL);
    assert_cached(files, "salt://../one/a", NULL, NULL);
    assert_cached(files, "/etc/passwd", NULL, NULL);
    assert_json(fileclient_envs(files, NULL), "[\"base\", \"dev\"]");
    assert_json(fileclient_list(files, FILES_FILES, NULL, NULL, NULL), "[\"a\", \"d/b\"]");
    assert_json(fileclient_list(files, FILES_FILES, "dev", "/d/", NULL), "[\"d/b\"]");
    assert_json(fileclient_list(files, FILES_DIRS, NULL, "", NULL), "[\"d\"]");
    assert_json(fileclient_list(files, FILES_EMPTYDIRS, NULL, "", NULL), "[\"d\"]");
    assert_json(fileclient_list(files, FILES_FILES, "nosuch", "", NULL), "[]");
}

static void
test_any_env(void **state)
{
    put("envs/dev/a", "1");
    put("secret", "x");
    json_auto_t *opts = options(
        "{\"file_roots\": {\"base\": [\"@/nosuch\"], \"__env__\": [\"@/envs/__env__\"]}}");
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    assert_cached(files, "salt://a", "dev", "envs/dev/a");
    assert_cached(files, "salt://a", "base", NULL);
    assert_cached(files, "salt://secret", "../", NULL);
    assert_cached(files, "salt://secret", "dev/../..", NULL);
    assert_json(fileclient_list(files, FILES_FILES, "dev", "", NULL), "[\"a\"]");
    assert_json(fileclient_list(files, FILES_FILES, "../", "", NULL), "[]");
    assert_json(fileclient_envs(files, NULL), "[\"__env__\", \"base\"]");
}

static void
test_given_roots_alone(void **state)
{
    put("files/a", "1");
    put("pillar/b", "1");
    json_auto_t *opts = options(
        "{\"fileserver_backend\": [\"nosuch\", \"roots\"], \"file_roots\": {\"base\": [\"@/files\"]}}");
    json_auto_t *roots = options("{\"base\": [\"@/pillar\"]}");
    AUTO(fileclient) pillar = fileclient_local(opts, roots);
    assert_json(fileclient_list(pillar, FILES_FILES, "base", "", NULL), "[\"b\"]");
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    assert_json(fileclient_list(files, FILES_FILES, "base", "", NULL), "[\"a\"]");
}

static void
test_ignored(void **state)
{
    put("r/.svn/x", "1");
    put("r/a.swp", "1");
    put("r/keep", "1");
    put("r/d/b.swp", "1");
    json_auto_t *opts = options("{\"file_roots\": {\"base\": [\"@/r\"]}, \"file_ignore_glob\": [\"*.swp\"],"
                                " \"file_ignore_regex\": [\"(\", \"/\\\\.svn($|/)\", \"^\\\\.svn\"]}");
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    assert_json(fileclient_list(files, FILES_FILES, NULL, NULL, NULL), "[\"keep\"]");
    assert_json(fileclient_list(files, FILES_DIRS, NULL, NULL, NULL), "[\"d\"]");
    assert_cached(files, "salt://a.swp", NULL, NULL);
    assert_cached(files, "salt://.svn/x", NULL, NULL);
    assert_cached(files, "salt://keep", NULL, "r/keep");
}

static void
links_stage(void)
{
    put("out/secret", "s");
    put("r/d/real", "1");
    mkdirs("r/empty");
    link_to("real", "r/d/near");
    link_to("d", "r/folder");
    link_to("../out", "r/away");
    link_to("/etc/hostname", "r/host");
    link_to("nowhere", "r/dangling");
    link_to(".", "r/loop");
    link_to("empty", "r/empty2");
}

static void
test_links_followed(void **state)
{
    links_stage();
    json_auto_t *opts = options("{\"file_roots\": {\"base\": [\"@/r\"]}}");
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    assert_cached(files, "salt://away/secret", NULL, "r/away/secret");
    assert_cached(files, "salt://folder/near", NULL, "r/folder/near");
    assert_json(fileclient_list(files, FILES_FILES, NULL, NULL, NULL),
                "[\"away/secret\", \"d/near\", \"d/real\", \"dangling\", \"folder/near\", \"folder/real\", "
                "\"host\"]");
    assert_json(fileclient_list(files, FILES_DIRS, NULL, NULL, NULL),
                "[\"away\", \"d\", \"empty\", \"empty2\", \"folder\", \"loop\"]");
    assert_json(fileclient_list(files, FILES_EMPTYDIRS, NULL, NULL, NULL), "[\"empty\", \"empty2\"]");
    assert_json(fileclient_list(files, FILES_SYMLINKS, NULL, NULL, NULL),
                "{\"d/near\": \"real\", \"folder\": \"d\", \"away\": \"../out\", \"dangling\": \"nowhere\", "
                "\"loop\": \".\","
                " \"empty2\": \"empty\", \"folder/near\": \"real\"}");
}

static void
test_links_kept_inside(void **state)
{
    links_stage();
    json_auto_t *opts = options(
        "{\"fileserver_followsymlinks\": false, \"file_roots\": {\"base\": [\"@/r\"]}}");
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    assert_cached(files, "salt://away/secret", NULL, NULL);
    assert_cached(files, "salt://host", NULL, NULL);
    assert_cached(files, "salt://folder/near", NULL, "r/folder/near");
    assert_json(fileclient_list(files, FILES_FILES, NULL, NULL, NULL),
                "[\"d/near\", \"d/real\", \"dangling\", \"host\"]");
    assert_json(fileclient_list(files, FILES_SYMLINKS, NULL, "/d", NULL),
                "{\"d/near\": \"real\", \"dangling\": \"nowhere\"}");
    json_object_set_new(opts, "fileserver_ignoresymlinks", json_true());
    AUTO(fileclient) plain = fileclient_local(opts, NULL);
    assert_json(fileclient_list(plain, FILES_FILES, NULL, NULL, NULL), "[\"d/real\"]");
    assert_json(fileclient_list(plain, FILES_DIRS, NULL, NULL, NULL), "[\"d\", \"empty\"]");
}

/* ---- contents -------------------------------------------------------------------------------- */

static void
test_hash(void **state)
{
    put("r/a", "abc");
    json_auto_t *opts = options("{\"hash_type\": \"md5\", \"file_roots\": {\"base\": [\"@/r\"]}}");
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    for (int i = 0; i < 2; i++) {
        json_t *hash = NULL;
        assert_int_equal(fileclient_hash(files, "salt://a", NULL, &hash, NULL), 0);
        assert_json(
            hash, "{\"hash_type\": \"md5\", \"hsum\": \"900150983cd24fb0d6963f7d28e17f72\", \"mode\": 33188,"
                  " \"size\": 3}");
    }
    put("r/a", "abcd");
    json_t *hash = NULL;
    assert_int_equal(fileclient_hash(files, "a", NULL, &hash, NULL), 0);
    assert_string_equal(value_str(hash, "hsum", ""), "e2fc714c4727ee9395f324cd2e7f331f");
    json_decref(hash);
    assert_int_equal(fileclient_hash(files, "salt://b", NULL, &hash, NULL), -ENOENT);
}

/* Written over in place by a file of the same size and time, as cp -p does. */
static void
test_hash_of_same_time(void **state)
{
    struct stat st;
    json_t *hash = NULL;

    put("r/a", "abc");
    json_auto_t *opts = options("{\"hash_type\": \"md5\", \"file_roots\": {\"base\": [\"@/r\"]}}");
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    assert_int_equal(fileclient_hash(files, "salt://a", NULL, &hash, NULL), 0);
    json_decref(hash);
    AUTO_FREE char *path = fs_join(root, "r/a");
    AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    usleep(20000); /* a kernel's times may be as coarse as that */
    assert_int_equal(pwrite(fd, "xyz", 3, 0), 3);
    assert_int_equal(futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }), 0);
    assert_int_equal(fileclient_hash(files, "salt://a", NULL, &hash, NULL), 0);
    assert_string_equal(value_str(hash, "hsum", ""), "d16fb36f0911f878998c136191af705e");
    json_decref(hash);
}

/* The place keeps its permissions, and a link stays one. */
static void
test_get(void **state)
{
    put("r/a", "new");
    put("to/file", "old and longer");
    link_to("file", "to/link");
    AUTO_FREE char *file = fs_join(root, "to/file"), *lnk = fs_join(root, "to/link"),
                   *fresh = fs_join(root, "to/fresh"), *lost = fs_join(root, "nosuch/x");
    assert_int_equal(chmod(file, 0600), 0);
    json_auto_t *opts = options("{\"file_roots\": {\"base\": [\"@/r\"]}}");
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    assert_int_equal(fileclient_get(files, "salt://a", NULL, lnk, NULL), 0);
    assert_int_equal(fileclient_get(files, "salt://a", NULL, fresh, NULL), 0);
    struct stat st;
    assert_int_equal(lstat(lnk, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    buf_auto_t text = BUF_INIT;
    assert_int_equal(fs_read(file, 100, &text, NULL), 0);
    assert_int_equal(fs_read(fresh, 100, &text, NULL), 0);
    assert_string_equal(buf_str(&text), "newnew");
    fail_auto_t err = FAIL_INIT;
    assert_int_equal(fileclient_get(files, "salt://a", NULL, lost, &err), -ENOENT);
    assert_non_null(strstr(fail_text(&err), "nosuch/x"));
    assert_int_equal(fileclient_get(files, "salt://b", NULL, fresh, NULL), -ENOENT);
}

/* Without a descriptor the answer is that, and not that there is nothing: a minion that cleans its folder
 * would do so. */
static void
test_no_descriptor(void **state)
{
    put("base/a/one.sls", "x");
    put("base/b/c/two.sls", "x");
    json_auto_t *opts = options("{\"file_roots\": {\"base\": [\"@/base\"]}}");
    fileserver_t *server = fileserver_new(opts, NULL);
    struct rlimit old, few;
    int lowest = dup(0), some = 0;

    assert_int_equal(close(lowest), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    for (few = old;; some++) {
        fail_auto_t err = FAIL_INIT;
        served_t found = SERVED_INIT;
        few.rlim_cur = (rlim_t) (lowest + some);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        json_auto_t *list = fileserver_list(server, FILES_FILES, "base", "", &err);
        int rc = fileserver_find(server, "a/one.sls", "base", &found, NULL);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
        served_clear(&found);
        assert_true(rc == 0 || rc == -EMFILE);
        if (list) {
            assert_json(json_incref(list), "[\"a/one.sls\", \"b/c/two.sls\"]");
            break;
        }
        assert_int_equal(err.code, -EMFILE);
    }
    assert_true(some > 0);
    fileserver_destroy(&server);
}

/* So it is with a folder that can't be read to its end, wherever that is. */
static void
test_folder_cut_short(void **state)
{
    put("base/a/one.sls", "x");
    put("base/b/c/two.sls", "x");
    mkdirs("base/empty");
    json_auto_t *opts = options("{\"file_roots\": {\"base\": [\"@/base\"]}}");
    int failed = 0;
    for (bool whole = false; !whole; failed += !whole) {
        fail_auto_t err = FAIL_INIT;
        fileserver_t *server = fileserver_new(opts, NULL);
        names_left = failed;
        json_auto_t *list = fileserver_list(server, FILES_EMPTYDIRS, "base", "", &err);
        whole = names_left >= 0;
        names_left = -1;
        if (whole)
            assert_json(json_incref(list), "[\"empty\"]");
        else
            assert_null(list);
        assert_int_equal(err.code, whole ? 0 : -EIO);
        fileserver_destroy(&server);
    }
    assert_true(failed > 20); /* each folder below the root is read twice */
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

UNIT_MAIN(T(test_no_descriptor), T(test_folder_cut_short), T(test_split), T(test_split_refuses),
          T(test_first_folder_wins), T(test_any_env), T(test_given_roots_alone), T(test_ignored),
          T(test_links_followed), T(test_links_kept_inside), T(test_hash), T(test_hash_of_same_time),
          T(test_get))
