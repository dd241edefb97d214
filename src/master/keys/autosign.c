/* autosign.c - see autosign.h. A file that others could write is ignored, with the rules of Salt's
 * AutoKey.check_permissions, as its writer could accept keys. */
#include "master/keys/autosign.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/crypto/keys.h"
#include "common/match/match.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

/* True when the process is in the group. */
static bool
own_group(gid_t gid)
{
    int n = getgroups(0, NULL);
    AUTO_FREE gid_t *groups = xcalloc(n > 0 ? (size_t) n : 1, sizeof(*groups));

    n = getgroups(n, groups);
    for (int i = 0; i < n; i++)
        if (groups[i] == gid)
            return true;
    return gid == getegid();
}

/* Why the file's mode makes it untrustworthy, as in Salt; NULL: it is fine. */
static const char *
autosign_objection(const struct stat *st, bool permissive)
{
    if ((st->st_mode & S_IWOTH) != 0)
        return "everybody may write it";
    if ((st->st_mode & S_IWGRP) == 0)
        return NULL;
    if (!permissive)
        return "its group may write it and permissive_pki_access is not set";
    if (geteuid() == 0 && !own_group(st->st_gid))
        return "its group may write it and root is not in that group";
    return NULL;
}

/* Read a list after checking the open file, not its name: what is checked is what is read. -ENOENT without
 * *err: there is none. */
static int
list_read(const char *file, bool permissive, buf_t *out, fail_t *err)
{
    AUTO_FD fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return errno == ENOENT ? -ENOENT : fail_set(err, -errno, "cannot read %s: %s", file, strerror(errno));
    const char *why = autosign_objection(&st, permissive);

    if (why != NULL)
        return fail_set(err, -EPERM, "%s is ignored: %s (mode %04o)", file, why,
                        (unsigned) (st.st_mode & 07777));
    int rc = fs_read_fd(fd, LIMIT_CONF_FILE, out);

    return rc == 0 ? 0 : fail_set(err, rc, "cannot read %s: %s", file, strerror(-rc));
}

/* An invalid line sets *err while others are still tried: the caller decides what that means. */
bool
keystore_listed(const char *file, const char *id, bool permissive, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    bool found = false;

    if (str_empty(file) || !conf_id_valid(id, NULL) || list_read(file, permissive, &text, err) != 0)
        return false;
    char **lines = conf_lines(buf_str(&text), text.len, err);

    if (lines == NULL)
        return fail_prefix(err, "%s: ", file), false;
    for (size_t i = 0; lines[i] != NULL && !found; i++) {
        const char *line = str_trim(lines[i]);
        fail_auto_t why = FAIL_INIT;

        if (*line == '\0' || *line == '#')
            continue;
        if (match_expr_check(line, &why))
            found = match_name(line, id);
        else
            fail_set(err, -EINVAL, "%s: the line '%.100s' is not a pattern: %s", file, line, fail_text(&why));
    }
    strv_free(lines);
    return found;
}

/* True when one of a file's lines is the text. How alike they are makes no difference in time. */
static bool
autosign_has_line(const char *path, const char *text, bool permissive, fail_t *err)
{
    buf_auto_t bytes = BUF_INIT;
    bool found = false;

    if (list_read(path, permissive, &bytes, err) != 0)
        return false;
    char **lines = conf_lines(buf_str(&bytes), bytes.len, err);
    if (lines == NULL)
        return fail_prefix(err, "%s: ", path), false;
    for (size_t i = 0; lines[i] != NULL; i++) {
        const char *line = str_trim(lines[i]);
        found |= *line != '\0' && *line != '#' && key_text_equal(line, text);
    }
    strv_free(lines);
    return found;
}

bool
keystore_grains_listed(const char *folder, const json_t *claim, bool permissive, fail_t *err)
{
    struct stat st;
    char **names = NULL;
    bool found = false;

    if (json_object_size(claim) == 0 || json_object_size(claim) > LIMIT_CLAIM_GRAINS)
        return false;
    if (stat(folder, &st) != 0)
        return fs_fail(err, -errno, "read", folder), false;
    const char *why = autosign_objection(&st, permissive);
    if (why != NULL)
        return fail_set(err, -EPERM, "%s is ignored: %s", folder, why), false;
    if (fs_names(folder, &names, err) < 0)
        return false;
    for (size_t i = 0; names[i] != NULL && !found; i++) {
        const char *text = value_str(claim, names[i], "");
        AUTO_FREE char *path = fs_join(folder, names[i]);
        if (*text != '\0' && strlen(text) <= LIMIT_CLAIM_TEXT && names[i][0] != '.')
            found = autosign_has_line(path, text, permissive, err);
    }
    strv_free(names);
    return found;
}

/* Accept once by a file named as the id, valid for `minutes` (0: for ever). The folder is opened beneath
 * pki_dir, and a link in place of the file is refused. */
bool
keystore_take_autosign(const char *pki_dir, const char *id, int minutes)
{
    if (!conf_id_valid(id, NULL))
        return false;
    AUTO_FREE char *file = xasprintf("%s/minions_autosign/%s", pki_dir, id);
    AUTO_FD base = open(pki_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD dir = base >= 0 ? beneath_folder(base, "minions_autosign", BENEATH_LINKS, 0) : -1;
    struct stat st;

    if (dir < 0 || fstatat(dir, id, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return false;
    bool old = minutes > 0 && st.st_mtime < clock_wall_us() / 1000000 - 60 * (int64_t) minutes;

    if (old)
        log_warning("%s: older than autosign_timeout; it accepts nobody", file);
    /* A file that can't be removed must not accept: it would accept another key tomorrow. */
    if (unlinkat(dir, id, 0) != 0) {
        log_error("%s can't be removed and accepts nobody: %s", file, strerror(errno));
        return false;
    }
    return !old;
}
