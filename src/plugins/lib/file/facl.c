/* facl.c - changes of access control lists of files (facl.h). */
#include "plugins/lib/file/facl.h"

#include "common/base/str.h"
#include "plugins/lib/call/tool.h"

enum { SETFACL_TIMEOUT_S = 60 * 60 }; /* a large tree */

char *
facl_entry(const char *type, const char *name, const char *perms, fail_t *err)
{
    static const char *const letters[] = { "user", "u", "group", "g", "mask", "m", "other", "o" };
    bool is_default = str_starts(type, "d:") || str_starts(type, "default:");
    const char *rest = is_default ? strchr(type, ':') + 1 : type, *letter = "";

    /* A list of entries would be more than the caller names. */
    if (strpbrk(name, ",:") != NULL || (perms != NULL && strpbrk(perms, ",:") != NULL))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "'%s' and '%s' are no name and permissions of one entry",
                         name, perms != NULL ? perms : ""),
               NULL;
    for (size_t i = 0; i < NELEMS(letters) && *letter == '\0'; i += 2)
        if (strcmp(rest, letters[i]) == 0 || strcmp(rest, letters[i + 1]) == 0)
            letter = letters[i + 1];
    return xasprintf("%s%s:%s%s%s", is_default ? "d:" : "", letter, name, perms != NULL ? ":" : "",
                     perms != NULL ? perms : "");
}

json_t *
facl_set(call_ctx_t *ctx, const char *option, const char *entry, const json_t *paths, unsigned flags,
         fail_t *err)
{
    json_auto_t *line = json_pack("[s]", "setfacl");

    if (prog_check_operands("path", paths, err) < 0)
        return NULL;
    if (flags & FACL_DRY)
        json_array_append_new(line, json_string("--test"));
    if (flags & FACL_RECURSIVE)
        json_array_append_new(line, json_string("-R"));
    json_array_append_new(line, json_string(option));
    if (entry != NULL)
        json_array_append_new(line, json_string(entry));
    json_array_extend(line, (json_t *) paths);
    return tool_words(ctx, line, NULL, NULL, TOOL_MERGE, SETFACL_TIMEOUT_S, err);
}
