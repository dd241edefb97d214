/* dockertext.c - Salt's conversions of texts for docker: see dockerargs.h. */
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "common/output/output.h"
#include "plugins/lib/docker/dockerargs.h"

/* The last of `max` parts has the rest of the text, separators and all. */
json_t *
docker_parts(const char *text, char sep, size_t max)
{
    json_t *parts = json_array();

    for (;;) {
        const char *end = max > 0 && json_array_size(parts) + 1 == max ? NULL : strchr(text, sep);
        AUTO_FREE char *part = end != NULL ? xstrndup(text, (size_t) (end - text)) : xstrdup(text);
        json_array_append_new(parts, json_string(str_trim(part)));
        if (end == NULL)
            return parts;
        text = end + 1;
    }
}

json_t *
docker_stringlist(const json_t *v)
{
    json_t *list, *one;
    size_t i;

    if (!json_is_array(v)) {
        AUTO_FREE char *text = value_pystr(v);
        return docker_parts(text, ',', 0);
    }
    list = json_array();
    json_array_foreach (v, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(list, json_string(text));
    }
    return list;
}

/* Names of an object go as they are; a list's later pair of a name wins. */
json_t *
docker_key_values(const json_t *v, char delimiter, fail_t *bad)
{
    json_t *one;
    size_t i;

    if (json_is_object(v))
        return json_copy((json_t *) v);
    json_auto_t *list = docker_stringlist(v);
    json_auto_t *out = json_object();
    json_array_foreach (list, i, one) {
        json_auto_t *pair = docker_parts(json_string_value(one), delimiter, 2);
        if (json_array_size(pair) < 2) {
            (void) fail_set(bad, -EINVAL, "'%s' is not a key%cvalue pair", json_string_value(one), delimiter);
            return NULL;
        }
        json_object_set(out, json_string_value(json_array_get(pair, 0)), json_array_get(pair, 1));
    }
    return json_incref(out);
}

int
docker_check_ip(const char *text, fail_t *bad)
{
    ip_t ip;

    return ip_parse(text, &ip, NULL) == 0 ? 0
                                          : fail_set(bad, -EINVAL, "'%s' is not a valid IP address", text);
}

/* Salt asks for the slash; an address alone would be a network of one host. */
int
docker_check_subnet(const char *text, fail_t *bad)
{
    ipnet_t net;

    if (strchr(text, '/') != NULL && ipnet_parse(text, true, &net, NULL) == 0)
        return 0;
    return fail_set(bad, -EINVAL, "'%s' is not a valid subnet", text);
}

json_t *
docker_repacked(json_t *v)
{
    json_t *one, *out;
    size_t i;

    if (!json_is_array(v))
        return json_incref(v);
    json_array_foreach (v, i, one) {
        if (!json_is_object(one) || json_object_size(one) != 1)
            return json_incref(v);
    }
    out = json_object();
    json_array_foreach (v, i, one)
        json_object_update(out, one);
    return out;
}

char *
docker_with_info(const char *text, const json_t *info)
{
    output_opts_t opts = OUTPUT_OPTS_INIT;
    size_t n = strlen(text);
    bool ends = n > 0 && strchr(".?!", text[n - 1]) != NULL;
    buf_auto_t out = BUF_INIT;

    buf_printf(&out, "%s%s Additional info follows:\n\n", text, ends ? "" : ".");
    opts.out = "nested";
    output_format(info, &opts, &out);
    while (out.len > 0 && out.data[out.len - 1] == '\n')
        out.data[--out.len] = '\0';
    return buf_steal(&out);
}
