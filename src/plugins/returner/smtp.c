/* smtp.c - returner `smtp`: a mail for each return or event.
 *
 * Subject and body are templates, which see the members of the return, or of the event's data, as variables.
 * What these hold never is a template: the subject is rendered before values of `fields` go to its end, and
 * values are marked as a peer's, so that no later renderer of a pipeline reads them as code. A mail that
 * comes again has the same Message-ID. */
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/passwd.h"
#include "common/host/prog.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/render/render.h"
#include "plugins/lib/http/web.h"
#include "plugins/lib/returner/mailtext.h"
#include "plugins/lib/returner/retopts.h"
#include "salt/limits.h"
#include "salt/log.h"

enum { ANSWER_MAX = 64 * 1024, TIMEOUT_S = 30, PORT = 25 };

static const retopt_t options[] = {
    { "from", NULL, NULL },
    { "to", NULL, NULL },
    { "host", NULL, NULL },
    { "port", NULL, "25" },
    { "username", NULL, NULL },
    { "password", NULL, NULL },
    { "gpgowner", NULL, NULL },
    { "fields", NULL, NULL },
    { "tls", NULL, NULL },
    { "template", NULL, NULL },
    { "tls_insecure", NULL, NULL },
    { "renderer", NULL, "\"jinja\"" },
    { "subject", NULL, "\"Email from Salt\"" },
};

static const char body_template[] = "id: {{id}}\r\nfunction: {{fun}}\r\nfunction args: {{fun_args}}\r\n"
                                    "jid: {{jid}}\r\nreturn: {{return}}\r\n";

/* ---- templates ----------------------------------------------------------------------------------------- */

/* Appends the rendered text. `path`: whose it is; NULL: no file's. -ENOMSG: it can't be filled with these data. */
static int
smtp_render(call_ctx_t *ctx, const json_t *opts, const json_t *ret, const char *path, const char *text,
            size_t len, buf_t *out, fail_t *err)
{
    AUTO(py) context = py_peer(py_from_json(ret), 0);
    const render_source_t what = { .text = text,
                                   .len = len,
                                   .path = path,
                                   .pipeline = value_str(opts, "renderer", "jinja"),
                                   .saltenv = "base",
                                   .context = context };

    return render_text(render_of(ctx), &what, out, err) < 0 ? -ENOMSG : 0;
}

/* The subject: the rendered text, and behind it the values of `fields`, which no template sees. */
static int
smtp_subject(call_ctx_t *ctx, const json_t *opts, const json_t *ret, buf_t *out, fail_t *err)
{
    const char *text = value_str(opts, "subject", "");
    char **fields = str_split(value_str(opts, "fields", ""), ",", false);
    int rc = smtp_render(ctx, opts, ret, NULL, text, strlen(text), out, err);

    for (size_t i = 0; fields[i] != NULL; i++) {
        json_t *v = value_get(ret, fields[i]);
        AUTO_FREE char *shown = v != NULL ? value_pystr(v) : NULL;
        if (shown != NULL)
            buf_printf(out, " %s", shown);
    }
    strv_free(fields);
    return rc;
}

/* The body: the template of the configuration, a file of the master, or Salt's. */
static int
smtp_content(call_ctx_t *ctx, const json_t *opts, const json_t *ret, buf_t *out, fail_t *err)
{
    const char *path = value_str(opts, "template", NULL);
    buf_auto_t text = BUF_INIT;

    if (path == NULL)
        return smtp_render(ctx, opts, ret, NULL, body_template, strlen(body_template), out, err);
    int rc = fs_read_any(path, LIMIT_FILE_READ, &text, err);
    if (rc == 0)
        return fail_kind(err, FAIL_INVOCATION, -ENOENT, "Template does not exist: %s", path);
    return rc < 0 ? rc : smtp_render(ctx, opts, ret, path, buf_str(&text), text.len, out, err);
}

/* ---- OpenPGP ------------------------------------------------------------------------------------------- */

/* Replaces the text by its encrypted form, for the keys of the recipients in the ring of the user `owner`;
 * where that fails, by gpg's reasons. Negative with *err: nothing is to be sent. */
static int
smtp_encrypt(const char *owner, const json_t *to, buf_t *content, fail_t *err)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *user = passwd_user(&space, owner);
    prog_auto_t prog = PROG_INIT;
    proc_result_t res = { 0 };
    fail_auto_t why = FAIL_INIT;

    if (user == NULL)
        return fail_kind(err, FAIL_INVOCATION, -ENOENT, "smtp.gpgowner: there is no user '%s'", owner);
    prog_adds(&prog, "gpg", "--batch", "--yes", "--no-tty", "--trust-model", "always", "--homedir", NULL);
    prog_addf(&prog, "%s/.gnupg", user->pw_dir);
    prog_adds(&prog, "--armor", "--encrypt", NULL);
    for (size_t i = 0; i < json_array_size(to); i++)
        prog_adds(&prog, "--recipient", json_string_value(json_array_get(to, i)), NULL);
    prog.in = buf_str(content);
    prog.timeout_ms = LIMIT_RETURNER_MS / 2;
    if (prog_run(&prog, &res, &why) < 0) {
        proc_result_free(&res);
        return fail_kind(err, FAIL_COMMAND, -EIO, "smtp.gpgowner: gpg can't be run, and nothing is sent: %s",
                         fail_text(&why));
    }
    buf_clear(content);
    if (res.status == 0)
        buf_add(content, buf_str(&res.out), res.out.len);
    else {
        log_error("smtp: encryption failed, only an error message is sent");
        buf_printf(content, "Encryption failed, the return data was not sent.\r\n\r\n%s", buf_str(&res.errs));
    }
    proc_result_free(&res);
    return 0;
}

/* ---- the message --------------------------------------------------------------------------------------- */

/* NEW addresses of the envelope, or NULL with *err. */
static json_t *
smtp_recipients(const char *text, fail_t *err)
{
    char **list = str_split(text, ",", true);
    json_t *to = json_array();

    for (size_t i = 0; list[i] != NULL && to != NULL; i++) {
        AUTO_FREE char *bare = mailtext_bare(list[i]);
        if (bare != NULL)
            json_array_append_new(to, json_string(bare));
        else {
            (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "smtp.to: '%s' is no address", list[i]);
            json_decref(STEAL(to));
        }
    }
    strv_free(list);
    return to;
}

/* The message of a return, whole. -ENOMSG: the templates can't be filled with it; another error, such as that of
 * a template's file, may be mended, so that a repeat is worth it. */
static int
smtp_message(call_ctx_t *ctx, const json_t *opts, const json_t *ret, const json_t *to, buf_t *out,
             fail_t *err)
{
    buf_auto_t subject = BUF_INIT, content = BUF_INIT, all = BUF_INIT;
    const char *owner = value_str(opts, "gpgowner", NULL), *from = value_str(opts, "from", ""),
               *receivers = value_str(opts, "to", "");

    int rc = smtp_subject(ctx, opts, ret, &subject, err);
    rc = rc == 0 ? smtp_content(ctx, opts, ret, &content, err) : rc;
    if (rc < 0)
        return rc;

    /* The Message-ID is a digest of all that the mail says, so that a server may drop a repeat. */
    AUTO_FREE char *whole = ret_json(ret);
    buf_printf(&all, "%s\n%s\n%s\n", whole, receivers, buf_str(&subject));
    buf_add(&all, buf_str(&content), content.len);
    AUTO_FREE char *hex = digest_bytes("sha256", all.data, all.len, err), *sender = mailtext_bare(from);
    const char *domain = sender != NULL ? strchr(sender, '@') : NULL;
    AUTO_FREE char *id = xasprintf("<%.40s%s>", hex, domain != NULL ? domain : "@salt");

    rc = owner != NULL ? smtp_encrypt(owner, to, &content, err) : 0;
    mailtext_addresses(out, "From", from);
    mailtext_addresses(out, "To", receivers);
    mailtext_date(out, clock_wall_us() / 1000000);
    mailtext_header(out, "Subject", buf_str(&subject));
    mailtext_header(out, "Message-ID", id);
    mailtext_body(out, buf_str(&content), content.len);
    return rc;
}

/* ---- the server ---------------------------------------------------------------------------------------- */

/* Sends the message. -EBADMSG: the server had all of it, or its size, and refuses it for ever. */
static int
smtp_send(const json_t *opts, const json_t *to, const buf_t *message, fail_t *err)
{
    web_auto_t web = WEB_INIT;
    buf_auto_t answer = BUF_INIT;
    AUTO_FREE char *port_text = value_pystr(value_get(opts, "port")),
                   *from = mailtext_bare(value_str(opts, "from", ""));
    const char *host = value_str(opts, "host", ""), *user = value_str(opts, "username", NULL),
               *password = value_str(opts, "password", NULL);
    long long port = PORT;

    if (from == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "smtp.from: '%s' is no address",
                         value_str(opts, "from", ""));
    if (!str_to_int(port_text, 1, 65535, &port))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "smtp.port '%s' is no number from 1 to 65535",
                         port_text);
    AUTO_FREE char *url = xasprintf(strchr(host, ':') != NULL ? "smtp://[%s]:%lld" : "smtp://%s:%lld", host,
                                    port);
    FILE *file = fmemopen(message->data, message->len, "r");
    if (file == NULL)
        return fail_set(err, -errno, "fmemopen: %s", strerror(errno));
    int rc = web_open(&web, CURLPROTO_SMTP, 0, &answer, err);
    if (rc == 0) {
        web_text(&web, CURLOPT_URL, url);
        web_no_proxy(&web);
        web_limit(&web, ANSWER_MAX);
        web_seconds(&web, CURLOPT_TIMEOUT_MS, TIMEOUT_S);
        if (value_bool(opts, "tls", false))
            web_number(&web, CURLOPT_USE_SSL, CURLUSESSL_ALL);
        if (value_bool(opts, "tls_insecure", false))
            web_insecure(&web);
        if (user != NULL && password != NULL) {
            web_text(&web, CURLOPT_USERNAME, user);
            web_text(&web, CURLOPT_PASSWORD, password);
        }
        web_send_mail(&web, from, to, file, (intmax_t) message->len);
        rc = web_run(&web, err);
    }
    bool had_all = ftell(file) == (long) message->len;
    (void) fclose(file);
    if (rc < 0)
        return rc;
    if (web.trouble == NULL) {
        /* Tells in the log which recipients were refused of a mail that others get. */
        char **lines = str_split(buf_str(&web.headers), "\r\n", true);
        for (size_t i = 0; lines[i] != NULL; i++)
            if (*lines[i] == '4' || *lines[i] == '5')
                log_warning("smtp: the server refuses a recipient, and sends the mail to the others: %.200s",
                            lines[i]);
        strv_free(lines);
        return 0;
    }
    bool refused = web.status == 552 || (had_all && web.status / 100 == 5);
    return fail_kind(err, FAIL_COMMAND, refused ? -EBADMSG : -EIO,
                     "the mail server %s:%lld: %s (its last answer: %ld)", host, port, web.trouble,
                     web.status);
}

/* One mail, from the options to the server's answer. */
static int
smtp_mail(call_ctx_t *ctx, const json_t *opts, const json_t *ret, fail_t *err)
{
    static const char *const needed[] = { "from", "to", "host" };
    buf_auto_t message = BUF_INIT;

    for (size_t i = 0; i < NELEMS(needed); i++)
        if (value_str(opts, needed[i], NULL) == NULL)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "smtp.%s not defined in salt config", needed[i]);
    json_auto_t *to = smtp_recipients(value_str(opts, "to", ""), err);
    if (to == NULL)
        return -EINVAL;
    int rc = smtp_message(ctx, opts, ret, to, &message, err);
    return rc < 0 ? rc : smtp_send(opts, to, &message, err);
}

static int
smtp_returner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *ret = value_get(args, "ret");
    json_auto_t *opts = retopts(ctx, "smtp", ret, options, NELEMS(options));

    return smtp_mail(ctx, opts, ret, err);
}

/* Mails for the data of events. Options that data of an event name are not taken: a minion may have fired it.
 * Data that the templates can't be filled with are said in the log, as a repeat fails too. */
static int
smtp_events(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *opts = retopts(ctx, "smtp", NULL, options, NELEMS(options));
    json_t *event;
    size_t i;

    json_array_foreach (value_get(args, "events"), i, event) {
        fail_auto_t why = FAIL_INIT;
        json_t *data = value_get(event, "data");
        int rc = value_truthy(data) ? smtp_mail(ctx, opts, data, &why) : 0;
        if (rc == -ENOMSG)
            log_error("smtp: no mail for the event %s: %s", value_str(event, "tag", ""), fail_text(&why));
        else if (rc < 0)
            return fail_kind(err, why.kind, rc, "%s", fail_text(&why));
    }
    return 0;
}

static const func_t funcs[] = { RET_ROW_RETURNER(smtp_returner), RET_ROW_EVENTS(smtp_events), RET_ROW_PREP };

PLUGIN(returner, smtp, .doc = "Send returns and events by mail", FUNCS(funcs));
