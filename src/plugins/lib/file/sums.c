/* sums.c - digests of files (get_hash, check_hash), digests looked up in files of sums (source_hash), and
 * file.get_diff. A digest's type follows from its length where the caller names none. */
#include <ctype.h>
#include <strings.h>
#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/content.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/source.h"
#include "plugins/lib/file/text.h"

#define HASH_LENGTHS "md5 (32), sha1 (40), sha224 (56), sha256 (64), sha384 (96), sha512 (128)"

int
file_get_hash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    AUTO_FREE char *hex = NULL;
    int rc = digest_file(path, value_str(args, "form", "sha256"), &hex, err);

    if (rc == 0)
        *ret_value = json_string(hex);
    return rc;
}

int
file_get_sum(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");

    int file = fop_exists_as(path, S_IFREG, err);
    if (file != 0)
        return file < 0 ? file : file_get_hash(ctx, args, ret_value, err);
    *ret_value = json_string("File not found");
    return 0;
}

/* "TYPE:HEX", "TYPE=HEX" or a bare digest; the comparison is exact, lower case, as in Salt. */
int
file_check_hash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    json_t *given = value_get(args, "file_hash");
    const char *hash = json_string_value(given);

    if (hash == NULL)
        return fop_invalid(err, "hash must be a string");
    const char *sep = strchr(hash, ':') != NULL ? strchr(hash, ':') : strchr(hash, '=');
    AUTO_FREE char *type = sep != NULL ? xstrndup(hash, (size_t) (sep - hash)) : NULL;
    if (sep == NULL && digest_of_len(strlen(hash)) == NULL)
        return fop_invalid(
            err,
            "Hash %s (length: %zu) could not be matched to a supported hash type. The supported "
            "hash types and lengths are: " HASH_LENGTHS,
            hash, strlen(hash));
    AUTO_FREE char *hex = NULL;
    int rc = digest_file(path, sep != NULL ? type : digest_of_len(strlen(hash)), &hex, err);
    if (rc == 0)
        *ret_value = json_boolean(strcmp(hex, sep != NULL ? sep + 1 : hash) == 0);
    return rc;
}

/* ---- digests in files ------------------------------------------------------------------------ */

/* A run of hexadecimal digits in the line with a supported length (`want`, 0 for any) and nothing
 * alphanumeric around it. Returns its length, 0 when there is none. */
static size_t
find_hex(const char *line, size_t want, const char **ret_start)
{
    for (const char *p = line; *p != '\0';) {
        size_t n = 0;
        bool hex = true;
        while (isalnum((unsigned char) p[n])) {
            hex = hex && isxdigit((unsigned char) p[n]);
            n++;
        }
        if (n > 0 && hex && digest_of_len(n) != NULL && (want == 0 || n == want)) {
            *ret_start = p;
            return n;
        }
        p += n > 0 ? n : 1;
    }
    return 0;
}

/* True when the line ends in `tail` behind one of `separators`, or starts with `whole` and white space. */
static bool
names_file(const char *line, const char *tail, const char *separators, const char *whole)
{
    size_t len = strlen(line), n = strlen(tail);

    if (n > 0 && str_ends(line, tail))
        return len > n && strchr(separators, line[len - n - 1]) != NULL;
    n = strlen(whole);
    return n > 0 && strncmp(line, whole, n) == 0 && isspace((unsigned char) line[n]);
}

/* The best line of a file of sums: by source_hash_name, then by file name, then by source, else the first
 * digest. */
static json_t *
sums_extract(const char *text, size_t want, const char *file_name, const char *source, const char *hash_name)
{
    /* The path's last part; of a URL without its query and fragment. */
    const char *scheme = strstr(source, "://");
    const char *path = scheme != NULL ? scheme + 3 : source;
    AUTO_FREE char *plain = xstrndup(path, scheme != NULL ? strcspn(path, "?#") : strlen(path));
    AUTO_FREE char *base = xstrdup(fop_basename(plain));

    json_t *found[4] = { NULL, NULL, NULL, NULL };
    char **lines = str_split(text, "\n", true);

    for (char **line = lines; *line != NULL; line++) {
        const char *trimmed = str_trim(*line), *hex = NULL;
        size_t n = find_hex(trimmed, want, &hex);
        if (n == 0)
            continue;
        const bool fits[4] = { names_file(trimmed, hash_name, " \t\n\r\v\f", hash_name),
                               names_file(trimmed, fop_basename(file_name), " \t\n\r\v\f\\/*", file_name),
                               names_file(trimmed, base, " \t\n\r\v\f\\/*", source), true };
        for (size_t i = 0; i < NELEMS(fits); i++) {
            if (fits[i] && found[i] == NULL)
                found[i] = json_pack("{s:o, s:s}", "hsum", json_stringn(hex, n), "hash_type",
                                     digest_of_len(n));
        }
    }
    strv_free(lines);
    json_t *best = NULL;
    for (size_t i = 0; i < NELEMS(found); i++) {
        if (best == NULL && found[i] != NULL)
            best = json_incref(found[i]);
        json_decref(found[i]);
    }
    return best;
}

/* NEW {"hsum", "hash_type"}, json null when no line fits, or NULL with *err. */
static json_t *
extract_from_file(const char *path, const char *hash_type, const char *file_name, const char *source,
                  const char *hash_name, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    if (fop_read(path, &text, err) != 0)
        return NULL;
    json_t *found = sums_extract(buf_str(&text), digest_hex_len(hash_type), file_name, source, hash_name);
    return found != NULL ? found : json_null();
}

int
file_extract_hash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = extract_from_file(value_str(args, "hash_fn", ""), value_str(args, "hash_type", ""),
                                   value_str(args, "file_name", ""), value_str(args, "source", ""),
                                   value_str(args, "source_hash_name", ""), err);
    return *ret_value == NULL ? -EIO : 0;
}

static int
bad_source_hash(const char *hash, fail_t *err)
{
    return fop_failed(
        err,
        "Source hash %s format is invalid. The supported formats are: 1) a hash, 2) an expression in "
        "the format <hash_type>=<hash>, or 3) either a path to a local file containing hashes, or a "
        "URI of a remote hash file. Supported protocols for remote hash files are: salt, file, http, "
        "https, ftp, swift, s3. The hash may also not be of a valid length, the following are "
        "supported hash types and lengths: " HASH_LENGTHS ".",
        hash);
}

/* The file of sums that `hash` names: itself when absolute, fetched when a URL. NULL in *ret_path: not a
 * file. */
static int
sums_file(call_ctx_t *ctx, json_t *args, const char *hash, char **ret_path, fail_t *err)
{
    AUTO_FREE char *scheme = source_scheme(hash);

    *ret_path = NULL;
    if (*hash == '/') {
        *ret_path = xstrdup(hash);
        return 0;
    }
    if (*scheme == '\0')
        return 0;
    if (!source_is_remote(scheme) && !str_eq(scheme, "salt") && !str_eq(scheme, "file"))
        return bad_source_hash(hash, err);
    *ret_path = source_cache(ctx, hash, value_str(args, "saltenv", "base"), NULL, args, err);
    if (*ret_path == NULL)
        return err->code != 0 ? err->code : fop_failed(err, "Source hash file %s not found", hash);
    return 0;
}

/* Parses a source_hash that is not a file: "sha256=abc..." or a bare digest. The checks are in Salt's order,
 * as each has an error text of its own. */
static int
literal_sum(const char *hash, json_t **ret_value, fail_t *err)
{
    const char *sep = strchr(hash, '=');
    AUTO_FREE char *left = xstrndup(hash, sep != NULL ? (size_t) (sep - hash) : 0);
    AUTO_FREE char *right = xstrdup(sep != NULL ? sep + 1 : hash);
    const char *sum = str_trim(right);
    const char *type = sep != NULL ? str_trim(left) : digest_of_len(strlen(sum));

    if (sep == NULL && (type == NULL || sum[strspn(sum, "0123456789abcdefABCDEF")] != '\0'))
        return bad_source_hash(hash, err);
    if (digest_hex_len(type) == 0)
        return fop_failed(
            err,
            "Invalid hash type '%s'. Supported hash types are: sha512, sha384, sha256, sha224, sha1, "
            "md5. Either remove the hash type and simply use '%s' as the source_hash, or change the "
            "hash type to a supported type.",
            type, sum);
    const char *fitting = digest_of_len(strlen(sum));
    if (fitting == NULL)
        return bad_source_hash(hash, err);
    if (strlen(sum) != digest_hex_len(type))
        return fop_failed(
            err,
            "Invalid length (%zu) for hash type '%s'. Either remove the hash type and simply use '%s' "
            "as the source_hash, or change the hash type to '%s'",
            strlen(sum), type, sum, fitting);
    *ret_value = json_pack("{s:s, s:s}", "hash_type", type, "hsum", sum);
    return 0;
}

/* Resolves source_hash to {"hash_type", "hsum"}, the digest in lower case. *ret_sum NEW. */
int
source_sum(call_ctx_t *ctx, json_t *args, json_t **ret_sum, fail_t *err)
{
    AUTO_FREE char *hash = value_pystr(value_get(args, "source_hash"));
    AUTO_FREE char *path = NULL;

    if (!value_truthy(value_get(args, "source_hash")))
        return bad_source_hash("None", err);
    int rc = sums_file(ctx, args, hash, &path, err);
    if (rc == 0 && path != NULL) {
        json_t *signature = value_get(args, "source_hash_sig");
        buf_auto_t text = BUF_INIT;
        /* Lines that nobody has signed are not looked at. */
        rc = value_truthy(signature) ? source_signed(ctx, path, signature, args, &text, err)
                                     : fop_read(path, &text, err);
        if (rc != 0)
            return rc;
        *ret_sum = sums_extract(buf_str(&text), 0, value_str(args, "file_name", ""),
                                value_str(args, "source", ""), value_str(args, "source_hash_name", ""));
        if (*ret_sum == NULL)
            return bad_source_hash(hash, err);
    } else if (rc == 0) {
        rc = literal_sum(hash, ret_sum, err);
    }
    if (rc == 0) {
        json_t *ret = *ret_sum;
        AUTO_FREE char *sum = xstrdup(value_str(ret, "hsum", ""));
        for (char *p = sum; *p != '\0'; p++)
            *p = (char) tolower((unsigned char) *p);
        json_object_set_new(ret, "hsum", json_string(sum));
    }
    return rc;
}

int
file_get_source_sum(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return source_sum(ctx, args, ret_value, err);
}

/* ---- differences ----------------------------------------------------------------------------- */

/* Both files are cached first; equal files give "", whatever show_changes and templates say. */
int
file_get_diff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[2][2] = { { "file1", "source_hash_file1" },
                                             { "file2", "source_hash_file2" } };
    AUTO_FREE char *old = NULL, *new = NULL, *diff = NULL;
    char **paths[2] = { &old, &new };
    bool same = false;

    for (size_t i = 0; i < 2; i++) {
        const char *given = value_str(args, names[i][0], "");
        *paths[i] = source_cache(ctx, given, value_str(args, "saltenv", "base"),
                                 value_str(args, names[i][1], NULL), args, err);
        if (*paths[i] == NULL && err->code != 0)
            return err->code;
        if (*paths[i] == NULL)
            return fop_failed(err, "Failed to cache one or more files: File %s not found", given);
    }
    const content_t with = { .path = new };
    const char *shown[2] = { old, new };
    int rc = content_same(old, &with, &same, err);
    if (rc != 0)
        return rc;
    if (!same && value_bool(args, "template", false) &&
        value_bool(ctx_opts(ctx), "obfuscate_templates", false))
        diff = xstrdup("<Obfuscated Template>");
    else if (!same && !value_bool(args, "show_changes", true))
        diff = xstrdup("<show_changes=False>");
    else
        rc = content_diff(old, &with, value_bool(args, "show_filenames", true) ? shown : NULL, &diff, err);
    if (rc == 0)
        *ret_value = value_utf8(diff, strlen(diff));
    return rc;
}
