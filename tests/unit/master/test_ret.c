/* test_ret.c - what is told of a return, whichever way it was read. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/memory.h"
#include "master/jobs/ret.h"
#include "salt/value.h"
#include "unit/unit.h"

#define JID "20261120100000123456"

static const struct {
    const char *text, *event, *push;
    int retcode;
    bool success;
} rows[] = {
    { "{\"m\":\"ret\",\"jid\":\"" JID
      "\",\"fun\":\"test.ping\",\"fun_args\":[],\"return\":true,\"retcode\":0,"
      "\"success\":true}",
      "{\"cmd\":\"_return\",\"id\":\"web1\",\"success\":true,\"return\":true,\"retcode\":0,\"jid\":\"" JID
      "\",\"fun\":\"test.ping\",\"fun_args\":[],\"user\":\"root\"}",
      "{\"push\":\"ret\",\"jid\":\"" JID "\",\"id\":\"web1\",\"success\":true,\"return\":true,\"retcode\":0,"
      "\"fun\":\"test.ping\"}",
      0, true },
    /* Of a thing that was not found those who asked are told, too. */
    { "{\"m\":\"ret\",\"jid\":\"" JID
      "\",\"fun\":\"a.b\",\"return\":null,\"retcode\":1,\"success\":true,\"absent\":\"No x\"}",
      "{\"cmd\":\"_return\",\"id\":\"web1\",\"success\":true,\"return\":null,\"retcode\":1,\"jid\":\"" JID
      "\",\"fun\":\"a.b\",\"absent\":\"No x\",\"user\":\"root\"}",
      "{\"push\":\"ret\",\"jid\":\"" JID "\",\"id\":\"web1\",\"success\":true,\"return\":null,\"retcode\":1,"
      "\"fun\":\"a.b\",\"absent\":\"No x\"}",
      1, true },
    /* Several functions: the worst code, and all of them well. */
    { "{\"m\":\"ret\",\"jid\":\"" JID
      "_77\",\"fun\":[\"a.b\",\"c.d\"],\"return\":{},\"retcode\":{\"a.b\":2,\"c.d\":1},"
      "\"success\":{\"a.b\":true,\"c.d\":false},\"out\":\"txt\"}",
      "{\"cmd\":\"_return\",\"id\":\"web1\",\"success\":{\"a.b\":true,\"c.d\":false},\"return\":{},"
      "\"retcode\":{\"a.b\":2,"
      "\"c.d\":1},\"jid\":\"" JID "_77\",\"fun\":[\"a.b\",\"c.d\"],\"out\":\"txt\",\"user\":\"root\"}",
      "{\"push\":\"ret\",\"jid\":\"" JID
      "_77\",\"id\":\"web1\",\"success\":{\"a.b\":true,\"c.d\":false},\"return\":{},"
      "\"retcode\":{\"a.b\":2,\"c.d\":1},\"fun\":[\"a.b\",\"c.d\"],\"out\":\"txt\"}",
      2, false },
    /* Not plain: an escape that may hide anything; unknown fields are told to nobody. */
    { "{\"m\":\"ret\",\"x\":1,\"jid\":\"" JID
      "\",\"fun\":\"a.b\",\"return\":\"\\u0041\\n\",\"retcode\":-1,\"user\":\"me\"}",
      "{\"cmd\":\"_return\",\"id\":\"web1\",\"return\":\"A\\n\",\"retcode\":-1,\"jid\":\"" JID
      "\",\"fun\":\"a.b\",\"user\":\"root\"}",
      "{\"push\":\"ret\",\"jid\":\"" JID
      "\",\"id\":\"web1\",\"return\":\"A\\n\",\"retcode\":-1,\"fun\":\"a.b\"}",
      -1, true },
};

static const char *const refused[] = {
    "{\"m\":\"ret\"}",
    "{\"m\":\"ret\",\"jid\":\"" JID "\"}",
    "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":1}",
    "{\"m\":\"ret\",\"jid\":\"" JID "_\",\"fun\":\"a.b\"}",
    "{\"m\":\"ret\",\"jid\":\"" JID "_\\n\",\"fun\":\"a.b\"}",
    "{\"m\":\"ret\",\"jid\":\"" JID "_1234567890123\",\"fun\":\"a.b\"}",
    "{\"m\":\"ret\",\"jid\":20261120100000123456,\"fun\":\"a.b\"}",
    "{\"m\":\"ret\",\"jid\":\"" JID "\\u0000\",\"fun\":\"a.b\"}",
    "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",\"fun\":\"c.d\"}",
    "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\"} x",
    "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\"",
};

static void
test_told(void **state)
{
    for (size_t i = 0; i < NELEMS(rows); i++) {
        ret_t ret;
        buf_auto_t event = BUF_INIT, push = BUF_INIT;
        assert_int_equal(ret_begin(&ret, rows[i].text, strlen(rows[i].text), NULL), 0);
        assert_int_equal(ret.retcode, rows[i].retcode);
        assert_int_equal(ret.success, rows[i].success);
        ret_add_event(&ret, "web1", "root", false, &event);
        ret_add_push(&ret, "web1", &push);
        assert_string_equal(buf_str(&event), rows[i].event);
        assert_string_equal(buf_str(&push), rows[i].push);
        assert_true(json_is_object(ret_body(&ret)));
        ret_end(&ret);
    }
}

/* Names come from keys and operators: what they hold is text. */
static void
test_quoted(void **state)
{
    ret_t ret;
    buf_auto_t event = BUF_INIT;
    assert_int_equal(ret_begin(&ret, rows[0].text, strlen(rows[0].text), NULL), 0);
    ret_add_event(&ret, "a\"b\\c\x01", "x\"", true, &event);
    json_auto_t *value = value_parse(buf_str(&event), event.len, event.len, "event", NULL);
    assert_string_equal(value_str(value, "id", ""), "a\"b\\c\x01");
    assert_string_equal(value_str(value, "user", ""), "x\"");
    assert_null(value_get(value, "success"));
    ret_end(&ret);
}

static void
test_refused(void **state)
{
    for (size_t i = 0; i < NELEMS(refused); i++) {
        ret_t ret;
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(ret_begin(&ret, refused[i], strlen(refused[i]), &err), -EPROTO);
        assert_non_null(err.text);
        ret_end(&ret);
    }
}

#define MANY (LIMIT_RET_VALUES / 2 - 20) /* empty lists: three bytes of text each, and far more as values */
#define MB   (1024UL * 1024)

/* NEW message with so many lists between the two. */
static char *
many_lists(const char *head, const char *tail, int n, size_t *ret_len)
{
    buf_t text = BUF_INIT;
    buf_puts(&text, head);
    for (int i = 0; i < n; i++)
        buf_puts(&text, "[],");
    buf_puts(&text, tail);
    *ret_len = text.len;
    return buf_steal(&text);
}

/* A return that is told as it is may have any number of values; one of which they are made may not. */
static void
test_too_many_values(void **state)
{
    static const char *const heads[] = { "\"return\":[", "\"retcode\":1,\"return\":[",
                                         "\"x\":1,\"return\":[" };
    for (size_t i = 0; i < NELEMS(heads); i++) {
        size_t len;
        ret_t ret;
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *head = xasprintf("{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",%s", heads[i]);
        AUTO_FREE char *text = many_lists(head, "[]]}", LIMIT_RET_VALUES, &len);
        assert_int_equal(ret_begin(&ret, text, len, &err), i == 0 ? 0 : -EPROTO);
        ret_end(&ret);
    }
}

/* Whatever makes values necessary: what a minion sends must not end the master. The last is one text,
 * which fits half. */
static void
test_no_memory_for_values(void **state)
{
    static const struct {
        const char *head, *tail;
        int lists;
        size_t spare;
    } texts[] = {
        { "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",\"x\":1,\"return\":[", "[]]}", MANY, 16 * MB },
        { "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",\"retcode\":1,\"return\":[", "[]]}", MANY,
          16 * MB },
        { "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",\"success\":false,\"return\":[", "[]]}", MANY,
          16 * MB },
        { "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",\"out\":\"\\u0041\",\"return\":[", "[]]}", MANY,
          16 * MB },
        { "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",\"return\":\"\\u0041", "\"}", 2 * 1024 * 1024,
          9 * MB },
    };
    SKIP_CHECKED(); /* a sanitizer's own memory has no such limit */
    for (size_t i = 0; i < NELEMS(texts); i++) {
        size_t len;
        int status;
        AUTO_FREE char *text = many_lists(texts[i].head, texts[i].tail, texts[i].lists, &len);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            ret_t ret;
            fail_auto_t err = FAIL_INIT;
            buf_auto_t pages = BUF_INIT;
            memory_begin();
            if (fs_read("/proc/self/statm", 256, &pages, NULL) < 0)
                _exit(1);
            rlim_t most = strtoul(buf_str(&pages), NULL, 10) * (rlim_t) sysconf(_SC_PAGESIZE) +
                          texts[i].spare;
            struct rlimit limit = { most, most };
            if (setrlimit(RLIMIT_AS, &limit) != 0)
                _exit(2);
            int rc = ret_begin(&ret, text, len, &err);
            ret_end(&ret);
            _exit(rc == -ENOMEM && err.text ? 0 : 3);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* The last one leaves free memory behind. */
UNIT_MAIN(cmocka_unit_test(test_told), cmocka_unit_test(test_quoted), cmocka_unit_test(test_refused),
          cmocka_unit_test(test_no_memory_for_values), cmocka_unit_test(test_too_many_values))
