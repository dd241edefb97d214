/* nftown.c - see nftown.h: a rule in nft's own words. nft has no command that only says how it would list a rule, so it adds
 * the rule where no packet is: to the same table, without its rules, in a network namespace that ends with the
 * program. */
#include "plugins/lib/net/nftown.h"

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"

/* The table with its sets, maps and chains, but neither rules nor what needs the machine's devices. `table` is as nft
 * lists it, and is cut into lines. */
static void
nftown_frame(buf_t *script, char *table)
{
    bool inside = false, whole = false;

    for (char *at = table, *line; (line = line_next(&at)) != NULL;) {
        bool first = *line == '\t' && line[1] != '\t', end = first && line[1] == '}';
        if (first && !end) {
            whole = str_starts(line + 1, "set ") || str_starts(line + 1, "map ");
            inside = whole || str_starts(line + 1, "chain ");
        }
        if (*line != '\t' || (inside && (first || whole)))
            buf_printf(script, "%s\n", line);
        inside = inside && !end;
    }
}

char *
nft_own_words(call_ctx_t *ctx, const char *place, const char *table, const char *statement, fail_t *err)
{
    AUTO_FREE char *unshare = fs_which("unshare");
    buf_auto_t script = BUF_INIT;
    prog_auto_t prog = PROG_INIT;

    if (unshare == NULL)
        return xstrdup("");
    AUTO_FREE char *copy = xstrdup(table);
    nftown_frame(&script, copy);
    buf_printf(&script, "add rule %s %s\n", place, statement);
    prog_adds(&prog, "unshare", "--net", "nft", "--echo", "--file", "-", NULL);
    prog.in = buf_str(&script);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = tool_run(ctx, &prog, TOOL_QUIET, err);
    if (out == NULL)
        return NULL;
    AUTO_FREE char *echo = xstrdup(value_int(out, "retcode", -1) == 0 ? value_str(out, "stdout", "") : "");
    /* The rule is the last line of the echo; none when nft refused it. */
    AUTO_FREE char *head = xasprintf("add rule %s ", place);
    const char *rule = "";
    for (char *at = echo, *line; (line = line_next(&at)) != NULL;) {
        if (str_starts(line, head))
            rule = line + strlen(head);
    }
    return xstrdup(rule);
}
