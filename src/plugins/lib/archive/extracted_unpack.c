/* extracted_unpack.c - see extracted.h: the unpacking. */
#include "plugins/lib/archive/extracted.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/archive/archives.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"

void
extracted_reason(const extracted_t *x, buf_t *text)
{
    if (x->hash_changed)
        buf_puts(text, ", due to source_hash update");
    else if (x->missing)
        buf_puts(text, ", due to absence of one or more files/dirs");
}

static int
check_source_hash(extracted_t *x)
{
    if (!x->local || x->sum == NULL || extracted_asked(x, "skip_verify"))
        return 0;
    int same = sub_call_bool(x->ctx, x->err, "file.check_hash", "{s:s, s:O}", "path", x->source, "file_hash",
                             value_get(x->sum, "hsum"));
    if (same < 0)
        return same;
    return same > 0 ? 0
                    : extracted_fail(x, "%s does not match the desired source_hash %s", x->shown,
                                     value_str(x->sum, "hsum", ""));
}

static int
foretell(extracted_t *x)
{
    buf_auto_t text = BUF_INIT;

    buf_printf(&text, "Archive %s would be extracted to %s%s", x->shown, x->name,
               extracted_asked(x, "clean") ? ", after cleaning destination path(s)" : "");
    extracted_reason(x, &text);
    state_ret_set(x->ret, STATE_NONE, "%s", buf_str(&text));
    return 1;
}

static int
clear_place(extracted_t *x)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *bare = extracted_place(x, "");

    if (extracted_asked(x, "clean_parent")) {
        int rc = fop_remove(bare, &why);
        if (rc < 0)
            return extracted_fail(
                x, "Unable to remove the directory %s. The following errors were observed:\n\n- %s", x->name,
                fail_text(&why));
        state_change(x->ret, "removed",
                     value_fmt("Directory %s was removed prior to the extraction", x->name));
    }
    if (!extracted_asked(x, "clean"))
        return 0;
    json_auto_t *paths = json_copy(value_get(x->contents, "top_level_dirs"));
    json_array_extend(paths, value_get(x->contents, "top_level_files"));
    return extracted_remove(x, paths,
                            "One or more paths could not be cleaned. The following errors were observed:\n");
}

static int
make_place(extracted_t *x)
{
    AUTO_FREE char *above = fop_dirname(x->note);
    int dir = fs_look_dir(x->name, x->err);

    if (dir < 0 || fs_own_dir(above, 0700, x->err) < 0 ||
        fs_write_atomic(x->note, x->name, strlen(x->name), 0600, x->err) < 0)
        return x->err->code;
    if (dir > 0)
        return 0;
    json_auto_t *ret = NULL;
    json_auto_t *kwargs = json_pack("{s:s, s:O, s:b}", "name", x->name, "user", value_get(x->args, "user"),
                                    "makedirs", 1);
    x->made_dir = true;
    return ctx_state(x->ctx, "file.directory", kwargs, &ret, x->err);
}

/* tar's words from the user's options: short ones without a dash join x and v. */
static int
add_tar_options(extracted_t *x, json_t *line)
{
    char **words = prog_split(x->options, x->err);
    buf_auto_t letters = BUF_INIT;
    json_auto_t *rest = json_array();
    size_t at = 0;

    if (words == NULL)
        return x->err->code;
    buf_puts(&letters, "xv");
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], "v") == 0 || strcmp(words[i], "-v") == 0 || strcmp(words[i], "--verbose") == 0)
            continue;
        if (*words[i] == '-' || at > 0)
            json_array_append_new(rest, json_string(words[i]));
        for (const char *p = *words[i] == '-' || at > 0 ? "" : words[i]; *p != '\0'; p++) {
            if (*p != 'x' && *p != 'f')
                buf_putc(&letters, *p);
        }
        at++;
    }
    strv_free(words);
    json_array_append_new(line, json_string(buf_str(&letters)));
    json_array_extend(line, rest);
    return 0;
}

/* Without options names are those of Python's tarfile: no slash behind a folder's. */
static int
run_tar(extracted_t *x)
{
    static const char *const plain[] = { "--extract", "--verbose", "--preserve-permissions",
                                         "--keep-directory-symlink", "--quoting-style=literal" };
    json_t *line = json_pack("[s]", "tar");
    int rc = 0;

    /* Without options modes are as stored and links to folders are kept, as Python's tarfile does it. */
    if (x->options != NULL)
        rc = add_tar_options(x, line);
    for (size_t i = 0; x->options == NULL && i < NELEMS(plain); i++)
        json_array_append_new(line, json_string(plain[i]));
    json_array_append_new(line, json_string("-f"));
    json_auto_t *ran = rc == 0 ? archive_run(x->ctx, json_incref(line), x->cached, x->name, x->err) : NULL;
    json_decref(line);
    if (ran == NULL)
        return x->err->code;
    if (value_int(ran, "retcode", 1) != 0) {
        state_change_set(x->ret, json_incref(ran));
        return extracted_fail(x, "%s", "");
    }
    char **lines = str_split(value_str(ran, "stdout", ""), "\n", true);
    json_int_t most = json_is_integer(x->trim) ? json_integer_value(x->trim) : INT32_MAX;
    x->files = json_array();
    for (size_t i = 0; lines[i] != NULL && (json_int_t) i < most; i++) {
        size_t n = strlen(lines[i]);
        while (x->options == NULL && n > 1 && lines[i][n - 1] == '/')
            n--;
        json_array_append_new(x->files, value_utf8(lines[i], n));
    }
    strv_free(lines);
    if (x->options != NULL && json_array_size(x->files) == 0) {
        json_decref(x->files);
        x->files = json_string("no tar output so far");
    }
    return 0;
}

static int
unpack_by(extracted_t *x, const char *fun)
{
    json_auto_t *kwargs = json_copy(value_get(x->args, "kwargs"));
    fail_auto_t why = FAIL_INIT;
    bool rar = strcmp(fun, "archive.unrar") == 0;

    json_object_del(kwargs, "keep");
    json_object_del(kwargs, "keep_source");
    json_object_set_new(kwargs, rar ? "rarfile" : "zip_file", json_string(x->cached));
    json_object_set_new(kwargs, "dest", json_string(x->name));
    json_object_set(kwargs, "trim_output", x->trim);
    if (!rar) {
        json_object_set_new(kwargs, "options", x->options != NULL ? json_string(x->options) : json_null());
        json_object_set(kwargs, "password", value_get(x->args, "password"));
    }
    if (strcmp(fun, "archive.unzip") == 0)
        json_object_set(kwargs, "extract_perms", value_get(x->args, "extract_perms"));
    if (ctx_call(x->ctx, fun, NULL, kwargs, &x->files, &why) == 0)
        return 0;
    if (why.kind == FAIL_COMMAND || why.kind == FAIL_PROGRAM)
        return extracted_fail(x, "%s", fail_text(&why));
    return fail_kind(x->err, why.kind, why.code, "%s", fail_text(&why));
}

static int
extract(extracted_t *x)
{
    int rc = make_place(x);

    if (rc != 0)
        return rc;
    if (strcmp(x->format, "tar") == 0)
        rc = run_tar(x);
    else
        rc = unpack_by(x, strcmp(x->format, "rar") == 0 ? "archive.unrar"
                          : x->cmd_unzip                ? "archive.cmd_unzip"
                                                        : "archive.unzip");
    if (rc == 0)
        (void) unlink(x->note);
    if (rc == 1 && x->made_dir && rmdir(x->name) == 0)
        (void) unlink(x->note);
    return rc;
}

int
extracted_unpack(extracted_t *x)
{
    static int (*const steps[])(extracted_t *) = { check_source_hash, foretell, clear_place, extract };
    int rc = 0;

    for (size_t i = 0; x->needed && rc == 0 && i < NELEMS(steps); i++)
        rc = steps[i] == foretell && !ctx_test(x->ctx) ? 0 : steps[i](x);
    return rc;
}
