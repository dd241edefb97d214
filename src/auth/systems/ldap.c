/* ldap.c - the system `ldap`: who can bind with the password. libldap is loaded when it is needed; the
 * declarations are those of OpenLDAP's ldap.h, whose binary interface is fixed within libldap 2.5 and 2.6.
 *
 * With auth.ldap.binddn and bindpw the user's entry is looked for by auth.ldap.filter and its name is bound;
 * without bindpw, binddn has the user in it ("uid={{ username }},ou=people,dc=example"). An empty password is
 * refused, as a server takes such a bind for an anonymous one. */
#include <sys/time.h>

#include "auth/system.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/host/library.h"
#include "salt/value.h"

enum {
    LDAP_OK = 0,
    OPT_REFERRALS = 0x0008,
    OPT_VERSION = 0x0011,
    OPT_TIMEOUT = 0x5002,
    OPT_NETWORK_TIMEOUT = 0x5005,
    OPT_TLS_REQUIRE_CERT = 0x6006,
    OPT_TLS_NEWCTX = 0x600f,
    SCOPE_SUBTREE = 2,
    ENTRIES_MAX = 1000,
    LDAP_S = 10 /* seconds that one step may take */
};

struct berval {
    size_t len;
    char *bytes;
};

typedef struct ldap {
    const login_t *login;
    void *line;
    int (*initialize)(void **ret, const char *uri);
    int (*set_option)(void *ld, int option, const void *value);
    int (*start_tls_s)(void *ld, void **sctrls, void **cctrls);
    int (*sasl_bind_s)(void *ld, const char *dn, const char *mechanism, struct berval *cred, void **s,
                       void **c, struct berval **ret);
    int (*search_ext_s)(void *ld, const char *base, int scope, const char *filter, char **attrs, int only,
                        void **s, void **c, struct timeval *timeout, int limit, void **ret);
    void *(*first_entry)(void *ld, void *result);
    void *(*next_entry)(void *ld, void *entry);
    char *(*get_dn)(void *ld, void *entry);
    struct berval **(*get_values_len)(void *ld, void *entry, const char *attr);
    void (*value_free_len)(struct berval **values);
    void (*memfree)(void *text);
    int (*msgfree)(void *result);
    int (*unbind_ext_s)(void *ld, void **s, void **c);
    char *(*err2string)(int code);
} ldap_t;

static const char *const ldap_libraries[] = { "libldap-2.5.so.0", "libldap.so.2", NULL };
static const library_symbol_t ldap_symbols[] = { { "ldap_initialize", offsetof(ldap_t, initialize) },
                                                 { "ldap_set_option", offsetof(ldap_t, set_option) },
                                                 { "ldap_start_tls_s", offsetof(ldap_t, start_tls_s) },
                                                 { "ldap_sasl_bind_s", offsetof(ldap_t, sasl_bind_s) },
                                                 { "ldap_search_ext_s", offsetof(ldap_t, search_ext_s) },
                                                 { "ldap_first_entry", offsetof(ldap_t, first_entry) },
                                                 { "ldap_next_entry", offsetof(ldap_t, next_entry) },
                                                 { "ldap_get_dn", offsetof(ldap_t, get_dn) },
                                                 { "ldap_get_values_len", offsetof(ldap_t, get_values_len) },
                                                 { "ldap_value_free_len", offsetof(ldap_t, value_free_len) },
                                                 { "ldap_memfree", offsetof(ldap_t, memfree) },
                                                 { "ldap_msgfree", offsetof(ldap_t, msgfree) },
                                                 { "ldap_unbind_ext_s", offsetof(ldap_t, unbind_ext_s) },
                                                 { "ldap_err2string", offsetof(ldap_t, err2string) } };

/* ---- options ------------------------------------------------------------------------------------------- */

static json_t *
ldap_option(const ldap_t *self, const char *name)
{
    AUTO_FREE char *key = xasprintf("auth.ldap.%s", name);

    return value_get(self->login->options, key);
}

/* BORROWED; "" when it is not set. A number as YAML reads it is not a text: ldap_open() has the port. */
static const char *
ldap_text(const ldap_t *self, const char *name)
{
    const char *text = json_string_value(ldap_option(self, name));

    return text != NULL ? text : "";
}

static bool
ldap_flag(const ldap_t *self, const char *name)
{
    return value_truthy(ldap_option(self, name));
}

/* A template's name of the user, in its usual spellings, replaced. NEW. */
static char *
ldap_render(const char *template, const char *name)
{
    static const char *const forms[] = { "{{ username }}", "{{username}}", "{{ username}}", "{{username }}" };
    char *text = xstrdup(template);

    for (size_t i = 0; i < NELEMS(forms); i++) {
        char *next = str_replace(text, forms[i], name);
        free(text);
        text = next;
    }
    return text;
}

/* A value as a filter has it: RFC 4515. NEW. */
static char *
ldap_escaped(const char *value)
{
    buf_t out = BUF_INIT;

    for (; *value != '\0'; value++)
        if (strchr("*()\\", *value) != NULL || (unsigned char) *value < ' ')
            buf_printf(&out, "\\%02x", (unsigned) (unsigned char) *value);
        else
            buf_putc(&out, *value);
    return buf_steal(&out);
}

/* ---- the line ------------------------------------------------------------------------------------------ */

static int
ldap_fail(const ldap_t *self, const char *step, int code, fail_t *err)
{
    return fail_set(err, -EIO, "ldap: %s: %s", step, self->err2string(code));
}

static void
ldap_close(ldap_t *self)
{
    if (self->line != NULL)
        (void) self->unbind_ext_s(self->line, NULL, NULL);
    self->line = NULL;
}

/* A new line, encrypted as the options say. */
static int
ldap_open(ldap_t *self, fail_t *err)
{
    const int version = 3, never = 0, client = 0;
    const struct timeval patience = { LDAP_S, 0 };
    const char *uri = ldap_text(self, "uri");
    AUTO_FREE char *port = value_pystr(ldap_option(self, "port"));
    AUTO_FREE char *url = *uri != '\0' ? xstrdup(uri)
                                       : xasprintf("%s://%s:%s", ldap_flag(self, "tls") ? "ldaps" : "ldap",
                                                   ldap_text(self, "server"), port);

    ldap_close(self);
    if (ldap_flag(self, "starttls") && ldap_flag(self, "tls"))
        return fail_set(err, -EINVAL,
                        "auth.ldap.starttls and auth.ldap.tls are both set: one of them is meant");
    int rc = self->initialize(&self->line, url);
    if (rc != LDAP_OK)
        return ldap_fail(self, url, rc, err);
    (void) self->set_option(self->line, OPT_VERSION, &version);
    (void) self->set_option(self->line, OPT_REFERRALS, NULL);
    (void) self->set_option(self->line, OPT_TIMEOUT, &patience);
    (void) self->set_option(self->line, OPT_NETWORK_TIMEOUT, &patience);
    if (ldap_flag(self, "no_verify")) {
        (void) self->set_option(self->line, OPT_TLS_REQUIRE_CERT, &never);
        (void) self->set_option(self->line, OPT_TLS_NEWCTX, &client);
    }
    rc = ldap_flag(self, "starttls") ? self->start_tls_s(self->line, NULL, NULL) : LDAP_OK;
    return rc == LDAP_OK ? 0 : ldap_fail(self, "start_tls", rc, err);
}

/* 1: bound; 0 with *err: the server says no; negative: it can't be asked. */
static int
ldap_bind(ldap_t *self, const char *dn, const char *password, fail_t *err)
{
    enum { INVALID_CREDENTIALS = 49 };
    struct berval cred = { strlen(password), (char *) password };
    int rc = ldap_open(self, err);

    if (rc < 0)
        return rc;
    rc = self->sasl_bind_s(self->line, dn, NULL, &cred, NULL, NULL, NULL);
    if (rc == LDAP_OK)
        return 1;
    (void) ldap_fail(self, "bind", rc, err);
    return rc == INVALID_CREDENTIALS ? 0 : err->code;
}

/* NEW result, for msgfree; NULL with *err. */
static void *
ldap_search(ldap_t *self, const char *base, int scope, const char *filter, fail_t *err)
{
    struct timeval patience = { LDAP_S, 0 };
    void *result = NULL;
    int rc = self->search_ext_s(self->line, base, scope, filter, NULL, 0, NULL, NULL, &patience, ENTRIES_MAX,
                                &result);

    if (rc == LDAP_OK)
        return result;
    (void) self->msgfree(result);
    (void) ldap_fail(self, "search", rc, err);
    return NULL;
}

/* ---- the user ------------------------------------------------------------------------------------------ */

/* The name of the one entry that the filter finds. NEW; NULL: none or several, or with *err. */
static char *
ldap_find(ldap_t *self, const char *filter, fail_t *err)
{
    json_int_t scope = json_is_integer(ldap_option(self, "scope"))
                           ? json_integer_value(ldap_option(self, "scope"))
                           : SCOPE_SUBTREE;
    void *result = ldap_search(self, ldap_text(self, "basedn"), (int) scope, filter, err), *entry;
    char *dn = NULL;

    if (result == NULL)
        return NULL;
    entry = self->first_entry(self->line, result);
    if (entry != NULL && self->next_entry(self->line, entry) == NULL) {
        char *name = self->get_dn(self->line, entry);
        dn = name != NULL ? xstrdup(name) : NULL;
        self->memfree(name);
    } else {
        (void) fail_set(err, -ENOENT, "ldap: auth.ldap.filter finds %s entry for the user",
                        entry == NULL ? "no" : "more than one");
    }
    (void) self->msgfree(result);
    return dn;
}

/* The name to bind with. NEW; NULL with *err. */
static char *
ldap_user_dn(ldap_t *self, fail_t *err)
{
    const char *binddn = ldap_text(self, "binddn"), *bindpw = ldap_text(self, "bindpw"),
               *user = self->login->user;

    if (*binddn == '\0')
        return (void) fail_set(err, -EINVAL, "auth.ldap.binddn is not set"), NULL;
    if (*bindpw == '\0') {
        if (strpbrk(user, ",+\"\\<>;=#") != NULL)
            return (void) fail_set(
                       err, -EINVAL,
                       "ldap: the user's name has a character with a meaning in names of entries"),
                   NULL;
        return ldap_render(binddn, user);
    }
    if (ldap_bind(self, binddn, bindpw, err) <= 0)
        return NULL;
    AUTO_FREE char *escaped = ldap_escaped(user);
    AUTO_FREE char *filter = ldap_render(ldap_text(self, "filter"), escaped);
    if (*filter == '\0')
        return (void) fail_set(err, -EINVAL, "auth.ldap.filter is not set"), NULL;
    return ldap_find(self, filter, err);
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* What stands between the first "=" and the first "," of an entry's name; a plain text as it is. NEW. */
static char *
ldap_first_value(const char *dn)
{
    size_t len = strcspn(dn, ",");
    const char *equals = memchr(dn, '=', len);

    return equals != NULL ? xstrndup(equals + 1, (size_t) (dn + len - equals) - 1) : xstrndup(dn, len);
}

/* An attribute's values. NEW. */
static json_t *
ldap_values(ldap_t *self, void *entry, const char *attr)
{
    struct berval **values = self->get_values_len(self->line, entry, attr);
    json_t *all = json_array();

    for (size_t i = 0; values != NULL && values[i] != NULL; i++)
        json_array_append_new(all, value_utf8(values[i]->bytes, values[i]->len));
    if (values != NULL)
        self->value_free_len(values);
    return all;
}

/* The first value, if there is one, is a group's name. */
static void
ldap_add_first(json_t *groups, const json_t *values)
{
    if (json_array_size(values) > 0)
        json_array_append(groups, json_array_get(values, 0));
}

/* One entry of a search for groups, as FreeIPA has them: its members are names of entries. */
static void
ldap_add_ipa(ldap_t *self, void *entry, const char *dn, json_t *groups)
{
    static const char *const options[] = { "accountattributename", "groupattribute" };
    bool his = false;
    json_t *one;
    size_t k;

    for (size_t i = 0; i < NELEMS(options); i++) {
        json_auto_t *values = ldap_values(self, entry, ldap_text(self, options[i]));
        json_array_foreach (values, k, one) {
            AUTO_FREE char *name = ldap_first_value(json_string_value(one));
            his = his || str_eq(name, self->login->user);
        }
    }
    AUTO_FREE char *name = ldap_first_value(dn);
    if (his)
        json_array_append_new(groups, json_string(name));
}

/* As OpenLDAP mostly has them: a group lists names of users, or the user's own entry lists groups. */
static void
ldap_add_posix(ldap_t *self, void *entry, const char *dn, json_t *groups)
{
    json_auto_t *members = ldap_values(self, entry, ldap_text(self, "accountattributename"));
    json_auto_t *cn = ldap_values(self, entry, "cn"),
                *his = ldap_values(self, entry, ldap_text(self, "groupattribute"));
    AUTO_FREE char *name = ldap_first_value(dn);
    json_t *one;
    size_t i;

    if (value_lists(members, self->login->user))
        ldap_add_first(groups, cn);
    json_array_foreach (his, i, one) {
        AUTO_FREE char *group = ldap_first_value(json_string_value(one));
        if (str_eq(name, self->login->user))
            json_array_append_new(groups, json_string(group));
    }
}

/* The filter and the base of the search for groups. 0, or negative with *err. */
static int
ldap_group_search(ldap_t *self, const char *user, char **ret_base, char **ret_filter, fail_t *err)
{
    const char *base = ldap_text(self, "basedn"), *ou = ldap_text(self, "groupou");
    const char *account = ldap_text(self, "accountattributename"), *class = ldap_text(self, "groupclass");

    if (ldap_flag(self, "activedirectory")) {
        AUTO_FREE char *person = xasprintf("(&(%s=%s)(objectClass=%s))", account, user,
                                           ldap_text(self, "persontype"));
        AUTO_FREE char *dn = ldap_find(self, person, err);
        if (dn == NULL)
            return err->code;
        AUTO_FREE char *escaped = ldap_escaped(dn);
        *ret_base = xstrdup(base);
        *ret_filter = xasprintf("(&(member=%s)(objectClass=%s))", escaped, class);
        return 0;
    }
    if (ldap_flag(self, "freeipa")) {
        *ret_base = xstrdup(ldap_text(self, "group_basedn"));
        *ret_filter = ldap_render(ldap_text(self, "group_filter"), user);
        return 0;
    }
    *ret_base = *ou != '\0' ? xasprintf("ou=%s,%s", ou, base) : xstrdup(base);
    *ret_filter = xasprintf("(&(%s=%s)(objectClass=%s))", account, user, class);
    return 0;
}

/* NEW; NULL with *err. The line is bound. */
static json_t *
ldap_groups(ldap_t *self, fail_t *err)
{
    AUTO_FREE char *user = ldap_escaped(self->login->user), *base = NULL, *filter = NULL;
    void *result = ldap_group_search(self, user, &base, &filter, err) == 0
                       ? ldap_search(self, base, SCOPE_SUBTREE, filter, err)
                       : NULL;

    if (result == NULL)
        return NULL;
    json_t *groups = json_array();
    for (void *entry = self->first_entry(self->line, result); entry != NULL;
         entry = self->next_entry(self->line, entry)) {
        char *dn = self->get_dn(self->line, entry);
        json_auto_t *cn = ldap_values(self, entry, "cn");
        if (ldap_flag(self, "activedirectory"))
            ldap_add_first(groups, cn);
        else if (ldap_flag(self, "freeipa"))
            ldap_add_ipa(self, entry, dn != NULL ? dn : "", groups);
        else
            ldap_add_posix(self, entry, dn != NULL ? dn : "", groups);
        self->memfree(dn);
    }
    (void) self->msgfree(result);
    return groups;
}

/* Groups are looked up by the searching account where there is one, else by the user himself, who is bound. A
 * directory that has no groups there is no failure of the login. */
static void
ldap_add_groups(ldap_t *self, json_t *found, fail_t *err)
{
    const char *bindpw = ldap_text(self, "bindpw");

    if (*bindpw != '\0' && ldap_bind(self, ldap_text(self, "binddn"), bindpw, err) <= 0)
        return;
    json_t *groups = ldap_groups(self, err);
    if (groups != NULL)
        json_object_set_new(found, "groups", groups);
}

/* ---- minions ------------------------------------------------------------------------------------------- */

/* A computer's name as its minion has it: in small letters, without what auth.ldap.minion_stripdomains
 * names. */
static void
ldap_minion(const ldap_t *self, char *name)
{
    json_t *domain;
    size_t i;

    for (char *c = name; *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char) (*c | 0x20) : *c;
    json_array_foreach (ldap_option(self, "minion_stripdomains"), i, domain)
        if (json_is_string(domain) && str_ends(name, json_string_value(domain))) {
            name[strlen(name) - json_string_length(domain)] = '\0';
            return;
        }
}

/* The computers below one place. NEW; a place that is not there has none. */
static json_t *
ldap_computers(ldap_t *self, const char *base)
{
    fail_auto_t err = FAIL_INIT;
    void *result = ldap_search(self, base, SCOPE_SUBTREE, "(objectClass=computer)", &err);
    json_t *ids = json_array();

    for (void *entry = result != NULL ? self->first_entry(self->line, result) : NULL; entry != NULL;
         entry = self->next_entry(self->line, entry)) {
        json_auto_t *cn = ldap_values(self, entry, "cn");
        const char *first = json_string_value(json_array_get(cn, 0));
        AUTO_FREE char *name = xstrdup(first != NULL ? first : "");
        ldap_minion(self, name);
        if (*name != '\0')
            json_array_append_new(ids, json_string(name));
    }
    (void) self->msgfree(result);
    return ids;
}

int
system_ldap(const login_t *login, json_t *found, fail_t *err)
{
    ldap_t self = { .login = login };
    fail_auto_t why = FAIL_INIT;

    if (*login->password == '\0')
        return fail_set(err, -EACCES, "ldap: an empty password is none");
    if (library_open(ldap_libraries, ldap_symbols, NELEMS(ldap_symbols), &self, &why) == NULL)
        return fail_set(err, -ENOENT, "%s: install the package libldap-2.5-0", fail_text(&why));
    AUTO_FREE char *dn = ldap_user_dn(&self, err);
    int rc = dn == NULL ? err->code : ldap_bind(&self, dn, login->password, err);
    if (rc == 1) {
        ldap_add_groups(&self, found, err);
        /* "ldap(OU=web,dc=example)" in the place of a target stands for the computers below that entry. */
        json_t *places = json_object(), *place;
        size_t i;

        json_array_foreach (self.login->places, i, place) {
            const char *text = json_string_value(place);
            size_t len = json_string_length(place);
            if (text == NULL || len < 6 || !str_starts(text, "ldap(") || text[len - 1] != ')')
                continue;
            AUTO_FREE char *base = xstrndup(text + 5, len - 6);
            json_object_set_new(places, text, ldap_computers(&self, base));
        }
        if (json_object_size(places) > 0)
            json_object_set(found, "places", places);
        json_decref(places);
    }
    ldap_close(&self);
    return rc;
}
