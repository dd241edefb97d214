/* manage_check.c - file.check_managed, check_managed_changes, check_file_meta: what file.manage_file would
 * change, without changing it; and the encodings that it writes. */
#include <iconv.h>
#include <strings.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/py/py_wire.h"
#include "plugins/lib/file/content.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/manage.h"

/* ---- differences ----------------------------------------------------------------------------- */

static void
manage_check_note(json_t *changes, const char *key, const char *text)
{
    json_object_set_new(changes, key, value_utf8(text, strlen(text)));
}

/* Adds "diff" unless there is none; a file that can't be compared is a text about it. */
static void
manage_check_compare(call_ctx_t *ctx, const char *name, const content_t *with, json_t *changes)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *diff = NULL;

    if (content_diff(name, with, NULL, &diff, &why) != 0)
        diff = content_unreadable(name, &why);
    if (*diff != '\0')
        manage_check_note(changes, "diff",
                          value_bool(ctx_opts(ctx), "obfuscate_templates", false) ? "<Obfuscated Template>"
                                                                                  : diff);
}

/* A source that is taken without a digest is compared itself. */
static int
source_changes(call_ctx_t *ctx, json_t *args, managed_t *m, const char *sum, json_t *changes, fail_t *err)
{
    const char *source = value_str(args, "source", NULL), *want = value_str(m->sum, "hsum", NULL);

    if (want != NULL ? strcasecmp(want, sum) == 0 : m->sfn == NULL)
        return 0;
    if (m->sfn == NULL && !str_empty(source)) {
        m->sfn = source_cache(ctx, source, value_str(args, "saltenv", "base"), want, args, err);
        if (m->sfn == NULL && err != NULL && err->code != 0)
            return err->code;
    }
    const content_t with = { .path = m->sfn };
    if (m->sfn != NULL)
        manage_check_compare(ctx, value_str(args, "name", ""), &with, changes);
    else
        manage_check_note(changes, "sum", "Checksum differs");
    return 0;
}

/* Appends the bytes of `contents`. False when the call has none. */
bool
manage_contents(const json_t *args, buf_t *out)
{
    const json_t *contents = value_get(args, "contents");
    AUTO(py) v = json_is_string(contents) || json_is_object(contents) ? py_from_wire(contents) : NULL;
    size_t len;

    if (v == NULL || (!py_is(v, PY_STR) && !py_is(v, PY_BYTES)))
        return false;
    const char *bytes = py_text(v, &len);
    buf_add(out, bytes, len);
    return true;
}

/* file.check_file_meta: NEW object in *ret_changes. */
static int
file_meta(call_ctx_t *ctx, json_t *args, managed_t *m, json_t **ret_changes, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *attrs = value_str(args, "attrs", NULL);
    bool follow = value_truthy(value_get(args, "follow_symlinks"));
    buf_auto_t contents = BUF_INIT;
    AUTO_FREE char *mode = fop_normalize_mode(value_get(args, "mode"));
    json_auto_t *now = fop_stats(name, value_str(m->sum, "hash_type", NULL), follow, NULL);
    json_auto_t *changes = json_object();

    static const char *const gives_way[] = { "pipe", "socket" }; /* a run puts the file in their place */
    bool fresh = now == NULL;
    for (size_t i = 0; i < NELEMS(gives_way); i++)
        fresh = fresh || str_eq(value_str(now, "type", ""), gives_way[i]);
    if (fresh) {
        manage_check_note(changes, "newfile", name);
    } else {
        int rc = source_changes(ctx, args, m, value_str(now, "sum", ""), changes, err);
        if (rc != 0)
            return rc;
        bool given = manage_contents(args, &contents);
        const content_t with = { .data = buf_str(&contents), .len = contents.len };
        if (given)
            manage_check_compare(ctx, name, &with, changes);

        /* Names and numbers are both accepted as equal. */
        static const char *const rows[][2] = { { "user", "uid" }, { "group", "gid" } };
        for (size_t i = 0; i < NELEMS(rows); i++) {
            json_t *want = value_get(args, rows[i][0]);
            if (want != NULL && !json_is_null(want) && !value_equal(want, value_get(now, rows[i][0])) &&
                !value_equal(want, value_get(now, rows[i][1])))
                json_object_set(changes, rows[i][0], want);
        }

        if (mode != NULL && !str_eq(mode, value_str(now, "mode", NULL)))
            manage_check_note(changes, "mode", mode);
        if (!str_empty(attrs) && fop_attrs_differ(name, attrs))
            manage_check_note(changes, "attrs", attrs);
        fop_label_changes(name, args, changes);
    }
    *ret_changes = json_incref(changes);
    return 0;
}

/* ---- the functions --------------------------------------------------------------------------- */

/* A run that takes new content looks whether it is signed; so does the test. *ret_changes goes for a comment. */
static int
foretell_signature(call_ctx_t *ctx, json_t *args, managed_t *m, json_t **ret_changes, char **ret_comment,
                   fail_t *err)
{
    static const char *const taken[] = { "newfile", "diff", "sum" };
    json_t *signature = value_get(args, "signature");
    fail_auto_t why = FAIL_INIT;
    bool takes = false;

    for (size_t i = 0; i < NELEMS(taken); i++)
        takes = takes || value_get(*ret_changes, taken[i]) != NULL;
    if (!takes || !value_truthy(signature))
        return 0;
    if (m->sfn == NULL)
        m->sfn = source_cache(ctx, value_str(args, "source", ""), value_str(args, "saltenv", "base"),
                              value_str(m->sum, "hsum", NULL), args, err);
    if (m->sfn == NULL || source_signed(ctx, m->sfn, signature, args, NULL, &why) == 0)
        return err->code;
    *ret_comment = xasprintf("Failed checking new file's signature: %s", fail_text(&why));
    json_decref(*ret_changes);
    *ret_changes = NULL;
    return 0;
}

/* 0 with *ret_changes NEW, or with *ret_comment NEW, Salt's refusal; or negative with *err. */
int
manage_changes(call_ctx_t *ctx, json_t *args, json_t **ret_changes, char **ret_comment, fail_t *err)
{
    const char *saltenv = value_str(args, "saltenv", "base");
    managed_auto_t m = MANAGED_INIT;
    json_auto_t *call = json_copy(args), *hash = NULL;
    AUTO_FREE char *source = NULL;
    int rc = source_pick(ctx, value_get(args, "source"), value_get(args, "source_hash"), saltenv, &source,
                         &hash, err);

    if (rc != 0)
        return rc;
    json_object_set_new(call, "source", source != NULL ? value_utf8(source, strlen(source)) : json_null());
    json_object_set(call, "source_hash", hash);
    m.sum = json_object();
    buf_auto_t contents = BUF_INIT;
    if (!manage_contents(args, &contents)) {
        json_decref(STEAL(m.sum));
        rc = managed_get(ctx, call, &m, err);
        if (rc != 0)
            return rc;
        if (m.comment != NULL) {
            *ret_comment = STEAL(m.comment);
            return 0;
        }
        AUTO_FREE char *scheme = source_scheme(source != NULL ? source : "");
        if (source != NULL && value_truthy(value_get(args, "keep_mode")) && !source_is_remote(scheme)) {
            fail_auto_t why = FAIL_INIT;
            AUTO_FREE char *mode = source_mode(ctx, source, saltenv, &why);
            if (why.code != 0)
                return fail_set(err, why.code, "%s", fail_text(&why));
            if (mode != NULL)
                manage_check_note(call, "mode", mode);
        }
    }
    rc = file_meta(ctx, call, &m, ret_changes, err);
    return rc == 0 && !str_empty(source) ? foretell_signature(ctx, call, &m, ret_changes, ret_comment, err)
                                         : rc;
}

int
file_check_managed_changes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *comment = NULL;
    int rc = manage_changes(ctx, args, ret_value, &comment, err);

    if (rc == 0 && comment != NULL)
        *ret_value = json_pack("[b, o]", 0, value_utf8(comment, strlen(comment)));
    return rc;
}

int
file_check_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *key;
    AUTO_FREE char *comment = NULL;
    json_auto_t *changes = NULL;
    buf_auto_t text = BUF_INIT;
    json_t *v;
    int rc = manage_changes(ctx, args, &changes, &comment, err);

    if (rc != 0)
        return rc;
    if (comment != NULL) {
        *ret_value = json_pack("[b, o]", 0, value_utf8(comment, strlen(comment)));
        return 0;
    }

    /* Owner and mode are nothing to tell of a file in the folder of temporary files. */
    static const char *const keys[] = { "user", "group", "mode" };
    if (str_starts(name, fs_temp_dir())) {
        for (size_t i = 0; i < NELEMS(keys); i++)
            json_object_del(changes, keys[i]);
    }

    if (json_object_size(changes) == 0) {
        *ret_value = json_pack("[b, o]", 1, value_fmt("The file %s is in the correct state", name));
        return 0;
    }
    buf_puts(&text, "The following values are set to be changed:\n");
    json_object_foreach (changes, key, v) {
        AUTO_FREE char *shown = value_pystr(v);
        buf_printf(&text, "%s: %s\n", key, shown);
    }
    *ret_value = json_pack("[n, o]", value_utf8(text.data, text.len));
    return 0;
}

int
file_check_file_meta(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    managed_auto_t m = MANAGED_INIT;
    const char *sfn = value_str(args, "sfn", "");
    json_t *sum = value_get(args, "source_sum");

    m.sfn = *sfn != '\0' ? xstrdup(sfn) : NULL;
    m.sum = json_is_object(sum) ? json_incref(sum) : json_object();
    return file_meta(ctx, args, &m, ret_value, err);
}

/* ---- encodings ------------------------------------------------------------------------------- */

/* Encodes `text`; NULL flushes the shift state that a stateful encoding appends after the last character. */
static void
encode_plain(iconv_t cd, const char *text, buf_t *out)
{
    char chunk[16], *from = (char *) text, *to = chunk;
    size_t left = text != NULL ? strlen(text) : 0, room = sizeof(chunk);

    (void) iconv(cd, text != NULL ? &from : NULL, text != NULL ? &left : NULL, &to, &room);
    buf_add(out, chunk, sizeof(chunk) - room);
}

/* `errors` is strict, ignore or replace. -EILSEQ for a character that the encoding lacks. */
int
manage_encode(const char *text, size_t len, const char *encoding, const char *errors, buf_t *out, fail_t *err)
{
    enum { CHUNK = 4096 };
    /* iconv's name of Python's: utf_8, latin-1, iso8859_15, cp1252. */
    AUTO_FREE char *dashes = str_replace(encoding, "_", "-");
    AUTO_FREE char *name = strncasecmp(dashes, "latin-", 6) == 0 ? xasprintf("latin%s", dashes + 6)
                                                                 : STEAL(dashes);
    iconv_t cd = iconv_open(name, "UTF-8");
    char *from = (char *) text, chunk[CHUNK];
    size_t left = len;
    int rc = 0;

    if (cd == (iconv_t) -1)
        return fail_set(err, -EINVAL, "unknown encoding: %s", encoding);
    while (left > 0 && rc == 0) {
        char *to = chunk;
        size_t room = sizeof(chunk);
        size_t done = iconv(cd, &from, &left, &to, &room);
        buf_add(out, chunk, sizeof(chunk) - room);
        if (done != (size_t) -1 || errno == E2BIG)
            continue;
        if (!str_eq(errors, "ignore") && !str_eq(errors, "replace")) {
            /* Python's UnicodeEncodeError; positions count characters. */
            size_t at = (size_t) (from - text);
            uint32_t cp = 0;
            size_t position = 0;
            char shown[16];
            bool ascii = strcasecmp(encoding, "ascii") == 0 || strcasecmp(encoding, "us-ascii") == 0;
            bool latin = strcasecmp(encoding, "latin-1") == 0 || strcasecmp(encoding, "iso-8859-1") == 0;
            for (size_t i = 0; i < at; i++)
                position += ((unsigned char) text[i] & 0xC0) != 0x80;
            (void) utf8_next(text + at, strlen(text + at), &cp);
            snprintf(shown, sizeof(shown),
                     cp < 0x100     ? "\\x%02x"
                     : cp < 0x10000 ? "\\u%04x"
                                    : "\\U%08x",
                     (unsigned) cp);
            rc = fail_set(err, -EILSEQ, "'%s' codec can't encode character '%s' in position %zu: %s",
                          encoding, shown, position,
                          ascii   ? "ordinal not in range(128)"
                          : latin ? "ordinal not in range(256)"
                                  : "character maps to <undefined>");

            break;
        }
        if (str_eq(errors, "replace"))
            encode_plain(cd, "?", out);
        do {
            from++;
            left--;
        } while (left > 0 && ((unsigned char) *from & 0xC0) == 0x80);
    }
    if (rc == 0)
        encode_plain(cd, NULL, out);
    iconv_close(cd);
    return rc;
}
