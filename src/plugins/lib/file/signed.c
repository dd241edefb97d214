/* signed.c - see source.h: signatures of files that come from elsewhere.
 *
 * gpg takes a text with its signature within (RFC 9580, 7) wherever it stands in a file, and says nothing of what stands
 * around it. Such a file is taken only where nothing else is in it. */
#include <unistd.h>

#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/source.h"

const char *const source_signers[] = { "signed_by_any", "signed_by_all", "keyring", "gnupghome" };

/* Appends what is signed of a text with its signature within. A line of it that begins with a dash has "- " before it. */
static int
signed_part(const char *file, buf_t *out, fail_t *err)
{
    enum { HEAD, TEXT, SIGNATURE, AFTER } part = HEAD;
    buf_auto_t text = BUF_INIT;
    bool good = true, first = true;

    if (fop_read(file, &text, err) != 0)
        return err->code;
    char **lines = str_split(buf_str(&text), "\n", false);
    for (size_t i = 0; lines[i] != NULL && good; i++) {
        char *line = lines[i];
        size_t len = strlen(line);
        bool blank = line[strspn(line, " \t\r")] == '\0';
        while (len > 0 && line[len - 1] == '\r')
            line[--len] = '\0';
        if (first) {
            good = str_eq(line, "-----BEGIN PGP SIGNED MESSAGE-----");
            first = false;
        } else if (part == HEAD) {
            part = blank ? TEXT : HEAD;
            good = blank || str_starts(line, "Hash: ") || str_starts(line, "NotDashEscaped: ");
        } else if (part == TEXT && str_eq(line, "-----BEGIN PGP SIGNATURE-----")) {
            part = SIGNATURE;
        } else if (part == TEXT) {
            good = *line != '-' || str_starts(line, "- ");
            buf_printf(out, "%s\n", str_starts(line, "- ") ? line + 2 : line);
        } else if (part == SIGNATURE) {
            part = str_eq(line, "-----END PGP SIGNATURE-----") ? AFTER : SIGNATURE;
        } else {
            good = blank;
        }
    }
    strv_free(lines);
    return good && part == AFTER && strlen(buf_str(&text)) == text.len
               ? 0
               : fop_failed(err, "%s is not one signed text with nothing beside it", file);
}

/* A copy in the cache, or of a template, that did not pass. The user's own files stay. */
static void
forget(call_ctx_t *ctx, const char *file)
{
    const char *cache = value_str(ctx_opts(ctx), "cachedir", "");
    size_t len = strlen(cache);

    if (len > 0 && str_starts(file, cache) && file[len] == '/')
        (void) unlink(file);
}

/* The answer of gpg.verify: 0, or its message as the error. */
static int
ask_gpg(call_ctx_t *ctx, const char *file, const char *signature, const json_t *args, fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:s, s:s?}", "filename", file, "signature", signature);
    json_auto_t *none = json_array(), *answer = NULL;

    for (size_t i = 0; i < SOURCE_SIGNERS; i++) {
        json_t *v = value_get(args, source_signers[i]);
        if (v != NULL)
            json_object_set(kwargs, source_signers[i], v);
    }
    if (ctx_call(ctx, "gpg.verify", none, kwargs, &answer, err) != 0)
        return err->code;
    return json_is_true(value_get(answer, "res"))
               ? 0
               : fop_failed(err, "%s", value_str(answer, "message", "The signature could not be verified."));
}

int
source_signed(call_ctx_t *ctx, const char *file, const json_t *signature, json_t *args, buf_t *out,
              fail_t *err)
{
    const char *url = json_string_value(signature);
    AUTO_FREE char *apart = NULL;
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;

    if (!ctx_has(ctx, "gpg.verify"))
        return fop_failed(err,
                          "Signature verification requires the gpg module, which could not be found. Make "
                          "sure you have the necessary tools installed (gpg)");
    if (url != NULL) {
        apart = source_cache(ctx, url, value_str(args, "saltenv", "base"), NULL, args, err);
        if (apart == NULL)
            return err->code != 0 ? err->code : fop_failed(err, "Detached signature file %s not found", url);
    }
    if (ask_gpg(ctx, file, apart, args, &why) == 0 &&
        (url != NULL ? (out != NULL ? fop_read(file, out, &why) : 0)
                     : signed_part(file, out != NULL ? out : &text, &why)) == 0)
        return 0;
    forget(ctx, file);
    if (apart != NULL)
        forget(ctx, apart);
    return fop_failed(err, "The file's signature could not be verified: %s", fail_text(&why));
}
