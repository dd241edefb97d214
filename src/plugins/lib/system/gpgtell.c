/* gpgtell.c - answers of gpg in Salt's form. */
#include <ctype.h>

#include "common/base/str.h"
#include "plugins/lib/system/gpgring.h"

json_t *
gpg_found_keys(const char *colons)
{
    enum { KEYID = 1, LENGTH = 3, CREATED, EXPIRES, FIELDS };
    json_t *keys = json_array(), *key = NULL;
    char **lines = str_split(colons, "\r\n", true);

    for (size_t i = 0; lines[i] != NULL; i++) {
        char **fields = str_split(lines[i], ":", false);
        if (strv_len(fields) >= FIELDS && str_eq(fields[0], "pub")) {
            key = json_pack("{s:s, s:[]}", "keyid", fields[KEYID], "uids");
            gpg_put_day(key, "expires", fields[EXPIRES]);
            gpg_put_day(key, "created", fields[CREATED]);
            if (*fields[LENGTH] != '\0')
                json_object_set_new(key, "keyLength", json_string(fields[LENGTH]));
            json_array_append_new(keys, key);
        } else if (key != NULL && strv_len(fields) > KEYID && str_eq(fields[0], "uid")) {
            json_array_append_new(value_get(key, "uids"), gpg_uid_text(fields[KEYID]));
        }
        strv_free(fields);
    }
    strv_free(lines);
    return keys;
}

/* "gpg: changing ownertrust from 3 to 5", "gpg: inserting ownertrust of 5". */
char *
gpg_trust_said(const char *errs)
{
    static const char *const shown[] = { "",           "Expired",       "Unknown",           "Not Trusted",
                                         "Marginally", "Fully Trusted", "Ultimately Trusted" };
    const char *line = strstr(errs, " ownertrust ");
    unsigned found[2] = { 0, 0 };
    size_t n = 0;

    for (const char *p = line; p != NULL && *p != '\0' && *p != '\n' && n < NELEMS(found); p++)
        if (isdigit((unsigned char) *p))
            found[n++] = (unsigned) (*p - '0') < NELEMS(shown) ? (unsigned) (*p - '0') : 0;
    return n == 2   ? xasprintf("Changing ownership trust from %s to %s.", shown[found[0]], shown[found[1]])
           : n == 1 ? xasprintf("Setting ownership trust to %s.", shown[found[0]])
                    : xstrdup("");
}

json_t *
gpg_words(const json_t *v)
{
    json_t *list = json_array();

    if (json_is_array(v)) {
        json_decref(list);
        return json_incref((json_t *) v);
    }
    AUTO_FREE char *text = value_truthy(v) ? value_pystr(v) : xstrdup("");
    char **words = str_split(text, ",", true);
    for (size_t i = 0; words[i] != NULL; i++) {
        const char *word = str_trim(words[i]);
        json_array_append_new(list, value_utf8(word, strlen(word)));
    }
    strv_free(words);
    return list;
}

bool
gpg_is_import_problem(const char *keyword)
{
    static const char *const problems[] = { "NODATA", "IMPORT_PROBLEM", "KEYEXPIRED", "SIGEXPIRED",
                                            "FAILURE" };

    for (size_t i = 0; i < NELEMS(problems); i++)
        if (str_eq(problems[i], keyword))
            return true;
    return false;
}

json_t *
gpg_result(bool good, bool bare, const char *output, const char *written, const buf_t *text, const char *why)
{
    if (!good && (bare || why == NULL))
        return bare ? json_false() : json_pack("{s:b}", "res", 0);
    json_t *said = !good                      ? value_fmt("%s.\nPlease check the salt-minion log.", why)
                   : *output != '\0' && !bare ? value_fmt("%s %s", written, output)
                                              : value_utf8(buf_str(text), text->len);
    return bare ? said : json_pack("{s:b, s:o}", "res", good, "comment", said);
}

char *
gpg_crypt_status(const char *errs, bool *ret_good)
{
    static const struct {
        const char *keyword, *status;
        bool good;
    } rows[] = {
        { "NODATA", "no data was provided", false },
        { "NEED_PASSPHRASE", "need passphrase", false },
        { "BAD_PASSPHRASE", "bad passphrase", false },
        { "GOOD_PASSPHRASE", "good passphrase", false },
        { "MISSING_PASSPHRASE", "missing passphrase", false },
        { "NEED_PASSPHRASE_SYM", "need symmetric passphrase", false },
        { "DECRYPTION_FAILED", "decryption failed", false },
        { "BEGIN_DECRYPTION", "decryption incomplete", false },
        { "BEGIN_ENCRYPTION", "encryption incomplete", false },
        { "DECRYPTION_OKAY", "decryption ok", true },
        { "END_ENCRYPTION", "encryption ok", true },
        { "INV_RECP", "invalid recipient", false },
        { "KEYEXPIRED", "key expired", false },
        { "SIG_CREATED", "sig created", false },
        { "SIGEXPIRED", "sig expired", false },
        { "NO_SECKEY", "no secret key", false },
        { "NO_PUBKEY", "no public key", false },
    };
    const char *status = "";

    *ret_good = false;
    for (bool more = true; more;) {
        AUTO_FREE char *key = NULL, *rest = NULL;
        more = gpg_status(&errs, &key, &rest);
        for (size_t i = 0; more && i < NELEMS(rows); i++) {
            bool decrypting = str_eq(key, "DECRYPTION_FAILED") || str_eq(key, "BEGIN_DECRYPTION");
            if (!str_eq(rows[i].keyword, key) || (decrypting && str_eq(status, "no secret key")) ||
                (str_eq(key, "NODATA") && str_eq(status, "decryption failed")))
                continue;
            status = rows[i].status;
            *ret_good = *ret_good || rows[i].good;
        }
    }
    return xstrdup(status);
}
