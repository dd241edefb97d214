/* jobret.c - see jobret.h. The limits are the wire's: bytes, nesting (wire_encode), LIMIT_RET_VALUES.
 *
 * wire_encode() puts "m" first, so that the members of a return are the text behind a constant head.
 */
#include "uplink/jobret.h"

#include "common/base/jsonread.h"
#include "common/base/plainjson.h"
#include "common/base/str.h"
#include "common/data/args.h"
#include "common/net/wire.h"
#include "salt/log.h"
#include "salt/value.h"

#define HEAD "{\"m\":\"ret\","

void
jobret_destroy(jobret_t **self_p)
{
    jobret_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    free(self->jid);
    free(self->text);
    free(self);
}

json_t *
jobret_of(const json_t *job, const json_t *result)
{
    json_t *ret = json_pack("{s:O, s:O, s:o, s:O, s:O*, s:O}", "jid", value_get(job, "jid"), "fun",
                            value_get(job, "fun"), "fun_args", args_shown(value_get(job, "arg")), "return",
                            value_get(result, "return"), "retcode", value_get(result, "retcode"), "success",
                            value_get(result, "success"));

    /* Copies the fields of the job that its return repeats. */
    static const char *const marks[] = { "metadata", "schedule" };
    for (size_t i = 0; i < NELEMS(marks); i++)
        if (value_get(job, marks[i]) != NULL)
            json_object_set(ret, marks[i], value_get(job, marks[i]));

    return ret;
}

json_t *
jobret_failed(const json_t *job, char *text)
{
    json_auto_t *result = json_pack("{s:s, s:i, s:b}", "return", text, "retcode", 1, "success", false);
    free(text);
    return jobret_of(job, result);
}

/* NEW message of a return, or NULL with *err: no message can hold it, or the master's parser refuses it. */
static jobret_t *
jobret_fit(const json_t *ret, fail_t *err)
{
    size_t len = 0;
    AUTO_FREE char *text = wire_encode(MSG_ret, ret, &len, err);
    if (text != NULL && !json_few(text, len, LIMIT_RET_VALUES)) {
        (void) fail_set(err, -E2BIG, "it has more than %d values", LIMIT_RET_VALUES);
        return NULL;
    }
    if (text == NULL)
        return NULL;
    jobret_t *self = xcalloc(1, sizeof(*self));
    self->jid = xstrdup(value_str(ret, "jid", ""));
    self->text = STEAL(text);
    self->len = len;
    return self;
}

jobret_t *
jobret_make(json_t **ret_p)
{
    json_auto_t *ret = STEAL(*ret_p);
    fail_auto_t err = FAIL_INIT;
    jobret_t *self = ret != NULL ? jobret_fit(ret, &err) : NULL;
    if (ret == NULL || self != NULL)
        return self;
    log_error("job %s: %s", value_str(ret, "jid", ""), fail_text(&err));
    /* Drop the arguments first: the master knows what it asked. */
    json_object_set_new(ret, "fun_args", json_array());
    self = jobret_fit(ret, NULL);
    if (self != NULL)
        return self;
    json_auto_t *why = value_fmt("The job has run, but its return can't be sent to the master: %s; have the "
                                 "function return less (job_output_max), or write to a file instead",
                                 fail_text(&err));
    (void) json_object_update_new(
        ret, json_pack("{s:O, s:i, s:b}", "return", why, "retcode", 1, "success", false));
    self = jobret_fit(ret, NULL);
    if (self != NULL)
        return self;
    /* The least that is a return: a list of functions, a name or a mark may be longer than any message. */
    const json_t *fun = value_get(ret, "fun");
    bool named = json_is_string(fun) && json_string_length(fun) <= LIMIT_TAG_LEN;
    json_auto_t *least = json_pack("{s:s, s:s, s:[], s:O, s:i, s:b}", "jid", value_str(ret, "jid", ""), "fun",
                                   named ? json_string_value(fun) : "(several)", "fun_args", "return", why,
                                   "retcode", 1, "success", false);
    self = jobret_fit(least, NULL);
    salt_assert(self != NULL);
    return self;
}

/* True for a return of `jid` that is valid JSON. A text with escapes that spans can't judge is parsed. */
static bool
jobret_is_of(const char *text, size_t len, const char *jid)
{
    plain_t p = plain_new(text, len);
    jtext_t key, value, found = { 0 };
    if (plain_enter(&p, '{'))
        while (plain_key(&p, &key) && plain_value(&p, &value))
            if (jtext_is(key, "jid"))
                found = value;
    if (plain_end(&p))
        return found.len == strlen(jid) + 2 && memcmp(found.at + 1, jid, strlen(jid)) == 0;
    json_auto_t *v = value_parse_peer(text, len, len, "return", NULL);
    return str_eq(value_str(v, "jid", ""), jid);
}

int
jobret_read(const char *text, size_t len, const char *jid, jobret_t **ret_self)
{
    wire_msg_t msg;
    size_t n = 0;
    if (wire_open(text, len, WIRE_UP, 'A', &msg, &n, NULL) < 0 || msg != MSG_ret || n != len ||
        !json_few(text, len, LIMIT_RET_VALUES) || !jobret_is_of(text, len, jid))
        return -EPROTO;
    char *copy = malloc(len); /* as large as a job's output: the job server outlives its refusal */
    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, text, len);
    jobret_t *self = xcalloc(1, sizeof(*self));
    self->jid = xstrdup(jid);
    self->text = copy;
    self->len = len;
    *ret_self = self;
    return 0;
}

const char *
jobret_members(const jobret_t *self, size_t *ret_len)
{
    *ret_len = self->len - strlen(HEAD);
    return self->text + strlen(HEAD);
}

json_t *
jobret_value(const jobret_t *self)
{
    json_t *v = value_parse_peer(self->text, self->len, self->len, "return", NULL);
    (void) json_object_del(v, "m");
    return v;
}
