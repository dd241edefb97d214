/* nsupdate.c - see nsupdate.h. Queries run dig, updates run nsupdate with a script on its standard input. All
 * words are checked before, so that neither program takes one for an option, nor nsupdate one for another
 * command. The TSIG key is part of the script, so it never shows in a process list. */
#include "common/host/nsupdate.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <sys/socket.h>

#include "common/base/fs.h"
#include "common/host/prog.h"
#include "common/base/str.h"
#include "salt/limits.h"

#define TIMEOUT_S   5   /* where the call names none */
#define TIMEOUT_MAX 300 /* seconds */

/* YAML's None, which a reactor file passes as a text. */
static const char *
nsupdate_given(const json_t *args, const char *key)
{
    const char *text = value_str(args, key, NULL);

    return str_empty(text) || str_eq(text, "None") ? NULL : text;
}

/* Rejects text that nsupdate or dig would not read as one word: white space, control characters, a leading
 * option dash. */
static int
check_word(const char *what, const char *text, fail_t *err)
{
    bool good = text[0] != '\0' && strchr("-+@;", text[0]) == NULL;

    for (const char *c = text; *c != '\0'; c++)
        good = good && (unsigned char) *c > ' ' && *c != 0x7f;
    return good ? 0 : fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s: '%s' is not valid", what, text);
}

/* ---- the key ------------------------------------------------------------------------------------------- */

/* Reads the JSON keyring and makes nsupdate's "key" line. Without a keyfile updates are not signed. */
static int
nsupdate_load_key(zone_t *self, const json_t *args, fail_t *err)
{
    const char *file = nsupdate_given(args, "keyfile"), *name = nsupdate_given(args, "keyname");
    const char *home = getenv("HOME"), *given = value_str(args, "keyalgorithm", "hmac-md5");
    buf_auto_t text = BUF_INIT;

    if (file == NULL)
        return 0;
    bool at_home = str_starts(file, "~/") && home != NULL;
    AUTO_FREE char *path = at_home ? fs_join(home, file + 2) : xstrdup(file);

    /* "HMAC-MD5.SIG-ALG.REG.INT" and "hmac-md5" are one. */
    AUTO_FREE char *algorithm = xstrndup(given, strcspn(given, "."));
    for (char *c = algorithm; *c != '\0'; c++)
        *c = (char) tolower((unsigned char) *c);
    if (check_word("keyalgorithm", algorithm, err) < 0 || fs_read(path, LIMIT_KEY_FILE, &text, err) < 0)
        return -EINVAL;
    json_auto_t *ring = value_parse(buf_str(&text), text.len, LIMIT_KEY_FILE, path, err);
    if (ring == NULL)
        return -EINVAL;

    /* The keyring is {name: secret}; without a name the first one is taken. */
    void *first = json_object_iter(ring);
    if (name == NULL)
        name = first != NULL ? json_object_iter_key(first) : "";
    const char *secret = value_str(ring, name, NULL);
    if (secret == NULL)
        (void) fail_kind(err, FAIL_INVOCATION, -ENOENT, "keyfile %s has no key '%s'", path, name);
    if (secret == NULL || check_word("keyname", name, err) < 0 || check_word("keyfile", secret, err) < 0)
        return -EINVAL;
    self->key = xasprintf("key %s:%s %s\n", algorithm, name, secret);
    return 0;
}

/* ---- the server ---------------------------------------------------------------------------------------- */

/* Checks server, port, timeout and zone, and loads the key. self->name and self->server are BORROWED from
 * args. */
int
zone_init(zone_t *self, const json_t *args, fail_t *err)
{
    struct in6_addr unused;
    json_int_t timeout = value_int(args, "timeout", TIMEOUT_S), port = value_int(args, "port", 53);

    *self = (zone_t){ .name = value_str(args, "zone", ""), .server = value_str(args, "nameserver", "") };
    if (inet_pton(AF_INET, self->server, &unused) != 1 && inet_pton(AF_INET6, self->server, &unused) != 1)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "nameserver: '%s' is not an IP address",
                         self->server);
    if (port < 1 || port > UINT16_MAX || timeout < 1 || timeout > TIMEOUT_MAX)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "port is 1 to %d, timeout 1 to %d seconds",
                         UINT16_MAX, TIMEOUT_MAX);
    self->port = (int) port;
    self->timeout_s = (int) timeout;
    return check_word("zone", self->name, err) < 0 ? -EINVAL : nsupdate_load_key(self, args, err);
}

void
zone_free(zone_t *self)
{
    free(self->key);
    self->key = NULL;
}

/* Begins a command line with the program's path; the error names the package to install. */
static int
add_program(prog_t *prog, const char *name, fail_t *err)
{
    AUTO_FREE char *path = fs_which(name);

    if (path == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "The program %s is not installed (Debian: package bind9-dnsutils)", name);
    prog_add(prog, path);
    return 0;
}

/* ---- asking -------------------------------------------------------------------------------------------- */

/* "name ttl IN TYPE data" into `out`. */
static void
nsupdate_take_record(char *line, json_t *out)
{
    char *word[4], *at = line;

    for (int i = 0; i < 4; i++) {
        word[i] = at;
        at += strcspn(at, " \t");
        if (*at == '\0')
            return;
        *at++ = '\0';
        at += strspn(at, " \t");
    }
    if (line[0] != ';')
        json_array_append_new(out,
                              json_pack("{s:I, s:s, s:s}", "ttl", (json_int_t) strtoll(word[1], NULL, 10),
                                        "type", word[3], "data", at));
}

/* Asks the server itself (+norecurse, one try), so that a cache can't answer. -ETIMEDOUT when it does not
 * answer. */
json_t *
zone_query(const zone_t *self, const char *fqdn, const char *type, fail_t *err)
{
    prog_auto_t dig = PROG_INIT;

    if (check_word("name", fqdn, err) < 0 || check_word("rdtype", type, err) < 0 ||
        add_program(&dig, "dig", err) < 0)
        return NULL;
    prog_adds(&dig, "-r", "-p", NULL);
    prog_addf(&dig, "%d", self->port);
    prog_addf(&dig, "@%s", self->server);
    prog_adds(&dig, "-t", type, "-q", fqdn, "+noall", "+answer", "+tries=1", "+norecurse", NULL);
    prog_addf(&dig, "+time=%d", self->timeout_s);
    json_auto_t *ran = prog_run_all(&dig, err);
    if (ran == NULL)
        return NULL;
    const char *said = value_str(ran, "stdout", "");
    if (value_int(ran, "retcode", 1) != 0) {
        (void) fail_kind(err, FAIL_COMMAND, -ETIMEDOUT, "The name server %s port %d does not answer: %s",
                         self->server, self->port, said[strspn(said, "; \n")] != '\0' ? said : "no reply");
        return NULL;
    }
    json_t *out = json_array();
    char **lines = str_split(said, "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++)
        nsupdate_take_record(lines[i], out);
    strv_free(lines);
    return out;
}

/* ---- changing ------------------------------------------------------------------------------------------ */

/* 1 when the update was made, 0 with *ret_why NEW when the server refused it, or a negative errno. */
int
zone_update(const zone_t *self, const char *lines, char **ret_why, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *script = xasprintf("server %s %d\nzone %s\n%s%s\nsend\n", self->server, self->port,
                                       self->name, self->key != NULL ? self->key : "", lines);

    if (add_program(&prog, "nsupdate", err) < 0)
        return -ENOENT;
    prog_add(&prog, "-t");
    prog_addf(&prog, "%d", self->timeout_s);
    prog.in = script;
    json_auto_t *ran = prog_run_all(&prog, err);
    if (ran == NULL)
        return -EIO;
    const char *said = value_str(ran, "stderr", "");
    if (value_int(ran, "retcode", 1) == 0)
        return 1;
    /* "update failed: REFUSED" is the server's word; anything else is a failure of the program or the
     * network. */
    const char *at = strstr(said, "update failed: ");
    if (at != NULL) {
        at += strlen("update failed: ");
        *ret_why = xstrndup(at, strcspn(at, " \r\n"));
        return 0;
    }
    return fail_kind(err, FAIL_COMMAND, -EIO, "nsupdate: %s", said);
}

/* Data may have spaces, but it is one line. */
int
zone_check_data(const char *data, fail_t *err)
{
    bool good = data[0] != '\0';

    for (const char *c = data; *c != '\0'; c++)
        good = good && (unsigned char) *c >= ' ' && *c != 0x7f;
    return good ? 0 : fail_kind(err, FAIL_INVOCATION, -EINVAL, "data: '%s' is not a record's data", data);
}

/* Ignores case, quotes and a final dot. */
bool
zone_same_data(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        if (*a == '"') {
            a++;
        } else if (*b == '"') {
            b++;
        } else if (tolower((unsigned char) *a) != tolower((unsigned char) *b)) {
            /* "host.zone" and "host.zone." */
            return (strcmp(a, ".") == 0 && *b == '\0') || (strcmp(b, ".") == 0 && *a == '\0');
        } else {
            a++;
            b++;
        }
    }
    return true;
}
