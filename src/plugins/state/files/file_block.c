/* file_block.c - states about parts of a text: file.blockreplace, keyvalue, and accumulated, which gathers
 * text for others. */
#include <ctype.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/edit.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"

/* ---- accumulated --------------------------------------------------------------------------------- */

/* The ids that `require_in` and `watch_in` of the chunk name; *ret_file: one of them is a state of `file`. */
static json_t *
dependents(json_t *chunk, bool *ret_file)
{
    static const char *const keys[] = { "require_in", "watch_in" };
    json_t *ids = json_array(), *one, *id;
    const char *module;
    size_t i;

    *ret_file = false;
    for (size_t k = 0; k < NELEMS(keys); k++) {
        json_array_foreach (value_get(chunk, keys[k]), i, one) {
            if (json_is_string(one)) {
                *ret_file |= strstr(json_string_value(one), "file") != NULL;
                json_array_append(ids, one);
            }
            json_object_foreach (one, module, id) {
                *ret_file |= str_eq(module, "file");
                json_array_append(ids, id);
            }
        }
    }
    return ids;
}

/* Gathers text for a file in the run's shared context; the states that use it must be named by require_in or
 * watch_in. */
static int
accumulated_body(fstate_t *s, fail_t *err)
{
    json_t *chunk = ctx_chunk(s->ctx), *text = fstate_arg(s, "text"), *one;
    AUTO_FREE char *file = value_pystr(value_get(s->args, "filename"));
    bool for_file = false;
    json_auto_t *ids = dependents(chunk, &for_file);
    size_t i;

    if (text == NULL)
        return fstate_error(s, "No text supplied for accumulator");
    if (!for_file)
        return fstate_error(s, "Orphaned accumulator %s in %s:%s", s->name, value_str(chunk, "__sls__", ""),
                            value_str(chunk, "__id__", ""));
    const json_t *all = value_get(fstate_accumulators(s->ctx), "data");
    const json_t *texts = value_get(value_get(all, file), s->name);
    json_auto_t *list = json_is_array(text) ? json_incref(text) : json_pack("[O]", text);
    json_array_foreach (list, i, one) {
        if (!fstate_has(texts, one))
            (void) state_ret_set(s->ret, STATE_TRUE, "Accumulator %s for file %s was charged by text",
                                 s->name, file);
    }
    json_auto_t *item = json_pack("{s:s, s:s, s:O, s:O}", "file", file, "name", s->name, "texts", list, "ids",
                                  ids);
    return fstate_accumulate(s->ctx, item, err);
}

/* ---- blockreplace --------------------------------------------------------------------------------- */

/* Adds gathered texts, a line each. */
static void
file_block_add_accumulated(buf_t *content, const json_t *texts)
{
    size_t i;
    json_t *one;

    json_array_foreach (texts, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        buf_printf(content, "%s%s", content->len > 0 ? "\n" : "", text);
    }
}

/* Content is the argument, then accumulated texts, then those of the templates. */
static int
blockreplace_body(fstate_t *s, fail_t *err)
{
    buf_auto_t content = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    json_t *given = fstate_arg(s, "content"), *one;
    size_t i;

    AUTO_FREE char *fault = fstate_check_file(s);
    if (fault != NULL)
        return fstate_error(s, "%s", fault);
    json_auto_t *texts = fstate_template_texts(s);
    if (texts == NULL)
        return 0;
    if (given != NULL) {
        AUTO_FREE char *text = value_pystr(given);
        buf_puts(&content, text);
    }

    /* Text that was gathered for this state; when none was, all that was gathered for this file. */
    json_t *all = fstate_accumulators(s->ctx);
    json_t *of_file = value_get(value_get(all, "data"), s->name),
           *deps = value_get(value_get(all, "deps"), s->name);
    json_t *id = value_get(ctx_chunk(s->ctx), "__id__"), *v;
    const char *name;
    bool any = false;
    json_object_foreach (deps, name, v) {
        if (!fstate_has(v, id) || value_get(of_file, name) == NULL)
            continue;
        file_block_add_accumulated(&content, value_get(of_file, name));
        any = true;
    }
    if (!any) {
        json_object_foreach (of_file, name, v)
            file_block_add_accumulated(&content, v);
    }

    json_array_foreach (texts, i, one)
        buf_puts(&content, json_string_value(one));
    json_t *args = json_copy(s->args);
    json_object_set_new(args, "path", value_utf8(s->name, strlen(s->name)));
    json_object_set_new(args, "dry_run", json_boolean(s->test));
    json_object_set_new(args, "content", value_utf8(buf_str(&content), content.len));
    json_auto_t *changes = fstate_call(s, file_blockreplace, args, &why);
    if (changes == NULL)
        return fstate_error(s, "Encountered error managing block: %s. See the log for details.",
                            fail_text(&why));
    if (!value_truthy(changes))
        return state_ret_set(s->ret, STATE_TRUE, "No changes needed to be made");
    state_change(s->ret, "diff", json_incref(changes));
    return state_ret_set(s->ret, s->test ? STATE_NONE : STATE_TRUE, "%s",
                         s->test ? "Changes would be made" : "Changes were made");
}

/* ---- keyvalue --------------------------------------------------------------------------------------- */

/* A run of keyvalue. `left` of -1 is any number of lines: `count` is what it begins with. */
typedef struct pairs {
    fstate_t *s;
    const partfile_t *file;          /* BORROWED */
    json_t *wanted;                  /* {key: value} */
    json_t *left;                    /* {key: how many lines may still be set} */
    const char *separator, *comment; /* comment: characters before a key that is out of use; NULL: blanks */
    bool fold_key, fold_value;
    buf_t content, diff;
    size_t changes;
} pairs_t;

/* Copy in lower case when `fold` says so. NEW. */
static char *
folded(const char *text, bool fold)
{
    char *copy = xstrdup(text);

    for (char *p = copy; fold && *p != '\0'; p++)
        *p = (char) tolower((unsigned char) *p);
    return copy;
}

/* White space at both ends removed. NEW. */
static char *
file_block_stripped(const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);

    return xstrdup(str_trim(copy));
}

/* Name of the Python type that YAML gives the value, as Salt's difference shows it. */
static const char *
file_block_python_type(const json_t *v)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "OrderedDict", [JSON_ARRAY] = "list", [JSON_STRING] = "str", [JSON_INTEGER] = "int",
        [JSON_REAL] = "float",         [JSON_TRUE] = "bool",  [JSON_FALSE] = "bool", [JSON_NULL] = "NoneType",
    };

    return names[json_typeof(v)];
}

/* Applies one key to one line; the line may change or become empty. TAKES `line`, NEW result. */
static char *
adjust(pairs_t *p, char *line, bool was_comment, const char *key, const json_t *value)
{
    AUTO_FREE char *have_key = NULL, *have = NULL;
    json_int_t left = value_int(p->left, key, 0);
    const char *bare = was_comment ? line + strspn(line, p->comment != NULL ? p->comment : " \t\r\n\v\f")
                                   : line;

    /* Splits a line that sets `key`: the key as it is written, the value without blanks. */
    const char *sep = strstr(bare, p->separator);
    if (sep == NULL)
        return line;
    AUTO_FREE char *written = xstrndup(bare, (size_t) (sep - bare));
    AUTO_FREE char *a = folded(written, p->fold_key), *b = folded(key, p->fold_key);
    if (!str_eq(a, b))
        return line;
    have_key = STEAL(written);
    have = file_block_stripped(sep + strlen(p->separator));

    /* A line in comments is taken into use as long as lines are left to set. A line that is one too many
     * becomes empty. */
    AUTO_FREE char *text = value_pystr(value), *trimmed = file_block_stripped(text);
    AUTO_FREE char *want = folded(trimmed, p->fold_value), *now = folded(have, p->fold_value);
    bool same = str_eq(want, now), change = was_comment ? left > 0 : left == 0;
    if (was_comment && left <= 0)
        same = true;
    if (!same || change) {
        buf_printf(&p->diff, "- %s", line);
        char *fresh = left != 0 ? xasprintf("%s%s%s\n", have_key, p->separator, text) : xstrdup("");
        if (left != 0 && json_is_string(value))
            buf_printf(&p->diff, "+ %s", fresh);
        else if (left != 0)
            buf_printf(&p->diff, "+ %.*s (from %s type)\n", (int) strlen(fresh) - 1, fresh,
                       file_block_python_type(value));
        free(line);
        line = fresh;
        p->changes++;
    }
    if (left > 0)
        json_object_set_new(p->left, key, json_integer(left - 1));
    return line;
}

/* Keys that no line has set are added at the end. */
static void
append_missing(pairs_t *p)
{
    const char *key;
    json_t *value;
    size_t before = p->changes;

    json_object_foreach (p->wanted, key, value) {
        AUTO_FREE char *text = value_pystr(value);
        if (value_int(p->left, key, 0) <= 0)
            continue;
        if (p->changes++ == before)
            buf_puts(&p->diff, "- <EOF>\n");
        if (p->content.len > 0 && p->content.data[p->content.len - 1] != '\n')
            buf_putc(&p->content, '\n');
        buf_printf(&p->diff, "+ %s%s%s\n", key, p->separator, text);
        buf_printf(&p->content, "%s%s%s\n", key, p->separator, text);
    }
    if (p->changes > before)
        buf_puts(&p->diff, "+ <EOF>\n");
}

/* The same at the start, each before the one before it. */
static void
prepend_missing(pairs_t *p)
{
    buf_auto_t lines = BUF_INIT, shown = BUF_INIT;
    json_auto_t *reversed = json_array();
    const char *key;
    json_t *value, *line;

    json_object_foreach (p->wanted, key, value) {
        AUTO_FREE char *text = value_pystr(value);
        if (value_int(p->left, key, 0) > 0)
            json_array_insert_new(reversed, 0, value_fmt("%s%s%s\n", key, p->separator, text));
    }
    size_t i;
    json_array_foreach (reversed, i, line) {
        buf_puts(&lines, json_string_value(line));
        buf_printf(&shown, "%s+ %s", i == 0 ? "  <SOF>\n" : "", json_string_value(line));
        p->changes++;
    }
    buf_add(&shown, buf_str(&p->diff), p->diff.len);
    buf_add(&lines, buf_str(&p->content), p->content.len);
    buf_clear(&p->diff);
    buf_clear(&p->content);
    buf_add(&p->diff, buf_str(&shown), shown.len);
    buf_add(&p->content, buf_str(&lines), lines.len);
}

/* Walks the file's lines, adds missing keys, and writes the result unless in test mode. */
static int
change_pairs(pairs_t *p, const buf_t *old)
{
    fstate_t *s = p->s;
    fail_auto_t why = FAIL_INIT;

    for (size_t at = 0; at < old->len;) {
        const char *end = memchr(old->data + at, '\n', old->len - at);
        size_t n = end != NULL ? (size_t) (end - old->data) + 1 - at : old->len - at;

        /* Tries every wanted key on one line and appends the result to the content. */
        const char *text = old->data + at;
        char *line = xstrndup(text, n);
        const char *bare = line + strspn(line, p->comment != NULL ? p->comment : " \t\r\n\v\f"), *key;
        AUTO_FREE char *test = folded(bare, p->fold_key);
        bool was_comment = bare > line;
        size_t changes = p->changes;
        json_t *value;

        json_object_foreach (p->wanted, key, value) {
            AUTO_FREE char *test_key = folded(key, p->fold_key);
            if (str_starts(test, test_key))
                line = adjust(p, line, was_comment, key, value);
        }
        if (p->changes == changes) /* with all its bytes: `line` ends with the first NUL */
            buf_add(&p->content, text, n);
        else
            buf_puts(&p->content, line);
        free(line);

        at += n;
    }
    if (fstate_on(s, "append_if_not_found", false))
        append_missing(p);
    else if (fstate_on(s, "prepend_if_not_found", false))
        prepend_missing(p);
    if (p->changes == 0)
        return 0;
    if (s->test) {
        /* The comment of test mode repeats the difference, each line from the left edge on. */
        buf_auto_t text = BUF_INIT;
        buf_printf(&text, "File %s is set to be changed (%zu lines)", s->name, p->changes);
        if (fstate_on(s, "show_changes", true)) {
            buf_puts(&text, "\nPredicted diff:\n\r\t\t");
            for (const char *line = buf_str(&p->diff); *line != '\0';) {
                size_t n = strcspn(line, "\n");
                n += line[n] == '\n'; /* the last line of a file may have no end */
                buf_printf(&text, "%.*s%s", (int) n, line, line[n] != '\0' ? "\r\t\t" : "");
                line += n;
            }
            fstate_note(s, "diff", buf_str(&p->diff));
        }
        (void) state_ret_set(s->ret, STATE_NONE, "%s", buf_str(&text));
        return 0;
    }
    if (fstate_on(s, "show_changes", true))
        fstate_note(s, "diff", buf_str(&p->diff));
    if (fop_rewrite(p->file, buf_str(&p->content), p->content.len, true, &why) != 0)
        return fstate_error(s, "%s not writable", s->name);
    return state_ret_set(s->ret, STATE_TRUE, "Changed %zu lines", p->changes);
}

/* {key: value} as asked for. NEW, or NULL with the state failed. */
static json_t *
wanted_pairs(fstate_t *s)
{
    json_t *key = fstate_arg(s, "key"), *value = fstate_arg(s, "value"), *pairs = fstate_arg(s, "key_values");

    if (key != NULL && value != NULL) {
        AUTO_FREE char *text = value_pystr(key);
        return json_pack("{s:O}", text, value);
    }
    if (json_is_object(pairs) && json_object_size(pairs) > 0)
        return json_incref(pairs);
    fstate_error(s, "file.keyvalue key and value not supplied and key_values %s",
                 value_truthy(pairs) ? "is not a dictionary" : "is empty");
    return NULL;
}

/* Opens and reads the file. A missing one is success only with ignore_if_missing, and with create_if_missing
 * as one that is empty. True when the state goes on. */
static bool
read_pairs(fstate_t *s, partfile_t *file, buf_t *old)
{
    fail_auto_t why = FAIL_INIT;
    bool create = fstate_on(s, "create_if_missing", false);
    int rc = partfile_edit(file, s->name, &why);

    if (rc == 0 && create) {
        partfile_close(file);
        rc = partfile_open(file, s->name, &why) == 0 ? 1 : -EISDIR;
    }
    if (rc < 0 && rc != -EISDIR)
        (void) fstate_error(s, "%s", fail_text(&why));
    else if (rc <= 0)
        (void) state_ret_set(s->ret,
                             rc == 0 && fstate_on(s, "ignore_if_missing", false) ? STATE_TRUE : STATE_FALSE,
                             "unable to open %s", s->name);
    else if (partfile_read(file, old, &why) != 0)
        (void) fstate_error(s, "%s", fail_text(&why));
    else
        return true;
    return false;
}

static int
keyvalue_body(fstate_t *s, fail_t *err)
{
    json_auto_t *wanted = wanted_pairs(s), *left = json_object();
    partfile_auto_t file = PARTFILE_INIT;
    buf_auto_t old = BUF_INIT;
    const char *separator = fstate_str(s, "separator"), *key;
    json_t *v;

    if (wanted == NULL || !read_pairs(s, &file, &old))
        return 0;
    json_object_foreach (wanted, key, v)
        json_object_set_new(left, key, json_integer(value_int(s->args, "count", 1)));
    pairs_t p = { .s = s,
                  .file = &file,
                  .wanted = wanted,
                  .left = left,
                  .separator = str_empty(separator) ? "=" : separator,
                  .comment = fstate_str(s, "uncomment"),
                  .fold_key = fstate_on(s, "key_ignore_case", false),
                  .fold_value = fstate_on(s, "value_ignore_case", false) };
    int rc = change_pairs(&p, &old);
    buf_free(&p.content);
    buf_free(&p.diff);
    return rc;
}

static FILE_STATE(file_state_accumulated, "Must provide name to file.accumulated", accumulated_body);
static FILE_STATE(file_state_blockreplace, "Must provide name to file.blockreplace", blockreplace_body);
static FILE_STATE(file_state_keyvalue, "Must provide name to file.keyvalue", keyvalue_body);

/* ---- table ------------------------------------------------------------------------------------ */

static const arg_t accumulated_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "Name of the accumulator"),
    STATE_ANY("filename", ARG_REQUIRED, "The file that the text is for"),
    STATE_ANY("text", ARG_REQUIRED, "The text, or a list of them"), STATE_KWARGS, ARGS_END
};
static const arg_t blockreplace_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The file"),
    STATE_TEXT("marker_start", "\"#-- start managed zone --\"", "Line that the block starts with"),
    STATE_TEXT("marker_end", "\"#-- end managed zone --\"", "Line that the block ends with"),
    STATE_ANY("source", "null",
              "URL or path of a template with the content; of a list the first that exists"),
    STATE_ANY("source_hash", "null", "Accepted; what the file server has is checked"),
    STATE_TEXT("template", "\"jinja\"", "The engine of the template"),
    STATE_ANY("sources", "null", "List of such templates"),
    STATE_ANY("source_hashes", "null", "Accepted; what the file server has is checked"),
    STATE_ANY("defaults", "null", "Variables that context overrides"),
    STATE_ANY("context", "null", "Variables of the template"),
    STATE_ANY("content", "\"\"", "What stands between"),
    ARG("append_if_not_found", ARG_BOOL, "false", "Without markers: add the block at the end"),
    ARG("prepend_if_not_found", ARG_BOOL, "false", "Without markers: add the block at the start"),
    STATE_ANY("backup", "\".bak\"", "Extension of the copy made first; false for none"),
    ARG("show_changes", ARG_BOOL, "true", "Show the difference"),
    STATE_ANY("append_newline", "null", "End the content with a line end; None: if it has none"),
    STATE_ANY("insert_before_match", "null", "Without markers: before the line this expression finds"),
    STATE_ANY("insert_after_match", "null", "Without markers: behind the line this expression finds"),
    ARGS_END
};
static const arg_t keyvalue_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The file"),
    STATE_ANY("key", "null", "Key of the one pair to set"),
    STATE_ANY("value", "null", "Its value"),
    STATE_ANY("key_values", "null", "Several keys with their values"),
    STATE_TEXT("separator", "\"=\"", "What stands between key and value"),
    STATE_ANY("append_if_not_found", "false", "Else add the pair at the end"),
    STATE_ANY("prepend_if_not_found", "false", "Else add the pair at the start"),
    STATE_ANY("search_only", "false", "Accepted and not used, as in Salt"),
    STATE_ANY("show_changes", "true", "Show the difference"),
    STATE_ANY("ignore_if_missing", "false", "A missing file is not a failure"),
    ARG("count", ARG_INT, "1", "How many lines with the key may stay; -1: all"),
    STATE_TEXT("uncomment", "null", "Characters that make a line a comment, which is taken into use"),
    STATE_ANY("key_ignore_case", "false", "Take keys as the same whatever their case"),
    STATE_ANY("value_ignore_case", "false", "Take values as the same whatever their case"),
    STATE_ANY("create_if_missing", "false", "Make the file when there is none"),
    ARGS_END
};

static const func_t funcs[] = {
    { "accumulated", file_state_accumulated, accumulated_args, 0,
      "Gather text for a file that a later state of this run writes.\n\nIts template sees it as the variable "
      "``accumulator``; file.blockreplace adds it to the content. Name that state in ``require_in`` or "
      "``watch_in``." },
    { "blockreplace", file_state_blockreplace, blockreplace_args, 0,
      "Make sure of what stands between two marker lines of a text." },
    { "keyvalue", file_state_keyvalue, keyvalue_args, 0,
      "Make sure of values in a file of keys and values." },
};

PLUGIN(state, file_block, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
