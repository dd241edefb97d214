/* mysqltext.c - see mysqltext.h. Statements of MySQL and MariaDB: quoting, and the grammar of GRANT both
 * ways. The tables of words are here, and no server is asked: what depends on its version gets the version as
 * text. */
#include "plugins/lib/database/mysqltext.h"

#include <ctype.h>

#include "common/base/digest.h"
#include "common/base/str.h"

/* ---- names ------------------------------------------------------------------------------------ */

/* A backtick within the name is doubled, which is its only escape whatever the server's sql_mode is.
 * Backslashes have no meaning in a name. */
void
mysqltext_name(buf_t *sql, const char *name)
{
    AUTO_FREE char *doubled = str_replace(name, "`", "``");

    buf_printf(sql, "`%s`", doubled);
}

/* Names, dots, stars, and anything between backticks that are closed. These are all that GRANT takes without
 * quotes; the rest would end the name, and begin an expression or a second statement. */
static bool
is_object(const char *text)
{
    bool quoted = false;

    for (; *text != '\0'; text++) {
        if (*text == '`')
            quoted = !quoted;
        else if (!quoted && !isalnum((unsigned char) *text) && strchr("_$*%\\. ", *text) == NULL)
            return false;
    }
    return !quoted;
}

/* "db.table" as names between backticks; "_" in the name of a database is a wildcard in GRANT and is escaped
 * for all its tables. */
char *
mysqltext_object(const char *database, bool escape, fail_t *err)
{
    const char *dot = strrchr(database, '.');
    buf_auto_t out = BUF_INIT;

    /* The caller quotes by himself. What he quoted is looked at all the same, as it goes into the statement
     * as it stands. */
    if (!escape && !is_object(database)) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "database: '%s' is no name of a database and a table; quote it with `, or leave "
                         "escape=False out",
                         database);
        return NULL;
    }
    if (!escape)
        return xstrdup(database);
    /* The last dot parts them, as in Salt: a name of a database may have dots. */
    AUTO_FREE char *db = dot != NULL ? xstrndup(database, (size_t) (dot - database)) : xstrdup("");
    const char *table = dot != NULL ? dot + 1 : database;
    if (strcmp(db, "*") == 0) {
        buf_putc(&out, '*');
    } else {
        AUTO_FREE char *name = strcmp(table, "*") == 0 ? str_replace(db, "_", "\\_") : xstrdup(db);
        mysqltext_name(&out, name);
    }
    buf_putc(&out, '.');
    if (strcmp(table, "*") == 0)
        buf_putc(&out, '*');
    else
        mysqltext_name(&out, table);
    return buf_steal(&out);
}

/* ---- privileges ------------------------------------------------------------------------------- */

/* Of MySQL 5 to 8 and of MariaDB to 10.5. Newer ones are refused until they stand here: Salt has such a list
 * too, and refuses them in the same way. */
static const char *const privileges[] = {
    "ALL PRIVILEGES",
    "ALTER",
    "ALTER ROUTINE",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG ADMIN",
    "BINLOG MONITOR",
    "BINLOG REPLAY",
    "CONNECTION_ADMIN",
    "CONNECTION ADMIN",
    "CREATE",
    "CREATE ROLE",
    "CREATE ROUTINE",
    "CREATE TABLESPACE",
    "CREATE TEMPORARY TABLES",
    "CREATE USER",
    "CREATE VIEW",
    "DELETE",
    "DELETE HISTORY",
    "DROP",
    "DROP ROLE",
    "ENCRYPTION_KEY_ADMIN",
    "EVENT",
    "EXECUTE",
    "FEDERATED ADMIN",
    "FILE",
    "GRANT OPTION",
    "GROUP_REPLICATION_ADMIN",
    "INDEX",
    "INSERT",
    "LOCK TABLES",
    "PERSIST_RO_VARIABLES_ADMIN",
    "PROCESS",
    "READ_ONLY ADMIN",
    "REFERENCES",
    "RELOAD",
    "REPLICA MONITOR",
    "REPLICATION CLIENT",
    "REPLICATION MASTER ADMIN",
    "REPLICATION REPLICA",
    "REPLICATION SLAVE",
    "REPLICATION_SLAVE_ADMIN",
    "REPLICATION SLAVE ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SELECT",
    "SET USER",
    "SET_USER_ID",
    "SHOW DATABASES",
    "SHOW VIEW",
    "SHUTDOWN",
    "SLAVE MONITOR",
    "SUPER",
    "SYSTEM_VARIABLES_ADMIN",
    "TRIGGER",
    "UPDATE",
    "USAGE",
    "XA_RECOVER_ADMIN",
};

/* Upper case, words with one blank between. NEW. MySQL's SHOW GRANTS has them like this, so that what was
 * asked for and what the server says are equal texts. */
static char *
privilege_word(const char *text, size_t len)
{
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i < len; i++) {
        bool blank = isspace((unsigned char) text[i]) != 0;
        if (!blank)
            buf_putc(&out, (char) toupper((unsigned char) text[i]));
        else if (out.len > 0 && out.data[out.len - 1] != ' ')
            buf_putc(&out, ' ');
    }
    while (out.len > 0 && out.data[out.len - 1] == ' ')
        out.data[--out.len] = '\0';
    return buf_steal(&out);
}

/* " (`a`, `b`)" of "a, `b`". Backticks of the caller go first, so that a name with and one without them
 * become the same column. */
static void
add_columns(buf_t *out, const char *text, size_t len)
{
    AUTO_FREE char *list = xstrndup(text, len);
    char **names = str_split(list, ",", true);

    for (size_t i = 0; names[i] != NULL; i++) {
        AUTO_FREE char *bare = str_replace(str_trim(names[i]), "`", "");
        buf_puts(out, i == 0 ? " (" : ", ");
        mysqltext_name(out, bare);
    }
    buf_puts(out, names[0] != NULL ? ")" : "");
    strv_free(names);
}

/* Privileges as the server knows them, with columns in parentheses; an unknown one is refused, as it goes
 * into the statement without quotes. */
char *
mysqltext_privileges(const char *grant, fail_t *err)
{
    buf_auto_t out = BUF_INIT;

    for (const char *at = grant; *at != '\0';) {
        size_t len = strcspn(at, ",(");
        AUTO_FREE char *word = privilege_word(at, len);
        /* Both words are the server's; SHOW GRANTS answers with the long one. */
        if (strcmp(word, "ALL") == 0) {
            free(word);
            word = xstrdup("ALL PRIVILEGES");
        }
        bool known = false;
        for (size_t i = 0; i < NELEMS(privileges); i++)
            known = known || strcmp(privileges[i], word) == 0;
        if (!known) {
            (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid grant : '%s'", word);
            return NULL;
        }
        buf_printf(&out, "%s%s", out.len > 0 ? ", " : "", word);
        at += len;
        if (*at == '(') {
            size_t inner = strcspn(at + 1, ")");
            add_columns(&out, at + 1, inner);
            at += 1 + inner + (at[1 + inner] == ')');
            /* Behind the columns only a comma or the end may follow: "SELECT (a) ON x" would be the caller's
             * own statement. */
            at += strspn(at, " \t\n");
            if (*at != ',' && *at != '\0') {
                (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid grant : '%s'", at);
                return NULL;
            }
        }
        at += *at == ',';
    }
    return buf_steal(&out);
}

/* " REQUIRE SSL", or "CIPHER 'text' AND ISSUER 'text'": the options of TLS behind a grant. Quotes and
 * backslashes are cut out of the values, as Salt does: no cipher and no name of a certificate's subject needs
 * them. NEW; "" without options; NULL with *err. */
char *
mysqltext_require(const json_t *options, fail_t *err)
{
    static const char *const with_value[] = { "CIPHER", "ISSUER", "SUBJECT" };
    buf_auto_t out = BUF_INIT;
    json_t *option, *v;
    const char *key;
    size_t i, k;

    json_array_foreach ((json_t *) options, i, option) {
        json_object_foreach (option, key, v) {
            AUTO_FREE char *word = privilege_word(key, strlen(key)), *text = value_pystr(v);
            for (k = 0; k < NELEMS(with_value) && strcmp(with_value[k], word) != 0; k++)
                continue;
            if (k == NELEMS(with_value) && strcmp(word, "SSL") != 0 && strcmp(word, "X509") != 0) {
                (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid SSL option : '%s'", key);
                return NULL;
            }
            /* SSL: False asks for nothing. */
            if (k == NELEMS(with_value) && !value_truthy(v))
                break;
            buf_printf(&out, "%s%s", out.len == 0 ? " REQUIRE " : " AND ", word);
            AUTO_FREE char *plain = str_replace(text, "'", "");
            AUTO_FREE char *safe = str_replace(plain, "\\", "");
            if (k < NELEMS(with_value))
                buf_printf(&out, " '%s'", safe);
            break; /* an option has one key */
        }
    }
    return buf_steal(&out);
}

/* ---- grants as the server shows them ---------------------------------------------------------- */

/* The end of a token: what is between quotes with them, a word of letters, digits, _ and ", or one character.
 * Salt reads grants with Python's shlex, whose words these are; a quote in the middle of a word belongs to
 * it. */
static const char *
token_end(const char *at)
{
    const char *end = at;

    if (*at == '\'' || *at == '`') {
        end = strchr(at + 1, *at);
        return end != NULL ? end + 1 : at + strlen(at);
    }
    while (isalnum((unsigned char) *end) || *end == '_' || *end == '"' ||
           (end > at && (*end == '\'' || *end == '`')))
        end++;
    return end > at ? end : at + 1;
}

/* The text without the apostrophes around it; those inside stay. NEW. */
static char *
mysqltext_unquoted(const char *text)
{
    const char *from = text + strspn(text, "'");
    size_t len = strlen(from);

    while (len > 0 && from[len - 1] == '\'')
        len--;
    return xstrndup(from, len);
}

/* The privileges up to ON, into `grants`. The index of ON, or of the end. A privilege with columns becomes
 * one entry for each column, "SELECT.name", as in Salt; words of one privilege are joined by a blank. */
static size_t
read_privileges(char *const *tokens, json_t *grants)
{
    buf_auto_t words = BUF_INIT;
    const char *column_of = NULL;
    /* The privilege that was put last: columns in parentheses are of it. */
    AUTO_FREE char *last = xstrdup("");
    size_t i = tokens[0] != NULL ? 1 : 0;

    for (; tokens[i] != NULL && strcmp(tokens[i], "ON") != 0; i++) {
        const char *t = tokens[i], *next = tokens[i + 1];
        if (strcmp(t, "(") == 0) {
            column_of = last;
        } else if (strcmp(t, ")") == 0) {
            column_of = NULL;
        } else if (strcmp(t, ",") != 0) {
            if (column_of == NULL)
                buf_printf(&words, "%s%s", words.len > 0 ? " " : "", t);
            else
                buf_printf(&words, "%s.%s", column_of, t);
            if (next == NULL || strchr(",()", *next) != NULL || strcmp(next, "ON") == 0) {
                json_array_append_new(grants, json_string(buf_str(&words)));
                if (column_of == NULL) {
                    free(last);
                    last = xstrdup(buf_str(&words));
                }
                buf_clear(&words);
            }
        }
    }
    return i;
}

/* "GRANT SELECT, INSERT ON `db`.* TO 'user'@'host'" as its parts, which Salt compares. Words behind the host
 * (options) are left out. */
json_t *
mysqltext_tokens(const char *grant)
{
    char **tokens = xcalloc(strlen(grant) + 1, sizeof(*tokens));
    size_t n = 0;
    json_t *grants = json_array();
    buf_auto_t database = BUF_INIT, user = BUF_INIT, host = BUF_INIT;
    buf_t *into = &database;

    for (const char *at = grant, *end; *(at += strspn(at, " \t\r\n")) != '\0'; at = end) {
        end = token_end(at);
        tokens[n++] = xstrndup(at, (size_t) (end - at));
    }
    /* Three texts follow one another: the database up to TO, the user up to "@", the host. "ON" and "TO" may
     * be names too, so each counts only where it can stand. */
    for (size_t i = read_privileges(tokens, grants); tokens[i] != NULL; i++) {
        const char *t = tokens[i];
        if (strcmp(t, "ON") == 0 && into == &database && database.len == 0)
            continue;
        if (strcmp(t, "TO") == 0 && into == &database && database.len > 0)
            into = &user;
        else if (strcmp(t, "@") == 0 && into == &user)
            into = &host;
        else if (into != &host || host.len == 0)
            buf_puts(into, t);
    }
    strv_free(tokens);
    AUTO_FREE char *who = mysqltext_unquoted(buf_str(&user)), *where = mysqltext_unquoted(buf_str(&host));
    return json_pack("{s:s, s:s, s:o, s:s}", "user", who, "host", where, "grant", grants, "database",
                     buf_str(&database));
}

/* MariaDB 10.5 gave privileges new names, and answers with the new name whichever was granted. A state that
 * compares the two would grant again in every run, so the list gets the server's words. Servers of MySQL keep
 * the old names. */
void
mysqltext_aliases(json_t *list, const char *version)
{
    static const struct {
        const char *from, *to;
        int patch;
    } renamed[] = {
        { "REPLICATION REPLICA", "REPLICATION SLAVE", 1 },
        { "REPLICATION CLIENT", "BINLOG MONITOR", 2 },
        { "REPLICA MONITOR", "SLAVE MONITOR", 9 },
    };
    json_t *one;
    size_t i, k;

    if (strstr(version, "MariaDB") == NULL)
        return;
    json_array_foreach (list, i, one) {
        for (k = 0; k < NELEMS(renamed); k++) {
            if (mysqltext_version(version, 10, 5, renamed[k].patch) >= 0 &&
                strcmp(json_string_value(one), renamed[k].from) == 0) {
                json_array_set_new(list, i, json_string(renamed[k].to));
                break;
            }
        }
    }
}

/* Upper or lower case and quotes don't matter in privileges and their columns: servers and callers differ in
 * whether the names of columns stand in backticks. NEW. */
static char *
bare(const char *text)
{
    buf_auto_t out = BUF_INIT;

    for (; *text != '\0'; text++) {
        if (strchr("\"\\`", *text) == NULL)
            buf_putc(&out, *text);
    }
    return buf_steal(&out);
}

/* True when the list has it, whatever the case and the quotes. */
static bool
has_privilege(const json_t *list, const char *wanted)
{
    AUTO_FREE char *want = bare(wanted);
    json_t *one;
    size_t i;

    json_array_foreach ((json_t *) list, i, one) {
        AUTO_FREE char *have = bare(json_string_value(one));
        if (strcasecmp(have, want) == 0)
            return true;
    }
    return false;
}

/* True when both have the same user, host or database. Case is not folded here: names of users and databases
 * differ by it on Linux. */
static bool
mysqltext_same_member(const json_t *a, const json_t *b, const char *key)
{
    AUTO_FREE char *left = bare(value_str(a, key, "")), *right = bare(value_str(b, key, ""));

    return strcmp(left, right) == 0;
}

/* Grants for the same user, host and database count together: the server may list them on several lines. */
bool
mysqltext_covers(const json_t *grants, const json_t *wanted)
{
    json_auto_t *together = json_array();
    bool found = false;
    json_t *one;
    size_t i;

    json_array_foreach ((json_t *) grants, i, one) {
        if (mysqltext_same_member(one, wanted, "user") && mysqltext_same_member(one, wanted, "host") &&
            mysqltext_same_member(one, wanted, "database")) {
            json_array_extend(together, value_get(one, "grant"));
            found = true;
        }
    }
    json_array_foreach (value_get(wanted, "grant"), i, one) {
        if (!has_privilege(together, json_string_value(one)))
            return false;
    }
    return found;
}

/* ---- more ------------------------------------------------------------------------------------- */

/* The first three numbers are compared; "10.5.8-MariaDB" ends them at the dash. A missing part is 0. Below,
 * equal, above: -1, 0, 1. */
int
mysqltext_version(const char *version, int major, int minor, int patch)
{
    const int want[] = { major, minor, patch };
    const char *at = version;

    for (size_t i = 0; i < NELEMS(want); i++) {
        char *end;
        long part = strtol(at, &end, 10);
        if (part != want[i])
            return part < want[i] ? -1 : 1;
        at = *end == '.' ? end + 1 : end;
    }
    return 0;
}

/* The text that mysql_native_password keeps: "*" and the SHA-1 of the SHA-1, in upper case. The second round is over
 * the bytes of the first, not over its hexadecimal text. */
char *
mysqltext_native_hash(const char *password)
{
    uint8_t raw[20];
    AUTO_FREE char *once = digest_bytes("sha1", password, strlen(password), NULL);

    for (size_t i = 0; i < sizeof(raw); i++) {
        char byte[3] = { once[2 * i], once[2 * i + 1], '\0' };
        raw[i] = (uint8_t) strtoul(byte, NULL, 16);
    }
    AUTO_FREE char *twice = digest_bytes("sha1", raw, sizeof(raw), NULL);
    for (char *c = twice; *c != '\0'; c++)
        *c = (char) toupper((unsigned char) *c);
    return xasprintf("*%s", twice);
}

/* The end of a comment, a quoted text or name, or one character; *ret_comment tells which. A comment with "!"
 * after its star is a statement to MySQL, and no comment. "--" begins one only before a blank, as in the
 * server: "5--3" is a number. Within a backtick name a backslash is a character. */
static const char *
piece_end(const char *at, bool *ret_comment)
{
    *ret_comment = true;
    if (*at == '#' || (at[0] == '-' && at[1] == '-' && (isspace((unsigned char) at[2]) || at[2] == '\0')))
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*' && at[2] != '!') {
        const char *end = strstr(at + 2, "*/");
        return end != NULL ? end + 2 : at + strlen(at);
    }
    *ret_comment = false;
    if (strchr("'\"`", *at) == NULL)
        return at + 1;
    const char *end = at + 1;
    while (*end != '\0' && *end != *at)
        end += *end == '\\' && *at != '`' && end[1] != '\0' ? 2 : 1;
    return *end != '\0' ? end + 1 : end;
}

/* A script's statements, each as the server takes one: parted by semicolons outside of texts, names and
 * comments. What is nothing but blanks and comments is no statement. NEW list. */
json_t *
mysqltext_statements(const char *script)
{
    json_t *list = json_array();
    buf_auto_t one = BUF_INIT;

    for (const char *at = script, *end;; at = end) {
        if (*at == ';' || *at == '\0') {
            AUTO_FREE char *text = buf_steal(&one);
            const char *trimmed = str_trim(text);
            if (*trimmed != '\0')
                json_array_append_new(list, value_utf8(trimmed, strlen(trimmed)));
            if (*at == '\0')
                return list;
            end = at + 1;
            continue;
        }
        bool comment;
        end = piece_end(at, &comment);
        if (comment)
            buf_putc(&one, ' ');
        else
            buf_add(&one, at, (size_t) (end - at));
    }
}
