/* knownhosts.c - see knownhosts.h. The lines are found and hashed by ssh-keygen, which knows the file's
 * format; ours are only those that it has no option for. */
#include "plugins/lib/system/knownhosts.h"

#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/passwd.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/partfile.h"
#include "plugins/lib/system/authkeys.h"

enum { SSH_PORT = 22, SCAN_ATTEMPTS = 5 };

void
knownhosts_free(knownhosts_t *self)
{
    free(self->path);
    self->path = NULL;
}

/* Without a user it is the machine's file. One whose home is not known has no path, which knownhosts_wrong()
 * tells. */
int
knownhosts_of(knownhosts_t *self, const json_t *args, const char *host, fail_t *err)
{
    const char *config = value_str(args, "config", "");
    passwd_space_auto_t space = { 0 };

    *self = (knownhosts_t){ .user = value_str(args, "user", ""),
                            .host = value_str(args, host, ""),
                            .fingerprint = value_str(args, "fingerprint", ""),
                            .key = value_str(args, "key", ""),
                            .enc = value_str(args, "enc", ""),
                            .hash = value_str(args, "fingerprint_hash_type", NULL),
                            .port = value_get(args, "port"),
                            .timeout = value_get(args, "timeout"),
                            .hashed = value_bool(args, "hash_known_hosts", true),
                            .uid = (uid_t) -1,
                            .gid = (gid_t) -1 };
    if (field_check_text("hostname", self->host, FIELD_WORD, err) < 0 ||
        field_check_text("key", self->key, FIELD_WORD, err) < 0 ||
        field_check_text("enc", self->enc, FIELD_WORD, err) < 0)
        return err->code;
    if (*self->user == '\0') {
        config = *config != '\0' ? config : "/etc/ssh/ssh_known_hosts";
        self->path = *config == '/' ? xstrdup(config) : NULL;
        return 0;
    }
    errno = 0;
    const struct passwd *pw = passwd_user(&space, self->user);
    if (pw == NULL && errno != 0)
        return fail_set(err, -errno, "cannot look up user %s: %s", self->user, strerror(errno));
    config = *config != '\0' ? config : ".ssh/known_hosts";
    if (pw != NULL) {
        self->path = *config == '/' ? xstrdup(config) : fs_join(pw->pw_dir, config);
        self->uid = pw->pw_uid;
        self->gid = pw->pw_gid;
    }
    return 0;
}

/* Salt's answer to what can't be done: the states show its text. NEW. */
static json_t *
known_error(const char *text)
{
    return json_pack("{s:s, s:s}", "status", "error", "error", text);
}

/* The answer when there is no file to work with; NULL: there is one. NEW. */
json_t *
knownhosts_wrong(const knownhosts_t *self)
{
    AUTO_FREE char *nobody = xasprintf("User %s does not exist", self->user);

    if (self->path != NULL)
        return NULL;
    return known_error(*self->user == '\0' ? "Cannot determine absolute path to file." : nobody);
}

/* ---- entries -------------------------------------------------------------------------------- */

/* True for a port of its own, which known_hosts names with the host. */
static bool
has_port(const knownhosts_t *self)
{
    AUTO_FREE char *port = value_truthy(self->port) ? value_pystr(self->port) : NULL;

    return port != NULL && strcmp(port, STRINGIFY(22)) != 0;
}

/* The host as known_hosts has it. NEW. Port 22 is never written: sshd's own default has no brackets. */
static char *
known_name(const knownhosts_t *self, const char *host)
{
    AUTO_FREE char *port = has_port(self) ? value_pystr(self->port) : NULL;

    return port != NULL ? xasprintf("[%s]:%s", host, port) : xstrdup(host);
}

/* Lines of three words, as ssh-keygen -F and ssh-keyscan print them. NEW list, or None; NULL with *err.
 * Comments begin with "#" and may have three words too. A key whose fingerprint can't be made is the failure
 * of the whole. */
static json_t *
knownhosts_parse(const char *output, const char *hash, fail_t *err)
{
    json_auto_t *list = json_array();
    AUTO_FREE char *text = xstrdup(output);

    for (char *at = text, *line; err->code == 0 && (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t\r", true);
        AUTO_FREE char *print = strv_len(words) == 3 && *words[0] != '#'
                                    ? auth_fingerprint(words[2], hash, err)
                                    : NULL;
        if (print != NULL)
            json_array_append_new(list, json_pack("{s:o, s:s, s:s, s:s}", "hostname",
                                                  value_utf8(words[0], strlen(words[0])), "key", words[2],
                                                  "enc", words[1], "fingerprint", print));
        strv_free(words);
    }
    if (err->code != 0)
        return NULL;
    return json_array_size(list) > 0 ? json_incref(list) : json_null();
}

/* NEW output of ssh-keygen -F, or NULL with *err. ssh-keygen finds hashed names too, which no search of the
 * text does. */
static json_t *
known_found(call_ctx_t *ctx, const knownhosts_t *self, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *name = known_name(self, self->host);
    json_t *said = NULL;

    if (tool_need("ssh-keygen", err) < 0 || tool_begin(&prog, "ssh-keygen", err) < 0)
        return NULL;
    prog_adds(&prog, "-F", name, "-f", self->path, NULL);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = tool_run(ctx, &prog, TOOL_QUIET | TOOL_MERGE, err);
    if (out != NULL)
        said = json_incref(value_get(out, "stdout"));
    return said;
}

/* Entries of the file for this host. NEW list, or None; NULL with *err. */
json_t *
knownhosts_entries(call_ctx_t *ctx, const knownhosts_t *self, fail_t *err)
{
    json_auto_t *said = known_found(ctx, self, err);

    return said != NULL ? knownhosts_parse(json_string_value(said), self->hash, err) : NULL;
}

/* A host that says nothing at all is asked again. ssh-keyscan ends with 0 then, too. The keys are whatever
 * the network said: callers compare them with a fingerprint or a key, or the caller has chosen to trust the
 * first. */
json_t *
knownhosts_scan(call_ctx_t *ctx, const knownhosts_t *self, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_auto_t *out = NULL;

    if (tool_need("ssh-keyscan", err) < 0 || tool_begin(&prog, "ssh-keyscan", err) < 0)
        return NULL;
    if (value_truthy(self->port))
        prog_add_option(&prog, "-p", self->port);
    if (*self->enc != '\0')
        prog_adds(&prog, "-t", self->enc, NULL);
    else if (str_eq(value_str(ctx_grains(ctx), "osfinger", NULL), "CentOS-5"))
        prog_adds(&prog, "-t", "rsa", NULL);
    if (self->hashed)
        prog_add(&prog, "-H");
    prog_add_option(&prog, "-T", self->timeout);
    if (prog_operand(&prog, "hostname", self->host, err) < 0)
        return NULL;
    prog.timeout_ms = LIMIT_TOOL_MS;
    for (int i = 0; i < SCAN_ATTEMPTS && *value_str(out, "stdout", "") == '\0'; i++) {
        json_decref(STEAL(out));
        if ((out = tool_run(ctx, &prog, TOOL_MERGE, err)) == NULL)
            return NULL;
    }
    return knownhosts_parse(value_str(out, "stdout", ""), self->hash, err);
}

/* True when one of the entries has that text. */
static bool
entries_have(const json_t *entries, const char *member, const char *text)
{
    json_t *one;
    size_t i;

    json_array_foreach (entries, i, one) {
        if (strcmp(value_str(one, member, ""), text) == 0)
            return true;
    }
    return false;
}

/* The answer is what a state would do: "add", "update" or "exists". A key goes before a fingerprint, and without either any
 * entry will do. */
const char *
knownhosts_check(const knownhosts_t *self, const json_t *entries)
{
    if (!value_truthy(entries))
        return "add";
    if (*self->key != '\0')
        return entries_have(entries, "key", self->key) ? "exists" : "update";
    if (*self->fingerprint != '\0')
        return entries_have(entries, "fingerprint", self->fingerprint) ? "exists" : "update";
    return "exists";
}

/* ---- the file ------------------------------------------------------------------------------- */

/* ssh-keygen over a private copy of `content`, which it replaces; its output names `path`. When it keeps the
 * former content beside the copy, *ret_kept is true. The copy is in a folder for temporary files: ssh-keygen
 * makes its new file beside the old one, in a folder that may be another user's. */
static int
keygen_over(call_ctx_t *ctx, const char *name, const char *path, buf_t *content, json_t **ret_said,
            bool *ret_kept, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    buf_auto_t after = BUF_INIT;
    int code = tool_need("ssh-keygen", err);

    if (code < 0 || (code = tool_begin(&prog, "ssh-keygen", err)) < 0)
        return code;
    AUTO_FREE char *temp = content_temp(NULL, NULL, buf_str(content), content->len, err);
    if (temp == NULL)
        return err->code;
    AUTO_FREE char *old = xasprintf("%s.old", temp);
    if (name != NULL)
        prog_adds(&prog, "-R", name, "-f", temp, NULL);
    else
        prog_adds(&prog, "-H", "-f", temp, NULL);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = tool_run(ctx, &prog, TOOL_MERGE, err);
    int rc = out != NULL ? fs_read(temp, LIMIT_FILE_READ, &after, err) : err->code;
    *ret_kept = rc == 0 && fs_look(old, err) > 0;
    (void) unlink(temp);
    (void) unlink(old);
    if (rc != 0)
        return rc;
    AUTO_FREE char *said = str_replace(value_str(out, "stdout", ""), temp, path);
    *ret_said = value_utf8(said, strlen(said));
    buf_clear(content);
    buf_add(content, buf_str(&after), after.len);
    return 0;
}

/* Replaces the user's file, and keeps `before` as FILE.old when it is given, as ssh-keygen does. Both are
 * written the way of all files of others: new, and renamed over the old one. */
static int
knownhosts_put(const knownhosts_t *self, const partfile_t *file, const buf_t *after, const buf_t *before,
               fail_t *err)
{
    const landing_t fresh = { .uid = self->uid, .gid = self->gid, .mode = 0600 };
    AUTO_FREE char *old = xasprintf("%s.old", self->path);
    partfile_auto_t kept = PARTFILE_INIT;
    int rc = 0;

    if (before != NULL && (rc = partfile_open(&kept, old, err)) == 0)
        rc = partfile_write(&kept, buf_str(before), before->len, &fresh, err);
    return rc == 0 ? partfile_write(file, buf_str(after), after->len, &fresh, err) : rc;
}

int
knownhosts_rewrite(call_ctx_t *ctx, const knownhosts_t *self, bool hash, json_t **ret_said, fail_t *err)
{
    AUTO_FREE char *name = known_name(self, self->host);
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    partfile_auto_t file = PARTFILE_INIT;
    bool kept = false;
    int rc = partfile_open(&file, self->path, err);

    if (rc != 0 || (rc = partfile_read(&file, &before, err)) != 0)
        return rc;
    buf_add(&after, buf_str(&before), before.len);
    rc = keygen_over(ctx, hash ? NULL : name, self->path, &after, ret_said, &kept, err);
    if (rc == 0 && kept && (rc = knownhosts_put(self, &file, &after, &before, err)) != 0)
        json_decref(STEAL(*ret_said));
    return rc;
}

/* Numbers of the lines that name the host with that type of a key; ssh-keygen -F says them. NEW list. */
static json_t *
knownhosts_lines(const char *said, const char *enc)
{
    json_t *numbers = json_array();
    AUTO_FREE char *text = xstrdup(said);
    long long number = 0;

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t\r", true);
        size_t n = strv_len(words);
        /* "# Host NAME found: line 3", and then the line itself. */
        if (n > 0 && *words[0] == '#')
            number = str_to_int(words[n - 1], 1, INT32_MAX, &number) ? number : 0;
        else if (n > 1 && number > 0 && strcmp(words[n - 2], *enc != '\0' ? enc : "rsa") == 0)
            json_array_append_new(numbers, json_integer(number));
        strv_free(words);
    }
    return numbers;
}

/* `text` without those lines, its last one ended. */
static void
add_without(const char *text, const json_t *numbers, buf_t *out)
{
    for (json_int_t n = 1; *text != '\0'; n++) {
        json_auto_t *number = json_integer(n);
        size_t len = strcspn(text, "\n");
        if (!value_has(numbers, number)) {
            buf_add(out, text, len);
            buf_putc(out, '\n');
        }
        text += len + (text[len] == '\n');
    }
}

/* Adds the lines of new entries. One with a port of its own keeps it as a member, as Salt's answer has it. */
static void
add_entries(const knownhosts_t *self, const json_t *entries, buf_t *out)
{
    json_t *one;
    size_t i;

    json_array_foreach (entries, i, one) {
        const char *host = value_str(one, "hostname", "");
        bool own = !self->hashed && has_port(self) && strchr(host, ':') == NULL;
        AUTO_FREE char *name = own ? known_name(self, host) : xstrdup(host);
        if (own)
            json_object_set(one, "port", (json_t *) self->port);
        buf_printf(out, "%s %s %s\n", name, value_str(one, "enc", ""), value_str(one, "key", ""));
    }
}

/* Writes the new entries instead of those of the same type. Lines of other hosts keep their places, and so do
 * other types of keys of this one. */
static int
known_store(call_ctx_t *ctx, const knownhosts_t *self, const json_t *entries, fail_t *err)
{
    const destpath_made_t made = { .mode = *self->user != '\0' ? 0700 : 0755,
                                   .uid = self->uid,
                                   .gid = self->gid };
    AUTO_FREE char *folder = xstrndup(self->path, (size_t) (strrchr(self->path, '/') - self->path));
    buf_auto_t before = BUF_INIT, after = BUF_INIT, plain = BUF_INIT;
    partfile_auto_t file = PARTFILE_INIT;
    json_auto_t *said = known_found(ctx, self, err), *numbers = NULL, *output = NULL;
    bool kept = false;
    int rc = said == NULL      ? err->code
             : *folder == '\0' ? 0
                               : destpath_make_folder(folder, DESTPATH_STRICT, &made, err);

    if (rc != 0 || (rc = partfile_open(&file, self->path, err)) != 0 ||
        (rc = partfile_read(&file, &before, err)) != 0)
        return rc;
    numbers = knownhosts_lines(json_string_value(said), self->enc);
    add_without(buf_str(&before), numbers, &after);
    add_entries(self, entries, &after);
    /* Keys of a scan were hashed by ssh-keyscan already. */
    if (*self->key != '\0' && self->hashed) {
        buf_add(&plain, buf_str(&after), after.len);
        rc = keygen_over(ctx, NULL, self->path, &after, &output, &kept, err);
    }
    return rc == 0 ? knownhosts_put(self, &file, &after, kept ? &plain : NULL, err) : rc;
}

/* ---- set ------------------------------------------------------------------------------------ */

/* {"status": "exists", "keys": [...]}. NEW. */
static json_t *
known_exists(const json_t *entries)
{
    json_t *keys = json_array(), *one;
    size_t i;

    json_array_foreach (entries, i, one)
        json_array_append(keys, value_get(one, "key"));
    return json_pack("{s:s, s:o}", "status", "exists", "keys", keys);
}

/* True when the host's own keys have one that the file has. */
static bool
shares_key(const json_t *entries, const json_t *stored)
{
    json_t *one;
    size_t i;

    json_array_foreach (entries, i, one) {
        if (entries_have(stored, "key", value_str(one, "key", "")))
            return true;
    }
    return false;
}

json_t *
knownhosts_set(call_ctx_t *ctx, const knownhosts_t *self, bool dry, fail_t *err)
{
    bool any = *self->key == '\0' && *self->fingerprint == '\0';

    if (has_port(self) && self->hashed)
        return known_error("argument port can not be used in conjunction with argument hash_known_hosts");
    json_t *wrong = knownhosts_wrong(self);
    if (wrong != NULL)
        return wrong;
    json_auto_t *stored = knownhosts_entries(ctx, self, err), *fresh = NULL;
    if (stored == NULL)
        return NULL;
    if (!any && (*self->fingerprint == '\0' || entries_have(stored, "fingerprint", self->fingerprint)) &&
        (*self->key == '\0' || entries_have(stored, "key", self->key)))
        return known_exists(stored);
    if (*self->key != '\0') {
        if (*self->enc == '\0')
            return known_error("Required argument \"enc\" if using \"key\" argument.");
        fresh = json_pack("[{s:s, s:s, s:s}]", "hostname", self->host, "enc", self->enc, "key", self->key);
    } else {
        if ((fresh = knownhosts_scan(ctx, self, err)) == NULL)
            return NULL;
        if (json_is_null(fresh))
            return known_error("Unable to receive remote host keys");
        if (*self->fingerprint != '\0' && !entries_have(fresh, "fingerprint", self->fingerprint))
            return known_error("Remote host public keys found but none of their fingerprints match the one "
                               "you have provided");
        if (any && shares_key(fresh, stored))
            return known_exists(stored);
    }
    if (!dry && known_store(ctx, self, fresh, err) != 0)
        return NULL;
    if (dry) {
        buf_auto_t unused = BUF_INIT;
        add_entries(self, fresh, &unused);
    }
    return json_pack("{s:s, s:O, s:O}", "status", "updated", "old", stored, "new", fresh);
}
