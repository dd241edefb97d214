/* pgtext.c - see pgtext.h. Statements and answers of PostgreSQL as texts: quoting, psql's CSV, arrays, access
 * lists, passwords as the server keeps them. */
#include "plugins/lib/database/pgtext.h"

#include <ctype.h>
#include <stdarg.h>
#include <sys/random.h>

#include "common/base/base64.h"
#include "common/base/digest.h"
#include "common/base/str.h"

/* ---- SQL -------------------------------------------------------------------------------------- */

/* A name is anything between ", doubled in it. A value with a backslash gets the form whose meaning no
 * setting of the server changes. standard_conforming_strings, when it is off, gives backslashes a meaning in
 * plain texts; an E'' text has that meaning always. The blank before the E parts it from a word that may
 * stand there. */
static void
pgtext_add_quoted(buf_t *sql, const char *text, char quote)
{
    bool escapes = quote == '\'' && strchr(text, '\\') != NULL;

    buf_puts(sql, escapes ? " E" : "");
    buf_putc(sql, quote);
    for (; *text != '\0'; text++) {
        if (*text == quote || (escapes && *text == '\\'))
            buf_putc(sql, *text);
        buf_putc(sql, *text);
    }
    buf_putc(sql, quote);
}

/* "?" is a value, "~" a name, "$" a piece of SQL that the caller has made; every other character is the
 * statement's. */
static void
vadd(buf_t *sql, const char *fmt, va_list ap)
{
    for (; *fmt != '\0'; fmt++) {
        if (*fmt == '?')
            pgtext_add_quoted(sql, va_arg(ap, const char *), '\'');
        else if (*fmt == '~')
            pgtext_add_quoted(sql, va_arg(ap, const char *), '"');
        else if (*fmt == '$')
            buf_puts(sql, va_arg(ap, const char *));
        else
            buf_putc(sql, *fmt);
    }
}

void
pgtext_add(buf_t *sql, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vadd(sql, fmt, ap);
    va_end(ap);
}

char *
pgtext_sql(const char *fmt, ...)
{
    buf_t sql = BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    vadd(&sql, fmt, ap);
    va_end(ap);
    return buf_steal(&sql);
}

/* ---- CSV and arrays --------------------------------------------------------------------------- */

/* One field from *at into `out`; *at stays at what ends it. `escape`: what makes the next character itself.
 * CSV doubles the quote within quotes; an array of PostgreSQL has a backslash before it. Both are the same
 * loop otherwise. */
static void
csv_field(const char **at, buf_t *out, char escape)
{
    const char *p = *at;
    bool quoted = false;

    for (; *p != '\0' && (quoted || (*p != ',' && *p != '\n')); p++) {
        if (quoted && *p == escape && escape != '"' && p[1] != '\0')
            buf_putc(out, *++p);
        else if (quoted && escape == '"' && p[0] == '"' && p[1] == '"')
            buf_putc(out, *p++);
        else if (*p == '"')
            quoted = !quoted;
        else
            buf_putc(out, *p);
    }
    *at = p;
}

/* All fields up to the end of the line, which may be within none of them: a quoted field holds line feeds.
 * NEW list. */
static json_t *
csv_line(const char **at, char escape)
{
    json_t *row = json_array();

    for (;;) {
        buf_auto_t field = BUF_INIT;
        csv_field(at, &field, escape);
        json_array_append_new(row, value_utf8(buf_str(&field), field.len));
        if (**at != ',')
            break;
        (*at)++;
    }
    *at += **at == '\n';
    return row;
}

/* Rows of `psql --csv` as dictionaries by the names of the first line. A field that is missing at the end of
 * a row is left out. NEW list. */
json_t *
pgtext_csv(const char *text)
{
    json_auto_t *header = NULL;
    json_t *rows = json_array(), *name;
    size_t i;

    for (const char *at = text; *at != '\0';) {
        if (*at == '\n') { /* a single column that is NULL */
            at++;
            continue;
        }
        json_auto_t *row = csv_line(&at, '"');
        if (header == NULL) {
            header = json_incref(row);
            continue;
        }
        json_t *dict = json_object();
        json_array_foreach (header, i, name) {
            if (i < json_array_size(row))
                json_object_set(dict, json_string_value(name), json_array_get(row, i));
        }
        json_array_append_new(rows, dict);
    }
    return rows;
}

/* "{a,b}" as a list. A text that is no array is a list of that one, as it may come of a column that was none.
 * Arrays in arrays are not taken apart: nothing that is asked for has them. NEW. */
json_t *
pgtext_array(const char *text)
{
    size_t len = strlen(text);

    if (len < 2 || text[0] != '{' || text[len - 1] != '}')
        return *text == '\0' ? json_array() : json_pack("[s]", text);
    AUTO_FREE char *inner = xstrndup(text + 1, len - 2);
    const char *at = inner;
    return *at == '\0' ? json_array() : csv_line(&at, '\\');
}

/* ---- access lists ----------------------------------------------------------------------------- */

static const struct {
    char letter;
    const char *name;
    /* Letters of aclitem: PostgreSQL's manual, "Privileges", table of the abbreviations. */
} pg_privileges[] = {
    { 'a', "INSERT" },  { 'C', "CREATE" },  { 'D', "TRUNCATE" },   { 'c', "CONNECT" },
    { 't', "TRIGGER" }, { 'r', "SELECT" },  { 'U', "USAGE" },      { 'T', "TEMPORARY" },
    { 'w', "UPDATE" },  { 'X', "EXECUTE" }, { 'x', "REFERENCES" }, { 'd', "DELETE" },
};

/* The letters that all privileges of such an object are; NULL: none is known. */
const char *
pgtext_letters_of(const char *object_type)
{
    static const char *const types[][2] = {
        { "table", "arwdDxt" }, { "tablespace", "C" }, { "language", "U" }, { "sequence", "rwU" },
        { "schema", "UC" },     { "database", "CTc" }, { "function", "X" },
    };

    for (size_t i = 0; i < NELEMS(types); i++) {
        if (strcmp(types[i][0], object_type) == 0)
            return types[i][1];
    }
    return NULL;
}

/* {privilege: true when it may be granted on}: a star behind the letter is WITH GRANT OPTION. Letters of
 * newer servers that are not known are left out. NEW. */
json_t *
pgtext_letters(const char *letters)
{
    json_t *ret = json_object();

    for (; *letters != '\0'; letters++) {
        for (size_t i = 0; i < NELEMS(pg_privileges); i++) {
            if (pg_privileges[i].letter == *letters)
                json_object_set_new(ret, pg_privileges[i].name, json_boolean(letters[1] == '*'));
        }
    }
    return ret;
}

json_t *
pgtext_acl(const char *text)
{
    json_auto_t *items = pgtext_array(text);
    json_t *ret = json_object(), *item;
    size_t i;

    json_array_foreach (items, i, item) {
        /* ROLE=LETTERS/GRANTOR; a role with odd letters in its name is quoted. */
        const char *at = json_string_value(item), *end = at;
        bool quoted = false;
        buf_auto_t role = BUF_INIT;
        for (; *end != '\0' && (quoted || *end != '='); end++) {
            /* A doubled quote within quotes is one; the first of the two is passed over below. */
            if (*end == '"' && !(quoted && end[1] == '"'))
                quoted = !quoted;
            else {
                end += *end == '"';
                buf_putc(&role, *end);
            }
        }
        if (*end != '=')
            continue;
        AUTO_FREE char *letters = xstrndup(end + 1, strcspn(end + 1, "/"));
        /* No role is PUBLIC: everybody. */
        json_object_set_new(ret, role.len > 0 ? buf_str(&role) : "public", pgtext_letters(letters));
    }
    return ret;
}

/* ---- passwords -------------------------------------------------------------------------------- */

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64, SALT_BYTES = 16, SALT_MAX = 64, SCRAM_ROUNDS = 4096 };

/* SHA-256 of two pieces. The digest's interface gives hexadecimal text; the bytes are read back from it. */
static void
sha256_of(const void *a, size_t a_len, const void *b, size_t b_len, uint8_t out[SHA256_BYTES])
{
    digest_t *d = digest_new("sha256", NULL);

    digest_add(d, a, a_len);
    digest_add(d, b, b_len);
    AUTO_FREE char *hex = digest_hex(d);
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        const char byte[3] = { hex[2 * i], hex[2 * i + 1], '\0' };
        out[i] = (uint8_t) strtoul(byte, NULL, 16);
    }
    digest_destroy(&d);
}

/* RFC 2104; 0x36 and 0x5c are its ipad and opad. `out` may be `text`: what is read of it is read before it is
 * written. */
static void
hmac_sha256(const uint8_t *key, size_t key_len, const void *text, size_t len, uint8_t out[SHA256_BYTES])
{
    uint8_t inner[SHA256_BLOCK] = { 0 }, outer[SHA256_BLOCK];

    if (key_len > SHA256_BLOCK)
        sha256_of(key, key_len, NULL, 0, inner);
    else
        memcpy(inner, key, key_len);
    for (size_t i = 0; i < SHA256_BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    sha256_of(inner, sizeof(inner), text, len, out);
    sha256_of(outer, sizeof(outer), out, SHA256_BYTES, out);
}

/* RFC 5803 as PostgreSQL keeps it, "SCRAM-SHA-256$rounds:salt$stored:server": PBKDF2 (RFC 8018), then the two
 * keys of RFC 5802. SASLprep of the password is left out; for letters of ASCII it changes nothing. */
char *
pgtext_scram(const char *password, const uint8_t *salt, size_t len, unsigned iterations)
{
    uint8_t first[SALT_MAX + 4], round[SHA256_BYTES], salted[SHA256_BYTES], stored[SHA256_BYTES],
        server[SHA256_BYTES];
    const uint8_t *key = (const uint8_t *) password;

    salt_assert(len <= SALT_MAX);
    memcpy(first, salt, len);
    memcpy(first + len, "\0\0\0\1", 4); /* PBKDF2's number of the first block, which is all that is needed */
    hmac_sha256(key, strlen(password), first, len + 4, round);
    memcpy(salted, round, sizeof(salted));
    for (unsigned i = 1; i < iterations; i++) {
        hmac_sha256(key, strlen(password), round, sizeof(round), round);
        for (size_t k = 0; k < sizeof(salted); k++)
            salted[k] ^= round[k];
    }
    hmac_sha256(salted, sizeof(salted), "Client Key", strlen("Client Key"), stored);
    sha256_of(stored, sizeof(stored), NULL, 0, stored);
    hmac_sha256(salted, sizeof(salted), "Server Key", strlen("Server Key"), server);
    AUTO_FREE char *salt_text = base64_encode(salt, len, 0),
                   *stored_text = base64_encode(stored, sizeof(stored), 0),
                   *server_text = base64_encode(server, sizeof(server), 0);
    return xasprintf("SCRAM-SHA-256$%u:%s$%s:%s", iterations, salt_text, stored_text, server_text);
}

/* "md5" and the sum of the password with the role behind it, which is the salt: two roles with one password
 * differ. NEW. */
static char *
md5_of(const char *role, const char *password)
{
    AUTO_FREE char *text = xasprintf("%s%s", password, role);
    AUTO_FREE char *hex = digest_bytes("md5", text, strlen(text), NULL);

    return xasprintf("md5%s", hex);
}

/* The password as the server is to keep it. One that is hashed already is sent as it is. NEW, or NULL with
 * *err. */
char *
pgtext_password(const char *role, const char *password, const char *method, fail_t *err)
{
    uint8_t salt[SALT_BYTES];

    if (*method == '\0')
        return xstrdup(password);
    if (strcmp(method, "md5") == 0)
        return str_starts(password, "md5") ? xstrdup(password) : md5_of(role, password);
    if (strcmp(method, "scram-sha-256") != 0) {
        (void) fail_set(err, -EINVAL, "Unknown password algorithm: %s", method);
        return NULL;
    }
    if (str_starts(password, "SCRAM-SHA-256"))
        return xstrdup(password);
    if (getrandom(salt, sizeof(salt), 0) != (ssize_t) sizeof(salt)) {
        (void) fail_set(err, -EIO, "no random bytes for the password's salt");
        return NULL;
    }
    return pgtext_scram(password, salt, sizeof(salt), SCRAM_ROUNDS);
}

/* The bytes of a base64 text: their number, or -1. Written here as the salt alone is wanted, which is short;
 * what does not fit `cap` is refused, so that no text of the server's writes past the end. */
static int
unbase64(const char *text, size_t len, uint8_t *out, size_t cap)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0, n_bits = 0;
    size_t n = 0;

    for (size_t i = 0; i < len && text[i] != '='; i++) {
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;
        if (digit == NULL)
            return -1;
        bits = (bits << 6 | (unsigned) (digit - digits)) & 0xffff;
        n_bits += 6;
        if (n_bits < 8)
            continue;
        n_bits -= 8;
        if (n == cap)
            return -1;
        out[n++] = (uint8_t) (bits >> n_bits);
    }
    return (int) n;
}

/* True when a kept SCRAM text is this password's, by its own salt and rounds. The rounds are the server's
 * text: a bound keeps a forged number from working for hours. */
static bool
scram_verifies(const char *password, const char *kept)
{
    enum { ROUNDS_MAX = 1000000 };
    uint8_t salt[SALT_MAX];
    char *end;
    const char *at = kept + strlen("SCRAM-SHA-256$");
    unsigned long rounds = strtoul(at, &end, 10);

    if (*end != ':' || rounds == 0 || rounds > ROUNDS_MAX)
        return false;
    at = end + 1;
    int len = unbase64(at, strcspn(at, "$"), salt, sizeof(salt));
    if (len < 0)
        return false;
    AUTO_FREE char *made = pgtext_scram(password, salt, (size_t) len, (unsigned) rounds);
    return strcmp(made, kept) == 0;
}

/* True when what the server keeps is this password, so that a state need not set it again, which would change
 * it: SCRAM draws a new salt each time. */
bool
pgtext_verifies(const char *role, const char *password, const char *kept, const char *method)
{
    bool scram = str_starts(kept, "SCRAM-SHA-256$");

    if (strcmp(password, kept) == 0)
        return true;
    /* A password that is given as it is, the server hashes in its own way. */
    if (strcmp(method, "scram-sha-256") == 0 || (*method == '\0' && scram))
        return scram && !str_starts(password, "SCRAM-SHA-256") && scram_verifies(password, kept);
    if (strcmp(method, "md5") != 0 && *method != '\0')
        return false;
    /* A text that the caller has hashed by MD5 is compared as it is. */
    AUTO_FREE char *made = str_starts(password, "md5") ? xstrdup(password) : md5_of(role, password);
    return strcmp(made, kept) == 0;
}

/* ---- versions --------------------------------------------------------------------------------- */

/* As Salt's LooseVersion compares: numbers by their value, everything else by its characters; the one with
 * more parts is the newer one. */
int
pgtext_version(const char *a, const char *b)
{
    for (;;) {
        a += strspn(a, ".-_");
        b += strspn(b, ".-_");
        if (*a == '\0' || *b == '\0')
            return (*a != '\0') - (*b != '\0');
        if (isdigit((unsigned char) *a) && isdigit((unsigned char) *b)) {
            char *a_end, *b_end;
            unsigned long x = strtoul(a, &a_end, 10), y = strtoul(b, &b_end, 10);
            if (x != y)
                return x < y ? -1 : 1;
            a = a_end;
            b = b_end;
        } else if (*a != *b) {
            return *a < *b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
}
