/* logrotate.c - execution module `logrotate`: what logrotate's configuration says, and changes of single
 * lines of it (logrotate.conf(5)). Salt shows a stanza as {setting: value} under each of its files, and all
 * files of an included folder merged into one object, with {"include files"} telling which file has what.
 * Scripts within a stanza are settings by their words, as Salt reads them; their lines are never changed. */
#include <errno.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

#define BLANKS         " \t\r\v\f"
#define CONF_FILE      "/etc/logrotate.conf"
#define INCLUDES_DEPTH 8

/* ---- lines ------------------------------------------------------------------------------------ */

/* LINE_NONE is empty or a comment. */
typedef enum line_kind { LINE_NONE, LINE_OPENS, LINE_CLOSES, LINE_OPTION } line_kind_t;

/* Where a walk through the lines of a file is. */
typedef struct conf_walk {
    bool stanza, script; /* within braces; within a script of a stanza */
    json_t *names;       /* owned: the files of the stanza */
    json_t *words;       /* owned: of the last option's line */
} conf_walk_t;

static void
logrotate_walk_free(conf_walk_t *self)
{
    json_decref(self->names);
    json_decref(self->words);
}
#define walk_auto_t __attribute__((cleanup(logrotate_walk_free))) conf_walk_t

/* NEW list. */
static json_t *
logrotate_words(const char *line)
{
    char **words = str_split(line, BLANKS, true);
    json_t *list = json_array();

    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, json_string(words[i]));
    strv_free(words);
    return list;
}

/* The next line's kind. The names of a stanza stand before its brace, or on the line before that. `words` of
 * an option stay for the next line, which may be just a brace. */
static line_kind_t
walk_line(conf_walk_t *self, const char *line)
{
    const char *first = line + strspn(line, BLANKS);
    json_auto_t *words = logrotate_words(line);
    const char *word = json_string_value(json_array_get(words, 0));

    if (word == NULL || *first == '#')
        return LINE_NONE;
    if (!self->script && strchr(line, '{') != NULL && strchr(line, '}') == NULL) {
        AUTO_FREE char *before = xstrndup(line, strcspn(line, "{"));
        json_auto_t *names = logrotate_words(before);
        json_decref(self->names);
        self->names = json_incref(json_array_size(names) == 0 && self->words != NULL ? self->words : names);
        self->stanza = true;
        return LINE_OPENS;
    }
    if (!self->script && strchr(line, '}') != NULL) {
        self->stanza = false;
        return LINE_CLOSES;
    }
    /* Braces within a script belong to the shell. */
    if (strcmp(word, "endscript") == 0)
        self->script = false;
    else if (self->stanza && (strcmp(word, "postrotate") == 0 || strcmp(word, "prerotate") == 0 ||
                              strcmp(word, "firstaction") == 0 || strcmp(word, "lastaction") == 0 ||
                              strcmp(word, "preremove") == 0))
        self->script = true;
    json_decref(self->words);
    self->words = json_incref(words);
    return LINE_OPTION;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static int read_conf(const char *path, int depth, json_t *all, fail_t *err);

/* True for a word alone, a number, or the rest of the line. NEW. "rotate 2" is 2, "size 10M" a text. */
static json_t *
logrotate_option_value(const json_t *words)
{
    json_auto_t *rest = json_deep_copy(words);
    long long number;

    json_array_remove(rest, 0);
    AUTO_FREE char *text = value_joined(rest, " ");
    if (json_array_size(rest) == 0)
        return json_true();
    return json_array_size(rest) == 1 && str_to_int(text, INT64_MIN, INT64_MAX, &number)
               ? json_integer(number)
               : json_string(text);
}

/* Adds what the files of a folder, or one file, say, and {"include files": {file: [key]}}. A file that is
 * included by itself adds its settings nowhere, as by Salt; includes have a depth, since a file may include
 * itself. */
static int
read_include(const char *path, int depth, json_t *all, fail_t *err)
{
    char **names = NULL;
    int is_dir = fs_look_dir(path, err), rc = is_dir < 0 ? is_dir : 0;
    const char *key;
    json_t *value;

    if (depth >= INCLUDES_DEPTH)
        return fail_set(err, -ELOOP, "%s: included %d levels deep", path, depth);
    if (rc == 0 && is_dir > 0)
        rc = fs_names(path, &names, err);
    if (names != NULL)
        qsort(names, strv_len(names), sizeof(*names), str_by_text);
    if (value_get(all, "include files") == NULL)
        json_object_set_new(all, "include files", json_object());
    for (size_t i = 0; rc == 0 && names != NULL && names[i] != NULL; i++) {
        AUTO_FREE char *file = fs_join(path, names[i]);
        json_auto_t *more = json_object(), *keys = json_array();
        rc = read_conf(file, depth + 1, more, err);
        json_object_foreach (more, key, value) {
            json_object_set(all, key, value);
            json_array_append_new(keys, json_string(key));
        }
        json_object_set(value_get(all, "include files"), names[i], keys);
    }
    strv_free(names);
    return rc;
}

/* Adds a file's settings. A stanza is kept until it closes, and is a copy for each of its files. */
static int
read_conf(const char *path, int depth, json_t *all, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    walk_auto_t walk = { 0 };
    json_auto_t *stanza = json_object();
    json_t *name;
    size_t i;
    int rc = fs_read_any(path, LIMIT_HOST_FILE, &text, err);

    if (rc == 0)
        return fail_set(err, -ENOENT, "[Errno 2] No such file or directory: '%s'", path);
    AUTO_FREE char *copy = xstrdup(buf_str(&text));
    for (char *at = copy, *line; rc >= 0 && (line = line_next(&at)) != NULL;) {
        line_kind_t kind = walk_line(&walk, line);
        if (kind == LINE_CLOSES) {
            json_array_foreach (walk.names, i, name)
                json_object_set_new(all, json_string_value(name), json_copy(stanza));
            json_object_clear(stanza);
        }
        if (kind != LINE_OPTION)
            continue;
        const char *word = json_string_value(json_array_get(walk.words, 0));
        json_object_set_new(walk.stanza ? stanza : all, word, logrotate_option_value(walk.words));
        if (!walk.stanza && strcmp(word, "include") == 0 && json_array_size(walk.words) > 1)
            rc = read_include(json_string_value(json_array_get(walk.words, 1)), depth, all, err);
    }
    return rc < 0 ? rc : 0;
}

static int
logrotate_show_conf(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_object();
    return read_conf(value_str(args, "conf_file", CONF_FILE), 0, *ret_value, err);
}

/* A setting of a stanza with `value`, else the whole; False when there is none. */
static int
logrotate_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = json_object();
    json_t *stanza;

    if (read_conf(value_str(args, "conf_file", CONF_FILE), 0, all, err) < 0)
        return err->code;
    stanza = value_get(all, value_str(args, "key", ""));
    if (value_truthy(value_get(args, "value")) && value_truthy(stanza)) {
        if (!json_is_object(stanza))
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s: a line, and no block with settings",
                             value_str(args, "key", ""));
        AUTO_FREE char *name = value_pystr(value_get(args, "value"));
        stanza = value_get(stanza, name);
    }
    *ret_value = stanza != NULL ? json_incref(stanza) : json_false();
    return 0;
}

/* ---- changing --------------------------------------------------------------------------------- */

/* Adds the text with the option of a block, or of no block, set. A new setting goes to the end of its block,
 * a new option to the head of the file, where no block is open, and a new block to the end. Within scripts
 * nothing is taken for a setting. */
static void
change_option(const char *text, const char *block, const char *option, const json_t *value, buf_t *out)
{
    /* "rotate 2", "missingok" for True; no line for a false value, which removes a setting. */
    bool set = value_truthy(value);
    AUTO_FREE char *shown = value_pystr(value), *copy = xstrdup(text);
    AUTO_FREE char *fresh = !set                  ? NULL
                            : json_is_true(value) ? xstrdup(option)
                                                  : xasprintf("%s %s", option, shown);
    walk_auto_t walk = { 0 };
    buf_auto_t all = BUF_INIT;
    bool done = false;

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        bool script = walk.script;
        line_kind_t kind = walk_line(&walk, line);
        bool mine = !done && !script && (block != NULL ? value_lists(walk.names, block) : !walk.stanza);
        bool here = mine && kind == LINE_OPTION && walk.stanza == (block != NULL) &&
                    str_eq(json_string_value(json_array_get(walk.words, 0)), option);
        if (block != NULL && mine && kind == LINE_CLOSES && fresh != NULL)
            buf_printf(&all, "    %s\n", fresh);
        if (here)
            buf_printf(&all, "%s%s%s", block != NULL && fresh != NULL ? "    " : "",
                       fresh != NULL ? fresh : "", block == NULL || fresh != NULL ? "\n" : "");
        else
            buf_printf(&all, "%s\n", line);
        done = done || here || (block != NULL && mine && kind == LINE_CLOSES);
    }
    if (!done && block == NULL && fresh != NULL)
        buf_printf(out, "%s\n", fresh);
    buf_puts(out, buf_str(&all));
    if (!done && block != NULL && fresh != NULL)
        buf_printf(out, "%s {\n    %s\n}\n", block, fresh);
}

/* The file that has the key: the main one, or one that it includes. NEW. The last one wins, as in reading. */
static char *
logrotate_file_of(const json_t *all, const char *key, const char *conf_file)
{
    char *path = xstrdup(conf_file);
    const char *name;
    json_t *keys;

    json_object_foreach (value_get(all, "include files"), name, keys) {
        if (value_lists(keys, key)) {
            free(path);
            path = fs_join(value_str(all, "include", ""), name);
        }
    }
    return path;
}

/* True as well when all was so already; then no file is touched. */
static int
logrotate_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *key = value_str(args, "key", ""), *conf_file = value_str(args, "conf_file", CONF_FILE);
    json_t *value = value_get(args, "value"), *setting = value_get(args, "setting"), *now;
    bool in_block = setting != NULL && !json_is_null(setting);
    AUTO_FREE char *option = in_block ? value_pystr(value) : xstrdup(key);
    json_auto_t *all = json_object(), *no = json_false();
    partfile_auto_t file = PARTFILE_INIT;
    buf_auto_t text = BUF_INIT, after = BUF_INIT;

    /* A brace or a line break would open or close a block. */
    if (field_check_text("key", key, "{}", err) < 0 || field_check_text("value", option, "{}", err) < 0 ||
        field_check("value", value, "{}", err) < 0 || field_check("setting", setting, "{}", err) < 0 ||
        read_conf(conf_file, 0, all, err) < 0)
        return err->code;
    now = value_get(all, key);
    if (!in_block && json_is_object(now))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Error: %s includes a dict, and a specific setting inside the dict was not declared",
                         key);
    if (in_block && value_truthy(now) && !json_is_object(now))
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "Error: A setting for a dict was declared, but the configuration line given is not a dict");
    now = in_block ? value_get(now, option) : now;
    *ret_value = json_true();
    if (value_equal(now != NULL ? now : no, in_block ? setting : value))
        return 0;
    AUTO_FREE char *path = logrotate_file_of(all, key, conf_file);
    int rc = partfile_edit(&file, path, err);
    if (rc <= 0 || partfile_read(&file, &text, err) < 0)
        return rc == 0 ? fail_set(err, -ENOENT, "[Errno 2] No such file or directory: '%s'", path)
                       : err->code;
    change_option(buf_str(&text), in_block ? key : NULL, option, in_block ? setting : value, &after);
    return partfile_write(&file, buf_str(&after), after.len, &(landing_t){ .mode = 0644 }, err);
}

/* ---- table ------------------------------------------------------------------------------------ */

#define FILE_ROW ARG("conf_file", ARG_STR, "\"" CONF_FILE "\"", "The file; what it includes belongs to it")

static const arg_t show_args[] = { FILE_ROW, ARGS_END };
static const arg_t get_args[] = {
    ARG("key", ARG_STR, ARG_REQUIRED, "A line's first word, or a file of a block"),
    ARG("value", ARG_ANY, "null", "The first word of a line of this block"), FILE_ROW, ARGS_END
};
static const arg_t set_args[] = {
    ARG("key", ARG_STR, ARG_REQUIRED, "A line's first word, or a file of a block"),
    ARG("value", ARG_ANY, ARG_REQUIRED, "The value, or the first word of a line of the block"),
    ARG("setting", ARG_ANY, "null", "The value of this line; False: no such line"), FILE_ROW, ARGS_END
};

static const func_t funcs[] = {
    { "get", logrotate_get, get_args, FN_READONLY,
      "Return the value of a line." CLI_EXAMPLE("salt '*' logrotate.get rotate\n    salt '*' logrotate.get "
                                                "/var/log/wtmp rotate /etc/logrotate.conf") },
    { "set", logrotate_set, set_args, 0,
      "Set the value of a line." CLI_EXAMPLE(
          "salt '*' logrotate.set rotate 2\n    salt '*' logrotate.set /var/log/wtmp rotate 2") },
    { "show_conf", logrotate_show_conf, show_args, FN_READONLY,
      "Return the configuration." CLI_EXAMPLE("salt '*' logrotate.show_conf") },
};

PLUGIN(exec, logrotate, .doc = "Rotation of logs", FUNCS(funcs));
