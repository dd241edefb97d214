/* web.c - see web.h. libcurl is one of two here, by what they encrypt with: Debian's git, for one, brings the
 * one with GnuTLS. Either will do. It stays loaded once it is. */
#include "plugins/lib/http/web.h"

#include <pthread.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/library.h"

#define HEADERS_MAX (1024 * 1024) /* bytes of the headers of all answers to one request */

/* The library's functions, by their names. */
static struct web_lib {
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    CURLcode (*easy_perform)(CURL *easy);
    void (*easy_cleanup)(CURL *easy);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *line);
    void (*slist_free_all)(struct curl_slist *list);
    curl_mime *(*mime_init)(CURL *easy);
    curl_mimepart *(*mime_addpart)(curl_mime *mime);
    CURLcode (*mime_name)(curl_mimepart *part, const char *name);
    CURLcode (*mime_filename)(curl_mimepart *part, const char *name);
    CURLcode (*mime_data)(curl_mimepart *part, const char *data, size_t len);
    void (*mime_free)(curl_mime *mime);
} web_lib;
static bool web_lib_loaded;
static pthread_mutex_t web_lib_lock = PTHREAD_MUTEX_INITIALIZER;

#define WEB_SYMBOL(name) ROW("curl_" #name, offsetof(struct web_lib, name))
static const library_symbol_t web_symbols[] = {
    WEB_SYMBOL(global_init),    WEB_SYMBOL(easy_init),    WEB_SYMBOL(easy_setopt),   WEB_SYMBOL(easy_getinfo),
    WEB_SYMBOL(easy_perform),   WEB_SYMBOL(easy_cleanup), WEB_SYMBOL(easy_strerror), WEB_SYMBOL(slist_append),
    WEB_SYMBOL(slist_free_all), WEB_SYMBOL(mime_init),    WEB_SYMBOL(mime_addpart),  WEB_SYMBOL(mime_name),
    WEB_SYMBOL(mime_filename),  WEB_SYMBOL(mime_data),    WEB_SYMBOL(mime_free),
};

/* ---- the library --------------------------------------------------------------------------------------- */

/* It is looked for anew each time until it is there: a state may install it for the next one. */
static int
web_load(fail_t *err)
{
    static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", NULL };
    int rc = 0;

    (void) pthread_mutex_lock(&web_lib_lock);
    web_lib_loaded = web_lib_loaded ||
                     (library_open(names, web_symbols, NELEMS(web_symbols), &web_lib, NULL) != NULL &&
                      web_lib.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    if (!web_lib_loaded)
        rc = fail_kind(err, FAIL_COMMAND, -ENOENT,
                       "The library libcurl, which fetches http, https and ftp, is not there: install the "
                       "package libcurl4 (Debian, Ubuntu) or libcurl (Fedora, RHEL, SUSE: libcurl4)");
    (void) pthread_mutex_unlock(&web_lib_lock);
    return rc;
}

/* ---- settings ------------------------------------------------------------------------------------------ */

static void
web_keep(web_t *self, CURLcode code)
{
    if (self->refused == CURLE_OK)
        self->refused = code;
}

void
web_text(web_t *self, CURLoption option, const char *value)
{
    web_keep(self, web_lib.easy_setopt(self->easy, option, value));
}

void
web_number(web_t *self, CURLoption option, long value)
{
    web_keep(self, web_lib.easy_setopt(self->easy, option, value));
}

void
web_seconds(web_t *self, CURLoption option, double value)
{
    enum { MS_PER_S = 1000 };

    web_number(self, option, value < (double) INT_MAX / MS_PER_S ? (long) (value * MS_PER_S) : INT_MAX);
}

void
web_limit(web_t *self, uintmax_t bytes)
{
    self->limit = bytes;
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t) bytes));
}

void
web_field(web_t *self, const char *line)
{
    struct curl_slist *longer = web_lib.slist_append(self->fields, line);

    web_keep(self, longer != NULL ? CURLE_OK : CURLE_OUT_OF_MEMORY);
    if (longer != NULL)
        self->fields = longer;
}

void
web_send(web_t *self, const buf_t *data)
{
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) data->len));
    web_text(self, CURLOPT_COPYPOSTFIELDS, buf_str(data));
}

void
web_send_file(web_t *self, FILE *file, intmax_t bytes)
{
    web_number(self, CURLOPT_POST, 1);
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_READDATA, file)); /* read by fread() */
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) bytes));
}

void
web_send_form(web_t *self, const char *field, const char *file, const buf_t *data)
{
    self->form = web_lib.mime_init(self->easy);
    curl_mimepart *part = self->form != NULL ? web_lib.mime_addpart(self->form) : NULL;

    if (part == NULL) {
        web_keep(self, CURLE_OUT_OF_MEMORY);
        return;
    }
    web_keep(self, web_lib.mime_name(part, field));
    web_keep(self, web_lib.mime_filename(part, file));
    web_keep(self, web_lib.mime_data(part, buf_str(data), data->len));
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_MIMEPOST, self->form));
}

void
web_send_mail(web_t *self, const char *from, const json_t *to, FILE *file, intmax_t bytes)
{
    json_t *one;
    size_t i;

    web_text(self, CURLOPT_MAIL_FROM, from);
    json_array_foreach ((json_t *) to, i, one) {
        struct curl_slist *longer = web_lib.slist_append(self->to, json_string_value(one));
        web_keep(self, longer != NULL ? CURLE_OK : CURLE_OUT_OF_MEMORY);
        self->to = longer != NULL ? longer : self->to;
    }
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_MAIL_RCPT, self->to));
    web_number(self, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1);
    web_number(self, CURLOPT_UPLOAD, 1);
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_READDATA, file)); /* read by fread() */
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t) bytes));
}

void
web_proxy(web_t *self, const char *host, json_int_t port, const char *user, const char *password,
          const json_t *without)
{
    AUTO_FREE char *proxy = xasprintf("http://%s:%lld", host, (long long) port);
    buf_auto_t hosts = BUF_INIT;
    json_t *one;
    size_t i;

    json_array_foreach (without, i, one)
        buf_printf(&hosts, "%s%s", i > 0 ? "," : "", json_is_string(one) ? json_string_value(one) : "");
    web_text(self, CURLOPT_NOPROXY, buf_str(&hosts));
    web_text(self, CURLOPT_PROXY, proxy);
    if (user != NULL) {
        web_text(self, CURLOPT_PROXYUSERNAME, user);
        web_text(self, CURLOPT_PROXYPASSWORD, password != NULL ? password : "");
    }
}

void
web_insecure(web_t *self)
{
    web_number(self, CURLOPT_SSL_VERIFYPEER, 0);
    web_number(self, CURLOPT_SSL_VERIFYHOST, 0);
}

void
web_no_proxy(web_t *self)
{
    web_text(self, CURLOPT_NOPROXY, "*");
}

/* ---- the transfer -------------------------------------------------------------------------------------- */

/* Another number than `size` ends the transfer. */
static size_t
take_header(char *data, size_t one, size_t size, void *cookie)
{
    web_t *self = cookie;

    if (self->headers.len + size > HEADERS_MAX) {
        self->too_large = true;
        return 0;
    }
    buf_add(&self->headers, data, size);
    return one * size;
}

static size_t
take_body(char *data, size_t one, size_t size, void *cookie)
{
    web_t *self = cookie;

    self->n += size;
    if (self->limit > 0 && self->n > self->limit) {
        self->too_large = true;
        return 0;
    }
    if (self->fd < 0)
        buf_add(self->body, data, size);
    else {
        self->fd_errno = -fs_write_all(self->fd, data, size);
        if (self->fd_errno != 0)
            return 0;
    }
    return one * size;
}

int
web_open(web_t *self, long schemes, long redirects, buf_t *body, fail_t *err)
{
    int rc = web_load(err);

    if (rc < 0)
        return rc;
    self->easy = web_lib.easy_init();
    if (self->easy == NULL)
        return fail_set(err, -ENOMEM, "libcurl gives no transfer");
    self->body = body;
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_HEADERFUNCTION, take_header));
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_HEADERDATA, self));
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_WRITEFUNCTION, take_body));
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_WRITEDATA, self));
    web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_ERRORBUFFER, self->said));
    web_number(self, CURLOPT_PROTOCOLS, schemes);
    web_number(self, CURLOPT_REDIR_PROTOCOLS, schemes);
    web_number(self, CURLOPT_FOLLOWLOCATION, 1);
    web_number(self, CURLOPT_MAXREDIRS, redirects);
    web_number(self, CURLOPT_NETRC, CURL_NETRC_IGNORED);

    /* Bundles of certificates that the environment names, as the program curl takes them. */
    static const struct {
        const char *name;
        CURLoption option;
    } known[] = { { "SSL_CERT_DIR", CURLOPT_CAPATH },
                  { "SSL_CERT_FILE", CURLOPT_CAINFO },
                  { "CURL_CA_BUNDLE", CURLOPT_CAINFO } };

    for (size_t i = 0; i < NELEMS(known); i++) {
        const char *value = getenv(known[i].name);
        if (!str_empty(value))
            web_text(self, known[i].option, value);
    }

    return 0;
}

/* Why the transfer failed: the library's sentence; a certificate that does not hold in Python's words, which
 * are Salt's. NEW. */
static char *
trouble_of(const web_t *self, CURLcode code)
{
    static const char *const heads[] = { "SSL certificate problem: ", "SSL: " };
    const char *said = self->said[0] != '\0' ? self->said : web_lib.easy_strerror(code);

    if (code != CURLE_PEER_FAILED_VERIFICATION)
        return xstrdup(said);
    for (size_t i = 0; i < NELEMS(heads); i++)
        said += str_starts(said, heads[i]) ? strlen(heads[i]) : 0;
    return xasprintf("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: %s", said);
}

int
web_run(web_t *self, fail_t *err)
{
    if (self->fields != NULL)
        web_keep(self, web_lib.easy_setopt(self->easy, CURLOPT_HTTPHEADER, self->fields));
    if (self->refused != CURLE_OK)
        return fail_set(err, -EINVAL, "libcurl refuses a setting of the request: %s",
                        web_lib.easy_strerror(self->refused));
    CURLcode code = web_lib.easy_perform(self->easy);
    (void) web_lib.easy_getinfo(self->easy, CURLINFO_RESPONSE_CODE, &self->status);
    self->too_large = self->too_large || code == CURLE_FILESIZE_EXCEEDED;
    if (code != CURLE_OK)
        self->trouble = trouble_of(self, code);
    return 0;
}

/* Cookies are written here, where a jar was asked for. */
void
web_close(web_t *self)
{
    if (self->easy != NULL) {
        web_lib.easy_cleanup(self->easy);
        web_lib.mime_free(self->form);
        web_lib.slist_free_all(self->fields);
        web_lib.slist_free_all(self->to);
    }
    buf_free(&self->headers);
    free(self->trouble);
    *self = (web_t) WEB_INIT;
}
