/* gpgsigns.c - whose signatures gpg has found good, by its status lines (doc/DETAILS of GnuPG). */
#include "common/base/str.h"
#include "plugins/lib/system/gpgring.h"

/* Salt's word for a line of trust; NULL: another line. */
static const char *
trust_word(const char *keyword)
{
    static const char *const levels[][2] = { { "TRUST_UNDEFINED", "Undefined" },
                                             { "TRUST_NEVER", "Never" },
                                             { "TRUST_MARGINAL", "Marginal" },
                                             { "TRUST_FULLY", "Fully" },
                                             { "TRUST_ULTIMATE", "Ultimate" } };

    for (size_t i = 0; i < NELEMS(levels); i++)
        if (str_eq(levels[i][0], keyword))
            return levels[i][1];
    return NULL;
}

/* All signatures must be good, and one of a known trust. A key of no known trust makes gpg print no TRUST_ line, and then
 * nothing is verified. */
json_t *
gpg_verdict(const char *errs)
{
    static const char *const against[] = { "BADSIG", "ERRSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG" };
    json_auto_t *ret = json_pack("{s:b, s:n, s:n, s:n, s:s}", "res", 1, "username", "key_id", "trust_level",
                                 "message", "The signature is verified.");
    bool bad = false;

    for (bool more = true; more;) {
        AUTO_FREE char *key = NULL, *rest = NULL;
        more = gpg_status(&errs, &key, &rest);
        for (size_t i = 0; more && i < NELEMS(against); i++)
            bad = bad || str_eq(against[i], key);
        const char *trust = more ? trust_word(key) : NULL;
        if (trust != NULL)
            json_object_set_new(ret, "trust_level", json_string(trust));
        if (more && str_eq(key, "GOODSIG")) {
            const char *name = strchrnul(rest, ' ');
            json_object_set_new(ret, "key_id", value_utf8(rest, (size_t) (name - rest)));
            name += *name == ' ';
            json_object_set_new(ret, "username", value_utf8(name, strlen(name)));
        }
    }
    return !bad && json_is_string(value_get(ret, "trust_level"))
               ? json_incref(ret)
               : json_pack("{s:b, s:s}", "res", 0, "message", "The signature could not be verified.");
}

/* ---- keys that must have signed ------------------------------------------------------------------ */

/* The verdict lines on one signature, and python-gnupg's words for them. Of several the last counts, but VALIDSIG follows a
 * bad one too: it says whose signature it is, and no more. */
static const struct {
    const char *keyword, *status;
} judged[] = {
    { "GOODSIG", "signature valid" },
    { "EXPSIG", "signature expired" },
    { "EXPKEYSIG", "signing key has expired" },
    { "REVKEYSIG", "signing key was revoked" },
};

/* The signatures that gpg could check: [{username, key_id, fingerprint, trust_level, status}]. One that is bad, or whose
 * key is not there, is none of them: gpg gives it no SIG_ID. NEW. */
static json_t *
signatures_of(const char *errs)
{
    enum { PRIMARY = 9 };
    json_t *list = json_array(), *now = NULL;

    for (bool more = true; more;) {
        AUTO_FREE char *key = NULL, *rest = NULL;
        more = gpg_status(&errs, &key, &rest);
        const char *trust = more ? trust_word(key) : NULL;
        if (more && (str_eq(key, "NEWSIG") || str_eq(key, "SIG_ID")))
            now = NULL;
        if (more && str_eq(key, "SIG_ID")) {
            now = json_pack("{s:n, s:n, s:n, s:n, s:n}", "username", "key_id", "fingerprint", "trust_level",
                            "status");
            json_array_append_new(list, now);
        }
        for (size_t i = 0; now != NULL && more && i < NELEMS(judged); i++) {
            if (!str_eq(judged[i].keyword, key))
                continue;
            const char *name = strchrnul(rest, ' ');
            json_object_set_new(now, "key_id", value_utf8(rest, (size_t) (name - rest)));
            name += *name == ' ';
            json_object_set_new(now, "username", value_utf8(name, strlen(name)));
            json_object_set_new(now, "status", json_string(judged[i].status));
        }
        if (now != NULL && more && str_eq(key, "VALIDSIG")) {
            /* The key that made it may be a second one; the last word is its owner's first. */
            char **words = str_split(rest, " ", true);
            if (strv_len(words) > PRIMARY)
                json_object_set_new(now, "fingerprint", json_string(words[PRIMARY]));
            strv_free(words);
        }
        if (now != NULL && trust != NULL)
            json_object_set_new(now, "trust_level", json_string(trust));
    }
    return list;
}

/* Whether the key has made one of them that is good: neither it nor the key has expired or was revoked. Fingerprints may be
 * written in small letters and with spaces, as gpg shows them. */
static bool
has_signed(const json_t *signatures, const json_t *wanted)
{
    AUTO_FREE char *text = value_pystr(wanted), *print = str_replace(text, " ", "");
    json_t *one;
    size_t i;

    json_array_foreach (signatures, i, one)
        if (str_eq(value_str(one, "status", NULL), judged[0].status) &&
            json_is_string(value_get(one, "trust_level")) &&
            strcasecmp(value_str(one, "fingerprint", ""), print) == 0)
            return true;
    return false;
}

json_t *
gpg_signers(const char *errs, const json_t *any, const json_t *all)
{
    json_t *list = signatures_of(errs), *one;
    json_t *ret = json_pack("{s:b, s:s, s:o}", "res", 0, "message",
                            "None of the public keys listed in signed_by_any provided a valid signature",
                            "signatures", list);
    json_auto_t *some = json_is_array(any) ? json_incref((json_t *) any) : json_pack("[O]", any);
    json_auto_t *each = json_is_array(all) ? json_incref((json_t *) all) : json_pack("[O]", all);
    bool found = !value_truthy(any);
    size_t i;

    if (value_truthy(any))
        json_array_foreach (some, i, one)
            found = found || has_signed(list, one);
    if (!found)
        return ret;
    if (value_truthy(all))
        json_array_foreach (each, i, one) {
            AUTO_FREE char *shown = value_pystr(one);
            if (has_signed(list, one))
                continue;
            json_object_set_new(
                ret, "message",
                value_fmt("Public key %s has not provided a valid signature, but was listed in "
                          "signed_by_all",
                          shown));
            return ret;
        }
    json_object_set_new(ret, "res", json_true());
    json_object_set_new(ret, "message", json_string("All required keys have provided a signature"));
    return ret;
}
