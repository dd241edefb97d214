/* body.c - see body.h. */
#include "api/body.h"

#include <strings.h>

#include "common/base/buf.h"
#include "common/base/jsonread.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/data/args.h"
#include "common/data/yaml.h"
#include "salt/value.h"

static int
too_many(fail_t *err)
{
    return fail_set(err, -E2BIG, "The body holds more than %d values", BODY_VALUES);
}

static int
parse_json(const char *bytes, size_t len, json_t **ret, fail_t *err)
{
    json_bad_t bad;

    if (!json_few(bytes, len, BODY_VALUES))
        return too_many(err);
    *ret = json_read(bytes, len, &bad);
    return *ret != NULL ? 0 : fail_set(err, -EINVAL, "Invalid JSON document");
}

static int
parse_yaml(const char *bytes, size_t len, json_t **ret, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    *ret = yaml_load_within(bytes, len, "body", BODY_VALUES, &why);
    if (*ret == NULL && why.code == -E2BIG)
        return too_many(err);
    return *ret != NULL ? 0 : fail_set(err, -EINVAL, "Invalid YAML document");
}

static int
body_read_text(const char *bytes, size_t len, json_t **ret, fail_t *err)
{
    json_bad_t bad;

    if (!json_few(bytes, len, BODY_VALUES))
        return too_many(err);
    *ret = json_read(bytes, len, &bad);
    if (*ret == NULL)
        *ret = value_utf8(bytes, len);
    return 0;
}

/* ---- forms --------------------------------------------------------------------------------------- */

static int
hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* NEW text of a name or value. A percent sign that no two digits follow stands for itself. NULL when the text
 * has a NUL or is not UTF-8. */
static char *
form_decode(const char *at, size_t len)
{
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i < len; i++) {
        int high = i + 2 < len && at[i] == '%' ? hex_of(at[i + 1]) : -1,
            low = high >= 0 ? hex_of(at[i + 2]) : -1;
        char c = low >= 0 ? (char) (high << 4 | low) : at[i] == '+' ? ' ' : at[i];
        i += low >= 0 ? 2 : 0;
        if (c == '\0')
            return NULL;
        buf_putc(&out, c);
    }
    return utf8_valid(buf_str(&out), out.len) ? buf_steal(&out) : NULL;
}

static int
form_pair(json_t *form, const char *at, size_t len, fail_t *err)
{
    const char *equals = memchr(at, '=', len);
    size_t name_len = equals != NULL ? (size_t) (equals - at) : len;
    AUTO_FREE char *name = form_decode(at, name_len);
    AUTO_FREE char *text = equals != NULL ? form_decode(equals + 1, len - name_len - 1) : xstrdup("");

    if (name == NULL || text == NULL)
        return fail_set(err, -EINVAL, "Invalid form: a name or value is not UTF-8, or has a NUL");
    bool typed = str_eq(name, "arg") || str_eq(name, "kwarg");
    json_t *value = typed ? arg_type_word_within(text, BODY_VALUES / BODY_PAIRS, err) : json_string(text);
    if (value == NULL)
        return err->code;
    /* A second value of a name makes a list of both. */
    json_t *there = json_object_get(form, name);
    bool is_arg = str_eq(name, "arg");

    if (there == NULL && !is_arg) {
        json_object_set_new(form, name, value);
    } else if (json_is_array(there)) {
        json_array_append_new(there, value);
    } else {
        json_t *list = there != NULL ? json_pack("[O,o]", there, value) : json_pack("[o]", value);
        json_object_set_new(form, name, list);
    }
    return 0;
}

static int
parse_form(const char *bytes, size_t len, json_t **ret, fail_t *err)
{
    json_auto_t *form = json_object();
    const char *at = bytes, *end = bytes + len;
    int rc = 0;

    for (int n = 0; at < end && rc == 0; n++) {
        const char *amp = memchr(at, '&', (size_t) (end - at)), *stop = amp != NULL ? amp : end;
        if (n == BODY_PAIRS)
            return fail_set(err, -E2BIG, "The form holds more than %d pairs", BODY_PAIRS);
        if (stop > at)
            rc = form_pair(form, at, (size_t) (stop - at), err);
        at = stop + 1;
    }
    if (rc == 0)
        *ret = STEAL(form);
    return rc;
}

/* ---- by type ------------------------------------------------------------------------------------- */

static const struct {
    const char *type;
    int (*parse)(const char *bytes, size_t len, json_t **ret, fail_t *err);
} types[] = {
    { "application/json", parse_json }, { "application/x-yaml", parse_yaml },
    { "text/yaml", parse_yaml },        { "application/x-www-form-urlencoded", parse_form },
    { "text/plain", body_read_text },
};

int
body_parse(const char *type, const char *bytes, size_t len, json_t **ret, fail_t *err)
{
    *ret = NULL;
    if (len == 0)
        return 0;
    if (type == NULL)
        return parse_form(bytes, len, ret, err);
    type += strspn(type, " \t");
    size_t type_len = strcspn(type, " \t;");
    for (size_t i = 0; i < NELEMS(types); i++)
        if (strlen(types[i].type) == type_len && strncasecmp(types[i].type, type, type_len) == 0)
            return types[i].parse(bytes, len, ret, err);
    return fail_set(err, -ENOTSUP, "Content type not supported");
}

json_t *
body_chunks(json_t **data_p, fail_t *err)
{
    json_auto_t *data = STEAL(*data_p);
    json_t *chunk, *chunks;
    size_t i;

    if (!json_is_array(data) && !json_is_object(data)) {
        fail_set(err, -EINVAL, "Lowstates must be a list");
        return NULL;
    }
    chunks = json_is_array(data) ? json_incref(data) : json_pack("[O]", data);
    json_array_foreach (chunks, i, chunk) {
        json_t *arg = value_get(chunk, "arg");
        if (!json_is_object(chunk)) {
            json_decref(chunks);
            fail_set(err, -EINVAL, "Lowstates must be a list of objects");
            return NULL;
        }
        if (arg != NULL && !json_is_array(arg))
            json_object_set_new(chunk, "arg", json_pack("[O]", arg));
    }
    return chunks;
}
