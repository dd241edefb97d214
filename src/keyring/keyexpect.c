/* keyexpect.c - ids that a Salt master had accepted, and the fingerprints that their new keys must have. Each
 * is a file minions_expected/ID, until a key of the id is accepted. An id alone accepts nobody: a file
 * without a fingerprint only marks the pending key. */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "keyring/keystore.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define FOLDER  "minions_expected"
#define PAIRS   (FINGER_LEN - 1) /* characters of "aa:bb:..." */
#define MODE    0600
#define MODE_UP 0700

/* The folder's descriptor; -1: there is none. */
static int
folder_open(const char *pki_dir)
{
    AUTO_FREE char *path = fs_join(pki_dir, FOLDER);

    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* True for a SHA-256 fingerprint with colons: digits are checked, their places are not. */
static bool
keyexpect_is_finger(const char *text)
{
    size_t n = strspn(text, "0123456789abcdefABCDEF:");

    return n == PAIRS && text[n] == '\0';
}

bool
keystore_is_expected(const char *pki_dir, const char *id)
{
    AUTO_FD folder = conf_id_valid(id, NULL) ? folder_open(pki_dir) : -1;

    return folder >= 0 && !beneath_absent(folder, id);
}

/* Removes the expectation of an id. True when its file is gone. */
static bool
keyexpect_forget(int folder, const char *pki_dir, const char *id)
{
    if (unlinkat(folder, id, 0) == 0 || errno == ENOENT)
        return true;
    log_error("%s/" FOLDER "/%s can't be removed: %s", pki_dir, id, strerror(errno));
    return false;
}

/* True when the key has the expected fingerprint; the expectation is then gone. */
bool
keystore_take_expected(const char *pki_dir, const char *id, const uint8_t key[KEY_BYTES])
{
    AUTO_FD folder = conf_id_valid(id, NULL) ? folder_open(pki_dir) : -1;
    buf_auto_t text = BUF_INIT;
    char finger[FINGER_LEN];

    if (folder < 0 || beneath_read(folder, id, LIMIT_KEY_FILE, &text) != 0)
        return false;
    key_finger(key, finger);
    /* An expectation that remained would accept the key again after an operator deletes it; its removal is
     * therefore part of the answer. */
    return strcasecmp(buf_str(&text), finger) == 0 && keyexpect_forget(folder, pki_dir, id);
}

void
keystore_expected_over(const char *pki_dir, const char *id)
{
    AUTO_FD folder = conf_id_valid(id, NULL) ? folder_open(pki_dir) : -1;

    if (folder >= 0)
        (void) keyexpect_forget(folder, pki_dir, id);
}

/* {id: fingerprint} of lines "id: ... fingerprint", as a job shows them. NEW, or NULL with *err. */
static json_t *
read_fingers(const char *file, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    if (fs_read(file, LIMIT_CONF_FILE, &text, err) != 0)
        return NULL;
    char **lines = conf_lines(buf_str(&text), text.len, err);
    if (lines == NULL) {
        fail_prefix(err, "%s: ", file);
        return NULL;
    }
    json_auto_t *out = json_object();

    for (size_t i = 0; lines[i] != NULL && err->code == 0; i++) {
        char *line = str_trim(lines[i]), *colon = strstr(line, ": "), *last = strrchr(line, ' ');
        if (*line == '\0' || *line == '#')
            continue;
        AUTO_FREE char *id = xstrndup(line, colon != NULL ? (size_t) (colon - line) : 0);
        if (conf_id_valid(id, NULL) && keyexpect_is_finger(last + 1))
            json_object_set_new(out, id, json_string(last + 1));
        else
            (void) fail_set(err, -EINVAL, "%s:%zu: not 'ID: FINGERPRINT', the sha256 one of key.finger", file,
                            i + 1);
    }
    strv_free(lines);
    return err->code == 0 ? STEAL(out) : NULL;
}

/* Writes the expectation, synced to the disk. */
static int
keyexpect_expect(int folder, const char *id, const char *finger, fail_t *err)
{
    int rc = beneath_put(folder, id, finger, strlen(finger), MODE, true);

    return rc == 0 ? 0 : fail_set(err, rc, "cannot write " FOLDER "/%s: %s", id, strerror(-rc));
}

/* Takes over one id of Salt's master; an id that has an accepted key here is left out. */
static int
keyexpect_take_over(const char *pki_dir, int folder, const char *id, const json_t *known, json_t *done,
                    fail_t *err)
{
    AUTO_FREE char *accepted = xasprintf("%s/%s/%s", pki_dir, key_state_dir(KEY_ACCEPTED), id);
    const char *finger = value_str(known, id, NULL);
    int there = fs_look(accepted, err);

    if (there != 0)
        return there < 0 ? there : 0;
    json_object_set_new(done, id, json_boolean(finger != NULL));
    return keyexpect_expect(folder, id, finger != NULL ? finger : "", err);
}

/* Each accepted id of Salt's master becomes expected; ids with an accepted key here are left alone. */
json_t *
keystore_import_salt(const char *pki_dir, const char *from, const char *fingers, fail_t *err)
{
    AUTO_FREE char *minions = fs_join(from, "minions"), *folder = fs_join(pki_dir, FOLDER);
    json_auto_t *known = *fingers != '\0' ? read_fingers(fingers, err) : json_object(), *done = json_object();
    DIR *dir = known != NULL ? opendir(minions) : NULL;
    int rc = 0;

    if (known == NULL)
        return NULL;
    if (dir == NULL) {
        (void) fail_set(err, -errno, "%s: %s; the pki folder of a Salt master is wanted", minions,
                        strerror(errno));
        return NULL;
    }
    rc = fs_mkdirs(folder, MODE_UP, err);
    AUTO_FD to = rc == 0 ? folder_open(pki_dir) : -1;
    if (rc == 0 && to < 0)
        rc = fail_set(err, -errno, "%s: %s", folder, strerror(errno));
    for (const struct dirent *e; rc == 0 && (e = fs_next(dir, &rc)) != NULL;) {
        if (e->d_name[0] != '.' && conf_id_valid(e->d_name, NULL))
            rc = keyexpect_take_over(pki_dir, to, e->d_name, known, done, err);
    }
    (void) closedir(dir);
    return rc == 0 ? STEAL(done) : NULL;
}
