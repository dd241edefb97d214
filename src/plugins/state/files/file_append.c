/* file_append.c - states file.append and file.prepend: lines at the end or the start of a text. Lines are
 * added that the file does not have; with ignore_whitespace they are compared word by word. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/text.h"
#include "plugins/lib/file/tree.h"

/* White space that separates words in Salt's lexer. */
#define LEXER_BLANKS " \t\r\n"

/* ---- what both do first ------------------------------------------------------------------------ */

/* makedirs: True. 1: the state has failed. */
static int
file_append_need_folder(fstate_t *s, fail_t *err)
{
    AUTO_FREE char *folder = fop_dirname(s->name), *comment = NULL;
    json_auto_t *changes = json_object();

    if (!json_is_true(value_get(s->args, "makedirs")) || s->test)
        return 0;
    int there = fstate_is_dir(s, folder);
    if (there != 0)
        return there < 0;
    if (fstate_makedirs(s, NULL, NULL, NULL, err) != 0)
        return err->code;
    if (fstate_check_directory(s, folder, &comment, changes) == STATE_TRUE)
        return 0;
    state_change_set(s->ret, json_incref(changes));
    fstate_error(s, "%s", comment);
    return 1;
}

/* A file that is not there is made. 1: s->ret is the answer. */
static int
need_file(fstate_t *s, fail_t *err)
{
    AUTO_FREE char *why = fstate_check_file(s);

    if (why == NULL)
        return 0;
    json_auto_t *args = json_pack("{s:s, s:b}", "name", s->name, "makedirs", fstate_on(s, "makedirs", false));
    json_t *touched = NULL;
    if (file_state_touch(s->ctx, args, &touched, err) != 0)
        return err->code;
    if (s->test) {
        json_decref(s->ret);
        s->ret = touched;
        return 1;
    }
    json_decref(touched);
    AUTO_FREE char *still = fstate_check_file(s);
    if (still == NULL)
        return 0;
    fstate_error(s, "%s", why);
    return 1;
}

/* The texts to add: NEW, or NULL with the state failed. */
static json_t *
texts_to_add(fstate_t *s)
{
    json_auto_t *rendered = fstate_template_texts(s);

    if (rendered == NULL)
        return NULL;
    return json_array_size(rendered) > 0 ? json_incref(rendered) : fstate_texts(value_get(s->args, "text"));
}

/* ---- whether a text is there --------------------------------------------------------------------- */

/* Salt makes a regular expression of the text (build_whitespace_split_regex): at the start of a line its
 * words, any white space or none between them, then the end of a line. The same is compared here word by
 * word: an expression may have so many bytes only, a text may not. */

/* Length of the word at `p`; one in quotes may have blanks in it. */
static size_t
word_length(const char *p, char quote)
{
    if (quote != '\0' && *p == quote && strchr(p + 1, quote) != NULL)
        return (size_t) (strchr(p + 1, quote) - p) + 1;
    return strcspn(p, LEXER_BLANKS);
}

/* Behind the white space at `at`. */
static size_t
file_append_skip_blanks(const buf_t *text, size_t at)
{
    while (at < text->len && text->data[at] != '\0' && strchr(" \t\n\r\f\v", text->data[at]) != NULL)
        at++;
    return at;
}

/* True when the line that starts at `at` begins with the words and ends behind them. */
static bool
words_at(const buf_t *text, size_t at, const lines_t *words)
{
    for (size_t i = 0; i < words->n; i++) {
        size_t n = strlen(words->v[i]);
        at = file_append_skip_blanks(text, at);
        if (text->len - at < n || memcmp(text->data + at, words->v[i], n) != 0)
            return false;
        at += n;
    }
    size_t end = file_append_skip_blanks(text, at);
    return end == text->len || memchr(text->data + at, '\n', end - at) != NULL;
}

/* 1 when the file, which holds `have`, has the text, 0 when not, negative with *err. */
static int
has_text(fstate_t *s, const buf_t *have, const json_t *chunk, bool loose, fail_t *err)
{
    lines_auto_t words = { 0 };

    if (!loose)
        return fstate_search(s, json_string_value(chunk), err);
    if (fop_need_text(s->name, have, err) != 0)
        return -EINVAL;

    /* The words as Salt's lexer parts each line: at white space. In a line with an apostrophe, a word that
     * starts with a double quote ends with the next one. */
    const char *text = json_string_value(chunk);
    size_t len = json_string_length(chunk);
    json_auto_t *lines = fstate_splitlines(text, len);
    size_t i;
    json_t *line;
    json_array_foreach (lines, i, line) {
        const char *p = json_string_value(line);
        char quote = strchr(p, '\'') != NULL && strstr(p, "'\\\"") == NULL ? '"' : '\0';
        while (*(p += strspn(p, LEXER_BLANKS)) != '\0') {
            size_t n = word_length(p, quote);
            AUTO_FREE char *word = xstrndup(p, n);
            lines_append(&words, word);
            p += n;
        }
    }

    const char *end = NULL;

    for (size_t at = 0;; at = (size_t) (end - have->data) + 1) {
        if (words_at(have, at, &words))
            return true;
        /* Lines of blanks have been looked at with the one behind them. */
        size_t from = file_append_skip_blanks(have, at);
        end = from < have->len ? memchr(have->data + from, '\n', have->len - from) : NULL;
        if (end == NULL)
            return false;
    }
}

/* Lines of those texts that the file does not have. NEW, or NULL with *err. */
static json_t *
missing_lines(fstate_t *s, const buf_t *have, const json_t *texts, bool all, bool loose, fail_t *err)
{
    json_auto_t *missing = json_array();
    size_t i;
    json_t *chunk;

    json_array_foreach (texts, i, chunk) {
        int has = all ? 0 : has_text(s, have, chunk, loose, err);
        if (has < 0)
            return NULL;
        json_auto_t *lines = fstate_splitlines(json_string_value(chunk), json_string_length(chunk));
        if (has == 0)
            json_array_extend(missing, lines);
    }
    return json_incref(missing);
}

/* Appends each line with a line feed. */
static void
file_append_add_lines(buf_t *out, const json_t *lines)
{
    size_t i;
    json_t *line;

    json_array_foreach (lines, i, line) {
        buf_add(out, json_string_value(line), json_string_length(line));
        buf_putc(out, '\n');
    }
}

/* ---- append ------------------------------------------------------------------------------------ */

/* A binary file fails the state. */
static int
append_body(fstate_t *s, fail_t *err)
{
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    json_auto_t *texts = NULL;
    int rc = 0;

    if ((rc = file_append_need_folder(s, err)) != 0 || (rc = need_file(s, err)) != 0)
        return rc < 0 ? rc : 0;
    texts = texts_to_add(s);
    if (texts == NULL)
        return 0;
    if ((rc = fstate_read(s, &before, err)) != 0)
        return rc;
    json_auto_t *lines = missing_lines(s, &before, texts, false, fstate_on(s, "ignore_whitespace", true),
                                       err);
    if (lines == NULL && err->kind == FAIL_INVOCATION) { /* a binary file */
        fail_clear(err);
        return fstate_error(s, "No text found to append. Nothing appended");
    }
    if (lines == NULL)
        return -EINVAL;
    if (s->test) {
        /* Test mode: the difference that appending would make. */
        if (json_array_size(lines) == 0)
            return state_ret_set(s->ret, STATE_TRUE, "File %s is in correct state", s->name);
        buf_add(&after, buf_str(&before), before.len);
        if (after.len > 0 && after.data[after.len - 1] != '\n')
            buf_putc(&after, '\n');
        file_append_add_lines(&after, lines);
        if (!fop_is_text(buf_str(&before), before.len))
            fstate_note(s, "diff", "Replace binary file");
        else
            fstate_diff(s, &before, &after, true);
        return state_ret_set(s->ret, STATE_NONE, "File %s is set to be updated", s->name);
    }
    size_t n = json_array_size(lines);
    if (n > 0) {
        json_auto_t *done = fstate_call(
            s, file_append, json_pack("{s:s, s:O, s:{}}", "path", s->name, "args", lines, "kwargs"), err);
        if (done == NULL)
            return err->code;
    }
    if ((rc = fstate_read(s, &after, err)) != 0)
        return rc;
    fstate_diff(s, &before, &after, true);
    if (n == 0)
        return state_ret_set(s->ret, STATE_TRUE, "File %s is in correct state", s->name);
    return state_ret_set(s->ret, STATE_TRUE, "Appended %zu lines", n);
}

/* ---- prepend ----------------------------------------------------------------------------------- */

/* True when the file starts with those lines. */
static bool
starts_with(const buf_t *text, const json_t *lines)
{
    buf_auto_t have = BUF_INIT, want = BUF_INIT;

    fstate_end_lines(buf_str(text), text->len, &have);
    file_append_add_lines(&want, lines);
    return have.len >= want.len && memcmp(buf_str(&have), buf_str(&want), want.len) == 0;
}

/* With `header`, lines at the start of the file count only there. */
static int
prepend_body(fstate_t *s, fail_t *err)
{
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    bool header = fstate_on(s, "header", false);
    int rc = 0;

    if ((rc = file_append_need_folder(s, err)) != 0 || (rc = need_file(s, err)) != 0)
        return rc < 0 ? rc : 0;
    json_auto_t *texts = texts_to_add(s);
    if (texts == NULL)
        return 0;
    if ((rc = fstate_read(s, &before, err)) != 0)
        return rc;
    json_auto_t *lines = missing_lines(s, &before, texts, header, true, err);
    if (lines == NULL)
        return -EINVAL;
    if (header && starts_with(&before, lines))
        json_array_clear(lines);
    if (s->test) {
        /* Test mode: the difference that prepending would make. */
        if (json_array_size(lines) == 0)
            return state_ret_set(s->ret, STATE_TRUE, "File %s is in correct state", s->name);
        file_append_add_lines(&after, lines);
        buf_add(&after, buf_str(&before), before.len);
        if (!fop_is_text(buf_str(&before), before.len))
            fstate_note(s, "diff", "Replace binary file");
        else
            fstate_diff(s, &before, &after, false);
        return state_ret_set(s->ret, STATE_NONE, "File %s is set to be updated", s->name);
    }
    size_t n = json_array_size(lines);
    if (n > 0) {
        json_auto_t *done = fstate_call(
            s, file_prepend, json_pack("{s:s, s:O, s:{}}", "path", s->name, "args", lines, "kwargs"), err);
        if (done == NULL)
            return err->code;
    }
    if ((rc = fstate_read(s, &after, err)) != 0)
        return rc;
    fstate_diff(s, &before, &after, false);
    if (n == 0)
        return state_ret_set(s->ret, STATE_TRUE, "File %s is in correct state", s->name);
    return state_ret_set(s->ret, STATE_TRUE, "Prepended %zu lines", n);
}

static FILE_STATE(file_state_append, "Must provide name to file.append", append_body);
static FILE_STATE(file_state_prepend, "Must provide name to file.prepend", prepend_body);

/* ---- table ------------------------------------------------------------------------------------- */

#define TEXT_ROWS                                                                                            \
    STATE_ANY("name", ARG_REQUIRED, "The file"), STATE_ANY("text", "null", "The text, or a list of them"),   \
        STATE_ANY("makedirs", "false", "Make the folders above it"),                                         \
        STATE_ANY("source", "null",                                                                          \
                  "URL or path of a template with the text; of a list the first that exists"),               \
        STATE_ANY("source_hash", "null", "Accepted; what the file server has is checked"),                   \
        STATE_TEXT("template", "\"jinja\"", "The engine of the template"),                                   \
        STATE_ANY("sources", "null", "List of such templates"),                                              \
        STATE_ANY("source_hashes", "null", "Accepted; what the file server has is checked"),                 \
        STATE_ANY("defaults", "null", "Variables that context overrides"),                                   \
        STATE_ANY("context", "null", "Variables of the template")

static const arg_t append_args[] = { TEXT_ROWS,
                                     STATE_ANY("ignore_whitespace", "true",
                                               "False: text is a regular expression that finds the text"),
                                     ARGS_END };
static const arg_t prepend_args[] = { TEXT_ROWS,
                                      STATE_ANY("header", "null", "The file must start with the text"),
                                      ARGS_END };

static const func_t funcs[] = {
    { "append", file_state_append, append_args, 0,
      "Make sure that a file has some text, at its end if need be.\n\nA file that is not there is made." },
    { "prepend", file_state_prepend, prepend_args, 0,
      "Make sure that a file has some text, at its start if need be.\n\nA file that is not there is made." },
};

PLUGIN(state, file_append, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
