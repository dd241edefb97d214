/* file.c - the system `file`: users and passwords in a text file, or in Apache's formats of htpasswd and
 * htdigest.
 *
 * Parameters as Salt's: filename, filetype (text), realm; of texts hashtype (plaintext), field_separator (:),
 * username_field (1), password_field (2). */
#include "auth/system.h"
#include "common/base/buf.h"
#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/value.h"

#define FILE_MAX (16 * 1024 * 1024)

/* A number, or a text that is one, as Salt takes both. */
static size_t
file_field(const json_t *config, const char *name, long long dflt)
{
    const json_t *v = json_object_get(config, name);
    long long n = json_is_integer(v) ? json_integer_value(v) : dflt;

    if (json_is_string(v) && !str_to_int(json_string_value(v), 1, 1000, &n))
        n = 0;
    return n >= 1 && n <= 1000 ? (size_t) n - 1 : SIZE_MAX;
}

/* The first line with the user's name decides. */
static int
file_text(const login_t *login, char *const *lines, fail_t *err)
{
    const char *separator = value_str(login->config, "field_separator", ":");
    const char *hash = value_str(login->config, "hashtype", "plaintext");
    size_t at_user = file_field(login->config, "username_field", 1);
    size_t at_password = file_field(login->config, "password_field", 2);

    if (*separator == '\0')
        return fail_set(err, -EINVAL, "external_auth:file:^field_separator is empty");
    for (; *lines != NULL; lines++) {
        if (**lines == '\0' && lines[1] == NULL)
            break; /* behind the last line's end */
        /* A separator may be longer than one character. */
        json_auto_t *fields = json_array();
        const char *line = str_trim(*lines), *next;
        for (; (next = strstr(line, separator)) != NULL; line = next + strlen(separator))
            json_array_append_new(fields, value_utf8(line, (size_t) (next - line)));
        json_array_append_new(fields, value_utf8(line, strlen(line)));
        const char *user = json_string_value(json_array_get(fields, at_user));
        const char *password = json_string_value(json_array_get(fields, at_password));
        if (user == NULL || password == NULL)
            return fail_set(err, -EINVAL, "%s: a line has no field %zu",
                            value_str(login->config, "filename", ""),
                            (user == NULL ? at_user : at_password) + 1);
        if (!str_eq(user, login->user))
            continue;
        if (str_eq(hash, "plaintext"))
            return auth_same(login->password, password) ? 1 : 0;
        AUTO_FREE char *hex = digest_bytes(hash, login->password, strlen(login->password), err);
        return hex == NULL ? err->code : auth_same(hex, password) ? 1 : 0;
    }
    return 0;
}

/* USER:HASH */
static int
file_htpasswd(const login_t *login, char *const *lines, fail_t *err)
{
    AUTO_FREE char *begin = xasprintf("%s:", login->user);

    for (; strchr(login->user, ':') == NULL && *lines != NULL; lines++)
        if (str_starts(*lines, begin))
            return htpasswd_verify(login->password, str_trim(*lines + strlen(begin))) ? 1 : 0;
    return 0;
}

/* USER:REALM:md5(USER:REALM:PASSWORD) */
static int
file_htdigest(const login_t *login, char *const *lines, fail_t *err)
{
    const char *realm = value_str(login->config, "realm", "");
    AUTO_FREE char *begin = xasprintf("%s:%s:", login->user, realm);

    if (*realm == '\0')
        return fail_set(err, -EINVAL, "A ^realm must be defined in external_auth:file for htdigest filetype");
    AUTO_FREE char *whole = xasprintf("%s%s", begin, login->password);
    AUTO_FREE char *hex = digest_bytes("md5", whole, strlen(whole), err);
    explicit_bzero(whole, strlen(whole));
    for (; hex != NULL && strchr(login->user, ':') == NULL && *lines != NULL; lines++)
        if (str_starts(*lines, begin))
            return auth_same(hex, str_trim(*lines + strlen(begin))) ? 1 : 0;
    return 0;
}

int
system_file(const login_t *login, json_t *found, fail_t *err)
{
    static const struct {
        const char *type;
        int (*fn)(const login_t *login, char *const *lines, fail_t *err);
    } types[] = { { "text", file_text }, { "htpasswd", file_htpasswd }, { "htdigest", file_htdigest } };
    const char *path = value_str(login->config, "filename", ""),
               *type = value_str(login->config, "filetype", "text");
    buf_auto_t text = BUF_INIT;
    size_t i = 0;

    while (i < NELEMS(types) && !str_eq(types[i].type, type))
        i++;
    if (i == NELEMS(types))
        return fail_set(err, -EINVAL,
                        "external_auth:file:^filetype is text, htpasswd or htdigest, not '%.40s'", type);
    if (*path == '\0')
        return fail_set(err, -EINVAL,
                        "an authentication file must be specified via external_auth:file:^filename");
    if (fs_read(path, FILE_MAX, &text, err) < 0)
        return err->code;
    if (memchr(buf_str(&text), '\0', text.len) != NULL)
        return fail_set(err, -EINVAL, "%s has a NUL byte: it is no text", path);
    char **lines = str_split(buf_str(&text), "\n", false);
    int rc = types[i].fn(login, lines, err);
    explicit_bzero(text.data, text.len);
    strv_free(lines);
    return rc;
}
