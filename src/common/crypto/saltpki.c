/* saltpki.c - detect RSA keys that Salt left in pki_dir, and move them to SALTPKI_ASIDE before new keys are
 * made. Detection reads the first bytes only: the armour lines of PKCS#1, and the base64 of RSA's object
 * identifier in PKCS#8 and SubjectPublicKeyInfo. */
#include "common/crypto/saltpki.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"

enum { HEAD_BYTES = 256, MODE_DIR = 0700 };

/* Folders of a master's and a minion's keys; "" is pki_dir itself. */
static const char *const folders[] = { "", "minions", "minions_pre", "minions_rejected", "minions_denied" };

/* The armour of RSA's own formats, and RSA's object identifier in the general formats. */
static const char *const marks[] = { "-----BEGIN RSA PUBLIC KEY-----", "-----BEGIN RSA PRIVATE KEY-----",
                                     "ANBgkqhkiG9w0BAQEF" };

bool
saltpki_is_rsa(const char *path)
{
    char head[HEAD_BYTES];
    AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof(head) - 1) : -1;
    bool is = false;

    if (n < 0)
        return false;
    head[n] = '\0';
    for (size_t i = 0; i < NELEMS(marks); i++)
        is = is || strstr(head, marks[i]) != NULL;
    explicit_bzero(head, sizeof(head));
    return is;
}

/* In pki_dir itself only names of keys count: the other files are not ours to move. */
static bool
is_key_name(const char *folder, const char *name)
{
    return name[0] != '.' && (*folder != '\0' || str_ends(name, ".pem") || str_ends(name, ".pub"));
}

typedef int found_fn(void *cookie, const char *folder, const char *path, const char *name, fail_t *err);

/* Call `found` for each RSA key in a folder, until it fails. */
static int
each_of(const char *pki_dir, const char *folder, found_fn *found, void *cookie, fail_t *err)
{
    AUTO_FREE char *path = *folder != '\0' ? fs_join(pki_dir, folder) : xstrdup(pki_dir);
    char **names = NULL;
    int rc = fs_names(path, &names, err);

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *file = fs_join(path, names[i]);
        if (is_key_name(folder, names[i]) && saltpki_is_rsa(file))
            rc = found(cookie, folder, file, names[i], err);
    }
    strv_free(names);
    return rc;
}

typedef struct counts {
    size_t own, minions, accepted;
    const char *aside;
} counts_t;

static int
saltpki_own_count(void *cookie, const char *folder, const char *path, const char *name, fail_t *err)
{
    counts_t *n = cookie;

    n->own += *folder == '\0';
    n->minions += *folder != '\0';
    n->accepted += str_eq(folder, "minions");
    return 0;
}

size_t
saltpki_count(const char *pki_dir, size_t *ret_minions)
{
    counts_t n = { 0 };

    for (size_t i = 0; i < NELEMS(folders); i++)
        (void) each_of(pki_dir, folders[i], saltpki_own_count, &n, NULL);
    *ret_minions = n.accepted;
    return n.own + n.minions;
}

static int
saltpki_move(void *cookie, const char *folder, const char *path, const char *name, fail_t *err)
{
    counts_t *n = cookie;
    AUTO_FREE char *dir = *folder != '\0' ? fs_join(n->aside, folder) : xstrdup(n->aside);
    AUTO_FREE char *to = fs_join(dir, name);
    int rc = fs_mkdirs(dir, MODE_DIR, err);

    if (rc == 0 && renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_NOREPLACE) != 0)
        rc = fail_set(err, -errno,
                      "%s is an RSA key of Salt and can't be moved to %s: %s; move it elsewhere by hand",
                      path, to, strerror(errno));
    return rc != 0 ? rc : saltpki_own_count(n, folder, path, name, err);
}

int
saltpki_set_aside(const char *pki_dir, char **ret_text, fail_t *err)
{
    AUTO_FREE char *aside = fs_join(pki_dir, SALTPKI_ASIDE);
    counts_t n = { .aside = aside };
    int rc = 0;

    *ret_text = NULL;
    for (size_t i = 0; rc == 0 && i < NELEMS(folders); i++)
        rc = each_of(pki_dir, folders[i], saltpki_move, &n, err);
    if (n.own + n.minions > 0)
        *ret_text = xasprintf(
            "%s held RSA keys of Salt, which Halite can't use: %zu of this host's own and %zu of minions "
            "(%zu accepted) are in %s now, unchanged. Halite makes X25519 keys in their place, so that "
            "minions introduce themselves once more. To go back to Salt, stop Halite and move them back",
            pki_dir, n.own, n.minions, n.accepted, aside);
    return rc;
}
