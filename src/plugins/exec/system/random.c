/* random.c - execution module `random`: passwords, hashes, and numbers that are the same for the same seed.
 * Secrets come from getrandom(2); the numbers are Python's Mersenne twister, so that they equal Salt's and
 * a minion's place in a row (splay) stays where it was. Numbers of the twister are no secrets. */
#include "salt/plugin.h"

#include <crypt.h>
#include <sys/random.h>

#include "common/base/base64.h"
#include "common/base/buf.h"
#include "common/base/digest.h"
#include "common/base/pyrandom.h"
#include "common/base/secrettext.h"
#include "common/base/str.h"
#include "common/base/utf8.h"

/* Python's string constants. */
#define LOWER       "abcdefghijklmnopqrstuvwxyz"
#define UPPER       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS      "0123456789"
#define PUNCTUATION "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
#define WHITESPACE  " \t\n\r\x0b\x0c"
#define SALT_CHARS  LOWER UPPER DIGITS "./"

/* Characters of a password that is asked for, and of one of our own; of the salt of SHA crypt. */
enum { PASSWORD_LIMIT = 1024 * 1024, SHADOW_SALT_LEN = 16, PASSWORD_LEN = 20 };

/* ---- secrets ------------------------------------------------------------------------------ */

/* A secret text. Characters are given, or chosen by classes, which `chars` and `printable` overrule. Length
 * is at most PASSWORD_LIMIT; a negative one is 0. */
static int
random_get_str(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *name, *chars;
    } classes[] = {
        { "lowercase", LOWER },         { "uppercase", UPPER },       { "digits", DIGITS },
        { "punctuation", PUNCTUATION }, { "whitespace", WHITESPACE },
    };
    json_int_t length = value_int(args, "length", PASSWORD_LEN);
    const char *given = value_str(args, "chars", "");
    buf_auto_t chars = BUF_INIT;

    if (length > PASSWORD_LIMIT)
        return fail_kind(err, FAIL_INVOCATION, -ERANGE, "length must be at most %d", PASSWORD_LIMIT);
    if (value_bool(args, "printable", false))
        given = DIGITS LOWER UPPER PUNCTUATION WHITESPACE;
    buf_puts(&chars, given);
    for (size_t i = 0; i < NELEMS(classes) && *given == '\0'; i++) {
        if (value_bool(args, classes[i].name, false))
            buf_puts(&chars, classes[i].chars);
    }
    if (chars.len == 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "there are no characters to choose from");
    AUTO_FREE char *text = secret_text(buf_str(&chars), length > 0 ? (size_t) length : 0);
    *ret_value = json_string(text != NULL ? text : "");
    return 0;
}

/* The methods of crypt(3) by Salt's names, with the text that a setting of each begins with. */
static const struct {
    const char *name, *prefix;
    size_t salt_len; /* of a salt of our own */
} methods[] = {
    { "sha512", "$6$", SHADOW_SALT_LEN },
    { "sha256", "$5$", SHADOW_SALT_LEN },
    { "md5", "$1$", 8 },
    { "crypt", "", 2 },
};

/* A hash for /etc/shadow. Missing password and salt are chosen at random, so that no password that is known
 * opens the account. None when crypt(3) refuses the setting, as it does to old methods on new systems. */
static int
random_shadow_hash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *salt = value_str(args, "crypt_salt", NULL), *password = value_str(args, "password", NULL);
    const char *algorithm = value_str(args, "algorithm", "");
    size_t i = 0;

    while (i < NELEMS(methods) && strcmp(methods[i].name, algorithm) != 0)
        i++;
    if (i == NELEMS(methods))
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "Cannot hash using '%s' hash algorithm. Natively supported algorithms are: ['sha512', "
            "'sha256', 'md5', 'crypt'].",
            algorithm);
    AUTO_FREE char *own_salt = salt == NULL ? secret_text(SALT_CHARS, methods[i].salt_len) : xstrdup(salt);
    AUTO_FREE char *own_password = password == NULL
                                       ? secret_text(LOWER UPPER DIGITS PUNCTUATION, PASSWORD_LEN)
                                       : xstrdup(password);
    AUTO_FREE char *setting = xasprintf("%s%s", methods[i].prefix, own_salt);
    AUTO_FREE struct crypt_data *data = xcalloc(1, sizeof(*data));
    /* "*0" and "*1" are its way to tell of a failure. */
    const char *hash = crypt_r(own_password, setting, data);
    *ret_value = hash != NULL && *hash != '*' ? json_string(hash) : json_null();
    return 0;
}

/* The hash of a value's text in hexadecimal digits; the algorithm is one of hashlib's names. */
static int
random_hash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *text = value_pystr(value_get(args, "value"));
    AUTO_FREE char *hex = digest_bytes(value_str(args, "algorithm", ""), text, strlen(text), &why);

    if (hex == NULL)
        return fail_set(err, -EINVAL, "SaltException: You must specify a valid algorithm.");
    *ret_value = json_string(hex);
    return 0;
}

/* Salt encodes text to bytes first, so every encoder but base64 fails: the same error for all of them. */
static int
random_str_encode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *value = value_get(args, "value");

    if (!json_is_string(value) || strcmp(value_str(args, "encoder", ""), "base64") != 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Value must be an encode-able string");
    AUTO_FREE char *text = base64_encode(json_string_value(value), json_string_length(value), 0);
    *ret_value = json_string(text != NULL ? text : "");
    return 0;
}

/* ---- Python's numbers --------------------------------------------------------------------- */

/* `start` and `end` are both possible, as in Python's randint(). */
static int
random_rand_int(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(pyrandom) r = pyrandom_new(value_get(args, "seed"), err);
    int64_t v = 0;

    if (r == NULL || pyrandom_int(r, value_int(args, "start", 1), value_int(args, "end", 10), &v, err) < 0)
        return -EINVAL;
    *ret_value = json_integer(v);
    return 0;
}

/* A number below `range` that is always the same on one minion: the seed is the minion's id unless `hash`
 * is given. */
static int
random_seed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_int_t range = value_int(args, "range", 10);
    json_t *hash = value_get(args, "hash");
    /* Salt takes the id from the grains. */
    json_auto_t *id = json_string(value_str(ctx_grains(ctx), "id", ctx_id(ctx)));
    AUTO(pyrandom) r = pyrandom_new(json_is_null(hash) ? id : hash, err);

    if (r == NULL)
        return -EINVAL;
    if (range <= 0)
        return fail_set(err, -EINVAL, "ValueError: empty range for randrange()");
    *ret_value = json_integer((json_int_t) pyrandom_below(r, (uint64_t) range));
    return 0;
}

/* Python's random.sample(): `size` elements in a random order, each at most once. Salt seeds with the
 * SHA-512 of the seed's text; without a seed the order differs each time. */
static int
sample(json_t *args, int64_t size, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "seed");
    json_auto_t *seed = NULL;

    if (json_is_string(given)) {
        AUTO_FREE char *hex = digest_bytes("sha512", json_string_value(given), json_string_length(given),
                                           err);
        seed = json_string(hex);
    } else if (!json_is_null(given)) {
        return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "object supporting the buffer API required");
    }
    AUTO(pyrandom) r = pyrandom_new(seed, err);
    if (r == NULL)
        return -EINVAL;
    *ret_value = pyrandom_sample(r, value_get(args, "value"), size, err);
    return *ret_value != NULL ? 0 : -EINVAL;
}

static int
random_sample(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return sample(args, value_int(args, "size", 0), ret_value, err);
}

/* A sample of all elements. */
static int
random_shuffle(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return sample(args, (int64_t) json_array_size(value_get(args, "value")), ret_value, err);
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t hash_args[] = {
    ARG("value", ARG_ANY, ARG_REQUIRED, "What to hash"),
    ARG("algorithm", ARG_STR, "\"sha512\"", "md5, sha1, sha224, sha256, sha384 or sha512"),
    ARGS_END,
};
static const arg_t encode_args[] = {
    ARG("value", ARG_ANY, ARG_REQUIRED, "Text to encode"),
    ARG("encoder", ARG_STR, "\"base64\"", "base64"),
    ARGS_END,
};
static const arg_t get_str_args[] = {
    ARG("length", ARG_INT, "20", "Number of characters"),
    ARG("chars", ARG_STR, "null", "Choose from these; wins over the others"),
    ARG("lowercase", ARG_BOOL, "true", "Lower-case letters"),
    ARG("uppercase", ARG_BOOL, "true", "Upper-case letters"),
    ARG("digits", ARG_BOOL, "true", "Digits"),
    ARG("punctuation", ARG_BOOL, "true", "Punctuation"),
    ARG("whitespace", ARG_BOOL, "false", "White space"),
    ARG("printable", ARG_BOOL, "false", "All of them"),
    ARGS_END,
};
static const arg_t shadow_args[] = {
    ARG("crypt_salt", ARG_STR, "null", "Salt of the hash; by default a random one"),
    ARG("password", ARG_STR, "null", "By default a random one"),
    ARG("algorithm", ARG_STR, "\"sha512\"", "sha512, sha256, md5 or crypt"),
    ARGS_END,
};
static const arg_t rand_int_args[] = {
    ARG("start", ARG_INT, "1", "Smallest number"),
    ARG("end", ARG_INT, "10", "Largest number"),
    ARG("seed", ARG_ANY, "null", "The same seed gives the same number"),
    ARGS_END,
};
static const arg_t seed_args[] = {
    ARG("range", ARG_INT, "10", "The number is below this one"),
    ARG("hash", ARG_ANY, "null", "Seed; by default the minion's id"),
    ARGS_END,
};
static const arg_t sample_args[] = {
    ARG("value", ARG_LIST, ARG_REQUIRED, "A list"),
    ARG("size", ARG_INT, ARG_REQUIRED, "How many of its elements"),
    ARG("seed", ARG_ANY, "null", "Text; the same seed gives the same choice"),
    ARGS_END,
};
static const arg_t shuffle_args[] = {
    ARG("value", ARG_LIST, ARG_REQUIRED, "A list"),
    ARG("seed", ARG_ANY, "null", "Text; the same seed gives the same order"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "get_str", random_get_str, get_str_args, FN_READONLY,
      "Return a random text that may serve as a password." CLI_EXAMPLE(
          "salt '*' random.get_str 128\n    salt '*' random.get_str 128 chars='abc123.!()'\n    "
          "salt '*' random.get_str 128 lowercase=False whitespace=True") },
    { "hash", random_hash, hash_args, FN_READONLY,
      "Return the digest of a value." CLI_EXAMPLE("salt '*' random.hash 'I am a string' md5") },
    { "rand_int", random_rand_int, rand_int_args, FN_READONLY,
      "Return a random number between two others, both included. With a seed it is the number that Python "
      "gives." CLI_EXAMPLE("salt '*' random.rand_int 1 10") },
    { "sample", random_sample, sample_args, FN_READONLY,
      "Return some elements of a list in random order." CLI_EXAMPLE(
          "salt '*' random.sample '[\"one\", \"two\"]' 1 seed=\"something\"") },
    { "seed", random_seed, seed_args, FN_READONLY,
      "Return a number below ``range`` that is always the same for this minion." CLI_EXAMPLE(
          "salt '*' random.seed 10 hash=None") },
    { "shadow_hash", random_shadow_hash, shadow_args, FN_READONLY,
      "Return a salted hash of a password as /etc/shadow holds it." CLI_EXAMPLE(
          "salt '*' random.shadow_hash 'My5alT' 'MyP@asswd' md5") },
    { "shuffle", random_shuffle, shuffle_args, FN_READONLY,
      "Return a list in random order." CLI_EXAMPLE(
          "salt '*' random.shuffle '[\"one\", \"two\"]' seed=\"something\"") },
    { "str_encode", random_str_encode, encode_args, FN_READONLY,
      "Return a text encoded as base64." CLI_EXAMPLE(
          "salt '*' random.str_encode 'I am a new string' base64") },
};

PLUGIN(exec, random, .doc = "Random numbers, texts and hashes", FUNCS(funcs));
