/* value.c - helpers over jansson. A getter with a default never fails: a member of another type counts as
 * missing. jansson's iterators take no const value, so it is cast for them, and not changed. Objects keep the
 * order in which their keys were added, which Salt's users see in all output. */
#include "salt/value.h"

#include <limits.h>

#include "common/base/buf.h"
#include "common/base/jsonread.h"
#include "common/base/memory.h"
#include "common/base/plainwrite.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "salt/limits.h"

json_t *
value_get(const json_t *obj, const char *key)
{
    return json_object_get(obj, key);
}

const char *
value_str(const json_t *obj, const char *key, const char *dflt)
{
    const json_t *v = json_object_get(obj, key);

    return json_is_string(v) ? json_string_value(v) : dflt;
}

json_int_t
value_int(const json_t *obj, const char *key, json_int_t dflt)
{
    const json_t *v = json_object_get(obj, key);

    return json_is_integer(v) ? json_integer_value(v) : dflt;
}

double
value_num(const json_t *obj, const char *key, double dflt)
{
    const json_t *v = json_object_get(obj, key);

    return json_is_number(v) ? json_number_value(v) : dflt;
}

bool
value_bool(const json_t *obj, const char *key, bool dflt)
{
    const json_t *v = json_object_get(obj, key);

    return json_is_boolean(v) ? json_is_true(v) : dflt;
}

/* True as Python's bool() of the value says; a value that is missing is false. */
bool
value_truthy(const json_t *v)
{
    if (v == NULL)
        return false;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return json_object_size(v) > 0;
    case JSON_ARRAY:
        return json_array_size(v) > 0;
    case JSON_STRING:
        return json_string_length(v) > 0;
    case JSON_INTEGER:
        return json_integer_value(v) != 0;
    case JSON_REAL:
        return json_real_value(v) != 0.0;
    case JSON_TRUE:
        return true;
    case JSON_FALSE:
    case JSON_NULL:
        break;
    }
    return false;
}

/* Compares exactly: large integers have no exact double. */
static bool
int_equals_real(json_int_t i, double d)
{
    return d >= -0x1p63 && d < 0x1p63 && (json_int_t) d == i && (double) (json_int_t) d == d;
}

/* Equal as Python's == says, where 1 and 1.0 are one, but for booleans, which equal no number here. */
bool
value_equal(const json_t *a, const json_t *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (json_is_number(a) && json_is_number(b)) {
        if (json_is_integer(a) && json_is_integer(b))
            return json_integer_value(a) == json_integer_value(b);
        if (json_is_real(a) && json_is_real(b))
            return json_real_value(a) == json_real_value(b);
        if (json_is_integer(a))
            return int_equals_real(json_integer_value(a), json_real_value(b));
        return int_equals_real(json_integer_value(b), json_real_value(a));
    }
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_object(a)) {
        json_t *object = (json_t *) a; /* for jansson's iterator; nothing is changed */

        if (json_object_size(a) != json_object_size(b))
            return false;
        for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
            const json_t *other = json_object_get(b, json_object_iter_key(it));
            if (other == NULL || !value_equal(json_object_iter_value(it), other))
                return false;
        }
        return true;
    }
    if (!json_is_array(a))
        return json_equal(a, b);
    if (json_array_size(a) != json_array_size(b))
        return false;
    for (size_t i = 0; i < json_array_size(a); i++) {
        if (!value_equal(json_array_get(a, i), json_array_get(b, i)))
            return false;
    }
    return true;
}

/* A step into an array: the first object element with the key, else an index (negative from the end). */
static json_t *
array_step(const json_t *array, const char *part)
{
    size_t i;
    json_t *element;
    long long index;

    json_array_foreach (array, i, element) {
        json_t *found = json_object_get(element, part);
        if (found != NULL)
            return found;
    }
    if (!str_to_int(part, INT_MIN, INT_MAX, &index))
        return NULL;
    if (index < 0)
        index += (long long) json_array_size(array);
    return index < 0 ? NULL : json_array_get(array, (size_t) index);
}

/* Without a delimiter the whole path is one key. */
json_t *
value_path(const json_t *root, const char *path, const char *delim)
{
    json_t *at = (json_t *) root; /* as in json_object_get, members of a const object are not const */
    size_t skip = strlen(delim);

    for (const char *part = path; at != NULL && part != NULL;) {
        const char *end = skip > 0 ? strstr(part, delim) : NULL;
        AUTO_FREE char *key = end != NULL ? xstrndup(part, (size_t) (end - part)) : xstrdup(part);
        at = json_is_array(at) ? array_step(at, key) : json_object_get(at, key);
        part = end != NULL ? end + skip : NULL;
    }
    return at;
}

bool
value_has(const json_t *list, const json_t *v)
{
    size_t i;
    json_t *element;

    json_array_foreach (list, i, element) {
        if (value_equal(element, v))
            return true;
    }
    return false;
}

bool
value_lists(const json_t *list, const char *text)
{
    size_t i;
    json_t *element;

    json_array_foreach (list, i, element) {
        if (str_eq(json_string_value(element), text))
            return true;
    }
    return false;
}

char *
value_joined(const json_t *v, const char *between)
{
    buf_auto_t text = BUF_INIT;
    size_t i;
    json_t *element;

    if (!json_is_array(v))
        return value_pystr(v);
    json_array_foreach (v, i, element) {
        AUTO_FREE char *one = value_pystr(element);
        buf_printf(&text, "%s%s", i > 0 ? between : "", one);
    }
    return buf_steal(&text);
}

/* Salt's update(): mappings are merged key by key, other values of `over` replace those of `base`, and are
 * copied. */
void
value_merge(json_t *base, const json_t *over, bool append_lists)
{
    json_t *from = (json_t *) over; /* for jansson's iterator; nothing is changed */

    for (void *it = json_object_iter(from); it != NULL; it = json_object_iter_next(from, it)) {
        const char *key = json_object_iter_key(it);
        json_t *v = json_object_iter_value(it);
        json_t *old = json_object_get(base, key), *element;
        size_t i;
        if (json_is_object(old) && json_is_object(v)) {
            value_merge(old, v, append_lists);
        } else if (append_lists && json_is_array(old) && json_is_array(v)) {
            json_array_foreach (v, i, element) /* Salt appends what the old list does not have yet */
                if (!value_has(old, element))
                    json_array_append_new(old, json_deep_copy(element));
        } else {
            json_object_set_new(base, key, json_deep_copy(v));
        }
    }
}

typedef json_t *read_fn(const char *text, size_t len, json_bad_t *ret_bad);

/* Errors name line and column, which editors show, where the reader knows the byte. */
static json_t *
parse_by(read_fn *reader, const char *text, size_t len, size_t limit, const char *what, fail_t *err)
{
    json_bad_t bad;

    if (len > limit) {
        fail_set(err, -EMSGSIZE, "%s: %zu bytes of JSON, more than the %zu allowed", what, len, limit);
        return NULL;
    }
    json_t *v = reader(text, len, &bad);
    if (v == NULL && bad.why == NULL) {
        fail_set(err, -ENOMEM, "%s: out of memory", what);
    } else if (v == NULL) {
        size_t lines = 1, from = 0;
        for (size_t i = 0; i < bad.at; i++)
            if (text[i] == '\n') {
                lines++;
                from = i + 1;
            }
        fail_set(err, -EBADMSG, "%s: not valid JSON: %s (line %zu, column %zu)", what, bad.why, lines,
                 utf8_count(text + from, bad.at - from) + 1);
    }
    return v;
}

json_t *
value_parse(const char *text, size_t len, size_t limit, const char *what, fail_t *err)
{
    return parse_by(json_read, text, len, limit, what, err);
}

static json_t *
parse_spared(read_fn *reader, const char *text, size_t len, size_t limit, const char *what, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    memory_spare();
    json_t *v = parse_by(reader, text, len, limit, what, &why);
    if (memory_end_spare()) {
        json_decref(v);
        fail_set(err, -ENOMEM, "%s: out of memory for %zu bytes of JSON", what, len);
        return NULL;
    }
    if (v == NULL)
        fail_set(err, why.code, "%s", fail_text(&why));
    return v;
}

json_t *
value_parse_peer(const char *text, size_t len, size_t limit, const char *what, fail_t *err)
{
    return parse_spared(json_read, text, len, limit, what, err);
}

json_t *
value_parse_frame(const char *text, size_t len, const char *what, fail_t *err)
{
    return parse_spared(json_read_frame, text, len, len, what, err);
}

/* True when containers are nested at most `levels` deep. Recursion ends at that depth too. */
bool
value_nests(const json_t *v, int levels)
{
    json_t *one, *container = (json_t *) v; /* for jansson's iterator; nothing is changed */
    const char *key;
    size_t i;
    bool fine = levels > 0 || !(json_is_array(v) || json_is_object(v));

    if (json_is_array(v))
        for (i = 0; fine && i < json_array_size(v); i++)
            fine = value_nests(json_array_get(v, i), levels - 1);
    else if (fine)
        json_object_foreach (container, key, one)
            if (!value_nests(one, levels - 1))
                return false;
    return fine;
}

char *
value_dump(const json_t *v)
{
    buf_auto_t out = BUF_INIT;

    if (v == NULL)
        return xstrdup("null");
    int rc = plain_add(v, &out);
    salt_assert(rc == 0);
    size_t size = out.len + 1;
    return xrealloc(buf_steal(&out), size);
}

/* Bytes that are no UTF-8 become U+FFFD, byte by byte. */
json_t *
value_utf8(const char *bytes, size_t len)
{
    json_t *v = json_stringn(bytes, len);
    buf_auto_t fixed = BUF_INIT;
    uint32_t cp;

    if (v != NULL)
        return v;
    for (size_t i = 0, n; i < len; i += n) {
        n = utf8_next(bytes + i, len - i, &cp);
        if (n != 0) {
            buf_add(&fixed, bytes + i, n);
        } else {
            buf_puts(&fixed, "\xef\xbf\xbd");
            n = 1;
        }
    }
    v = json_stringn(buf_str(&fixed), fixed.len);
    salt_assert(v != NULL);
    return v;
}

json_t *
value_fmt(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    return value_utf8(text, strlen(text));
}

json_t *
value_sorted_keys(const json_t *object)
{
    size_t n = json_object_size(object), i = 0;
    AUTO_FREE const char **names = xcalloc(n + 1, sizeof(*names));
    json_t *list = json_array(), *v;
    const char *key;

    json_object_foreach ((json_t *) object, key, v)
        names[i++] = key;
    qsort(names, n, sizeof(*names), str_by_text);
    for (i = 0; i < n; i++)
        json_array_append_new(list, json_string(names[i]));
    return list;
}

static int
value_by_value(const void *a, const void *b)
{
    return strcmp(json_string_value(*(json_t *const *) a), json_string_value(*(json_t *const *) b));
}

json_t *
value_sorted_texts(const json_t *list)
{
    size_t n = 0, i;
    AUTO_FREE json_t **texts = xcalloc(json_array_size(list) + 1, sizeof(*texts));
    json_t *sorted = json_array(), *one;

    json_array_foreach (list, i, one) {
        if (json_is_string(one))
            texts[n++] = one;
    }
    qsort(texts, n, sizeof(*texts), value_by_value);
    for (i = 0; i < n; i++)
        json_array_append(sorted, texts[i]);
    return sorted;
}
