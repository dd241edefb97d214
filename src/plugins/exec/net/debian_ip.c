/* debian_ip.c - execution module `ip` on Debian and its like: interfaces, bonds and routes in /etc/network,
 * and the network's own settings. The formats are interfaces(5), modprobe.d(5) and resolv.conf(5); the files
 * are read and built by plugins/lib/net/debiface.h. Functions of this module return the lines of a file as a
 * list, with their ends, since the states of network compare such lists. With test=True in the settings
 * nothing is written and the same lines are returned. */
#include <errno.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/partfile.h"
#include "plugins/lib/net/debiface.h"
#include "plugins/lib/net/ip_api.h"
#include "plugins/lib/net/netdiff.h"
#include "salt/plugin.h"

#define UP_DIR          "/etc/network/if-up.d/"
#define DOWN_DIR        "/etc/network/if-down.d/"
#define MODPROBE_DIR    "/etc/modprobe.d/"
#define PPP_DIR         "/etc/ppp/peers/"
#define NETWORKING_FILE "/etc/default/networking"
#define RESOLV_FILE     "/etc/resolv.conf"

/* ---- files ------------------------------------------------------------------------------------ */

/* The lines of a file; "" when there is none, as by Salt. NEW, or NULL with *err. */
static json_t *
lines_of_file(const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    int rc = fs_read_any(path, LIMIT_HOST_FILE, &text, err);

    return rc < 0 ? NULL : rc == 0 ? json_string("") : netdiff_lines(buf_str(&text));
}

/* Puts a file into a folder that must be there. Salt makes no folders here, and a missing one (no ppp, no
 * resolvconf) is the error that its users know. */
static int
debian_ip_put(const char *path, const buf_t *text, mode_t mode, fail_t *err)
{
    AUTO_FREE char *dir = xstrndup(path,
                                   strrchr(path, '/') != NULL ? (size_t) (strrchr(path, '/') - path) : 0);
    int rc = fs_look_dir(*dir != '\0' ? dir : "/", err);

    if (rc == 0)
        return fail_set(err, -ENOENT, "%s cannot be written.", dir);
    return rc < 0 ? rc : partfile_put(path, buf_str(text), text->len, mode, err);
}

/* ---- interfaces ------------------------------------------------------------------------------- */

/* An interface that is in no file is []: for the state that means a new one. */
static int
debian_get_interface(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *iface = value_str(args, "iface", "");
    json_auto_t *adapters = debiface_read(err);
    buf_auto_t text = BUF_INIT;

    if (adapters == NULL)
        return err->code;
    if (value_get(adapters, iface) == NULL) {
        *ret_value = json_array();
        return 0;
    }
    if (strcmp(iface, "source") == 0)
        debiface_source_text(&text, value_get(adapters, iface));
    else
        debiface_text(&text, iface, value_get(adapters, iface));
    *ret_value = netdiff_split(buf_str(&text));
    return 0;
}

/* Writes all adapters into one file, or this one into a file of its own. /etc/network/interfaces is written
 * as a whole from what was read, because an adapter may be spread over several stanzas. A setting `filename`
 * is the way to keep one adapter apart, relative to interfaces.d. */
static int
write_interface(const char *iface, const json_t *adapter, const json_t *settings, const buf_t *own,
                fail_t *err)
{
    const char *named = value_str(settings, "filename", NULL);
    json_auto_t *adapters = debiface_read(err);
    buf_auto_t all = BUF_INIT;
    const char *name;
    json_t *one;

    if (adapters == NULL)
        return err->code;
    if (named != NULL) {
        AUTO_FREE char *path = *named == '/' ? xstrdup(named) : fs_join(DEBIFACE_DIR, named);
        return debian_ip_put(path, own, 0644, err);
    }
    json_object_set(adapters, iface, (json_t *) adapter);
    json_object_foreach (adapters, name, one) {
        if (strcmp(value_str(one, "type", ""), "source") == 0)
            debiface_source_text(&all, one);
        else
            debiface_text(&all, name, one);
    }
    return debian_ip_put(DEBIFACE_FILE, &all, 0644, err);
}

/* The type in small letters, one that there is, with the settings that it needs. NEW, or NULL with *err. The
 * error lists alias, clone, ipsec and dialup as well: Salt's text, though Debian's module builds nothing for
 * these four. */
static char *
known_type(const json_t *args, fail_t *err)
{
    static const struct {
        const char *type, *needs, *on;
    } types[] = { { "eth", NULL, "" },
                  { "bond", "slaves", "" },
                  { "bridge", "ports", " on Debian or Ubuntu based systems" },
                  { "slave", "master", "" },
                  { "vlan", NULL, "" },
                  { "pppoe", NULL, "" },
                  { "source", NULL, "" } };
    const char *iface = value_str(args, "iface", "");
    AUTO_FREE char *given = ip_type(args);

    for (size_t i = 0; i < NELEMS(types); i++) {
        if (strcmp(given, types[i].type) != 0)
            continue;
        if (types[i].needs != NULL && value_get(value_get(args, "settings"), types[i].needs) == NULL) {
            (void) fail_set(err, -EINVAL, "%s is a required setting for %s interfaces%s", types[i].needs,
                            given, types[i].on);
            return NULL;
        }
        return STEAL(given);
    }
    (void) netword_bad(err, iface, given, "eth|bond|alias|clone|ipsec|dialup|bridge|slave|vlan|pppoe|source");
    return NULL;
}

/* The order matters: the package first, since an interface that needs it could not be brought up; all
 * settings are checked before the first file changes. */
static int
debian_build_interface(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *iface = value_str(args, "iface", "");
    json_t *settings = value_get(args, "settings");
    bool test = value_truthy(value_get(settings, "test"));
    AUTO_FREE char *type = known_type(args, err);
    buf_auto_t text = BUF_INIT, ppp = BUF_INIT;

    if (type == NULL || ip_check_iface(args, err) < 0 || ip_check_settings(settings, err) < 0)
        return err->code;
    /* ifupdown hands these types over to scripts that the packages bring. */
    const char *package = strcmp(type, "vlan") == 0     ? "vlan"
                          : strcmp(type, "bridge") == 0 ? "bridge-utils"
                          : strcmp(type, "pppoe") == 0  ? "ppp"
                                                        : NULL;
    if (!test && ip_install(ctx, package, err) < 0)
        return err->code;
    json_auto_t *adapter = debiface_of(iface, type, value_truthy(value_get(args, "enabled")), settings,
                                       ctx_grains(ctx), err);
    if (adapter == NULL)
        return err->code;
    if (strcmp(type, "source") == 0)
        debiface_source_text(&text, adapter);
    else
        debiface_text(&text, iface, adapter);
    if (!test && write_interface(iface, adapter, settings, &text, err) < 0)
        return err->code;
    if (!test && strcmp(type, "pppoe") == 0) { /* it may hold a password */
        AUTO_FREE char *path = fs_join(PPP_DIR, value_str(settings, "provider", ""));
        debiface_ppp_text(&ppp, adapter);
        if (debian_ip_put(path, &ppp, 0600, err) < 0)
            return err->code;
    }
    *ret_value = netdiff_split(buf_str(&text));
    return 0;
}

/* A slave follows its master, a source is no interface. */
static int
debian_switch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ip_switch_iface(ctx, args, "slave|source", ret_value, err);
}

/* ---- bonds ------------------------------------------------------------------------------------ */

/* The text "" where there is no file: lines_of_file(). */
static int
debian_get_bond(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = xasprintf(MODPROBE_DIR "%s.conf", value_str(args, "iface", ""));

    if (ip_check_iface(args, err) == 0)
        *ret_value = lines_of_file(path, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* An alias and a line of options, which modprobe reads when the module is loaded under the bond's name. */
static int
debian_build_bond(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *iface = value_str(args, "iface", ""), *option;
    json_t *settings = value_get(args, "settings"), *value;
    AUTO_FREE char *path = xasprintf(MODPROBE_DIR "%s.conf", iface);
    buf_auto_t text = BUF_INIT;

    if (ip_check_iface(args, err) < 0 || ip_check_settings(settings, err) < 0)
        return err->code;
    json_auto_t *bond = debopts_bond(iface, settings, ctx_grains(ctx), err);
    if (bond == NULL)
        return err->code;
    buf_printf(&text, "alias %s bonding\noptions %s ", iface, iface);
    json_object_foreach (bond, option, value) {
        AUTO_FREE char *word = value_pystr(value);
        buf_printf(&text, "%s=%s ", option, word);
    }
    *ret_value = netdiff_lines(buf_str(&text));
    if (value_truthy(value_get(settings, "test")))
        return 0;
    if (debian_ip_put(path, &text, 0644, err) < 0)
        return err->code;
    /* The module is loaded now, and ifenslave is what ifupdown attaches the slaves with. */
    json_auto_t *loaded = sub_call(ctx, err, "kmod.load", "{s:s}", "mod", "bonding");
    json_auto_t *did = loaded != NULL ? sub_call(ctx, err, "pkg.install", "{s:s}", "name", "ifenslave")
                                      : NULL;
    return did != NULL ? 0 : err->code;
}

/* ---- routes ----------------------------------------------------------------------------------- */

/* run-parts, which starts these scripts, takes no name with a dot. NEW. */
static char *
route_file(const char *dir, const json_t *args)
{
    AUTO_FREE char *name = str_replace(value_str(args, "iface", ""), ".", "_");

    return xasprintf("%sroute-%s", dir, name);
}

/* The lines of both scripts, or "" where neither is there: the state compares them with build_routes'
 * answer. */
static int
debian_get_routes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *up = route_file(UP_DIR, args), *down = route_file(DOWN_DIR, args);
    json_auto_t *first = ip_check_iface(args, err) == 0 ? lines_of_file(up, err) : NULL;
    json_auto_t *rest = first != NULL ? lines_of_file(down, err) : NULL;

    if (rest == NULL)
        return err->code;
    /* Each is a list of lines or the text "": the second is returned when the first has no lines. */
    if (json_is_array(first) && json_is_array(rest))
        json_array_extend(first, rest);
    *ret_value = json_is_array(first) ? STEAL(first) : STEAL(rest);
    return 0;
}

/* Adds a member's text with a word before it; nothing where there is none. */
static void
add_member(buf_t *out, const char *before, const json_t *route, const char *key, const char *behind)
{
    json_t *value = value_get(route, key);
    AUTO_FREE char *text = value_truthy(value) ? value_pystr(value) : NULL;

    if (text != NULL)
        buf_printf(out, "%s%s%s", before, text, behind);
}

/* Adds the script that adds or deletes the routes. ifup starts all scripts of the folder for each interface,
 * hence the test of IFACE at the top. */
static void
routes_text(buf_t *out, const char *verb, const char *iface, const json_t *routes)
{
    json_t *route;
    size_t i;

    buf_printf(out, "#!/bin/sh\n# %s\ntest \"${IFACE}\" = \"%s\" || exit 0\n", verb, iface);
    json_array_foreach (routes, i, route) {
        add_member(out, "# ", route, "name", "\n");
        buf_printf(out, "ip route %s ", verb);
        add_member(out, "", route, "ipaddr", "");
        add_member(out, "/", route, "netmask", "");
        buf_putc(out, ' ');
        add_member(out, "via ", route, "gateway", "");
        buf_printf(out, " dev %s", iface);
        add_member(out, " metric ", route, "metric", "");
        buf_putc(out, '\n');
    }
}

/* Words of the routes stand in a script that root runs. So what the shell would take as more than a word is
 * refused: a value with ";" or "$(" would run as a command. A name only stands behind "#", where nothing but
 * a line break ends it. */
static int
check_routes(const json_t *routes, fail_t *err)
{
    static const char *const keys[] = { "ipaddr", "netmask", "gateway", "metric" };
    json_t *route;
    size_t i;

    json_array_foreach (routes, i, route) {
        for (size_t k = 0; k < NELEMS(keys); k++) {
            if (field_check(keys[k], value_get(route, keys[k]), FIELD_WORD ";&|<>()$`\\\"'*?#", err) < 0)
                return err->code;
        }
        if (field_check("name", value_get(route, "name"), FIELD_LINE, err) < 0)
            return err->code;
    }
    return 0;
}

/* Debian has no file of routes: one script adds them when the interface comes up, another deletes them when
 * it goes down. */
static int
debian_build_routes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *iface = value_str(args, "iface", "");
    json_t *settings = value_get(args, "settings"), *routes = value_get(settings, "routes");
    AUTO_FREE char *up = route_file(UP_DIR, args), *down = route_file(DOWN_DIR, args);
    buf_auto_t add = BUF_INIT, del = BUF_INIT;

    if (!json_is_array(routes))
        return fail_set(err, -EINVAL,
                        "Invalid option -- Route interface: %s, Option: routes, Expected: [List of routes]",
                        iface);
    if (ip_check_iface(args, err) < 0 || field_check_text("iface", iface, ";&|<>()$`\\\"'*?#", err) < 0 ||
        check_routes(routes, err) < 0)
        return err->code;
    routes_text(&add, "add", iface, routes);
    routes_text(&del, "del", iface, routes);
    json_auto_t *lines = netdiff_lines(buf_str(&add)), *rest = netdiff_lines(buf_str(&del));
    json_array_extend(lines, rest);
    *ret_value = STEAL(lines);
    if (value_truthy(value_get(settings, "test")))
        return 0;
    if (debian_ip_put(up, &add, 0755, err) < 0 || debian_ip_put(down, &del, 0755, err) < 0)
        return err->code;
    /* A file that was there keeps its mode when it is written anew, and run-parts skips scripts that are not
     * executable. */
    for (int i = 0; i < 2; i++) {
        json_auto_t *did = sub_call(ctx, err, "file.set_mode", "{s:s, s:s}", "path", i == 0 ? up : down,
                                    "mode", "0755");
        if (did == NULL)
            return err->code;
    }
    return 0;
}

/* ---- the network's settings --------------------------------------------------------------------- */

/* Ubuntu has no /etc/default/networking since 12.04: services are turned on and off instead. */
static bool
by_services(call_ctx_t *ctx)
{
    const char *release = value_str(ctx_grains(ctx), "osrelease", "0");
    AUTO_FREE char *major = xstrndup(release, strcspn(release, "."));
    long long number = 0;

    return strcmp(value_str(ctx_grains(ctx), "osfullname", ""), "Ubuntu") == 0 &&
           str_to_int(major, 0, INT32_MAX, &number) && number >= 12;
}

/* The text behind the last line of a file that begins with a word and `sep`, or white space. NEW, or NULL. A
 * missing file is as one without the line. `sep` is '=' for files that a shell reads and ' ' for
 * resolv.conf. */
static char *
word_of_file(const char *path, const char *word, char sep)
{
    AUTO_FREE char *text = root_read(NULL, path);
    char *found = NULL;
    size_t n = strlen(word);

    for (char *at = text, *line; text != NULL && (line = line_next(&at)) != NULL;) {
        line += sep == ' ' ? strspn(line, " \t") : 0;
        if (strncmp(line, word, n) != 0 ||
            (sep == ' ' ? strspn(line + n, " \t") == 0 : strchr(line, sep) == NULL))
            continue;
        free(found);
        found = xstrdup(str_trim(sep == ' ' ? line + n : strchr(line, sep) + 1));
    }
    return found;
}

/* {"networking", "hostname", "domainname", "searchdomain"} as they are. NEW, or NULL with *err. */
static json_t *
network_now(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *networking = word_of_file(NETWORKING_FILE, "CONFIGURE_INTERFACES", '=');
    AUTO_FREE char *domain = word_of_file(RESOLV_FILE, "domain", ' '),
                   *search = word_of_file(RESOLV_FILE, "search", ' ');
    AUTO_FREE char *host = root_read(NULL, "/etc/hostname");

    if (host != NULL)
        host[strcspn(host, "\n")] = '\0';
    /* "Networking" then means that the service runs, not what a file says. */
    if (by_services(ctx)) {
        int runs = sub_call_bool(ctx, err, "service.available", "{s:s}", "name", "networking");
        if (runs > 0)
            runs = sub_call_bool(ctx, err, "service.status", "{s:s}", "name", "networking");
        if (runs < 0)
            return NULL;
        free(networking);
        networking = xstrdup(runs > 0 ? "yes" : "no");
    }
    return json_pack("{s:s, s:s, s:s, s:s}", "networking", networking != NULL ? networking : "", "hostname",
                     host != NULL ? host : "", "domainname", domain != NULL ? domain : "", "searchdomain",
                     search != NULL ? search : "");
}

/* Lines of these settings as the state shows them. NEW. Keys without a value have no line, so that a file
 * that lacks them differs from none. */
static json_t *
network_shown(const json_t *now)
{
    static const char *const keys[][2] = { { "networking", "NETWORKING" },
                                           { "hostname", "HOSTNAME" },
                                           { "domainname", "DOMAIN" },
                                           { "searchdomain", "SEARCH" } };
    json_t *list = json_array();

    for (size_t i = 0; i < NELEMS(keys); i++) {
        if (*value_str(now, keys[i][0], "") != '\0')
            json_array_append_new(list, value_fmt("%s=%s\n", keys[i][1], value_str(now, keys[i][0], "")));
    }
    return list;
}

/* The lines are those of build_network_settings, so that the state can compare the two. */
static int
debian_get_network_settings(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *now = network_now(ctx, err);

    if (now != NULL)
        *ret_value = network_shown(now);
    return now != NULL ? 0 : err->code;
}

/* A setting by its name in any case. BORROWED, or NULL. Users write these in capitals as well, as the files
 * have them; the last of several wins. */
static json_t *
debian_ip_setting(const json_t *settings, const char *name)
{
    const char *key;
    json_t *value, *found = NULL;

    json_object_foreach ((json_t *) settings, key, value)
        found = strcasecmp(key, name) == 0 ? value : found;
    return found;
}

/* The settings as they are to be. The name of the host stays unless it is applied. NEW, or NULL with *err. A
 * name with dots also gives the domain, and `search` the list that resolv.conf has. */
static json_t *
network_wanted(const json_t *settings, const json_t *now, fail_t *err)
{
    json_t *enabled = debian_ip_setting(settings, "enabled"),
           *given = debian_ip_setting(settings, "hostname"), *search = debian_ip_setting(settings, "search");
    int on = netword_truth(enabled != NULL ? enabled : value_get(now, "networking"));
    json_auto_t *wanted = json_copy((json_t *) now);
    const char *host = json_is_string(given) ? json_string_value(given) : value_str(now, "hostname", "");

    /* A host must have a name, now or by the settings; both errors are worded as Salt's. */
    if (on < 0)
        (void) fail_set(err, -EINVAL, "Invalid network setting -- Setting: networking, Expected: [%s]",
                        NETWORD_TRUTHS);
    else if (*host == '\0' || (given != NULL && !json_is_string(given)))
        (void) fail_set(err, -EINVAL,
                        "Invalid network setting -- Setting: hostname, Expected: [server1.example.com]");
    else if (field_check_text("hostname", host, FIELD_WORD, err) == 0 &&
             field_check("search", search, FIELD_LINE, err) == 0) {
        json_object_set_new(wanted, "networking", json_string(on > 0 ? "yes" : "no"));
        if (given != NULL && netword_truth(value_get(settings, "apply_hostname")) > 0)
            json_object_set(wanted, "hostname", given);
        if (given != NULL && strchr(host, '.') != NULL)
            json_object_set_new(wanted, "domainname", json_string(strchr(host, '.') + 1));
        AUTO_FREE char *text = search != NULL
                                   ? json_is_array(search) ? value_joined(search, " ") : value_pystr(search)
                                   : NULL;
        if (text != NULL)
            json_object_set_new(wanted, "searchdomain", json_string(text));
        return STEAL(wanted);
    }
    return NULL;
}

/* Turns the services on or off that bring the network up. A service that is not installed is skipped: hosts
 * have the one or the other. */
static int
switch_services(call_ctx_t *ctx, bool on, fail_t *err)
{
    static const char *const names[] = { "NetworkManager", "networking" };

    for (size_t i = 0; i < NELEMS(names); i++) {
        int there = sub_call_bool(ctx, err, "service.available", "{s:s}", "name", names[i]);
        json_auto_t *did = there > 0 ? sub_call(ctx, err, on ? "service.enable" : "service.disable", "{s:s}",
                                                "name", names[i])
                                     : NULL;
        if (there < 0 || (there > 0 && did == NULL))
            return err->code;
    }
    return 0;
}

/* Writes the domain and the search list into resolv.conf: in the place of their lines, or before all others.
 * Other lines of the file stay as they are and in their order. */
static int
write_resolv(const json_t *wanted, fail_t *err)
{
    static const char *const words[][2] = { { "domain", "domainname" }, { "search", "searchdomain" } };
    AUTO_FREE char *text = root_read(NULL, RESOLV_FILE);
    buf_auto_t rest = BUF_INIT, all = BUF_INIT;
    bool there[2] = { false, false };

    if (text == NULL)
        return fail_set(err, -ENOENT, "%s cannot be written. %s does not exist and create is setto False",
                        RESOLV_FILE, RESOLV_FILE);
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        size_t k = 0;
        /* Both words have six letters, behind which white space must stand: "domainname" is neither. */
        while (k < 2 && !(str_starts(line, words[k][0]) && strspn(line + 6, " \t") > 0))
            k++;
        if (k == 2)
            buf_printf(&rest, "%s\n", line);
        else
            buf_printf(&rest, "%s %s\n", words[k][0], value_str(wanted, words[k][1], ""));
        if (k < 2)
            there[k] = true;
    }
    for (size_t k = 0; k < 2; k++) {
        if (!there[k] && *value_str(wanted, words[k][1], "") != '\0')
            buf_printf(&all, "%s %s\n", words[k][0], value_str(wanted, words[k][1], ""));
    }
    buf_puts(&all, buf_str(&rest));
    return partfile_put(RESOLV_FILE, buf_str(&all), all.len, 0644, err);
}

/* The lines are returned in every case; with test=True nothing else is done. */
static int
debian_build_network_settings(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *settings = value_get(args, "settings");
    json_auto_t *now = network_now(ctx, err),
                *wanted = now != NULL ? network_wanted(settings, now, err) : NULL;
    buf_auto_t text = BUF_INIT;
    int rc = 0;

    if (wanted == NULL)
        return err->code;
    *ret_value = network_shown(wanted);
    if (value_truthy(value_get(settings, "test")))
        return 0;
    buf_printf(&text,
               "# Configuration for networking init script being run during\n# the boot sequence\n\n"
               "# Set to 'no' to skip interfaces configuration on boot\nCONFIGURE_INTERFACES=%s\n\n"
               "# Don't configure these interfaces. Shell wildcards supported/\n#EXCLUDE_INTERFACES=\n\n"
               "# Set to 'yes' to enable additional verbosity\n#VERBOSE=no",
               value_str(wanted, "networking", ""));
    /* Salt's template of /etc/default/networking is above; on Ubuntu the file has no effect, and the services
     * are switched. */
    rc = by_services(ctx) ? switch_services(ctx, str_eq(value_str(wanted, "networking", ""), "yes"), err)
                          : debian_ip_put(NETWORKING_FILE, &text, 0644, err);
    /* resolv.conf is touched only for a changed domain or search list: on many hosts another program owns
     * it. */
    if (rc == 0 && (!value_equal(value_get(now, "domainname"), value_get(wanted, "domainname")) ||
                    !value_equal(value_get(now, "searchdomain"), value_get(wanted, "searchdomain"))))
        rc = write_resolv(wanted, err);
    return rc;
}

/* Two calls where Red Hat has one restart: the start is tried only when the stop went well. */
static int
debian_apply_network_settings(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const ip_service_t calls[] = { { "service.stop", "networking" },
                                          { "service.start", "networking" } };

    return ip_apply(ctx, args, calls, NELEMS(calls), ret_value, err);
}

static const char *
debian_ip_unavailable(call_ctx_t *ctx)
{
    return strcmp(value_str(ctx_grains(ctx), "os_family", ""), "Debian") == 0
               ? NULL
               : "The debian_ip module could not be loaded: unsupported OS family";
}

/* ---- table ------------------------------------------------------------------------------------ */

/* Its row tells a function which of them runs. */
#define debian_up   debian_switch
#define debian_down debian_switch

static const func_t funcs[] = {
#define IP_ROW(name, args, flags, program, doc)                                                              \
    { #name, debian_##name, args, flags, doc, .data.text = program },
#include "plugins/lib/net/ip_api.def"
#undef IP_ROW
    { "build_bond", debian_build_bond, ip_iface_settings_args, 0,
      "Write a bond's options for modprobe, and load its kernel module." CLI_EXAMPLE(
          "salt '*' ip.build_bond bond0 mode=balance-alb") },
    { "get_bond", debian_get_bond, ip_iface_args, FN_READONLY,
      "Return a bond's options for modprobe." CLI_EXAMPLE("salt '*' ip.get_bond bond0") },
};

PLUGIN(exec, debian_ip, .provides = "ip", .doc = "Network interfaces of Debian", FUNCS(funcs),
       .unavailable = debian_ip_unavailable);
