/* hosts.c - execution module `hosts`: the file of host names, /etc/hosts or the option hosts.file.
 *
 * Read it is {address: {"aliases": [name], "comment": text}}, in the file's order, and {"comment-N": [line]}
 * for its N-th line of comment. add_host and set_comment write it anew from that, as Salt does; set_host and
 * rm_host change lines. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

#define HOSTS_FILE "/etc/hosts"
#define COMMENT    "comment-"

#define IP(args)    value_str(args, "ip", "")
#define ALIAS(args) value_str(args, "alias", "")

static const char *
hosts_path(call_ctx_t *ctx)
{
    return value_str(ctx_opts(ctx), "hosts.file", HOSTS_FILE);
}

/* ---- the file --------------------------------------------------------------------------------- */

/* Adds "ADDRESS NAME... # COMMENT" to the hosts. `line` is cut. An address that stands twice gets the names
 * of both lines; write_hosts() then joins the lines. */
static void
take_line(json_t *hosts, char *line)
{
    char *hash = strchr(line, '#');
    AUTO_FREE char *comment = hash != NULL ? xstrdup(str_trim(hash + 1)) : NULL;

    if (hash != NULL)
        *hash = '\0';
    char **words = str_split(line, " \t\r\v\f", true);
    json_t *host = value_get(hosts, words[0]);
    if (host == NULL) {
        host = json_pack("{s:[]}", "aliases");
        json_object_set_new(hosts, words[0], host);
    }
    for (size_t i = 1; words[i] != NULL; i++)
        json_array_append_new(value_get(host, "aliases"), value_utf8(words[i], strlen(words[i])));
    if (!str_empty(comment))
        json_object_set_new(host, "comment", value_utf8(comment, strlen(comment)));
    strv_free(words);
}

/* NEW hosts, empty where there is no file; NULL with *err. */
static json_t *
read_hosts(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *hosts = json_object();
    buf_auto_t text = BUF_INIT;
    size_t comments = 0;

    if (fs_read_any(hosts_path(ctx), LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    for (char *at = text.data, *raw; at != NULL && (raw = line_next(&at)) != NULL;) {
        char *line = str_trim(raw);
        if (*line == '#') {
            AUTO_FREE char *key = xasprintf(COMMENT "%zu", comments++);
            json_object_set_new(hosts, key, json_pack("[o]", value_utf8(line, strlen(line))));
        } else if (*line != '\0') {
            take_line(hosts, line);
        }
    }
    return STEAL(hosts);
}

static int
put_hosts(call_ctx_t *ctx, const buf_t *text, fail_t *err)
{
    return partfile_put(hosts_path(ctx), buf_str(text), text->len, 0644, err);
}

/* Tabs part the fields; blank lines and the old alignment are lost, as by Salt. */
static int
write_hosts(call_ctx_t *ctx, json_t *hosts, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    const char *key;
    json_t *host;

    json_object_foreach (hosts, key, host) {
        if (json_is_array(host)) {
            buf_printf(&text, "%s\n", json_string_value(json_array_get(host, 0)));
            continue;
        }
        AUTO_FREE char *names = value_joined(value_get(host, "aliases"), " ");
        const char *comment = value_str(host, "comment", NULL);
        AUTO_FREE char *line = comment != NULL ? xasprintf("%s\t\t%s\t\t# %s", key, names, comment)
                                               : xasprintf("%s\t\t%s", key, names);
        buf_printf(&text, "%s\n", str_trim(line));
    }
    return put_hosts(ctx, &text, err);
}

/* 1 when the file is one, or can be made; 0 when something else has its name. */
static int
is_hosts_file(call_ctx_t *ctx, fail_t *err)
{
    int there = fs_look(hosts_path(ctx), err);

    return there > 0 ? fs_look_file(hosts_path(ctx), err) : there == 0 ? 1 : there;
}

/* True when the address has the name; of a list, when it has all of them. An unknown address has none, not
 * even an empty list. */
static bool
pairs(const json_t *hosts, const char *ip, const json_t *alias)
{
    const json_t *names = value_get(value_get(hosts, ip), "aliases");
    json_t *one;
    size_t i;

    if (!json_is_array(alias))
        return value_has(names, alias);
    json_array_foreach (alias, i, one) {
        if (!value_has(names, one))
            return false;
    }
    return names != NULL;
}

/* ---- functions -------------------------------------------------------------------------------- */

static int
hosts_list_hosts(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = read_hosts(ctx, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* "" when no line has the name; of several addresses the first in the file. */
static int
hosts_get_ip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *hosts = read_hosts(ctx, err);
    const char *key, *found = "";
    json_t *host;

    if (hosts == NULL)
        return err->code;
    json_object_foreach (hosts, key, host) {
        if (*found == '\0' && value_lists(value_get(host, "aliases"), value_str(args, "host", "")))
            found = key;
    }
    *ret_value = json_string(found);
    return 0;
}

/* [] for an address that is not there. */
static int
hosts_get_alias(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *hosts = read_hosts(ctx, err);

    if (hosts == NULL)
        return err->code;
    json_t *names = value_get(value_get(hosts, IP(args)), "aliases");
    *ret_value = names != NULL ? json_incref(names) : json_array();
    return 0;
}

static int
hosts_has_pair(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *hosts = read_hosts(ctx, err);

    if (hosts == NULL)
        return err->code;
    *ret_value = json_boolean(pairs(hosts, IP(args), value_get(args, "alias")));
    return 0;
}

/* Calls back for each line of an address: `put` adds what takes its place. Other lines are copied. True when
 * there was one. `again` is false for the first such line only. */
static bool
hosts_change_lines(const char *text, const char *ip,
                   void (*put)(const json_t *args, char *line, bool again, buf_t *out), const json_t *args,
                   buf_t *out)
{
    bool found = false;

    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');
        AUTO_FREE char *copy = xstrndup(line, len), *word = NULL;
        char *trimmed = str_trim(copy);
        word = xstrndup(trimmed, strcspn(trimmed, " \t\r\v\f"));
        if (*trimmed != '#' && *trimmed != '\0' && strcmp(word, ip) == 0) {
            put(args, trimmed, found, out);
            found = true;
        } else {
            buf_add(out, line, whole);
        }
        line += whole;
    }
    return found;
}

/* The address's first line becomes the new one and its others go; an empty alias deletes all of them. Salt
 * says so in its help. */
static void
put_host(const json_t *args, char *line, bool again, buf_t *out)
{
    const char *comment = value_str(args, "comment", ""), *alias = ALIAS(args);
    AUTO_FREE char *copy = xstrdup(alias);

    if (again || *str_trim(copy) == '\0')
        return;
    buf_printf(out, "%s\t\t%s%s%s\n", IP(args), alias, *comment != '\0' ? "\t\t# " : "", comment);
}

/* The line without a name, or nothing when it has no other. A name may be listed several times in a line, and
 * goes with each. */
static void
put_without(const json_t *args, char *line, bool again, buf_t *out)
{
    char *hash = strchr(line, '#');
    const char *comment = hash != NULL ? hash + 1 + strspn(hash + 1, " \t\r\v\f") : "";
    buf_auto_t names = BUF_INIT;

    if (hash != NULL)
        *hash = '\0';
    char **words = str_split(line, " \t\r\v\f", true);
    for (size_t i = 1; words[i] != NULL; i++) {
        if (strcmp(words[i], ALIAS(args)) != 0)
            buf_printf(&names, "%s ", words[i]);
    }
    if (names.len > 0)
        buf_printf(out, "%s\t\t%s%s%s\n", words[0], names.data, *comment != '\0' ? "# " : "", comment);
    strv_free(words);
}

/* A name with "#" would turn the rest of its line into a comment, and a line break would be a line of its
 * own, with any address. A list of names is checked one by one. */
static int
check_fields(const json_t *args, fail_t *err)
{
    int rc = field_check_text("ip", IP(args), FIELD_WORD "#", err);

    rc = rc == 0 ? field_check("alias", value_get(args, "alias"), FIELD_LINE "#", err) : rc;
    return rc == 0 ? field_check("comment", value_get(args, "comment"), FIELD_LINE, err) : rc;
}

/* Names that the address had before are gone: set_host replaces, add_host adds. A new line goes to the
 * end. */
static int
hosts_set_host(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    int rc = check_fields(args, err), file = rc == 0 ? is_hosts_file(ctx, err) : rc;

    if (file == 0)
        *ret_value = json_false();
    if (file <= 0)
        return file;
    if ((rc = fs_read_any(hosts_path(ctx), LIMIT_FILE_READ, &before, err)) < 0)
        return rc;
    if (!hosts_change_lines(buf_str(&before), IP(args), put_host, args, &after)) {
        /* The last line may lack its end. */
        if (after.len > 0 && after.data[after.len - 1] != '\n')
            buf_putc(&after, '\n');
        put_host(args, NULL, false, &after);
    }
    *ret_value = json_true();
    return put_hosts(ctx, &after, err);
}

/* True as well when the pair was not there, and the file is left alone then. */
static int
hosts_rm_host(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *hosts = read_hosts(ctx, err);
    buf_auto_t before = BUF_INIT, after = BUF_INIT;

    if (hosts == NULL)
        return err->code;
    *ret_value = json_true();
    if (!pairs(hosts, IP(args), value_get(args, "alias")))
        return 0;
    int rc = fs_read(hosts_path(ctx), LIMIT_FILE_READ, &before, err);
    if (rc < 0)
        return rc;
    (void) hosts_change_lines(buf_str(&before), IP(args), put_without, args, &after);
    return put_hosts(ctx, &after, err);
}

/* A list is appended as it is, one element, which value_joined() writes as Salt does. */
static int
hosts_add_host(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int rc = check_fields(args, err), file = rc == 0 ? is_hosts_file(ctx, err) : rc;
    json_auto_t *hosts = file > 0 ? read_hosts(ctx, err) : NULL;

    if (file == 0)
        *ret_value = json_false();
    if (hosts == NULL)
        return file == 0 ? 0 : err->code;
    *ret_value = json_true();
    if (pairs(hosts, IP(args), value_get(args, "alias")))
        return 0;
    if (value_get(hosts, IP(args)) == NULL)
        json_object_set_new(hosts, IP(args), json_pack("{s:[]}", "aliases"));
    json_array_append(value_get(value_get(hosts, IP(args)), "aliases"), value_get(args, "alias"));
    return write_hosts(ctx, hosts, err);
}

/* False for an address that is not there; the same comment again writes nothing. */
static int
hosts_set_comment(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int rc = check_fields(args, err), file = rc == 0 ? is_hosts_file(ctx, err) : rc;
    json_auto_t *hosts = file > 0 ? read_hosts(ctx, err) : NULL;
    json_t *comment = value_get(args, "comment");

    if (file < 0 || (file > 0 && hosts == NULL))
        return err->code;
    json_t *host = value_get(hosts, IP(args));
    *ret_value = json_boolean(json_is_object(host));
    if (!json_is_object(host) || value_equal(value_get(host, "comment"), comment))
        return 0;
    json_object_set(host, "comment", comment);
    return write_hosts(ctx, hosts, err);
}

/* ---- table ------------------------------------------------------------------------------------ */

#define IP_ROW    ARG("ip", ARG_STR, ARG_REQUIRED, "The address")
#define ALIAS_ROW ARG("alias", ARG_STR, ARG_REQUIRED, "The host name")

static const arg_t host_args[] = { ARG("host", ARG_STR, ARG_REQUIRED, "The host name"), ARGS_END };
static const arg_t ip_args[] = { IP_ROW, ARGS_END };
static const arg_t alias_args[] = { IP_ROW, ALIAS_ROW, ARGS_END };
static const arg_t pair_args[] = { IP_ROW,
                                   ARG("alias", ARG_ANY, ARG_REQUIRED, "A host name, or a list of them"),
                                   ARGS_END };
static const arg_t comment_args[] = { IP_ROW, ARG("comment", ARG_STR, ARG_REQUIRED, "The comment"),
                                      ARGS_END };
static const arg_t set_args[] = {
    IP_ROW, ARG("alias", ARG_STR, ARG_REQUIRED, "Host names with blanks between; \"\": no line"),
    ARG("comment", ARG_STR, "null", "A comment behind them"), ARGS_END
};

static const func_t funcs[] = {
    { "add_host", hosts_add_host, alias_args, 0,
      "Add a name to an address." CLI_EXAMPLE("salt '*' hosts.add_host 10.0.0.5 web1") },
    { "get_alias", hosts_get_alias, ip_args, FN_READONLY,
      "Return the names of an address." CLI_EXAMPLE("salt '*' hosts.get_alias 10.0.0.5") },
    { "get_ip", hosts_get_ip, host_args, FN_READONLY,
      "Return the address of a name, or \"\"." CLI_EXAMPLE("salt '*' hosts.get_ip web1") },
    { "has_pair", hosts_has_pair, pair_args, FN_READONLY,
      "Return whether an address has a name, or all of a list." CLI_EXAMPLE(
          "salt '*' hosts.has_pair 10.0.0.5 web1") },
    { "list_hosts", hosts_list_hosts, NULL, FN_READONLY,
      "Return all addresses with their names." CLI_EXAMPLE("salt '*' hosts.list_hosts") },
    { "rm_host", hosts_rm_host, alias_args, 0,
      "Take a name away from an address." CLI_EXAMPLE("salt '*' hosts.rm_host 10.0.0.5 web1") },
    { "set_comment", hosts_set_comment, comment_args, 0,
      "Set the comment of an address." CLI_EXAMPLE("salt '*' hosts.set_comment 10.0.0.5 'the front'") },
    { "set_host", hosts_set_host, set_args, 0,
      "Give an address these names and no others." CLI_EXAMPLE(
          "salt '*' hosts.set_host 10.0.0.5 'web1 www'") },
};

PLUGIN(exec, hosts, .doc = "The file of host names", FUNCS(funcs));
