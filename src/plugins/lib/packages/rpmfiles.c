/* rpmfiles.c - module `lowpkg` on rpm: files of packages, their owners, and what was changed of them since. */
#include <ctype.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpm.h"

/* A query of names or of all packages. NEW text of both streams, or NULL with *err. */
static char *
rpm_query(call_ctx_t *ctx, const json_t *args, const char *some, const char *all, const char *format,
          fail_t *err)
{
    const json_t *names = value_get(args, "packages");
    prog_auto_t prog = PROG_INIT;

    if (rpm_begin(&prog, value_get(args, "kwargs"), err) < 0)
        return NULL;
    prog_add(&prog, json_array_size(names) > 0 ? some : all);
    if (format != NULL)
        prog_adds(&prog, "--queryformat", format, NULL);
    if (prog_operands(&prog, "packages", names, err) < 0)
        return NULL;
    return rpm_text(ctx, &prog, TOOL_MERGE, err);
}

/* The lines of a text, which is cut. NEW list. */
static json_t *
rpmfiles_lines_of(char *text)
{
    json_t *ret = json_array();

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (*line != '\0' || *at != '\0')
            json_array_append_new(ret, value_utf8(line, strlen(line)));
    }
    return ret;
}

/* {name: version} of "name version" lines; those of unknown packages go to `errors`, which may be NULL. */
static json_t *
rpmfiles_versions_in(char *text, json_t *errors)
{
    json_t *ret = json_object();

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (strstr(line, "is not installed") != NULL) {
            if (errors != NULL)
                json_array_append_new(errors, json_string(line));
            continue;
        }
        char *version = strchr(line, ' ');
        if (version == NULL)
            continue;
        *version++ = '\0';
        json_object_set_new(ret, line, json_string(version));
    }
    return ret;
}

/* Among versions of one name the last is told, as in Salt. */
int
rpm_list_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = rpm_query(ctx, args, "-q", "-qa", "%{NAME} %{VERSION}\\n", err);

    if (text == NULL)
        return err->code;
    *ret_value = rpmfiles_versions_in(text, NULL);
    return 0;
}

int
rpm_file_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = rpm_query(ctx, args, "-ql", "-qla", NULL, err);

    if (text == NULL)
        return err->code;
    *ret_value = json_pack("{s:[], s:o}", "errors", "files", rpmfiles_lines_of(text));
    return 0;
}

/* rpm prints no package beside a file, so each is asked for by itself. */
int
rpm_file_dict(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = rpm_query(ctx, args, "-q", "-qa", "%{NAME} %{VERSION}\\n", err);
    json_auto_t *errors = json_array(), *packages = json_object();
    json_t *version;
    const char *name;

    if (text == NULL)
        return err->code;
    json_auto_t *versions = rpmfiles_versions_in(text, errors);
    json_object_foreach (versions, name, version) {
        prog_auto_t prog = PROG_INIT;
        if (rpm_begin(&prog, value_get(args, "kwargs"), err) < 0)
            return err->code;
        prog_adds(&prog, "-ql", name, NULL);
        AUTO_FREE char *files = rpm_text(ctx, &prog, TOOL_MERGE, err);
        if (files == NULL)
            return err->code;
        json_object_set_new(packages, name, rpmfiles_lines_of(files));
    }
    *ret_value = json_pack("{s:O, s:O}", "errors", errors, "packages", packages);
    return 0;
}

/* ---- owners ----------------------------------------------------------------------------------- */

char *
rpm_owner_of(call_ctx_t *ctx, const char *path, const json_t *kwargs, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (rpm_begin(&prog, kwargs, err) < 0)
        return NULL;
    prog_adds(&prog, "-qf", "--queryformat", "%{name}", NULL);
    if (prog_operand(&prog, "paths", path, err) < 0)
        return NULL;
    AUTO_FREE char *text = rpm_text(ctx, &prog, 0, err);
    if (text == NULL)
        return NULL;
    return xstrdup(strstr(text, "not owned") != NULL ? "" : text);
}

/* A single path answers with its owner, several with an object. */
int
rpm_owner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = json_object();
    json_t *paths = value_get(args, "paths"), *v;
    size_t i;

    json_array_foreach (paths, i, v) {
        AUTO_FREE char *path = value_pystr(v);
        AUTO_FREE char *owner = rpm_owner_of(ctx, path, value_get(args, "kwargs"), err);
        if (owner == NULL)
            return err->code;
        json_object_set_new(ret, path, json_string(owner));
    }
    if (json_array_size(paths) == 0)
        *ret_value = json_string("");
    else
        *ret_value = json_incref(json_object_size(ret) == 1 ? json_object_iter_value(json_object_iter(ret))
                                                            : ret);
    return 0;
}

/* ---- what was changed ------------------------------------------------------------------------- */

/* Options from a keyword that is a list, or a text with commas. */
static int
option_words(const json_t *kwargs, const char *name, json_t **ret_words, fail_t *err)
{
    json_t *v = value_get(kwargs, name);

    if (v != NULL && !json_is_array(v) && !json_is_string(v))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s must be a list or a comma-separated string",
                         name);
    *ret_words = v != NULL ? pkg_words(v) : json_array();
    return 0;
}

/* A line of `rpm -V`: nine letters or dots, two blanks, the file's kind, a blank, the path; or "missing" in
 * the place of the first eight. */
static void
take_verified(json_t *ret, const char *text, const json_t *ignored)
{
    static const struct {
        char letter;
        const char *word;
    } marks[] = { { 'S', "size" },          { 'M', "mode" },
                  { '5', "md5sum" },        { 'D', "device major/minor number" },
                  { 'L', "readlink path" }, { 'U', "user" },
                  { 'G', "group" },         { 'T', "mtime" },
                  { 'P', "capabilities" } };
    static const char *const kinds[][2] = {
        { "c", "config" }, { "d", "doc" }, { "g", "ghost" }, { "l", "license" }, { "r", "readme" }
    };
    bool missing = strstr(text, "missing") != NULL;
    AUTO_FREE char *line = xasprintf("%s%s", missing ? " " : "", text);
    const char *kind = NULL;

    for (size_t i = 0; i < NELEMS(kinds) && strlen(line) > 11; i++)
        kind = line[11] == *kinds[i][0] ? kinds[i][1] : kind;
    if (kind != NULL && value_lists(ignored, kind))
        return;
    json_t *found = missing ? json_pack("{s:b}", "missing", 1) : json_pack("{s:[]}", "mismatch");
    if (kind != NULL)
        json_object_set_new(found, "type", json_string(kind));
    for (size_t i = 0; i < NELEMS(marks) && !missing && i < strlen(line); i++) {
        if (line[i] == marks[i].letter)
            json_array_append_new(value_get(found, "mismatch"), json_string(marks[i].word));
    }
    json_object_set_new(ret, strlen(line) > 13 ? line + 13 : "", found);
}

/* Code 1 says that something differs; only a code without any text is a failure. */
int
rpm_verify(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool low = value_get(args, "packages") != NULL;
    const json_t *kwargs = value_get(args, "kwargs"), *names = value_get(args, low ? "packages" : "names");
    json_auto_t *ignored = NULL, *options = NULL, *found = json_object();
    prog_auto_t prog = PROG_INIT;
    json_t *v;
    size_t i;

    if (option_words(kwargs, "ignore_types", &ignored, err) < 0 ||
        option_words(kwargs, "verify_options", &options, err) < 0 || rpm_begin(&prog, kwargs, err) < 0)
        return err->code;
    json_array_foreach (options, i, v) {
        AUTO_FREE char *word = value_pystr(v);
        prog_addf(&prog, "--%s", word);
    }
    prog_add(&prog, json_array_size(names) > 0 ? "-V" : "-Va");
    if (prog_operands(&prog, "packages", names, err) < 0)
        return err->code;
    json_auto_t *out = tool_run(ctx, &prog, TOOL_QUIET, err);
    if (out == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    if (text[strspn(text, " \n\t")] == '\0' && value_int(out, "retcode", 0) != 0) {
        const char *why = value_str(out, "stderr", "");
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Failed to verify package(s)%s%s",
                         *why != '\0' ? ": " : "", why);
    }
    for (char *at = text, *line; (line = line_next(&at)) != NULL;)
        if (*line != '\0')
            take_verified(found, line, ignored);
    *ret_value = STEAL(found);
    return 0;
}

/* The kinds of changes that a line of `rpm -Va` tells, and its path in *ret_path. NEW list, or NULL for
 * another line. */
static json_t *
modified_kinds(char *line, const char **ret_path)
{
    static const char *const keys[] = { "size",  "mode",  "checksum", "device",      "symlink",
                                        "owner", "group", "time",     "capabilities" };
    char **words = str_split(line, " \t", true);
    size_t n = strv_len(words);
    json_t *ret = n == 2 || n == 3 ? json_array() : NULL;

    for (size_t i = 0; ret != NULL && i < NELEMS(keys) && i < strlen(words[0]); i++) {
        if (words[0][i] != '.')
            json_array_append_new(ret, json_string(keys[i]));
    }
    if (n == 3)
        json_array_append_new(ret, json_string("config"));
    if (ret != NULL)
        *ret_path = line + (strlen(line) - strlen(words[n - 1]));
    strv_free(words);
    return ret;
}

/* Code 1 says that something differs, more that rpm failed. */
int
rpm_modified(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *flags = value_get(args, "kwargs");
    prog_auto_t prog = PROG_INIT;
    const char *key;
    json_t *v;

    if (rpm_begin(&prog, flags, err) < 0)
        return err->code;
    /* With names -Va is refused by rpm: only those are asked for. */
    prog_add(&prog, json_array_size(value_get(args, "packages")) > 0 ? "-V" : "-Va");
    if (prog_operands(&prog, "packages", value_get(args, "packages"), err) < 0)
        return err->code;
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) > 1) {
        json_object_del(out, "stdout");
        *ret_value = STEAL(out);
        return 0;
    }
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        const char *path = NULL;
        json_auto_t *kinds = modified_kinds(line, &path);
        /* Each flag tells whether its kind of change must be there: {kind: bool}. */
        bool fits = kinds != NULL;
        json_object_foreach ((json_t *) flags, key, v)
            fits = fits && (*key == '_' || str_eq(key, "root") || value_truthy(v) == value_lists(kinds, key));
        if (fits)
            json_object_set(*ret_value, path, kinds);
    }
    return 0;
}

/* ---- differences ------------------------------------------------------------------------------ */

/* Pipes need a shell; both names are quoted for it. NEW text, "" when the file is as packaged. */
char *
rpm_difference(call_ctx_t *ctx, const char *package, const char *path, fail_t *err)
{
    static const char *const needed[] = { "rpm2cpio", "cpio", "diff" };
    AUTO_FREE char *from = str_shell_quote(package), *file = str_shell_quote(path);
    prog_auto_t prog = PROG_INIT;

    for (size_t i = 0; i < NELEMS(needed); i++) {
        if (tool_need(needed[i], err) < 0)
            return NULL;
    }
    prog_adds(&prog, "/bin/sh", "-c", NULL);
    prog_addf(&prog,
              "rpm2cpio %s | cpio -i --quiet --to-stdout .%s | diff -u --label 'A '%s --from-file=- "
              "--label 'B '%s %s",
              from, file, file, file, file);
    AUTO_FREE char *text = rpm_text(ctx, &prog, TOOL_MERGE | TOOL_QUIET, err);
    if (text == NULL)
        return NULL;
    return str_starts(text, "Binary file")
               ? xasprintf("File '%s' is binary and its content has been modified.", path)
               : STEAL(text);
}

int
rpm_diff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = rpm_difference(ctx, value_str(args, "package_path", ""),
                                          value_str(args, "path", ""), err);

    if (text == NULL)
        return err->code;
    *ret_value = value_utf8(text, strlen(text));
    return 0;
}

/* False for a file that isn't there, and for one whose digests are wrong. */
int
rpm_checksum(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = json_object();
    json_t *paths = value_get(args, "paths"), *v;
    size_t i;

    if (json_array_size(paths) == 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "No package files has been specified.");
    json_array_foreach (paths, i, v) {
        AUTO_FREE char *path = value_pystr(v);
        prog_auto_t prog = PROG_INIT;
        int there = fs_look_file(path, err), code = 1;
        if (there < 0 || rpm_begin(&prog, value_get(args, "kwargs"), err) < 0)
            return err->code;
        prog_adds(&prog, "-K", "--quiet", NULL);
        if (prog_operand(&prog, "paths", path, err) < 0 ||
            (there > 0 && tool_retcode(ctx, &prog, TOOL_QUIET, &code, err) < 0))
            return err->code;
        json_object_set_new(ret, path, json_boolean(code == 0));
    }
    *ret_value = STEAL(ret);
    return 0;
}
