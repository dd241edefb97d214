/* nft.c - see nft.h: the program, and what it lists. */
#include "plugins/lib/net/nft.h"

#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/net/nftown.h"
#include "plugins/lib/net/nftrules.h"

/* The family is kept in both forms: Salt's texts have the user's. */
int
nft_place(const json_t *args, nft_place_t *ret_place, fail_t *err)
{
    *ret_place = (nft_place_t){ .given = value_str(args, "family", "ipv4"),
                                .table = value_str(args, "table", ""),
                                .chain = value_str(args, "chain", "") };
    ret_place->family = nft_family(ret_place->given, err);
    if (ret_place->family == NULL || nft_need_name("table", ret_place->table, err) < 0)
        return err->code;
    return nft_need_name("chain", ret_place->chain, err);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* cmd.run_all's answer of nft with these words, up to NULL. NEW, or NULL with *err. */
static json_t *
nft_run(call_ctx_t *ctx, const char *const *words, unsigned flags, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "nft", err) < 0)
        return NULL;
    for (; *words != NULL; words++) {
        if (**words != '\0')
            prog_add(&prog, *words);
    }
    prog.timeout_ms = LIMIT_TOOL_MS;
    return tool_run(ctx, &prog, flags, err);
}

/* nft complains in several lines, of which the first says it. */
json_t *
nft_list(call_ctx_t *ctx, const char *const *words, fail_t *err)
{
    json_auto_t *out = nft_run(ctx, words, TOOL_QUIET, err);

    if (out == NULL)
        return NULL;
    if (value_int(out, "retcode", -1) == 0)
        return json_incref(value_get(out, "stdout"));
    AUTO_FREE char *said = xstrdup(value_str(out, "stderr", ""));
    said[strcspn(said, "\n")] = '\0';
    fail_kind(err, FAIL_COMMAND, -EIO, "nft can't list what is there: %s", said);
    return NULL;
}

/* nft's JSON is {"nftables": [{"metainfo": ...}, ...]}. */
json_t *
nft_objects(call_ctx_t *ctx, const char *const *words, fail_t *err)
{
    json_auto_t *text = nft_list(ctx, words, err);
    const char *all = json_string_value(text);
    json_auto_t *root = text != NULL ? value_parse(all, strlen(all), LIMIT_FILE_READ, "nft's answer", err)
                                     : NULL;

    if (root == NULL)
        return NULL;
    if (json_is_array(value_get(root, "nftables")))
        return json_incref(value_get(root, "nftables"));
    fail_kind(err, FAIL_COMMAND, -EPROTO, "nft's answer has no list of what is there");
    return NULL;
}

/* nft's complaint is logged by the call itself. */
int
nft_change(call_ctx_t *ctx, const char *const *words, fail_t *err)
{
    json_auto_t *out = nft_run(ctx, words, 0, err);

    return out == NULL ? err->code : value_int(out, "retcode", -1) == 0;
}

/* ---- what is there --------------------------------------------------------------------------- */

int
nft_table_there(call_ctx_t *ctx, const nft_place_t *p, fail_t *err)
{
    json_auto_t *text = nft_list(ctx, NFT("list", "tables", p->family), err);
    AUTO_FREE char *all = text != NULL ? xstrdup(json_string_value(text)) : NULL,
                   *want = xasprintf("table %s %s", p->family, p->table);
    int there = 0;

    if (all == NULL)
        return err->code;
    for (char *at = all, *line; (line = line_next(&at)) != NULL;)
        there |= strcmp(str_trim(line), want) == 0;
    return there;
}

/* A chain's line counts only below the line of its table: other tables may have chains of the name. */
int
nft_chain_there(call_ctx_t *ctx, const nft_place_t *p, fail_t *err)
{
    json_auto_t *text = nft_list(ctx, NFT("list", "chains", p->family), err);
    AUTO_FREE char *all = text != NULL ? xstrdup(json_string_value(text)) : NULL,
                   *table = xasprintf("table %s %s {", p->family, p->table),
                   *chain = xasprintf("chain %s {", p->chain);
    bool inside = false, there = false;

    if (all == NULL)
        return err->code;
    for (char *at = all, *line; (line = line_next(&at)) != NULL;) {
        if (str_starts(line, "table "))
            inside = strcmp(str_trim(line), table) == 0;
        there = there || (inside && strcmp(str_trim(line), chain) == 0);
    }
    return there;
}

/* The chain as nft lists it with handles, with names for numbers. NEW text, or NULL with *err. */
static char *
chain_text(call_ctx_t *ctx, const nft_place_t *p, fail_t *err)
{
    json_auto_t *text = nft_list(ctx, NFT("--handle", "list", "chain", p->family, p->table, p->chain), err);

    return text != NULL ? xstrdup(json_string_value(text)) : NULL;
}

/* The handle of the first rule with this form, or with this handle; "" when there is none. NEW. */
static char *
handle_in(const char *chain, const char *form, const char *handle)
{
    static const char mark[] = " # handle ";
    AUTO_FREE char *all = xstrdup(chain);

    for (char *at = all, *line; (line = line_next(&at)) != NULL;) {
        /* The last mark of the line, as a comment of the user's may hold one; the line of the chain itself, which ends
         * in a brace before it, is no rule. */
        char *last = NULL;
        for (char *mark_at = line; (mark_at = strstr(mark_at, mark)) != NULL; mark_at++)
            last = mark_at;
        if (last == NULL || last == line || last[-1] == '{')
            continue;
        *last = '\0';
        const char *own = last + strlen(mark);
        AUTO_FREE char *found = nft_form(line);
        if (handle != NULL ? strcmp(own, handle) == 0 : strcmp(found, form) == 0)
            return xstrdup(own);
    }
    return xstrdup("");
}

/* The rule is looked for in the user's words first; only when they are not there nft is asked for its own,
 * which costs a namespace and the table's listing. */
char *
nft_rule_handle(call_ctx_t *ctx, const nft_place_t *p, const char *rule, fail_t *err)
{
    AUTO_FREE char *statement = nft_statement(rule, err);
    AUTO_FREE char *chain = statement != NULL ? chain_text(ctx, p, err) : NULL;

    if (chain == NULL)
        return NULL;
    AUTO_FREE char *form = nft_form(statement);
    AUTO_FREE char *handle = handle_in(chain, form, NULL);
    if (*handle != '\0')
        return STEAL(handle);
    json_auto_t *table = nft_list(ctx, NFT("--terse", "list", "table", p->family, p->table), err);
    AUTO_FREE char *place = xasprintf("%s %s %s", p->family, p->table, p->chain);
    AUTO_FREE char *words = table != NULL
                                ? nft_own_words(ctx, place, json_string_value(table), statement, err)
                                : NULL;
    if (words == NULL)
        return NULL;
    AUTO_FREE char *own = nft_form(words);
    return *own != '\0' ? handle_in(chain, own, NULL) : STEAL(handle);
}

/* A handle that some other chain has does not count. */
char *
nft_handle_there(call_ctx_t *ctx, const nft_place_t *p, const char *handle, fail_t *err)
{
    AUTO_FREE char *chain = chain_text(ctx, p, err);

    return chain != NULL ? handle_in(chain, NULL, handle) : NULL;
}

/* ---- all that is there ----------------------------------------------------------------------- */

/* Objects of other kinds, such as "metainfo", are left out. */
json_t *
nft_tables(call_ctx_t *ctx, const char *family, fail_t *err)
{
    json_auto_t *objects = nft_objects(
        ctx, NFT("--json", "--numeric", "--numeric", "--numeric", "list", "tables", family), err);
    json_t *tables = json_array(), *one;
    size_t i;

    json_array_foreach (objects, i, one) {
        if (value_get(one, "table") != NULL)
            json_array_append(tables, value_get(one, "table"));
    }
    if (objects != NULL)
        return tables;
    json_decref(tables);
    return NULL;
}

/* A listing for each table. */
json_t *
nft_texts(call_ctx_t *ctx, const char *family, fail_t *err)
{
    json_auto_t *tables = nft_tables(ctx, family, err), *texts = json_array();
    json_t *one;
    size_t i;

    json_array_foreach (tables, i, one) {
        json_t *text = nft_list(
            ctx,
            NFT("--numeric", "--numeric", "--numeric", "list", "table", family, value_str(one, "name", "")),
            err);
        if (text == NULL)
            return NULL;
        json_array_append_new(texts, text);
    }
    return tables != NULL ? json_incref(texts) : NULL;
}

json_t *
nft_ruleset(call_ctx_t *ctx, const char *family, fail_t *err)
{
    return nft_objects(ctx, NFT("--numeric", "--numeric", "--numeric", "--json", "list", "ruleset", family),
                       err);
}

/* No command lists one chain without its rules, so it is picked out of the ruleset. */
json_t *
nft_chain(call_ctx_t *ctx, const nft_place_t *p, fail_t *err)
{
    json_auto_t *objects = nft_ruleset(ctx, p->family, err);
    json_t *one;
    size_t i;

    json_array_foreach (objects, i, one) {
        json_t *chain = value_get(one, "chain");
        if (strcmp(value_str(chain, "table", ""), p->table) == 0 &&
            strcmp(value_str(chain, "name", ""), p->chain) == 0)
            return json_incref(chain);
    }
    return objects != NULL ? json_null() : NULL;
}
