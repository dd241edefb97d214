/* masters.c - see masters.h. The list is parsed anew on each call; it is short and the calls are rare. */
#include "uplink/masters.h"

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

bool
master_parse(const char *text, int default_port, char host[256], int *ret_port)
{
    const char *colon = strrchr(text, ':'), *close = strrchr(text, ']');
    long long port = default_port;
    size_t len = strlen(text);
    bool bracket = text[0] == '[';
    if (bracket ? close == NULL || (close[1] != '\0' && close[1] != ':') : strpbrk(text, "[]") != NULL)
        return false;
    /* More than one colon without brackets is a bare IPv6 address. */
    if (colon != NULL && (bracket ? colon == close + 1 : strchr(text, ':') == colon)) {
        if (!str_to_int(colon + 1, 1, 65535, &port))
            return false;
        len = (size_t) (colon - text);
    }
    if (bracket)
        text++, len = (size_t) (close - text);
    if (len == 0 || len >= 256)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    /* The host becomes part of a file's name (masters_key_files). */
    for (const char *p = host; *p; p++)
        if ((unsigned char) *p <= ' ' || *p == 127 || strchr("/[]", *p) != NULL)
            return false;
    *ret_port = (int) port;
    return true;
}

json_t *
masters_parse(const conf_t *conf, fail_t *err)
{
    json_t *option = conf_get(conf, "master"), *one;
    json_auto_t *list = json_is_array(option) ? json_incref(option) : json_pack("[O]", option);
    json_auto_t *out = json_array();
    size_t i;
    if (str_eq(conf_str(conf, "master_type"), "disable"))
        return json_incref(out);
    json_array_foreach (list, i, one) {
        char host[256];
        int port;
        if (!json_is_string(one) ||
            !master_parse(json_string_value(one), (int) conf_int(conf, "master_port"), host, &port)) {
            AUTO_FREE char *shown = value_pystr(one);
            (void) fail_set(err, -EINVAL, "master: '%s' is not a host, host:port or [ipv6]:port", shown);
            return NULL;
        }
        json_array_append_new(out, json_pack("{s:s, s:i}", "host", host, "port", port));
    }
    if (json_array_size(out) == 0 || json_array_size(out) > LIMIT_MASTERS) {
        (void) fail_set(err, -EINVAL, "master: 1 to %d masters can be named", LIMIT_MASTERS);
        return NULL;
    }
    return json_incref(out);
}

char *
master_name(const json_t *master)
{
    return xasprintf("%s:%d", value_str(master, "host", ""), (int) value_int(master, "port", 0));
}

int
masters_at_once(const conf_t *conf, const json_t *masters)
{
    return str_eq(conf_str(conf, "master_type"), "failover") ? (int) json_array_size(masters) : 1;
}

json_t *
masters_by_name(const conf_t *conf)
{
    json_auto_t *masters = masters_parse(conf, NULL);
    json_t *by_name = json_object();
    size_t i;
    json_t *one;
    json_array_foreach (masters, i, one) {
        AUTO_FREE char *name = master_name(one);
        if (value_get(by_name, name) == NULL)
            json_object_set_new(by_name, name, json_integer((int) i / masters_at_once(conf, masters)));
    }
    return by_name;
}

void
masters_key_files(const conf_t *conf, size_t nth, const char *host, char **ret_known, char **ret_sign)
{
    const char *pki = conf_str(conf, "pki_dir"), *sign = conf_str(conf, "master_sign_key_name");
    bool verify = conf_bool(conf, "verify_master_pubkey_sign");

    json_auto_t *masters = masters_parse(conf, NULL);
    size_t before = 1; /* the first one's have a name of their own */
    while (before < nth && !str_eq(value_str(json_array_get(masters, before), "host", ""), host))
        before++;
    AUTO_FREE char *name = before < nth ? master_name(json_array_get(masters, nth)) : xstrdup(host);

    AUTO_FREE char *file = nth == 0 ? xstrdup("minion_master.pub") : xasprintf("minion_master.%s.pub", name);
    AUTO_FREE char *sign_file = nth == 0 || verify ? xasprintf("%s.pub", sign)
                                                   : xasprintf("%s.%s.pub", sign, name);
    *ret_known = fs_join(pki, file);
    *ret_sign = fs_join(pki, sign_file);
}
