/* conf_id.c - valid ids, and the id of a minion that has none configured: Salt's generate_minion_id().
 *
 * Sources in order: the cached minion_id, the resolver's name of this host, gethostname(), /etc/hostname and
 * its like, the first IPv4 address, "localhost". */
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/conf/conf_int.h"
#include "salt/limits.h"
#include "salt/value.h"

#define ID_FILE "minion_id"

enum { NAME_FILE_MAX = 65536, RESOLVER_MAX = 65536 };

/* An id becomes a file name, part of a tag, and a word of targets, lists, patterns, command lines and YAML.
 * Its characters have no meaning in any of them, so that no id can be read as another, or as several. */
#define ID_BEGINS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define ID_CHARS  ID_BEGINS ".-:"
#define ID_RULE                                                                                              \
    "an id has letters from a to z in any case, digits and . _ - : only, and begins with a letter, a digit " \
    "or _"

bool
conf_id_valid(const char *id, fail_t *err)
{
    size_t len = strlen(id), first = strspn(id, ID_BEGINS), pos = strspn(id, ID_CHARS);

    if (len == 0 || len > LIMIT_ID_LEN) {
        fail_set(err, -EINVAL, "the id has %zu bytes: from 1 to %d are allowed", len, LIMIT_ID_LEN);
        return false;
    }
    if (first > 0 && pos == len) {
        static const char *const operators[] = { "and", "or", "not" };
        for (size_t i = 0; i < NELEMS(operators); i++)
            if (strcasecmp(operators[i], id) == 0)
                return fail_set(err, -EINVAL, "the id '%s' is a word of compound targets (and, or, not)",
                                id) == 0;
        return true;
    }

    /* The first character that is invalid is told without printing anything that a terminal could
     * interpret. */
    pos = first == 0 ? 0 : pos;
    AUTO_FREE char *shown = xstrndup(id, pos);
    uint32_t cp = (unsigned char) id[pos];
    size_t n = utf8_next(id + pos, strlen(id + pos), &cp);
    AUTO_FREE char *what = n == 0 || cp <= 0x20 ? xasprintf("a byte 0x%02x", (unsigned char) id[pos])
                           : cp >= 0x7f         ? xasprintf("the character U+%04X", (unsigned) cp)
                                                : xasprintf("'%c'", (int) cp);
    fail_set(err, -EINVAL, "the id '%s...' has %s at position %zu: %s%s", shown, what, pos + 1, ID_RULE,
             n > 0 && cp >= 0x80 ? " (a host's name in other letters has a form that begins with xn--)" : "");
    return false;
}

/* Every run of other characters becomes a '-'. NEW; NULL when nothing valid is left. */
char *
conf_id_near(const char *name)
{
    buf_auto_t near = BUF_INIT;

    for (const char *at = name; *at != '\0' && near.len < LIMIT_ID_LEN; at++) {
        if (strchr(near.len == 0 ? ID_BEGINS : ID_CHARS, *at) != NULL)
            buf_putc(&near, *at);
        else if (near.len > 0 && near.data[near.len - 1] != '-')
            buf_putc(&near, '-');
    }
    while (near.len > 0 && near.data[near.len - 1] == '-')
        near.len--;
    AUTO_FREE char *id = xstrndup(near.len > 0 ? near.data : "", near.len);
    return conf_id_valid(id, NULL) ? STEAL(id) : NULL;
}

/* NEW copy of a name that identifies the host; NULL for names and addresses that every host has. */
static char *
useful(const char *name)
{
    static const char *const starts[] = { "localhost", "ip6-", "ipv6-",  "127.",
                                          "0.0.0.0",   "::1",  "fe00::", "fe02::" };

    for (size_t i = 0; i < NELEMS(starts); i++) {
        if (str_starts(name, starts[i]))
            return NULL;
    }
    if (*name == '\0' || (str_starts(name, "1.0.0.") && str_ends(name, ".ip6.arpa")))
        return NULL;
    return xstrdup(name);
}

/* The resolver's name for `host`: the first with a dot, else the canonical one. NEW or NULL. May block on
 * DNS. */
static char *
resolve_fqdn(const char *host)
{
    struct addrinfo *found = NULL;
    struct hostent entry, *result = NULL;
    AUTO_FREE char *work = xcalloc(1, RESOLVER_MAX);
    int herr;

    if (getaddrinfo(host, NULL, NULL, &found) != 0)
        return NULL;
    bool v6 = found->ai_family == AF_INET6;
    const void *addr = v6 ? (const void *) &((struct sockaddr_in6 *) (void *) found->ai_addr)->sin6_addr
                          : (const void *) &((struct sockaddr_in *) (void *) found->ai_addr)->sin_addr;
    int rc = gethostbyaddr_r(addr, v6 ? sizeof(struct in6_addr) : sizeof(struct in_addr), found->ai_family,
                             &entry, work, RESOLVER_MAX, &result, &herr);
    freeaddrinfo(found);
    if (rc != 0 || result == NULL)
        return NULL;
    const char *best = result->h_name;
    for (char **alias = result->h_aliases; strchr(best, '.') == NULL && *alias != NULL; alias++) {
        if (strchr(*alias, '.') != NULL)
            best = *alias;
    }
    return xstrdup(best);
}

/* The first useful name in a file such as /etc/hosts: of lines with a single word, or of the host's own
 * addresses. NEW or NULL. */
static char *
name_from_file(const char *path)
{
    buf_auto_t text = BUF_INIT;
    char *name = NULL;

    if (fs_read(path, NAME_FILE_MAX, &text, NULL) < 0)
        return NULL;
    char **lines = str_split(buf_str(&text), "\n", true);
    for (size_t i = 0; name == NULL && lines[i] != NULL; i++) {
        lines[i][strcspn(lines[i], "#")] = '\0';
        char **words = str_split(lines[i], " \t\r", true);
        size_t n = strv_len(words);
        bool own = n == 1 || (n > 1 && (str_starts(words[0], "127.") || str_starts(words[0], "::1")));
        for (size_t w = 0; own && name == NULL && w < n; w++)
            name = useful(words[w]);
        strv_free(words);
    }
    strv_free(lines);
    return name;
}

/* The first IPv4 address that is not loopback. NEW or NULL. */
static char *
first_address(void)
{
    struct ifaddrs *all = NULL;
    char text[INET_ADDRSTRLEN];
    char *found = NULL;

    if (getifaddrs(&all) != 0)
        return NULL;
    for (const struct ifaddrs *i = all; found == NULL && i != NULL; i = i->ifa_next) {
        if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET)
            continue;
        const struct sockaddr_in *in = (const struct sockaddr_in *) (const void *) i->ifa_addr;
        if (inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)) != NULL)
            found = useful(text);
    }
    freeifaddrs(all);
    return found;
}

/* Guess the host's name. NEW. Only a minion asks the resolver: the master's tools start often and need just a
 * label. */
static char *
guess_name(conf_side_t side)
{
    static const char *const files[] = { "/etc/hostname", "/etc/nodename", "/etc/hosts" };
    char host[256] = "";
    char *name = NULL;

    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    AUTO_FREE char *fqdn = side == CONF_MINION && *host != '\0' ? resolve_fqdn(host) : NULL;
    if (fqdn != NULL)
        name = useful(fqdn);
    if (name == NULL)
        name = useful(host);
    for (size_t i = 0; name == NULL && i < NELEMS(files); i++)
        name = name_from_file(files[i]);
    if (name == NULL)
        name = first_address();
    return name != NULL ? name : xstrdup("localhost");
}

/* The first line of minion_id beside the configuration. NEW or NULL, with *err when it can't be read. */
static char *
cached_id(const json_t *opts, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    AUTO_FREE char *path = fs_join(value_str(opts, "config_dir", ""), ID_FILE);

    if (!value_bool(opts, "minion_id_caching", true) || fs_absent(path) ||
        fs_read(path, NAME_FILE_MAX, &text, err) < 0 || text.len == 0)
        return NULL;
    text.data[strcspn(text.data, "\n")] = '\0';
    const char *line = str_starts(text.data, "\xef\xbb\xbf") ? text.data + 3 : text.data;
    AUTO_FREE char *copy = xstrdup(line);
    const char *name = str_trim(copy);
    return *name != '\0' && !str_eq(name, "localhost") ? xstrdup(name) : NULL;
}

/* A cached id is taken as it is. A cache that exists and cannot be read is an error: under another id the
 * minion would be a new one to its master. */
char *
conf_guess_id(const json_t *opts, conf_side_t side, bool *ret_is_address, char **ret_from, fail_t *err)
{
    struct in_addr unused;
    fail_auto_t why = FAIL_INIT;
    char *name = cached_id(opts, &why);

    *ret_is_address = false;
    *ret_from = name != NULL ? fs_join(value_str(opts, "config_dir", ""), ID_FILE)
                             : xstrdup("the host's name");
    if (name == NULL && why.code != 0)
        (void) fail_set(err, why.code, "%s; without it the minion would go by the host's name",
                        fail_text(&why));
    if (name != NULL || why.code != 0)
        return name;
    name = guess_name(side);
    *ret_is_address = inet_pton(AF_INET, name, &unused) == 1;
    for (char *p = name; value_bool(opts, "minion_id_lowercase", false) && *p != '\0'; p++) {
        if (*p >= 'A' && *p <= 'Z')
            *p = (char) (*p | 0x20);
    }
    if (!*ret_is_address) {
        /* Apply minion_id_remove_domain: true cuts at the first dot, a text cuts that domain. */
        const json_t *how = json_object_get(opts, "minion_id_remove_domain");
        const char *domain = json_string_value(how);
        size_t len = strlen(name), tail = domain != NULL ? strlen(domain) : 0;
        if (json_is_true(how))
            name[strcspn(name, ".")] = '\0';
        else if (tail > 0 && len > tail && name[len - tail - 1] == '.' &&
                 strcasecmp(name + len - tail, domain) == 0)
            name[len - tail - 1] = '\0';
    }
    return name;
}
