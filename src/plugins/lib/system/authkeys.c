/* authkeys.c - see authkeys.h. The format is sshd's: options, key type, key in base64, comment. Files belong
 * to users, so they are read and replaced through partfile.h and get the user's ownership. */
#include "plugins/lib/system/authkeys.h"

#include <ctype.h>
#include <pwd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "plugins/lib/file/partfile.h"

enum { PASSWD_ROOM = 16384 };

/* ---- lines ------------------------------------------------------------------------------------ */

void
auth_line_free(auth_line_t *line)
{
    free(line->options);
    free(line->enc);
    free(line->key);
    free(line->comment);
    *line = (auth_line_t) AUTH_LINE_INIT;
}

/* Length of the key type at the start of `s`; 0 when no type begins there. */
static size_t
type_length(const char *s)
{
    const char *word = str_starts(s, "sk-") ? s + strlen("sk-") : s;
    size_t n = 0;

    if (!str_starts(word, "ssh-") && !str_starts(word, "ecds"))
        return 0;
    word += strlen("ssh-");
    while (isalnum((unsigned char) word[n]) || (word[n] != '\0' && strchr("_@.-", word[n]) != NULL))
        n++;
    return n > 0 ? (size_t) (word + n - s) : 0;
}

/* The first type of a key, with white space behind it; NULL: there is none. Where that is missing, every
 * type that begins in the word lacks it too: it is passed over as a whole, as a line is as long as its
 * user likes. */
static const char *
find_type(const char *line, size_t *ret_len)
{
    size_t n;

    for (const char *at = line; *at != '\0'; at += n > 0 ? n : 1) {
        n = type_length(at);
        if (n > 0 && isspace((unsigned char) at[n]) && at[n + 1] != '\0') {
            *ret_len = n;
            return at;
        }
    }
    return NULL;
}

/* Splits a line at its key type, which may stand behind options with blanks. False for comments and other
 * lines. */
bool
auth_line_parse(const char *text, size_t len, auth_line_t *out)
{
    AUTO_FREE char *copy = xstrndup(text, len);
    const char *line = str_trim(copy);
    size_t n = 0;
    const char *type = *line != '#' ? find_type(line, &n) : NULL;

    if (type == NULL)
        return false;
    size_t before = (size_t) (type - line);
    const char *key = type + n + strspn(type + n, " \t");
    size_t key_len = strcspn(key, " \t");
    if (key_len == 0)
        return false;
    while (before > 0 && isspace((unsigned char) line[before - 1]))
        before--;
    const char *comment = key + key_len + strspn(key + key_len, " \t");
    *out = (auth_line_t){ xstrndup(line, before), xstrndup(type, n), xstrndup(key, key_len),
                          xstrdup(comment) };
    return true;
}

/* NEW list; empty for an empty text. */
json_t *
auth_options(const char *text)
{
    json_t *list = json_array();
    char **parts = str_split(text, ",", false);

    for (size_t i = 0; *text != '\0' && parts[i] != NULL; i++)
        json_array_append_new(list, value_utf8(parts[i], strlen(parts[i])));
    strv_free(parts);
    return list;
}

/* The list is one text in the file: quotes may be open from one element to the next. */
bool
auth_options_sound(const json_t *options)
{
    bool quoted = false;
    json_t *one;
    size_t i;

    json_array_foreach (options, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        for (const char *c = text; *c != '\0'; c++) {
            if (*c == '\\' && c[1] == '"')
                c++;
            else if (*c == '"')
                quoted = !quoted;
            else if (!quoted && isspace((unsigned char) *c))
                return false;
        }
    }
    return !quoted;
}

/* A line for the file, with its end. NEW. */
char *
auth_line_text(const char *key, const char *enc, const char *comment, const json_t *options)
{
    buf_t out = BUF_INIT;
    json_t *one;
    size_t i;

    json_array_foreach (options, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        buf_printf(&out, "%s%s", i > 0 ? "," : "", text);
    }
    buf_printf(&out, "%s%s %s %s\n", out.len > 0 ? " " : "", enc, key, comment);
    return buf_steal(&out);
}

/* ---- keys ------------------------------------------------------------------------------------- */

/* Full name of a key type from Salt's abbreviations. BORROWED, or NULL with *err. */
const char *
auth_enc(const char *enc, fail_t *err)
{
    static const char *const rows[][2] = {
        { "r", "ssh-rsa" },
        { "rsa", "ssh-rsa" },
        { "d", "ssh-dss" },
        { "dsa", "ssh-dss" },
        { "dss", "ssh-dss" },
        { "e", "ecdsa-sha2-nistp256" },
        { "ecdsa", "ecdsa-sha2-nistp256" },
        { "ed25519", "ssh-ed25519" },
    };
    static const char *const types[] = { "ssh-rsa",
                                         "ssh-dss",
                                         "ecdsa-sha2-nistp521",
                                         "ecdsa-sha2-nistp384",
                                         "ecdsa-sha2-nistp256",
                                         "ssh-ed25519",
                                         "rsa-sha2-512",
                                         "rsa-sha2-256",
                                         "rsa-sha2-512-cert-v01@openssh.com",
                                         "rsa-sha2-256-cert-v01@openssh.com",
                                         "ssh-rsa-cert-v01@openssh.com",
                                         "ecdsa-sha2-nistp256-cert-v01@openssh.com",
                                         "ecdsa-sha2-nistp384-cert-v01@openssh.com",
                                         "ecdsa-sha2-nistp521-cert-v01@openssh.com",
                                         "sk-ecdsa-sha2-nistp256@openssh.com",
                                         "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
                                         "ssh-ed25519-cert-v01@openssh.com",
                                         "sk-ssh-ed25519@openssh.com",
                                         "sk-ssh-ed25519-cert-v01@openssh.com" };

    for (size_t i = 0; i < NELEMS(rows); i++)
        if (strcmp(rows[i][0], enc) == 0)
            return rows[i][1];
    for (size_t i = 0; i < NELEMS(types); i++)
        if (strcmp(types[i], enc) == 0)
            return types[i];
    fail_kind(err, FAIL_COMMAND, -EINVAL, "Incorrect encryption key type '%s'.", enc);
    return NULL;
}

static bool
is_base64(const char *text)
{
    size_t n = 0, padding = 0;

    for (const char *c = text; *c != '\0'; c++, n++) {
        padding += *c == '=';
        if ((padding > 0 && *c != '=') || (!isalnum((unsigned char) *c) && strchr("+/=", *c) == NULL))
            return false;
    }
    return n % 4 == 0 && padding <= 2;
}

/* Digest of the decoded key, as hexadecimal pairs with colons. NEW; NULL for an invalid key (err->code 0) or
 * with *err. */
char *
auth_fingerprint(const char *key, const char *hash, fail_t *err)
{
    const char *name = str_empty(hash) ? "sha256" : hash;
    AUTO_FREE char *why = NULL;
    size_t len = 0;

    if (digest_hex_len(name) == 0) {
        fail_kind(err, FAIL_COMMAND, -EINVAL, "The fingerprint_hash_type %s is not supported.", name);
        return NULL;
    }
    AUTO_FREE char *raw = is_base64(key) ? yaml_from_base64(key, strlen(key), &len, &why) : NULL;
    AUTO_FREE char *hex = raw != NULL ? digest_bytes(name, raw, len, err) : NULL;
    if (hex == NULL)
        return NULL;
    buf_t out = BUF_INIT;
    for (const char *c = hex; *c != '\0'; c += 2)
        buf_printf(&out, "%s%.2s", out.len > 0 ? ":" : "", c);
    return buf_steal(&out);
}

/* ---- files ------------------------------------------------------------------------------------ */

void
auth_file_free(auth_file_t *file)
{
    free(file->path);
    free(file->home);
    file->path = file->home = NULL;
}

/* %u and %h. NEW, or NULL with *err. */
static char *
expanded(const char *path, const char *user, const char *home, fail_t *err)
{
    buf_auto_t out = BUF_INIT;

    for (const char *c = path; *c != '\0'; c++) {
        if (*c != '%') {
            buf_putc(&out, *c);
            continue;
        }
        c++;
        if (*c == '\0' || strchr("%uh", *c) == NULL) {
            if (*c == '\0')
                fail_kind(err, FAIL_COMMAND, -EINVAL,
                          "AuthorizedKeysFile path: Last character can't be escape character");
            else
                fail_kind(err, FAIL_COMMAND, -EINVAL,
                          "AuthorizedKeysFile path: unknown token character \"%%%c\"", *c);
            return NULL;
        }
        buf_puts(&out, *c == 'u' ? user : *c == 'h' ? home : "%");
    }
    return xstrdup(buf_str(&out));
}

/* Path of a user's file: relative ones lie in his home folder; %u, %h and %% are expanded. */
int
auth_file_of(const char *user, const char *config, auth_file_t *out, fail_t *err)
{
    AUTO_FREE char *room = xcalloc(1, PASSWD_ROOM);
    struct passwd pw, *found = NULL;

    if (getpwnam_r(user, &pw, room, PASSWD_ROOM, &found) != 0 || found == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "User '%s' does not exist", user);
    AUTO_FREE char *path = expanded(config, user, pw.pw_dir, err);
    if (path == NULL)
        return -EINVAL;
    *out = (auth_file_t){ .path = *path == '/' ? xstrdup(path) : fs_join(pw.pw_dir, path),
                          .home = xstrdup(pw.pw_dir),
                          .uid = pw.pw_uid,
                          .gid = pw.pw_gid };
    return 0;
}

/* {key: {enc, comment, options, fingerprint}}; a missing file has none. NEW, or NULL with *err. */
json_t *
auth_keys_read(const char *path, const char *hash, fail_t *err)
{
    json_auto_t *keys = json_object();
    buf_auto_t text = BUF_INIT;

    if (fs_absent(path))
        return json_incref(keys);
    if (fs_read(path, LIMIT_FILE_READ, &text, NULL) < 0) {
        fail_kind(err, FAIL_COMMAND, -EIO, "Problem reading ssh key file %s", path);
        return NULL;
    }
    for (const char *line = buf_str(&text); *line != '\0';) {
        size_t len = strcspn(line, "\n");
        auth_line_auto_t parts = AUTH_LINE_INIT;
        bool sound = auth_line_parse(line, len, &parts);
        AUTO_FREE char *print = sound ? auth_fingerprint(parts.key, hash, err) : NULL;
        if (err->code != 0)
            return NULL;
        if (print != NULL)
            json_object_set_new(keys, parts.key,
                                json_pack("{s:s, s:o, s:o, s:s}", "enc", parts.enc, "comment",
                                          value_utf8(parts.comment, strlen(parts.comment)), "options",
                                          auth_options(parts.options), "fingerprint", print));
        line += len + (line[len] == '\n');
    }
    return json_incref(keys);
}

/* `text` without the key's line, or with another one for it. True when it was there. */
static bool
change_line(const char *text, const char *key, const char *line, buf_t *out)
{
    bool found = false;

    while (*text != '\0') {
        size_t len = strcspn(text, "\n"), blank = strspn(text, " \t\r");
        auth_line_auto_t parts = AUTH_LINE_INIT;
        bool mine = auth_line_parse(text, len, &parts) && strcmp(parts.key, key) == 0;
        found = found || mine;
        if (mine && line != NULL)
            buf_puts(out, line);
        else if (!mine && blank < len) {
            buf_add(out, text, len);
            buf_putc(out, '\n');
        }
        text += len + (text[len] == '\n');
    }
    return found;
}

/* Sets (`line`) or removes (NULL) a key, creating file and folder when needed. */
int
auth_keys_write(const auth_file_t *file, const char *key, const char *line, fail_t *err)
{
    const landing_t fresh = { .uid = file->uid, .gid = file->gid, .mode = 0600 };
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    partfile_auto_t part = PARTFILE_INIT;

    /* Creates the file's folder for the user, mode 0700, without following links of others. */
    const destpath_made_t made = { .mode = 0700, .uid = file->uid, .gid = file->gid };
    const char *slash = strrchr(file->path, '/');
    AUTO_FREE char *folder = xstrndup(file->path, (size_t) (slash - file->path));
    int rc = slash == file->path ? 0 : destpath_make_folder(folder, DESTPATH_STRICT, &made, err);

    if (rc != 0 || (rc = partfile_open(&part, file->path, err)) != 0 ||
        (rc = partfile_read(&part, &before, err)) != 0)
        return rc;
    if (!change_line(buf_str(&before), key, line, &after) && line != NULL)
        buf_puts(&after, line);
    return partfile_write(&part, buf_str(&after), after.len, &fresh, err);
}
