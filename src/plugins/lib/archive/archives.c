/* archives.c - see archives.h. */
#include "plugins/lib/archive/archives.h"

#include <strings.h>

#include "common/base/str.h"
#include "common/host/prog.h"

enum { TRIM_DEFAULT = 100 };

const char *
archive_guess(const char *name)
{
    static const struct {
        const char *end, *format;
    } rows[] = {
        { ".tar", "tar" },      { ".tar.gz", "tar" }, { ".tgz", "tar" },    { ".tar.bz2", "tar" },
        { ".tbz2", "tar" },     { ".tbz", "tar" },    { ".tar.xz", "tar" }, { ".txz", "tar" },
        { ".tar.lzma", "tar" }, { ".tlz", "tar" },    { ".zip", "zip" },    { ".rar", "rar" },
    };
    size_t len = strlen(name);

    for (size_t i = 0; i < NELEMS(rows); i++) {
        size_t n = strlen(rows[i].end);
        if (n <= len && strcasecmp(name + len - n, rows[i].end) == 0)
            return rows[i].format;
    }
    return NULL;
}

char *
archive_cache(call_ctx_t *ctx, json_t *args, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *list = json_pack("[s, s]", name, value_str(args, "saltenv", "base")), *path = NULL;
    json_auto_t *kwargs = json_pack("{s:s?, s:b}", "source_hash", value_str(args, "source_hash", NULL),
                                    "use_etag", value_bool(args, "use_etag", false));

    if (ctx_call(ctx, "cp.cache_file", list, kwargs, &path, err) < 0)
        return NULL;
    if (!str_empty(json_string_value(path)))
        return xstrdup(json_string_value(path));
    (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "Failed to cache %s", name);
    return NULL;
}

json_t *
archive_run(call_ctx_t *ctx, json_t *words, const char *file, const char *cwd, fail_t *err)
{
    json_auto_t *own = words;
    prog_auto_t prog = PROG_INIT;

    prog_add_json(&prog, own);
    prog_add(&prog, file);
    prog.cwd = cwd;
    prog.timeout_ms = ARCHIVE_TIMEOUT_S * 1000;
    return prog_run_all(&prog, err);
}

json_t *
archive_run_unpacked(call_ctx_t *ctx, const char *command, const char *file, fail_t *err)
{
    /* A pipe's status is its last command's: the first one's failure comes by descriptor 3. */
    static const char script[] =
        "exec 4>&1\n"
        "failed=$({ { \"$@\" || echo failed >&3; } |"
        " tar --list --verbose --numeric-owner --absolute-names --quoting-style=c --file - >&4; } 3>&1 ||"
        " echo failed)\n"
        "[ -z \"$failed\" ]\n";
    char **words = prog_split(command, err);
    json_t *line = json_pack("[s, s, s, s]", "sh", "-c", script, "sh");

    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        json_array_append_new(line, json_string(words[i]));
    json_t *ran = words != NULL ? archive_run(ctx, json_incref(line), file, NULL, err) : NULL;
    json_decref(line);
    strv_free(words);
    return ran;
}

json_t *
archive_trimmed(json_t *files, const json_t *trim_output)
{
    json_int_t count = json_is_integer(trim_output) ? json_integer_value(trim_output) : TRIM_DEFAULT;
    json_t *out = json_copy(files);

    if (trim_output == NULL || json_is_false(trim_output) || json_is_null(trim_output) || count < 0 ||
        (json_int_t) json_array_size(out) <= count)
        return out;
    while ((json_int_t) json_array_size(out) > count)
        json_array_remove(out, json_array_size(out) - 1);
    json_array_append_new(out, value_fmt("List trimmed after %lld files.", (long long) count));
    return out;
}
