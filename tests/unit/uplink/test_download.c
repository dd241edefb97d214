/* test_download.c - a download without a network: what it asks a master for, and what it makes of the
 * answers. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/tag.h"
#include "uplink/download.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

static const char content[] = "0123456789";
enum { SIZE = sizeof(content) - 1 };

static time_t ahead_s; /* of the true clock */

int
clock_gettime(clockid_t id, struct timespec *ts)
{
    int rc = (int) syscall(SYS_clock_gettime, id, ts);
    ts->tv_sec += ahead_s;
    return rc;
}

/* The master's side: the last file_open, and the answer when there is one. */
typedef struct fixture {
    char root[40];
    char *part, *place;
    downloads_t *downloads;
    json_t *asked, *answer;
    int opens, mine_asks, mine_n, peer_asks, peer_n;
} fixture_t;

static int
take_message(void *cookie, wire_msg_t msg, const json_t *body, const void *bytes, size_t n)
{
    fixture_t *f = cookie;
    if (msg == MSG_mine_ask) {
        f->mine_asks++;
        f->mine_n = (int) value_int(body, "n", 0);
    }
    if (msg == MSG_peer_ask) {
        f->peer_asks++;
        f->peer_n = (int) value_int(body, "n", 0);
    }
    if (msg != MSG_file_open)
        return 0;
    json_decref(f->asked);
    f->asked = json_deep_copy(body);
    f->opens++;
    return 0;
}

static void
take_answer(void *cookie, json_int_t id, json_t *answer)
{
    fixture_t *f = cookie;
    f->answer = json_incref(answer);
}

static int
setup(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));
    str_copy(f->root, sizeof(f->root), "/tmp/test_download.XXXXXX");
    if (!mkdtemp(f->root))
        return 1;
    AUTO_FREE char *folder = fs_join(f->root, "files/base");
    f->place = fs_join(folder, "big");
    f->part = fs_join(folder, ".big.part");
    const download_host_t host = { take_message, take_answer, f };
    f->downloads = downloads_new(&host);
    downloads_ready(f->downloads);
    *state = f;
    return fs_mkdirs(folder, 0755, NULL);
}

static int
teardown(void **state)
{
    fixture_t *f = *state;
    downloads_destroy(&f->downloads);
    json_decref(f->asked);
    json_decref(f->answer);
    free(f->part);
    free(f->place);
    int rc = fs_remove_tree(f->root, NULL);
    free(f);
    return rc;
}

static void
ask(fixture_t *f)
{
    json_auto_t *what = json_pack("{s:s, s:s, s:s, s:s}", "op", "get", "path", "big", "saltenv", "base",
                                  "cache", f->root);
    downloads_ask(f->downloads, 1, what);
    (void) downloads_step(f->downloads); /* what is here already is read */
}

/* The question that is out begins at `at`. */
static void
assert_asked(const fixture_t *f, int opens, json_int_t at)
{
    assert_int_equal(f->opens, opens);
    assert_int_equal(value_int(f->asked, "at", -1), at);
}

/* TAKES body. */
static void
say(fixture_t *f, wire_msg_t msg, json_t *body, const char *bytes, size_t n)
{
    json_auto_t *held = body;
    json_object_set_new(held, "n", json_integer(value_int(f->asked, "n", 0)));
    downloads_message(f->downloads, msg, held, bytes, n);
}

/* The tag of the first `n` bytes of the master's file under the key of the question. */
static void
tag_of(const fixture_t *f, size_t n, char hex[TAG_HEX + 1])
{
    tag_t *tag = tag_new(value_str(f->asked, "key", ""));
    assert_non_null(tag);
    tag_add(tag, content, n);
    tag_end(tag, hex);
    tag_destroy(&tag);
}

/* As a master whose file is `content` answers. */
static void
say_info(fixture_t *f, json_int_t at)
{
    char hex[TAG_HEX + 1];
    tag_of(f, (size_t) at, hex);
    json_t *body = json_pack("{s:i, s:I}", "size", SIZE, "at", at);
    if (at > 0)
        json_object_set_new(body, "tag", json_string(hex));
    say(f, MSG_file_info, body, NULL, 0);
}

static void
say_data(fixture_t *f, json_int_t from, json_int_t to)
{
    say(f, MSG_file_data, json_pack("{s:I}", "at", from), content + from, (size_t) (to - from));
}

static void
assert_file(const fixture_t *f)
{
    buf_auto_t bytes = BUF_INIT;
    assert_non_null(f->answer);
    assert_true(value_bool(f->answer, "ok", false));
    assert_int_equal(fs_read(f->place, SIZE + 1, &bytes, NULL), 0);
    assert_string_equal(buf_str(&bytes), content);
    assert_false(fs_exists(f->part));
}

static void
test_whole(void **state)
{
    fixture_t *f = *state;
    ask(f);
    assert_asked(f, 1, 0);
    say_info(f, 0);
    say_data(f, 0, 4);
    say_data(f, 4, SIZE);
    assert_null(f->answer);
    say(f, MSG_file_end, json_object(), NULL, 0);
    assert_file(f);
}

static void
test_part_goes_on(void **state)
{
    fixture_t *f = *state;
    assert_int_equal(fs_write_quick(f->part, content, 6, 0600, NULL), 0);
    ask(f);
    assert_asked(f, 1, 6);
    say_info(f, 6);
    say_data(f, 6, SIZE);
    say(f, MSG_file_end, json_object(), NULL, 0);
    assert_file(f);
}

/* What was here is of another file: from the start, before anything has come. */
static void
test_other_part(void **state)
{
    fixture_t *f = *state;
    assert_int_equal(fs_write_quick(f->part, "zzzzzz", 6, 0600, NULL), 0);
    ask(f);
    assert_asked(f, 1, 6);
    say_info(f, 6);
    assert_asked(f, 2, 0);
    say_info(f, 0);
    say_data(f, 0, SIZE);
    say(f, MSG_file_end, json_object(), NULL, 0);
    assert_file(f);
}

/* The master's file is shorter than what was here. */
static void
test_longer_part(void **state)
{
    fixture_t *f = *state;
    assert_int_equal(fs_write_quick(f->part, "zzzzzzzzzzzzzzz", 15, 0600, NULL), 0);
    ask(f);
    assert_asked(f, 1, 15);
    say_info(f, 0);
    assert_asked(f, 1, 15);
    say_data(f, 0, SIZE);
    say(f, MSG_file_end, json_object(), NULL, 0);
    assert_file(f);
}

/* The connection goes and comes: what has come by then is asked about, under a new key. */
static void
test_lost(void **state)
{
    fixture_t *f = *state;
    ask(f);
    say_info(f, 0);
    say_data(f, 0, 7);
    AUTO_FREE char *key = xstrdup(value_str(f->asked, "key", ""));
    downloads_lost(f->downloads);
    downloads_ready(f->downloads);
    (void) downloads_step(f->downloads);
    assert_asked(f, 2, 7);
    assert_string_not_equal(value_str(f->asked, "key", ""), key);
    say_info(f, 7);
    say_data(f, 7, SIZE);
    say(f, MSG_file_end, json_object(), NULL, 0);
    assert_file(f);
}

/* Another master's connection takes over. */
static void
hand_over(fixture_t *f)
{
    const download_host_t host = { take_message, take_answer, f };
    downloads_t *other = downloads_new(&host);

    downloads_lost(f->downloads);
    downloads_ready(other);
    downloads_take(other, f->downloads);
    downloads_destroy(&f->downloads);
    f->downloads = other;
    (void) downloads_step(f->downloads);
}

/* A master goes away for good: another one is asked for the rest, also of a file that is in no cache. */
static void
test_handed_over(void **state)
{
    fixture_t *f = *state;
    json_auto_t *what = json_pack("{s:s, s:s, s:s, s:s}", "op", "get", "path", "big", "saltenv", "base",
                                  "dest", f->place);
    downloads_ask(f->downloads, 1, what);
    say_info(f, 0);
    say_data(f, 0, 7);
    hand_over(f);
    assert_asked(f, 2, 7);
    say_info(f, 7);
    say_data(f, 7, SIZE);
    say(f, MSG_file_end, json_object(), NULL, 0);
    assert_file(f);
}

/* The other one's file is another, and so is the next one's. */
static void
test_handed_over_twice(void **state)
{
    fixture_t *f = *state;
    assert_int_equal(fs_write_quick(f->part, "zzzzzz", 6, 0600, NULL), 0);
    ask(f);
    say_info(f, 6);
    assert_asked(f, 2, 0);
    say_info(f, 0);
    say(f, MSG_file_data, json_pack("{s:i}", "at", 0), "yyy", 3);
    hand_over(f);
    assert_asked(f, 3, 3);
    say_info(f, 3);
    assert_asked(f, 4, 0);
    say_info(f, 0);
    say_data(f, 0, SIZE);
    say(f, MSG_file_end, json_object(), NULL, 0);
    assert_file(f);
}

/* Uploads and questions about the mine begin again there, under numbers of their own. */
static void
test_others_are_handed_over(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *local = fs_join(f->root, "local");
    json_auto_t *put = json_pack("{s:s, s:s, s:s}", "op", "put", "path", "there", "local", local);
    json_auto_t *mine = json_pack("{s:s, s:s}", "what", "mine", "op", "get");
    assert_int_equal(fs_write_quick(local, content, SIZE, 0600, NULL), 0);
    downloads_ask(f->downloads, 1, put);
    assert_string_equal(value_str(f->asked, "op", ""), "put");
    downloads_ask(f->downloads, 2, mine);
    assert_int_equal(f->mine_asks, 1);
    hand_over(f);
    assert_int_equal(f->opens, 2);
    assert_int_equal(f->mine_asks, 2);
    say(f, MSG_file_info, json_pack("{s:i}", "credit", 1), NULL, 0);
    say(f, MSG_file_end, json_object(), NULL, 0);
    assert_non_null(f->answer);
    assert_true(value_bool(f->answer, "ok", false));
    json_decref(STEAL(f->answer));
    json_auto_t *value = json_pack("{s:i, s:i}", "n", f->mine_n, "value", 7);
    downloads_message(f->downloads, MSG_mine, value, NULL, 0);
    assert_non_null(f->answer);
    assert_int_equal(value_int(f->answer, "value", 0), 7);
}

/* A job of other minions is asked for once: with its connection it fails, before that it waits. */
static void
test_peer(void **state)
{
    fixture_t *f = *state;
    json_auto_t *ask = json_pack("{s:s, s:s, s:i}", "what", "peer", "op", "publish", "timeout", 100);
    downloads_lost(f->downloads);
    downloads_ask(f->downloads, 1, ask);
    assert_int_equal(f->peer_asks, 0);
    downloads_ready(f->downloads);
    assert_int_equal(f->peer_asks, 1);
    downloads_ready(f->downloads);
    assert_int_equal(f->peer_asks, 1);
    downloads_lost(f->downloads);
    assert_non_null(f->answer);
    assert_int_equal(value_int(f->answer, "code", 0), ECONNRESET);
    json_decref(STEAL(f->answer));
    downloads_ready(f->downloads);
    assert_int_equal(f->peer_asks, 1);

    downloads_ask(f->downloads, 2, ask);
    json_auto_t *refused = json_pack("{s:i, s:s}", "n", f->peer_n, "refused", "no");
    downloads_message(f->downloads, MSG_peer, refused, NULL, 0);
    assert_string_equal(value_str(value_get(f->answer, "value"), "refused", ""), "no");
    json_decref(STEAL(f->answer));

    downloads_ask(f->downloads, 3, ask);
    json_auto_t *failed = json_pack("{s:i, s:s, s:i}", "n", f->peer_n, "error", "late", "code", ETIMEDOUT);
    downloads_message(f->downloads, MSG_peer, failed, NULL, 0);
    assert_int_equal(value_int(f->answer, "code", 0), ETIMEDOUT);
    json_decref(STEAL(f->answer));

    downloads_ask(f->downloads, 4, ask);
    json_auto_t *none = json_pack("{s:i, s:n}", "n", f->peer_n, "value");
    downloads_message(f->downloads, MSG_peer, none, NULL, 0);
    assert_true(json_is_null(value_get(value_get(f->answer, "value"), "value")));
}

static const struct {
    const char *body;
    wire_msg_t msg;
    const char *bytes;
} wrongs[] = {
    { "{\"at\": 3}", MSG_file_data, "345" },         /* not where it is */
    { "{\"at\": 0}", MSG_file_data, "0123456789a" }, /* more than there is */
    { "{}", MSG_file_end, "" },                      /* before all was sent */
};

static void
test_wrong(void **state)
{
    fixture_t *f = *state;
    for (size_t i = 0; i < NELEMS(wrongs); i++) {
        ask(f);
        say_info(f, 0);
        say(f, wrongs[i].msg, json_loads(wrongs[i].body, 0, NULL), wrongs[i].bytes, strlen(wrongs[i].bytes));
        assert_non_null(f->answer);
        assert_false(value_bool(f->answer, "ok", true));
        assert_false(fs_exists(f->place));
        json_decref(STEAL(f->answer));
    }
}

/* What somebody else has put where the part would be stays his, and the file is ours. */
static void
test_part_of_others(void **state)
{
    fixture_t *f = *state;
    struct stat st;
    if (geteuid() != 0)
        skip();
    for (int is_link = 0; is_link < 2; is_link++) {
        AUTO_FREE char *target = fs_join(f->root, "target");
        (void) unlink(f->part);
        assert_int_equal(fs_write_quick(is_link ? target : f->part, "0123", 4, 0600, NULL), 0);
        assert_int_equal(is_link ? symlink(target, f->part) : chown(f->part, 65534, 65534), 0);
        ask(f);
        assert_asked(f, is_link + 1, 0);
        say_info(f, 0);
        say_data(f, 0, SIZE);
        say(f, MSG_file_end, json_object(), NULL, 0);
        assert_non_null(f->answer);
        assert_true(value_bool(f->answer, "ok", false));
        assert_int_equal(lstat(f->place, &st), 0);
        assert_true(S_ISREG(st.st_mode) && st.st_uid == 0 && st.st_size == SIZE);
        assert_int_equal(stat(f->part, &st), 0);
        assert_int_equal(st.st_size, 4);
        json_decref(STEAL(f->answer));
    }
}

/* Why it can't be written is said. */
static void
test_no_folder(void **state)
{
    fixture_t *f = *state;
    json_auto_t *what = json_pack("{s:s, s:s, s:s, s:s}", "op", "get", "path", "big", "saltenv", "base",
                                  "dest", "/dev/null/big");
    downloads_ask(f->downloads, 1, what);
    say_info(f, 0);
    assert_non_null(f->answer);
    assert_non_null(strstr(value_str(f->answer, "error", ""), "/dev/null/big: Not a directory"));
}

static void
put(fixture_t *f, json_int_t id)
{
    AUTO_FREE char *local = fs_join(f->root, "local");
    json_auto_t *what = json_pack("{s:s, s:s, s:s}", "op", "put", "local", local, "path", "there");
    assert_int_equal(fs_write_quick(local, content, SIZE, 0600, NULL), 0);
    downloads_ask(f->downloads, id, what);
}

/* Steps that others have cause for give a master that says nothing no more time; who waits for his turn
 * has all of it then. */
static void
test_upload_to_a_silent_master(void **state)
{
    enum { STEP_S = 20, STALL_S = LIMIT_FILE_STALL / 1000 };
    fixture_t *f = *state;
    put(f, 1);
    put(f, 2);
    assert_int_equal(f->opens, 1);
    for (int turn = 1; turn <= 2; turn++) {
        for (int s = 0; s + STEP_S < STALL_S; s += STEP_S) {
            ahead_s += STEP_S;
            assert_in_range(downloads_step(f->downloads), 1, LIMIT_FILE_STALL);
            assert_null(f->answer);
        }
        ahead_s += STEP_S;
        (void) downloads_step(f->downloads);
        assert_non_null(f->answer);
        assert_int_equal(value_int(f->answer, "code", 0), ETIMEDOUT);
        json_decref(STEAL(f->answer));
    }
    assert_int_equal(f->opens, 2);
}

/* So many at one time; the next one's time begins with its turn, while those before it get on. */
static void
test_waits_for_its_turn(void **state)
{
    enum { AT_ONCE = 4, STEP_S = LIMIT_FILE_STALL / 1000 - 20 };
    fixture_t *f = *state;
    for (int i = 1; i <= AT_ONCE + 1; i++) {
        AUTO_FREE char *path = xasprintf("big%d", i);
        json_auto_t *what = json_pack("{s:s, s:s, s:s, s:s}", "op", "get", "path", path, "saltenv", "base",
                                      "cache", f->root);
        downloads_ask(f->downloads, i, what);
    }
    assert_int_equal(f->opens, AT_ONCE);
    for (int turn = 0; turn < 3; turn++) {
        for (int n = 1; n <= AT_ONCE; n++) {
            json_auto_t *info = json_pack("{s:i, s:i, s:i}", "n", n, "size", 3, "at", 0);
            json_auto_t *data = json_pack("{s:i, s:i}", "n", n, "at", turn - 1);
            downloads_message(f->downloads, turn == 0 ? MSG_file_info : MSG_file_data,
                              turn == 0 ? info : data, "x", turn == 0 ? 0 : 1);
        }
        ahead_s += STEP_S;
        (void) downloads_step(f->downloads);
        if (f->answer)
            fail_msg("%s", value_str(f->answer, "error", ""));
    }
    json_auto_t *end = json_pack("{s:i, s:s, s:i}", "n", 1, "error", "gone", "code", ENOENT);
    downloads_message(f->downloads, MSG_file_info, end, NULL, 0);
    assert_int_equal(f->opens, AT_ONCE + 1);
    assert_string_equal(value_str(f->asked, "path", ""), "big5");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

UNIT_MAIN(T(test_whole), T(test_part_goes_on), T(test_other_part), T(test_longer_part), T(test_lost),
          T(test_handed_over), T(test_handed_over_twice), T(test_others_are_handed_over), T(test_peer),
          T(test_wrong), T(test_part_of_others), T(test_no_folder), T(test_upload_to_a_silent_master),
          T(test_waits_for_its_turn))
