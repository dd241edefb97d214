/* ret.c - read a return's JSON as spans, and compose events and pushes from them.
 *
 * The fast path (ret_plain) walks the top-level keys and records where each value's text lies; nothing is
 * allocated. JSON that is not plain, or has unknown or doubled fields, is parsed, and each known field is
 * written into `more`. Either way field[] holds compact JSON text. A return may have megabytes, and most are
 * passed on unread. */
#include "master/jobs/ret.h"

#include "common/base/clock.h"
#include "common/base/jsonread.h"
#include "common/base/plainwrite.h"
#include "common/base/str.h"
#include "salt/value.h"

#define RET_ROW(name, pushed) ROW(name, sizeof(name) - 1, pushed)
static const struct row {
    const char *name;
    size_t len;
    bool pushed; /* included in pushes; followers know what they asked with */
} rows[RET_FIELDS] = {
    [RET_SUCCESS] = RET_ROW("success", true),
    [RET_RETURN] = RET_ROW("return", true),
    [RET_RETCODE] = RET_ROW("retcode", true),
    [RET_JID] = RET_ROW("jid", false),
    [RET_FUN] = RET_ROW("fun", true),
    [RET_FUN_ARGS] = RET_ROW("fun_args", false),
    [RET_TGT] = RET_ROW("tgt", false),
    [RET_TGT_TYPE] = RET_ROW("tgt_type", false),
    [RET_ARG] = RET_ROW("arg", false),
    [RET_METADATA] = RET_ROW("metadata", false),
    [RET_SCHEDULE] = RET_ROW("schedule", false),
    [RET_OUT] = RET_ROW("out", true),
    [RET_ABSENT] = RET_ROW("absent", true),
};
#undef RET_ROW

/* ---- reading --------------------------------------------------------------------------------- */

/* True when the text is {"m": "ret", ...} with known fields, each once; field[] is filled. False: use
 * ret_values. */
static bool
ret_plain(ret_t *self)
{
    plain_t p = plain_new(self->text, self->len);
    jtext_t key, value;
    bool named = plain_enter(&p, '{') && plain_key(&p, &key) && jtext_is(key, "m") && plain_value(&p, &value);
    while (named && plain_key(&p, &key)) {
        /* A dozen rows: comparing lengths first beats hashing. */
        ret_field_t f = 0;
        while (f < RET_FIELDS && (rows[f].len != key.len || memcmp(rows[f].name, key.at, key.len) != 0))
            f++;

        if (f == RET_FIELDS || self->field[f].at != NULL || !plain_value(&p, &self->field[f]))
            return false;
    }
    return named && plain_end(&p);
}

/* Parse the whole into `body`, once. LIMIT_RET_VALUES bounds the memory that a minion can make the master
 * take. -EPROTO or -ENOMEM with *err. */
static int
ret_parse(ret_t *self, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    if (self->body == NULL && !json_few(self->text, self->len, LIMIT_RET_VALUES))
        return fail_set(err, -EPROTO, "a return of more than %d values", LIMIT_RET_VALUES);
    if (self->body == NULL)
        self->body = value_parse_peer(self->text, self->len, self->len, "ret", &why);
    return self->body != NULL ? 0
                              : fail_set(err, why.code == -ENOMEM ? -ENOMEM : -EPROTO, "%s", fail_text(&why));
}

static bool
ret_is(jtext_t field, const char *text)
{
    return field.at != NULL && jtext_is(field, text);
}

/* Set retcode and success. The common case, one function that succeeded, is decided on the text and builds no
 * values. */
static int
judge(ret_t *self, fail_t *err)
{
    jtext_t code = self->field[RET_RETCODE], ok = self->field[RET_SUCCESS];
    self->retcode = 0;
    self->success = true;
    if ((code.at == NULL || ret_is(code, "0")) && (ok.at == NULL || ret_is(ok, "true")))
        return 0;
    int rc = ret_parse(self, err);
    if (rc < 0)
        return rc;

    /* A job of several functions has {fun: code}; take the largest. One function has an integer. */
    const json_t *codes = value_get(self->body, rows[RET_RETCODE].name);
    json_t *one;
    const char *fun;
    json_int_t worst = json_integer_value(codes);
    json_object_foreach ((json_t *) codes, fun, one)
        if (json_integer_value(one) > worst)
            worst = json_integer_value(one);
    self->retcode = (int) worst;

    /* The same for `success`: false when any function's is; absent or not boolean counts as true. */
    const json_t *oks = value_get(self->body, rows[RET_SUCCESS].name);
    bool all = !json_is_false(oks);
    json_object_foreach ((json_t *) oks, fun, one)
        all = all && !json_is_false(one);
    self->success = all;

    return 0;
}

/* Copy the jid without its quotes. A valid jid has no characters that JSON escapes, so no decoding is
 * needed. */
static bool
ret_jid(ret_t *self)
{
    jtext_t jid = self->field[RET_JID];
    if (jid.at == NULL || *jid.at != '"' || jid.len - 2 >= sizeof(self->jid))
        return false;
    memcpy(self->jid, jid.at + 1, jid.len - 2);
    self->jid[jid.len - 2] = '\0';
    return clock_is_jid(self->jid);
}

int
ret_begin(ret_t *self, const char *text, size_t len, fail_t *err)
{
    *self = (ret_t){ .text = text, .len = len, .more = BUF_INIT };
    if (!ret_plain(self)) {
        memset(self->field, 0, sizeof(self->field));

        /* The slow path: dump each known field into `more`. Room for the whole is offered first and offsets
         * are kept, as the buffer may still move while it grows. */
        size_t ends[RET_FIELDS] = { 0 };
        int rc = ret_parse(self, err);
        if (rc < 0)
            return rc;
        if (!buf_offer_room(&self->more, self->len))
            return fail_set(err, -ENOMEM, "ret: out of memory for %zu bytes", self->len);
        for (ret_field_t f = 0; f < RET_FIELDS; f++) {
            json_t *v = value_get(self->body, rows[f].name);
            if (v != NULL)
                (void) plain_add(v, &self->more);
            ends[f] = self->more.len;
        }
        /* The buffer no longer grows, so pointers into it stay valid. */
        for (ret_field_t f = 0; f < RET_FIELDS; f++) {
            size_t at = f > 0 ? ends[f - 1] : 0;
            self->field[f] = ends[f] > at ? (jtext_t){ self->more.data + at, ends[f] - at } : (jtext_t){ 0 };
        }
    }
    jtext_t fun = self->field[RET_FUN];
    if (!ret_jid(self) || fun.at == NULL || (*fun.at != '"' && *fun.at != '['))
        return fail_set(err, -EPROTO, "a return without a jid or a function");
    return judge(self, err);
}

void
ret_end(ret_t *self)
{
    json_decref(self->body);
    buf_free(&self->more);
}

const json_t *
ret_body(ret_t *self)
{
    (void) ret_parse(self, NULL);
    return self->body;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* Append ,"NAME":TEXT when the field is present. */
static void
ret_add(const ret_t *self, ret_field_t f, buf_t *out)
{
    if (self->field[f].at == NULL)
        return;
    buf_puts(out, ",\"");
    buf_add(out, rows[f].name, rows[f].len);
    buf_puts(out, "\":");
    buf_add(out, self->field[f].at, self->field[f].len);
}

void
ret_add_event(const ret_t *self, const char *id, const char *user, bool is_call, buf_t *out)
{
    buf_puts(out, "{\"cmd\":\"_return\",\"id\":\"");
    plain_quote(id, out);
    buf_putc(out, '"');
    for (ret_field_t f = is_call ? RET_RETURN : RET_SUCCESS; f < RET_FIELDS; f++)
        ret_add(self, f, out);
    if (user != NULL) {
        buf_puts(out, ",\"user\":\"");
        plain_quote(user, out);
        buf_putc(out, '"');
    }
    buf_putc(out, '}');
}

void
ret_add_push(const ret_t *self, const char *id, buf_t *out)
{
    buf_puts(out, "{\"push\":\"ret\",\"jid\":\"");
    buf_puts(out, self->jid);
    buf_puts(out, "\",\"id\":\"");
    plain_quote(id, out);
    buf_putc(out, '"');
    for (ret_field_t f = 0; f < RET_FIELDS; f++)
        if (rows[f].pushed)
            ret_add(self, f, out);
    buf_putc(out, '}');
}
