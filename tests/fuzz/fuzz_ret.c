/* fuzz_ret.c - a return from a minion: whether it is taken apart by spans or parsed, the event and the push
 * made from it are JSON with the values that the minion sent.
 *
 * The input follows {"m":"ret", so it only has to be the rest of an object.
 */
#include "master/jobs/ret.h"

#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(ret_t *ret)
{
    static const struct {
        const char *name;
        bool pushed;
    } fields[] = { { "return", true }, { "retcode", true },   { "success", true },
                   { "fun", true },    { "fun_args", false }, { "out", true } };
    buf_auto_t event = BUF_INIT, push = BUF_INIT;

    ret_add_event(ret, "m", "root", false, &event);
    ret_add_push(ret, "m", &push);
    json_auto_t *told = value_parse(event.data, event.len, event.len, "event", NULL);
    json_auto_t *pushed = value_parse(push.data, push.len, push.len, "push", NULL);
    salt_assert(told && pushed);
    for (size_t i = 0; i < NELEMS(fields); i++) {
        const char *name = fields[i].name;
        json_t *sent = value_get(ret_body(ret), name), *follows = fields[i].pushed ? sent : NULL;
        salt_assert(!sent ? !value_get(told, name) : json_equal(sent, value_get(told, name)));
        salt_assert(!follows ? !value_get(pushed, name) : json_equal(follows, value_get(pushed, name)));
    }
    salt_assert(strcmp(value_str(ret_body(ret), "jid", ""), ret->jid) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "{\"m\":\"ret\"";
    char *text = xcalloc(1, sizeof(head) + size);
    size_t len = sizeof(head) - 1 + size;
    fail_auto_t err = FAIL_INIT;
    ret_t ret;

    memcpy(text, head, sizeof(head) - 1);
    if (size > 0)
        memcpy(text + sizeof(head) - 1, data, size);
    int rc = ret_begin(&ret, text, len, &err);
    salt_assert((rc == 0) == (err.text == NULL));
    if (rc == 0)
        check(&ret);
    ret_end(&ret);
    free(text);
    return 0;
}
