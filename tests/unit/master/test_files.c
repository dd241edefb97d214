/* test_files.c - the file workers without a network: what is answered, how many chunks go out, what is
 * refused. */
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/tag.h"
#include "common/net/wire.h"
#include "master/files/files_int.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

#define QUIET_MS 50 /* nothing more comes in this time, when nothing may */
#define LONG_MS  30000

static char root[40];
static minion_t web1 = { .id = (char[]){ "web1" } };
static peer_t peer = { .rid = { 0, 1, 2, 3, 4 }, .rid_len = 5, .minion = &web1 };

static int
setup(void **state)
{
    str_copy(root, sizeof(root), "/tmp/test_mfiles.XXXXXX");
    if (!mkdtemp(root))
        return 1;
    AUTO_FREE char *folder = fs_join(root, "r"), *big = fs_join(root, "r/big"),
                   *small = fs_join(root, "r/small");
    buf_auto_t bytes = BUF_INIT;
    buf_fill(&bytes, 'x', 40 * LIMIT_FILE_CHUNK + 1);
    json_auto_t *opts = json_pack("{s:{s:[s]}, s:s, s:s, s:b, s:i}", "file_roots", "base", folder,
                                  "hash_type", "md5", "cachedir", root, "file_recv", 1, "file_recv_max_size",
                                  1);
    assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
    assert_int_equal(fs_write_quick(big, bytes.data, bytes.len, 0644, NULL), 0);
    assert_int_equal(fs_write_quick(small, "abc", 3, 0640, NULL), 0);
    *state = files_new(opts, NULL);
    return *state == NULL;
}

static int
teardown(void **state)
{
    files_t *files = *state;
    assert_true(files_destroy(&files));
    return fs_remove_tree(root, NULL);
}

/* The next message, NEW, or NULL when there is none for `wait_ms`. */
static files_out_t *
next_out(files_t *files, int wait_ms)
{
    struct pollfd pfd = { files_fd(files), POLLIN, 0 };
    files_out_t *out = files_next(files);
    while (!out && poll(&pfd, 1, wait_ms) > 0)
        out = files_next(files);
    return out;
}

/* The same as a NEW body with "m"; its bytes in *ret_n. */
static json_t *
next(files_t *files, int wait_ms, wire_msg_t *ret_msg, size_t *ret_n)
{
    files_out_t *out = next_out(files, wait_ms);
    if (!out)
        return NULL;
    json_t *body = NULL;
    assert_int_equal(out->rid_len, peer.rid_len);
    assert_memory_equal(out->rid, peer.rid, peer.rid_len);
    assert_int_equal(wire_decode(out->data, out->len, WIRE_DOWN, ' ', ret_msg, &body, NULL), 0);
    (void) wire_bytes(out->data, out->len, ret_n);
    files_out_free(out);
    return body;
}

static void
assert_next(files_t *files, wire_msg_t want, const char *key, json_int_t value)
{
    wire_msg_t msg;
    size_t n;
    json_auto_t *body = next(files, LONG_MS, &msg, &n);
    assert_non_null(body);
    assert_string_equal(wire_name(msg), wire_name(want));
    assert_int_equal(value_int(body, key, -99), value);
}

/* Chunks until it is quiet; how many. */
static size_t
chunks(files_t *files)
{
    wire_msg_t msg;
    size_t n, all = 0;
    for (json_t *body; (body = next(files, QUIET_MS, &msg, &n)); all++) {
        assert_string_equal(wire_name(msg), "file_data");
        assert_in_range(n, 1, LIMIT_FILE_CHUNK);
        json_decref(body);
    }
    return all;
}

static void
request(files_t *files, const char *op, const char *path, const char *more)
{
    static json_int_t n;
    char key[TAG_KEY_HEX + 1];
    tag_key(key);
    json_auto_t *body = json_loads(more, 0, NULL);
    assert_non_null(body);
    json_object_set_new(body, "op", json_string(op));
    json_object_set_new(body, "path", json_string(path));
    if (!value_get(body, "n"))
        json_object_set_new(body, "n", json_integer(1000 + n++));
    if (!value_get(body, "key"))
        json_object_set_new(body, "key", json_string(key));
    files_open(files, &peer, body);
}

static void
test_answers(void **state)
{
    request(*state, "get", "small", "{\"credit\": 1}");
    assert_next(*state, MSG_file_info, "size", 3);
    assert_next(*state, MSG_file_data, "at", 0);
    assert_next(*state, MSG_file_end, "at", -99);
    request(*state, "hash", "small", "{}");
    assert_next(*state, MSG_file_info, "mode", S_IFREG | 0640);
    request(*state, "get", "nosuch", "{}");
    assert_next(*state, MSG_file_info, "code", ENOENT);
    request(*state, "get", "../small", "{}");
    assert_next(*state, MSG_file_info, "code", ENOENT);
    request(*state, "get", "small", "{\"saltenv\": \"../..\"}");
    assert_next(*state, MSG_file_info, "code", ENOENT);
    request(*state, "get", "small", "{\"key\": \"short\"}");
    assert_next(*state, MSG_file_info, "code", EINVAL);
    request(*state, "nosuch", "small", "{}");
    assert_next(*state, MSG_file_info, "code", EINVAL);
    request(*state, "get", "small", "{\"at\": 99, \"credit\": 1}");
    assert_next(*state, MSG_file_info, "at", 0);
}

/* An error repeats the path that the peer gave, which is as long as a message may be: its beginning and
 * the reason come. */
static void
test_long_path(void **state)
{
    wire_msg_t msg;
    size_t n;
    AUTO_FREE char *path = xcalloc(LIMIT_WIRE_SMALL + 1, 1);
    memset(path, 'a', LIMIT_WIRE_SMALL);
    request(*state, "put", path, "{\"size\": 1}");
    json_auto_t *body = next(*state, LONG_MS, &msg, &n);
    assert_int_equal(value_int(body, "code", 0), ENAMETOOLONG);
    const char *text = value_str(body, "error", "");
    assert_true(str_starts(text, "'aaaa") && str_ends(text, "aaaa' can't be put there: File name too long"));
    assert_in_range(strlen(text), 1000, 3000);
    memset(path, '\x01', LIMIT_WIRE_SMALL); /* six bytes of JSON each */
    request(*state, "put", path, "{\"size\": 1}");
    assert_next(*state, MSG_file_info, "code", ENAMETOOLONG);
}

/* Options for state runs, a list like the others; the newest configuration's. */
static void
test_options(void **state)
{
    static const char *const words[] = { "\"state_top\":\"a.sls\"", "\"state_top\":\"b.sls\"" };
    static const char *const tops[] = { "a.sls", "b.sls" };
    for (size_t i = 0; i < NELEMS(tops); i++) {
        json_auto_t *opts = json_pack("{s:s, s:s}", "state_top", tops[i], "cachedir", "/secret");
        files_reload(*state, opts);
        request(*state, "options", "", "{\"credit\": 1}");
        assert_next(*state, MSG_file_info, "at", 0);
        files_out_t *out = next_out(*state, LONG_MS);
        assert_non_null(out);
        assert_non_null(memmem(out->data, out->len, words[i], strlen(words[i])));
        assert_null(memmem(out->data, out->len, "secret", 6));
        files_out_free(out);
        assert_next(*state, MSG_file_end, "at", -99);
    }
}

/* Where nothing is fetched from a remote the end never finds a fetch under way, new options or not. */
static void
test_ends_while_reloading(void **state)
{
    json_auto_t *opts = json_pack("{s:{s:[s]}, s:s}", "file_roots", "base", root, "cachedir", root);
    for (size_t i = 0; i < 500; i++) {
        files_t *files = files_new(opts, NULL);
        assert_non_null(files);
        files_reload(files, opts);
        assert_true(files_destroy(&files));
    }
}

/* Who has the beginning already hears its tag, and nothing of it comes again. */
static void
test_resume(void **state)
{
    char key[TAG_KEY_HEX + 1], hex[TAG_HEX + 1];
    wire_msg_t msg;
    size_t n;
    tag_key(key);
    tag_t *tag = tag_new(key);
    tag_add(tag, "ab", 2);
    tag_end(tag, hex);
    tag_destroy(&tag);
    AUTO_FREE char *more = xasprintf("{\"at\": 2, \"credit\": 1, \"key\": \"%s\"}", key);
    request(*state, "get", "small", more);
    json_auto_t *info = next(*state, LONG_MS, &msg, &n);
    assert_int_equal(value_int(info, "at", 0), 2);
    assert_string_equal(value_str(info, "tag", ""), hex);
    json_auto_t *data = next(*state, LONG_MS, &msg, &n);
    assert_int_equal(value_int(data, "at", 0), 2);
    assert_int_equal(n, 1);
    assert_next(*state, MSG_file_end, "code", -99);
}

/* No chunk that was not granted, and never more than LIMIT_FILE_CREDIT at one time. */
static void
test_credit(void **state)
{
    request(*state, "get", "big", "{\"n\": 7, \"credit\": 2}");
    assert_next(*state, MSG_file_info, "size", 40 * LIMIT_FILE_CHUNK + 1);
    assert_int_equal(chunks(*state), 2);
    json_auto_t *three = json_loads("{\"n\": 7, \"credit\": 3}", 0, NULL);
    json_auto_t *many = json_loads("{\"n\": 7, \"credit\": 1000000}", 0, NULL);
    json_auto_t *bad = json_loads("{\"n\": 7, \"credit\": -5}", 0, NULL);
    files_more(*state, &peer, three);
    assert_int_equal(chunks(*state), 3);
    files_more(*state, &peer, bad);
    assert_int_equal(chunks(*state), 0);
    files_more(*state, &peer, many);
    assert_int_equal(chunks(*state), LIMIT_FILE_CREDIT);
    files_stop(*state, &peer, many);
    files_more(*state, &peer, many);
    assert_int_equal(chunks(*state), 0);
}

static void
test_too_many(void **state)
{
    for (int i = 0; i < LIMIT_FILE_PEER; i++) {
        request(*state, "get", "big", "{}");
        assert_next(*state, MSG_file_info, "at", 0);
    }
    request(*state, "get", "big", "{}");
    assert_next(*state, MSG_file_info, "code", EAGAIN);
    files_gone(*state, peer.rid, peer.rid_len);
    request(*state, "get", "big", "{}");
    assert_next(*state, MSG_file_info, "at", 0);
}

/* One minion on three connections takes no place from another; what keeps a place and takes nothing loses it. */
static void
test_places(void **state)
{
    minion_t web2 = { .id = (char[]){ "web2" } };
    peer_t of_web1 = peer, of_web2 = { .rid = { 9 }, .rid_len = 5, .minion = &web2 };
    for (size_t i = 0; i < 3 * LIMIT_FILE_PEER; i++) {
        peer.rid[0] = (uint8_t) (i / LIMIT_FILE_PEER);
        request(*state, "get", "big", "{}");
        if (i < LIMIT_FILE_MINION)
            assert_next(*state, MSG_file_info, "at", 0);
    }
    assert_int_equal(chunks(*state), 0);
    peer = of_web2;
    request(*state, "get", "small", "{\"credit\": 1}");
    assert_next(*state, MSG_file_info, "size", 3);
    assert_next(*state, MSG_file_data, "at", 0);
    assert_next(*state, MSG_file_end, "code", -99);
    peer = of_web1;
    files_gone(*state, peer.rid, peer.rid_len);
    peer.rid[0] = 2;
    for (size_t i = 0; i < 3 * LIMIT_FILE_PEER - LIMIT_FILE_MINION; i++)
        assert_next(*state, MSG_file_info, "at", 0);
    /* All places are taken again, and one is asked for. */
    peer = of_web1;
    request(*state, "get", "small", "{}");
    struct pollfd pfd = { files_fd(*state), POLLIN, 0 };
    for (bool served = false; !served;) {
        files_out_t *out = files_next(*state);
        if (!out)
            assert_int_equal(poll(&pfd, 1, LONG_MS), 1);
        served = out && out->rid[0] == peer.rid[0];
        assert_true(!out || strstr(out->data, served ? "\"size\":3" : "\"code\":11"));
        files_out_free(out);
    }
}

static void
push(files_t *files, json_int_t n, json_int_t at, size_t len)
{
    json_auto_t *body = json_pack("{s:I, s:I}", "n", n, "at", at);
    AUTO_FREE char *bytes = xcalloc(len + 1, 1);
    files_part(files, &peer, body, bytes, len);
}

/* What is pushed: bounded, in order, inside the minion's folder. */
static void
test_push(void **state)
{
    static const char *const outside[] = { "", "..", "../x", "a/../../x", "./x", "a/./b" };
    request(*state, "put", "big", "{\"size\": 1048577}");
    assert_next(*state, MSG_file_info, "code", EFBIG);
    for (size_t i = 0; i < NELEMS(outside); i++) {
        request(*state, "put", outside[i], "{\"size\": 1}");
        assert_next(*state, MSG_file_info, "code", EINVAL);
    }
    request(*state, "put", "a/b", "{\"n\": 1, \"size\": 4}");
    assert_next(*state, MSG_file_info, "credit", LIMIT_FILE_CREDIT);
    push(*state, 1, 0, 5);
    assert_next(*state, MSG_file_end, "code", EPROTO);
    request(*state, "put", "a/b", "{\"n\": 2, \"size\": 4}");
    assert_next(*state, MSG_file_info, "credit", LIMIT_FILE_CREDIT);
    push(*state, 2, 2, 1);
    assert_next(*state, MSG_file_end, "code", EPROTO);
    request(*state, "put", "a/b", "{\"n\": 3, \"size\": 4}");
    assert_next(*state, MSG_file_info, "credit", LIMIT_FILE_CREDIT);
    push(*state, 3, 0, 4);
    json_auto_t *wrong = json_pack("{s:i, s:s}", "n", 3, "tag", "00");
    files_done(*state, &peer, wrong);
    assert_next(*state, MSG_file_end, "code", EBADMSG);
    AUTO_FREE char *line = xasprintf("test -z \"$(find '%s/minions' -type f)\"", root);
    assert_int_equal(system(line), 0);
}

static void
done(files_t *files, json_int_t n, const char *key, const char *bytes)
{
    char hex[TAG_HEX + 1];
    tag_t *tag = tag_new(key);
    tag_add(tag, bytes, strlen(bytes));
    tag_end(tag, hex);
    tag_destroy(&tag);
    json_auto_t *body = json_pack("{s:I, s:s}", "n", n, "tag", hex);
    files_done(files, &peer, body);
}

/* The minion and a salt-call of its push the same file at one time: what is there is one of the two, and
 * whole. */
static void
test_push_twice(void **state)
{
    peer_t minion = peer, call = { .rid = { 9, 1, 2, 3, 4 }, .rid_len = 5, .minion = &web1 };
    AUTO_FREE char *path = fs_join(root, "minions/web1/files/a/b");
    char key[TAG_KEY_HEX + 1];
    tag_key(key);
    AUTO_FREE char *ask = xasprintf("{\"n\": 1, \"size\": 4, \"key\": \"%s\"}", key);
    const peer_t *const both[] = { &minion, &call };
    for (size_t i = 0; i < NELEMS(both); i++) {
        peer = *both[i];
        request(*state, "put", "a/b", ask);
        assert_next(*state, MSG_file_info, "credit", LIMIT_FILE_CREDIT);
    }
    for (size_t i = 0; i < NELEMS(both); i++) {
        buf_auto_t bytes = BUF_INIT;
        json_auto_t *body = json_pack("{s:i, s:i}", "n", 1, "at", 0);
        peer = *both[i];
        files_part(*state, &peer, body, "abcd", 4);
        done(*state, 1, key, "abcd");
        assert_next(*state, MSG_file_end, "code", -99);
        assert_int_equal(fs_read(path, 100, &bytes, NULL), 0);
        assert_string_equal(buf_str(&bytes), "abcd");
    }
    peer = minion;
}

/* A part that a killed master left is gone at the next start, and one that comes is not among the minion's
 * files. */
static void
test_push_cut_off(void **state)
{
    char key[TAG_KEY_HEX + 1];
    AUTO_FREE char *ask = (tag_key(key), xasprintf("{\"n\": 1, \"size\": 4, \"key\": \"%s\"}", key));
    AUTO_FREE char *files_of = fs_join(root, "minions/web1/files"), *left = fs_join(root, "left");
    AUTO_FREE char *none = xasprintf("test -z \"$(find '%s/minions' -type f)\"", root);
    AUTO_FREE char *keep = xasprintf("find '%s/minions' -type f -exec cp {} '%s' \\; && test -e '%s' && "
                                     "test -z \"$(find '%s' -type f)\"",
                                     root, left, left, files_of);
    AUTO_FREE char *back = xasprintf("cp '%s' \"$(find '%s/minions' -name .parts)/1\"", left, root);
    json_auto_t *opts = json_pack("{s:{}, s:s}", "file_roots", "cachedir", root);
    files_t *files = *state;
    request(files, "put", "a/.b.1.part", ask);
    assert_next(files, MSG_file_info, "credit", LIMIT_FILE_CREDIT);
    push(files, 1, 0, 4);
    assert_int_equal(system(keep), 0);
    done(files, 1, key, "wrong");
    assert_next(files, MSG_file_end, "code", EBADMSG);
    assert_true(files_destroy(&files));
    assert_int_equal(system(none), 0);
    assert_int_equal(system(back), 0); /* as after kill -9 */
    *state = files_new(opts, NULL);
    assert_non_null(*state);
    assert_int_equal(system(none), 0);
}

/* While its worker is at work for long, a minion fills the memory with nothing: a push has one end. */
static void
test_push_ends_once(void **state)
{
    files_t *files = *state;
    asking_t *a = NULL;
    request(files, "put", "a/b", "{\"n\": 1, \"size\": 4}");
    assert_next(files, MSG_file_info, "credit", LIMIT_FILE_CREDIT);
    (void) pthread_mutex_lock(&files->lock);
    for (size_t i = 0; !a && i < FILES_BUCKETS; i++)
        a = files->buckets[i];
    assert_non_null(a);
    a->busy = true; /* as in a step that takes long */
    (void) pthread_mutex_unlock(&files->lock);
    json_auto_t *body = json_pack("{s:i, s:s}", "n", 1, "tag", "00");
    files_done(files, &peer, body);
    files_done(files, &peer, body);
    assert_next(files, MSG_file_end, "code", EPROTO);
}

static void
test_sls_names(void **state)
{
    static const struct {
        const char *prefix, *expected;
    } rows[] = {
        { "", "[\"a\",\"top\",\"web\",\"web.\"]" },
        { "we", "[\"web\",\"web.\"]" },
        { "web.", "[\"web.b\",\"web.ng.\"]" },
        { "web.ng.", "[\"web.ng.c\"]" },
        { "web.ng.c", "[\"web.ng.c\"]" },
        { "init", "[]" },
        { "x", "[]" },
    };
    json_auto_t *paths = json_pack("[s, s, s, s, s, s, s, s]", "top.sls", "web/init.sls", "web/ng/c.sls",
                                   "web/b.sls", "web/file", "a/init.sls", "odd.name.sls", ".sls");
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *names = files_sls_names(paths, rows[i].prefix);
        AUTO_FREE char *text = json_dumps(names, JSON_COMPACT);
        assert_string_equal(text, rows[i].expected);
    }
}

/* Questions beyond the bound are refused, one of a connection that ended has an answer for nobody. */
static void
test_names(void **state)
{
    files_t *files = *state;
    int first, second;
    struct lconn *one = (struct lconn *) &first, *two = (struct lconn *) &second;
    json_auto_t *ask = json_pack("{s:s, s:i, s:s}", "kind", "saltenvs", "n", 7, "prefix", "ba");
    assert_int_equal(files_names(files, one, ask, NULL), 0);
    assert_int_equal(files_names(files, two, ask, NULL), 0);
    files_names_gone(files, two);
    for (int i = 0; i < 2; i++) {
        struct pollfd pfd = { files_fd(files), POLLIN, 0 };
        files_names_t *q;
        while (!(q = files_names_next(files)))
            assert_int_equal(poll(&pfd, 1, 10000), 1);
        assert_ptr_equal(q->who, i == 0 ? one : NULL);
        assert_int_equal(q->n, 7);
        AUTO_FREE char *text = json_dumps(q->found, JSON_COMPACT);
        assert_string_equal(text, "[\"base\"]");
        files_names_free(q);
    }
    (void) pthread_mutex_lock(&files->lock);
    files_names_t all[LIMIT_NAMES_ASKED];
    for (size_t i = 0; i < NELEMS(all); i++)
        all[i] = (files_names_t){ .state = NAMES_BUSY, .next = i + 1 < NELEMS(all) ? &all[i + 1] : NULL };
    files->names = all;
    (void) pthread_mutex_unlock(&files->lock);
    assert_int_equal(files_names(files, one, ask, NULL), -EAGAIN);
    (void) pthread_mutex_lock(&files->lock);
    files->names = NULL;
    (void) pthread_mutex_unlock(&files->lock);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

UNIT_MAIN(T(test_answers), T(test_long_path), T(test_resume), T(test_credit), T(test_too_many),
          T(test_places), T(test_push), T(test_push_twice), T(test_push_cut_off), T(test_push_ends_once),
          T(test_options), T(test_ends_while_reloading), cmocka_unit_test(test_sls_names), T(test_names))
