/* gpg_data.c - execution module `gpg`, second part: texts and files are signed, verified, encrypted,
 * decrypted. A text goes by standard input and a file by its name; the result goes to `output`, or is
 * returned. Verdicts come from status lines, as in gpg.c. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/system/gpgring.h"
#include "plugins/lib/system/gpgrows.h"
#include "salt/log.h"

enum { DATA_SECONDS = 300 };

/* The passphrase of the pillar where it is asked for: 0, or negative with *err. *ret_pass stays NULL where
 * none is wanted; the caller's AUTO_GPG_PASS wipes it. */
static int
take_pass(call_ctx_t *ctx, const json_t *args, bool wanted, char **ret_pass, fail_t *err)
{
    if (!wanted || !value_truthy(value_get(args, "use_passphrase")))
        return 0;
    *ret_pass = gpg_passphrase(ctx, err);
    if (*ret_pass != NULL || err->code != 0)
        return err->code;
    return fail_kind(err, FAIL_INVOCATION, -ENOENT, "gpg_passphrase not available in pillar.");
}

/* Runs the command on the text, or on the file, whose name comes last. The text wins when both are given, as
 * by Salt. */
static int
gpg_data_run_on(gpg_t *gpg, const json_t *args, fail_t *err)
{
    const char *text = value_str(args, "text", ""), *file = value_str(args, "filename", "");

    if (*text == '\0' && *file == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "filename or text must be passed.");
    if (*text != '\0')
        buf_puts(&gpg->in, text);
    else
        prog_adds(&gpg->prog, "--", file, NULL);
    return gpg_go(gpg, DATA_SECONDS, err);
}

/* A clear signature: the text stays readable. What is returned is gpg's output also when it failed, which
 * then is empty. */
static int
gpg_sign(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *keyid = value_str(args, "keyid", ""), *output = value_str(args, "output", "");
    AUTO_GPG_PASS pass = NULL;
    gpg_auto_t gpg = { .home = NULL };

    if (take_pass(ctx, args, true, &pass, err) != 0 || gpg_begin(ctx, args, pass, false, &gpg, err) != 0)
        return err->code;
    prog_adds(&gpg.prog, "--armor", "--output", "-", NULL);
    if (*keyid != '\0')
        prog_adds(&gpg.prog, "--default-key", keyid, NULL);
    prog_add(&gpg.prog, "--clearsign");
    if (gpg_data_run_on(&gpg, args, err) != 0)
        return err->code;
    if (gpg.res.status != 0)
        log_error("gpg.sign: %s", buf_str(&gpg.res.errs));
    /* Salt writes a file only for a file. */
    bool to_file = *output != '\0' && *value_str(args, "text", "") == '\0' && gpg.res.status == 0;
    if (to_file && fs_rewrite(output, gpg.res.out.data, gpg.res.out.len, 0644, err) != 0)
        return err->code;
    *ret_value = value_utf8(buf_str(&gpg.res.out), gpg.res.out.len);
    return 0;
}

/* `signature` is a file that stands apart from what it signs; without it the signature is within. signed_by_any and
 * signed_by_all name the keys that must have signed. */
static int
gpg_verify(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const models[] = { "pgp", "classic", "tofu", "tofu+pgp", "direct", "always", "auto" };
    const char *model = value_str(args, "trustmodel", ""), *signature = value_str(args, "signature", "");
    json_t *any = value_get(args, "signed_by_any"), *all = value_get(args, "signed_by_all");
    gpg_auto_t gpg = { .home = NULL };
    size_t i = 0;

    while (i < NELEMS(models) && !str_eq(models[i], model))
        i++;
    if (*model != '\0' && i == NELEMS(models)) {
        AUTO_FREE char *said = xasprintf("Invalid trustmodel defined: %s. Use one of: pgp, classic, tofu, "
                                         "tofu+pgp, direct, always, auto",
                                         model);
        log_warning("%s", said);
        *ret_value = json_pack("{s:b, s:s}", "res", 0, "message", said);
        return 0;
    }
    if (gpg_begin(ctx, args, NULL, false, &gpg, err) != 0)
        return err->code;
    if (*model != '\0')
        prog_adds(&gpg.prog, "--trust-model", model, NULL);
    /* In batch mode gpg stops at the first signature that it can't verify. */
    if (value_truthy(any) || value_truthy(all))
        prog_add(&gpg.prog, "--no-batch");
    prog_add(&gpg.prog, "--verify");
    /* gpg takes the signature first and what is signed second. */
    if (*value_str(args, "text", "") == '\0' && *signature != '\0') {
        prog_adds(&gpg.prog, "--", signature, value_str(args, "filename", ""), NULL);
        if (*value_str(args, "filename", "") == '\0')
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "filename or text must be passed.");
        if (gpg_go(&gpg, DATA_SECONDS, err) != 0)
            return err->code;
    } else if (gpg_data_run_on(&gpg, args, err) != 0) {
        return err->code;
    }
    const char *errs = buf_str(&gpg.res.errs);
    *ret_value = value_truthy(any) || value_truthy(all) ? gpg_signers(errs, any, all) : gpg_verdict(errs);
    return 0;
}

/* The result of encrypt and decrypt; a file of it is written whole, for its owner alone when it was secret.
 * `status` is "encryption ok" and the like, python-gnupg's words. */
static int
crypt_done(const gpg_t *gpg, const json_t *args, mode_t mode, const char *written, json_t **ret_value,
           fail_t *err)
{
    const char *output = value_str(args, "output", "");
    bool good = false;
    AUTO_FREE char *status = gpg_crypt_status(buf_str(&gpg->res.errs), &good);

    if (!good)
        log_error("gpg: %s", buf_str(&gpg->res.errs));
    if (good && *output != '\0' && fs_rewrite(output, gpg->res.out.data, gpg->res.out.len, mode, err) != 0)
        return err->code;
    *ret_value = gpg_result(good, value_truthy(value_get(args, "bare")), output, written, &gpg->res.out,
                            status);
    return 0;
}

/* `sign` True signs with the default key, a text with that one. always_trust encrypts to unsigned keys as
 * well. */
static int
gpg_encrypt(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *sign = value_get(args, "sign"), *given = value_get(args, "recipients"), *one;
    json_auto_t *recipients = json_is_array(given)  ? json_incref(given)
                              : value_truthy(given) ? json_pack("[O]", given)
                                                    : json_array();
    AUTO_GPG_PASS pass = NULL;
    gpg_auto_t gpg = { .home = NULL };
    size_t i;

    if (json_array_size(recipients) == 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "No recipients specified with asymmetric encryption");
    if (take_pass(ctx, args, value_truthy(sign), &pass, err) != 0 ||
        gpg_begin(ctx, args, pass, false, &gpg, err) != 0)
        return err->code;
    /* A recipient is a word of its own behind the option, so that a name like "-x" stays a name. */
    json_array_foreach (recipients, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        prog_adds(&gpg.prog, "--recipient", text, NULL);
    }
    prog_adds(&gpg.prog, "--armor", "--output", "-", NULL);
    if (value_truthy(sign))
        prog_add(&gpg.prog, "--sign");
    if (json_is_string(sign) && value_truthy(sign))
        prog_adds(&gpg.prog, "--default-key", json_string_value(sign), NULL);
    if (value_truthy(value_get(args, "always_trust")))
        prog_adds(&gpg.prog, "--trust-model", "always", NULL);
    prog_add(&gpg.prog, "--encrypt");
    return gpg_data_run_on(&gpg, args, err) != 0
               ? err->code
               : crypt_done(&gpg, args, 0644, "Encrypted data has been written to", ret_value, err);
}

/* The text or the file; a file that is written is for its owner alone. */
static int
gpg_decrypt(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_GPG_PASS pass = NULL;
    gpg_auto_t gpg = { .home = NULL };

    if (take_pass(ctx, args, true, &pass, err) != 0 || gpg_begin(ctx, args, pass, false, &gpg, err) != 0)
        return err->code;
    prog_adds(&gpg.prog, "--output", "-", "--decrypt", NULL);
    return gpg_data_run_on(&gpg, args, err) != 0
               ? err->code
               : crypt_done(&gpg, args, 0600, "Decrypted data has been written to", ret_value, err);
}

/* ---- table -------------------------------------------------------------------------------------- */

static const arg_t sign_args[] = {
    GPG_ROW_USER,
    ARG("keyid", ARG_STR, "null", "The key that signs; the first secret one by default"),
    GPG_ROW_TEXT,
    GPG_ROW_FILE,
    ARG("output", ARG_STR, "null", "File for what a file is signed to"),
    GPG_ROW_PASS,
    GPG_ROW_HOME,
    GPG_ROW_KEYRING,
    ARGS_END,
};
static const arg_t verify_args[] = {
    GPG_ROW_TEXT,
    GPG_ROW_USER,
    GPG_ROW_FILE,
    GPG_ROW_HOME,
    ARG("signature", ARG_STR, "null", "File with the signature of the file"),
    ARG("trustmodel", ARG_STR, "null", "pgp, classic, tofu, tofu+pgp, direct, always or auto"),
    ARG("signed_by_any", ARG_ANY, "null", "Fingerprints of keys of which one must have signed"),
    ARG("signed_by_all", ARG_ANY, "null", "Fingerprints of keys that must all have signed"),
    GPG_ROW_KEYRING,
    ARGS_END,
};
static const arg_t encrypt_args[] = {
    GPG_ROW_USER,    ARG("recipients", ARG_ANY, "null", "Key, name or address of who can read it, or a list"),
    GPG_ROW_TEXT,    GPG_ROW_FILE,
    GPG_ROW_OUTPUT,  ARG("sign", ARG_ANY, "null", "True, or the key to sign with"),
    GPG_ROW_PASS,    ARG("always_trust", ARG_ANY, "false", "True: for keys that nobody vouches for too"),
    GPG_ROW_HOME,    GPG_ROW_BARE,
    GPG_ROW_KEYRING, ARGS_END,
};
static const arg_t decrypt_args[] = { GPG_ROW_USER,   GPG_ROW_TEXT,    GPG_ROW_FILE,
                                      GPG_ROW_OUTPUT, GPG_ROW_PASS,    GPG_ROW_HOME,
                                      GPG_ROW_BARE,   GPG_ROW_KEYRING, ARGS_END };

static const func_t funcs[] = {
    { "decrypt", gpg_decrypt, decrypt_args, 0,
      "Decrypt a text or file." CLI_EXAMPLE("salt '*' gpg.decrypt filename=/root/message.gpg") },
    { "encrypt", gpg_encrypt, encrypt_args, 0,
      "Encrypt a text or file." CLI_EXAMPLE("salt '*' gpg.encrypt text='Hello' recipients=joe@example.com") },
    { "sign", gpg_sign, sign_args, 0,
      "Sign a text or file; return it with its signature." CLI_EXAMPLE("salt '*' gpg.sign text='Hello'") },
    { "verify", gpg_verify, verify_args, FN_READONLY,
      "Verify the signature of a text or file." CLI_EXAMPLE(
          "salt '*' gpg.verify filename=/root/message.asc") },
};

PLUGIN(exec, gpg_data, .provides = "gpg", .doc = "Keys, signatures and encryption by GnuPG", FUNCS(funcs),
       .unavailable = gpg_missing);
