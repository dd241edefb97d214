/* grub_legacy.c - execution module `grub`: the configuration of GRUB 0.97, as the file has it. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* The configuration's place by the system. */
static const char *
grub_place(call_ctx_t *ctx)
{
    return str_eq(value_str(ctx_grains(ctx), "os_family", ""), "RedHat") ? "/boot/grub/grub.conf"
                                                                         : "/boot/grub/menu.lst";
}

static const char *
grub_unavailable(call_ctx_t *ctx)
{
    return fs_look(grub_place(ctx), NULL) > 0
               ? NULL
               : "The grub_legacy execution module cannot be loaded: the grub config "
                 "file does not exist in /boot/grub/";
}

static int
grub_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "/sbin/grub", err) < 0)
        return err->code;
    prog_add(&prog, "--version");
    prog.timeout_ms = LIMIT_TOOL_MS;
    return tool_text(ctx, &prog, ret_value, err);
}

/* Adds "KEY VALUE" with single blanks in the value. */
static void
grub_add(const char *line, json_t *into)
{
    char **words = str_split(line, " \t\r", true);
    buf_auto_t value = BUF_INIT;

    for (size_t i = 1; words[0] != NULL && words[i] != NULL; i++)
        buf_printf(&value, "%s%s", i > 1 ? " " : "", words[i]);
    if (words[0] != NULL)
        json_object_set_new(into, words[0], value_utf8(buf_str(&value), value.len));
    strv_free(words);
}

/* A stanza begins with "title" and ends at an empty line or the next one. */
static int
grub_conf(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = json_object(), *stanzas = json_array();
    json_t *stanza = NULL;
    buf_auto_t file = BUF_INIT;
    fail_auto_t why = FAIL_INIT;

    if (fs_read(grub_place(ctx), LIMIT_FILE_READ, &file, &why) < 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "Could not read grub config: %s", fail_text(&why));
    AUTO_FREE char *text = xstrndup(buf_str(&file), file.len);
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        bool title = str_starts(line + strspn(line, " \t"), "title");
        if (*line == '#')
            continue;
        if (*line == '\0')
            stanza = NULL;
        if (title) {
            stanza = json_object();
            json_array_append_new(stanzas, stanza);
        }
        if (*line != '\0')
            grub_add(line, stanza != NULL ? stanza : all);
    }
    size_t i;
    json_array_foreach (stanzas, i, stanza) {
        AUTO_FREE char *order = xasprintf("%zu", i);
        json_object_set_new(stanza, "order", json_string(order));
    }
    json_object_set(all, "stanzas", stanzas);
    *ret_value = json_incref(all);
    return 0;
}

static const func_t funcs[] = {
    { "conf", grub_conf, NULL, FN_READONLY,
      "The configuration: its options, and the stanzas in their order." CLI_EXAMPLE("salt '*' grub.conf") },
    { "version", grub_version, NULL, FN_READONLY,
      "What grub says of its version." CLI_EXAMPLE("salt '*' grub.version") },
};

PLUGIN(exec, grub_legacy, .provides = "grub", .doc = "GRUB 0.97", FUNCS(funcs),
       .unavailable = grub_unavailable);
