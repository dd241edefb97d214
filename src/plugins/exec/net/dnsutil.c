/* dnsutil.c - execution module `dnsutil`: names and addresses, by dig where it is there; files of hosts and
 * of zones. The files' formats are hosts(5) and RFC 1035, section 5; the reader of zones follows Salt's, with
 * what that leaves out ($INCLUDE, several MX, quoted texts), so that the same file gives the same object. */
#include <netdb.h>
#include <arpa/inet.h>
#include <time.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

/* ---- names --------------------------------------------------------------------------------------- */

/* What a function asks dig, and the family that the host's own resolver can be asked for instead; 0: none.
 * The rows' data. */
typedef struct dns_question {
    const char *fun;
    int family;
} dns_question_t;
static const dns_question_t q_a = { "dig.A", AF_INET };
static const dns_question_t q_aaaa = { "dig.AAAA", AF_INET6 };
static const dns_question_t q_ns = { "dig.NS", 0 };
static const dns_question_t q_mx = { "dig.MX", 0 };
static const dns_question_t q_spf = { "dig.SPF", 0 };

/* The host's own answer: a list, or a text that says that there is none. NEW. SOCK_RAW makes getaddrinfo
 * return each address once instead of once for each protocol. */
static json_t *
resolved(const char *host, int family)
{
    struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_RAW }, *all = NULL;
    json_t *list = json_array();

    if (getaddrinfo(host, NULL, &hints, &all) != 0) {
        json_decref(list);
        return value_fmt("Unable to resolve %s", host);
    }
    for (const struct addrinfo *one = all; one != NULL; one = one->ai_next) {
        char text[NI_MAXHOST];
        if (getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0)
            json_array_append_new(list, json_string(text));
    }
    freeaddrinfo(all);
    return list;
}

/* Both modules' arguments have the same names, so that they are passed on as they are. Without dig only
 * addresses can be found, by the host's resolver, and only when the caller names no server: the resolver has
 * its own. */
static int
dnsutil_ask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const dns_question_t *question = ctx_row(ctx)->data.ptr;
    json_t *server = value_get(args, "nameserver");

    if (ctx_has(ctx, question->fun))
        return ctx_call(ctx, question->fun, NULL, args, ret_value, err);
    if (question->family != 0 && (server == NULL || json_is_null(server)))
        *ret_value = resolved(value_str(args, "host", ""), question->family);
    else
        *ret_value = json_string("This function requires dig, which is not currently available");
    return 0;
}

/* Salt has no test of its own here, and says that dig is missing where dig would not be needed. */
static int
dnsutil_check_ip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (ctx_has(ctx, "dig.check_ip"))
        *ret_value = sub_call(ctx, err, "dig.check_ip", "{s:O}", "addr", value_get(args, "ip_addr"));
    else
        *ret_value = json_string("This function requires dig, which is not currently available");
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- files of hosts ------------------------------------------------------------------------------ */

/* {address: [name]}. `text` is cut. NEW. An address that has several lines gets the names of all of them.
 * Comments behind a name are read as names, as Salt reads them. */
static json_t *
dnsutil_hosts_of(char *text)
{
    json_t *all = json_object();

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char **words = *line != '#' ? str_split(line, " \t\r\v\f", true) : NULL;
        json_t *names = words != NULL && words[0] != NULL ? value_get(all, words[0]) : NULL;
        if (names == NULL && words != NULL && words[0] != NULL) {
            names = json_array();
            json_object_set_new(all, words[0], names);
        }
        for (size_t i = 1; names != NULL && words[i] != NULL; i++)
            json_array_append_new(names, json_string(words[i]));
        strv_free(words);
    }
    return all;
}

/* A text given wins over the file; a file that can't be read is a text as the answer, not an error. */
static int
dnsutil_parse_hosts(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *given = value_str(args, "hosts", "");
    buf_auto_t text = BUF_INIT;

    if (*given != '\0')
        buf_puts(&text, given);
    else if (fs_read(value_str(args, "hostsfile", ""), LIMIT_FILE_READ, &text, NULL) < 0) {
        *ret_value = json_string("Error: hosts data was not found");
        return 0;
    }
    AUTO_FREE char *copy = xstrdup(buf_str(&text));
    *ret_value = dnsutil_hosts_of(copy);
    return 0;
}

/* The names of "a,b"; each is one word. NULL with *err. NEW, ends with NULL. A blank within a name would put
 * two names into the line. */
static char **
entries_of(const json_t *args, fail_t *err)
{
    const char *entries = value_str(args, "entries", "");

    if (*entries == '\0') {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "entries: names with commas between are missing");
        return NULL;
    }
    return field_check_text("entries", entries, " \t", err) < 0 ? NULL : str_split(entries, ",", false);
}

/* The file stays open from reading to writing (partfile.h), so that no other file can take its place
 * meanwhile. Names that the address has already are not repeated; the others get a line of their own even
 * when the address has one. */
static int
dnsutil_hosts_append(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "hostsfile", ""), *address = value_str(args, "ip_addr", "");
    partfile_auto_t file = PARTFILE_INIT;
    buf_auto_t text = BUF_INIT, added = BUF_INIT;
    char **names = entries_of(args, err);

    if (names == NULL || field_check_text("ip_addr", address, " \t", err) < 0 ||
        partfile_open(&file, path, err) < 0 || partfile_read(&file, &text, err) < 0) {
        strv_free(names);
        return err->code;
    }
    AUTO_FREE char *copy = xstrdup(buf_str(&text));
    json_auto_t *hosts = dnsutil_hosts_of(copy);
    for (size_t i = 0; names[i] != NULL; i++) {
        json_auto_t *name = json_string(names[i]);
        if (!value_has(value_get(hosts, address), name))
            buf_printf(&added, " %s", names[i]);
    }
    strv_free(names);
    if (added.len == 0) {
        *ret_value = value_fmt("No additional hosts were added to %s", path);
        return 0;
    }
    /* The line break before the line is Salt's, and it is there also when the file ends with one. */
    buf_printf(&text, "\n%s%s", address, buf_str(&added));
    int rc = partfile_write(&file, text.data, text.len, &(landing_t){ .mode = 0644 }, err);
    *ret_value = value_fmt("The following line was added to %s:\n%s%s", path, address, buf_str(&added));
    return rc;
}

/* Adds the line without these names; a line that has no name left is left out. */
static void
add_without_names(const char *line, char *const *names, buf_t *out)
{
    char **words = str_split(line, " \t\r\v\f", true);
    buf_auto_t kept = BUF_INIT;

    for (size_t i = 1; words[0] != NULL && words[i] != NULL; i++) {
        bool gone = false;
        for (size_t k = 0; names[k] != NULL; k++)
            gone = gone || strcmp(names[k], words[i]) == 0;
        if (!gone)
            buf_printf(&kept, " %s", words[i]);
    }
    if (kept.len > 0)
        buf_printf(out, "%s%s\n", words[0], buf_str(&kept));
    strv_free(words);
}

/* Lines of comments and empty lines stay; every other line is written anew with single blanks. The names go
 * from all addresses. */
static int
dnsutil_hosts_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "hostsfile", "");
    partfile_auto_t file = PARTFILE_INIT;
    buf_auto_t text = BUF_INIT, after = BUF_INIT;
    char **names = entries_of(args, err);
    int rc = names != NULL ? partfile_edit(&file, path, err) : err->code;

    if (rc == 0)
        rc = fail_set(err, -ENOENT, "[Errno 2] No such file or directory: '%s'", path);
    rc = rc > 0 ? partfile_read(&file, &text, err) : rc;
    AUTO_FREE char *copy = rc == 0 ? xstrdup(buf_str(&text)) : NULL;
    for (char *at = copy, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        const char *first = line + strspn(line, " \t");
        if (*line == '\0' || *first == '#')
            buf_printf(&after, "%s\n", line);
        else
            add_without_names(line, names, &after);
    }
    strv_free(names);
    *ret_value = json_null();
    return rc == 0 ? partfile_write(&file, buf_str(&after), after.len, &(landing_t){ .mode = 0644 }, err)
                   : rc;
}

/* ---- files of zones ------------------------------------------------------------------------------ */

/* Seconds of "3H", "2D", "1W" or a number. More than a week is a week, by Salt's reading of RFC 1035, and so
 * is what can't be read. */
static json_t *
zone_seconds(const char *text)
{
    static const long long week = 604800;
    size_t n = strlen(text);
    char unit = n > 0 ? (char) (text[n - 1] & ~0x20) : '\0';
    long long by = unit == 'H' ? 3600 : unit == 'D' ? 86400 : unit == 'W' ? week : 1, number = 0;
    AUTO_FREE char *digits = xstrndup(text, by > 1 ? n - 1 : n);

    if (by == week || !str_to_int(digits, 0, week, &number))
        return json_integer(week);
    return json_integer(number * by < week ? number * by : week);
}

/* Member `key`, an object that is made when it is missing. BORROWED. */
static json_t *
zone_member(json_t *zone, const char *key)
{
    if (value_get(zone, key) == NULL)
        json_object_set_new(zone, key, json_object());
    return value_get(zone, key);
}

/* "ORIGIN IN SOA SOURCE CONTACT SERIAL REFRESH RETRY EXPIRE MINTTL", a TTL behind the origin left out. The
 * contact's first dot stands for "@". A record with fewer words is left out, where Salt ends with an
 * IndexError. */
static void
take_soa(json_t *zone, char **words, size_t n)
{
    static const char *const times[] = { "REFRESH", "RETRY", "EXPIRE", "MINTTL" };
    enum { SOURCE = 3, CONTACT, SERIAL, TIMES, WORDS = 10 };
    size_t gone = n > 1 && strcmp(words[1], "IN") != 0 ? 1 : 0;
    AUTO_FREE char *contact = n >= WORDS + gone ? xstrdup(words[CONTACT + gone]) : NULL;

    if (contact == NULL)
        return;
    if (strchr(contact, '.') != NULL)
        *strchr(contact, '.') = '@';
    json_object_set_new(zone, "ORIGIN", json_string(words[0]));
    json_object_set_new(zone, "NETWORK", json_string(words[1 + gone]));
    json_object_set_new(zone, "SOURCE", json_string(words[SOURCE + gone]));
    json_object_set_new(zone, "CONTACT", json_string(contact));
    json_object_set_new(zone, "SERIAL", json_string(words[SERIAL + gone]));
    for (size_t i = 0; i < NELEMS(times); i++)
        json_object_set_new(zone, times[i], zone_seconds(words[TIMES + i + gone]));
}

/* A record, as Salt reads its words: "NAME TTL IN A ADDRESS" or "NAME IN TYPE VALUE". `is_ns`: the line names
 * NS. Names without a dot at the end get the origin; on lines with the letters NS anywhere they do not, as by
 * Salt. A record whose third word is neither NS nor MX and whose fourth no A is kept under its third word. */
static void
take_record(json_t *zone, const json_t *words, bool is_ns)
{
    const char *origin = value_str(zone, "ORIGIN", "");
    const char *word[5] = { 0 };
    size_t n = 0;

    for (; n < NELEMS(word) && n < json_array_size(words); n++)
        word[n] = json_string_value(json_array_get(words, n));
    AUTO_FREE char *name = n > 0 && !str_ends(word[0], ".") && !is_ns ? xasprintf("%s.%s", word[0], origin)
                                                                      : xstrdup(n > 0 ? word[0] : "");
    if (n > 3 && strcmp(word[2], "NS") == 0) {
        if (value_get(zone, "NS") == NULL)
            json_object_set_new(zone, "NS", json_array());
        json_array_append_new(value_get(zone, "NS"), json_string(word[3]));
    } else if (n > 4 && strcmp(word[2], "MX") == 0) {
        if (value_get(zone, "MX") == NULL)
            json_object_set_new(zone, "MX", json_pack("[{s:s, s:s}]", "priority", word[3], "host", word[4]));
    } else if (n > 4 && (strcmp(word[3], "A") == 0 || strcmp(word[3], "AAAA") == 0)) {
        json_object_set_new(zone_member(zone, word[3]), name,
                            json_pack("{s:s, s:s}", "TARGET", word[4], "TTL", word[1]));
    } else if (n > 3) {
        json_object_set_new(zone_member(zone, word[2]), name, json_string(word[3]));
    }
}

/* One line, or several within parentheses, without comments. "@" is the origin wherever it stands. A record
 * that begins with its class belongs to the origin. */
static void
take_zone_line(json_t *zone, const char *line)
{
    const char *origin = value_str(zone, "ORIGIN", NULL);
    AUTO_FREE char *text = origin != NULL ? str_replace(line, "@", origin) : xstrdup(line);
    char **words = str_split(text, " \t\r\v\f", true);
    json_auto_t *list = json_array();

    if (strstr(line, "SOA") != NULL)
        take_soa(zone, words, strv_len(words));
    else {
        if (words[0] != NULL && strcmp(words[0], "IN") == 0)
            json_array_append_new(list, json_string(origin != NULL ? origin : ""));
        for (size_t i = 0; words[i] != NULL; i++)
            json_array_append_new(list, json_string(words[i]));
        take_record(zone, list, strstr(line, "NS") != NULL);
    }
    strv_free(words);
}

/* NEW {"ORIGIN", "SERIAL", ..., TYPE: {name: value}}. `text` is cut. A line that begins with "$" is a
 * directive and becomes a member by its name; parentheses join lines until the closing one. */
static json_t *
zone_of(char *text)
{
    json_t *zone = json_object();
    buf_auto_t several = BUF_INIT;
    bool open = false;

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        line[strcspn(line, ";")] = '\0';
        line = str_trim(line);
        if (*line == '$') {
            char **words = str_split(line, " \t", true);
            AUTO_FREE char *key = str_replace(words[0], "$", "");
            if (words[1] != NULL)
                json_object_set_new(zone, key, json_string(words[1]));
            strv_free(words);
            continue;
        }
        if (*line == '\0')
            continue;
        open = open || (strchr(line, '(') != NULL && strchr(line, ')') == NULL);
        buf_printf(&several, "%s%s", several.len > 0 ? " " : "", line);
        if (open && strchr(line, ')') == NULL)
            continue;
        AUTO_FREE char *left = open ? str_replace(buf_str(&several), "(", "") : xstrdup(buf_str(&several));
        AUTO_FREE char *whole = open ? str_replace(left, ")", "") : xstrdup(left);
        take_zone_line(zone, whole);
        buf_clear(&several);
        open = false;
    }
    return zone;
}

/* The text is used when the file can't be read, without a word on why: Salt swallows the error. */
static int
dnsutil_parse_zone(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "zonefile", "");
    buf_auto_t text = BUF_INIT;

    if (*path == '\0' || fs_read(path, LIMIT_FILE_READ, &text, NULL) < 0) {
        buf_clear(&text);
        buf_puts(&text, value_str(args, "zone", ""));
    }
    if (text.len == 0) {
        *ret_value = json_string("Error: Zone data was not found");
        return 0;
    }
    AUTO_FREE char *copy = xstrdup(buf_str(&text));
    *ret_value = zone_of(copy);
    return 0;
}

/* A zone's serial is kept as a grain: the day's date and two digits, or one more than the last. Without
 * `update` the serial is only told. The grain outlives restarts, which is why it is one. */
static int
dnsutil_serial(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *zone = value_str(args, "zone", "");
    AUTO_FREE char *key = xasprintf("dnsserial%s%s", *zone != '\0' ? "_" : "", zone);
    json_auto_t *kept = sub_call(ctx, err, "grains.get", "{s:s}", "key", key), *next = NULL, *set = NULL;
    char today[sizeof("YYYYMMDD01")];
    time_t now = time(NULL);
    struct tm day;
    long long number = 0;

    if (kept == NULL)
        return err->code;
    salt_assert(strftime(today, sizeof(today), "%Y%m%d01", localtime_r(&now, &day)) > 0);
    AUTO_FREE char *stored = value_pystr(kept);
    /* Ten digits each, so that the order of the texts is that of the numbers. */
    bool newer = value_truthy(kept) && strcmp(stored, today) >= 0;
    if (!value_truthy(value_get(args, "update"))) {
        *ret_value = value_truthy(kept) ? json_incref(kept) : json_string(today);
        return 0;
    }
    if (newer && !str_to_int(stored, 0, INT64_MAX - 1, &number))
        return fail_set(err, -EINVAL, "the grain %s is '%s', which is no serial", key, stored);
    next = newer ? value_fmt("%lld", number + 1) : json_string(today);
    set = sub_call(ctx, err, "grains.setval", "{s:s, s:O}", "key", key, "val", next);
    *ret_value = set != NULL ? json_incref(next) : NULL;
    return set != NULL ? 0 : err->code;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define SERVER_ROW ARG("nameserver", ARG_ANY, "null", "The server to ask; by default the host's")
#define DOMAIN_ROW ARG("domain", ARG_ANY, ARG_REQUIRED, "The domain")
#define FILE_ROW   ARG("hostsfile", ARG_STR, "\"/etc/hosts\"", "The file")

static const arg_t host_args[] = { ARG("host", ARG_STR, ARG_REQUIRED, "The name"), SERVER_ROW, ARGS_END };
static const arg_t ns_args[] = { DOMAIN_ROW,
                                 ARG("resolve", ARG_ANY, "true", "Return addresses; False: names"),
                                 SERVER_ROW, ARGS_END };
static const arg_t mx_args[] = { DOMAIN_ROW,
                                 ARG("resolve", ARG_ANY, "false", "Return an address in place of each name"),
                                 SERVER_ROW, ARGS_END };
static const arg_t spf_args[] = {
    DOMAIN_ROW, ARG("record", ARG_STR, "\"SPF\"", "Type of the record: SPF, then TXT; or TXT"), SERVER_ROW,
    ARGS_END
};
static const arg_t check_args[] = { ARG("ip_addr", ARG_ANY, ARG_REQUIRED, "The text"), ARGS_END };
static const arg_t parse_hosts_args[] = { FILE_ROW,
                                          ARG("hosts", ARG_STR, "null", "Its content, instead of the file"),
                                          ARGS_END };
static const arg_t append_args[] = { FILE_ROW, ARG("ip_addr", ARG_STR, "null", "The address"),
                                     ARG("entries", ARG_STR, "null", "Names, with commas between"),
                                     ARGS_END };
static const arg_t remove_args[] = { FILE_ROW, ARG("entries", ARG_STR, "null", "Names, with commas between"),
                                     ARGS_END };
static const arg_t zone_args[] = { ARG("zonefile", ARG_STR, "null", "The file"),
                                   ARG("zone", ARG_STR, "null", "Its content, where there is no file"),
                                   ARGS_END };
static const arg_t serial_args[] = { ARG("zone", ARG_STR, "\"\"", "The zone's name, part of the grain's"),
                                     ARG("update", ARG_ANY, "false", "Count up, and keep it"), ARGS_END };

static const func_t funcs[] = {
    { "A", dnsutil_ask, host_args, FN_READONLY,
      "Return a name's addresses of IPv4." CLI_EXAMPLE("salt ns1 dnsutil.A www.example.com"),
      .data.ptr = &q_a },
    { "AAAA", dnsutil_ask, host_args, FN_READONLY,
      "Return a name's addresses of IPv6." CLI_EXAMPLE("salt ns1 dnsutil.AAAA www.example.com"),
      .data.ptr = &q_aaaa },
    { "MX", dnsutil_ask, mx_args, FN_READONLY,
      "Return who takes a domain's mail." CLI_EXAMPLE("salt ns1 dnsutil.MX example.com"), .data.ptr = &q_mx },
    { "NS", dnsutil_ask, ns_args, FN_READONLY,
      "Return a domain's name servers." CLI_EXAMPLE("salt ns1 dnsutil.NS example.com"), .data.ptr = &q_ns },
    { "SPF", dnsutil_ask, spf_args, FN_READONLY,
      "Return the networks that may send a domain's mail." CLI_EXAMPLE("salt ns1 dnsutil.SPF example.com"),
      .data.ptr = &q_spf },
    { "check_ip", dnsutil_check_ip, check_args, FN_READONLY,
      "Return whether a text is an address." CLI_EXAMPLE("salt ns1 dnsutil.check_ip 127.0.0.1") },
    { "hosts_append", dnsutil_hosts_append, append_args, 0,
      "Add names to a file of hosts, in one line." CLI_EXAMPLE(
          "salt '*' dnsutil.hosts_append /etc/hosts 127.0.0.1 ad1.example.com,ad2.example.com") },
    { "hosts_remove", dnsutil_hosts_remove, remove_args, 0,
      "Remove names from a file of hosts." CLI_EXAMPLE(
          "salt '*' dnsutil.hosts_remove /etc/hosts ad1.example.com") },
    { "parse_hosts", dnsutil_parse_hosts, parse_hosts_args, FN_READONLY,
      "Return what a file of hosts says." CLI_EXAMPLE("salt '*' dnsutil.parse_hosts") },
    { "parse_zone", dnsutil_parse_zone, zone_args, FN_READONLY,
      "Return what a zone's file says." CLI_EXAMPLE(
          "salt ns1 dnsutil.parse_zone /var/lib/named/example.com.zone") },
    { "serial", dnsutil_serial, serial_args, 0,
      "Return a zone's serial, which a grain keeps." CLI_EXAMPLE(
          "salt ns1 dnsutil.serial example.com update=True") },
};

PLUGIN(exec, dnsutil, .doc = "Names, addresses and zones", FUNCS(funcs));
