/* os.c - grains about the distribution: os, os_family, osfullname, osrelease, osfinger, osarch,
 * lsb_distrib_*.
 *
 * Most of it comes from os-release. Distributions that Salt has checked use nothing else; for the others Salt
 * keeps the spelling that older sources gave, and so does this. */
#include <ctype.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/host/oldrelease.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* A row of a table. */
typedef struct pair {
    const char *key, *value;
} pair_t;

/* ---- sources --------------------------------------------------------------------------------- */

/* The value of NAME=value with its quotes and their backslashes taken off. NEW. */
static char *
unquote(char *text)
{
    size_t len = strlen(text);
    buf_t out = BUF_INIT;

    if (len >= 2 && (text[0] == '"' || text[0] == '\'') && text[len - 1] == text[0]) {
        text[len - 1] = '\0';
        text++;
    }
    for (; *text != '\0'; text++) {
        if (*text == '\\' && text[1] != '\0' && strchr("$\"'`\\", text[1]) != NULL)
            text++;
        buf_putc(&out, *text);
    }
    return out.len > 0 ? buf_steal(&out) : xstrdup("");
}

/* NEW object, or NULL when the host has no os-release. */
static json_t *
read_os_release(const char *root)
{
    static const char *const paths[] = { "/etc/os-release", "/usr/lib/os-release" };
    AUTO_FREE char *text = NULL;

    for (size_t i = 0; i < NELEMS(paths) && text == NULL; i++)
        text = root_read(root, paths[i]);
    if (text == NULL)
        return NULL;
    json_t *release = json_pack("{s:s, s:s, s:s}", "NAME", "Linux", "ID", "linux", "PRETTY_NAME", "Linux");
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *raw = line_value(line, '=');
        if (raw == NULL || line[0] == '#')
            continue;
        AUTO_FREE char *value = unquote(raw);
        json_object_set_new(release, line, value_utf8(value, strlen(value)));
    }
    return release;
}

/* ---- names ----------------------------------------------------------------------------------- */

#define OS_NAME(start, os) { start, os },
#define OS_FAMILY(os, family)
static const pair_t os_names[] = {
#include "plugins/grain/os_names.def"
};
#undef OS_NAME
#undef OS_FAMILY
#define OS_NAME(start, os)
#define OS_FAMILY(os, family) { os, family },
static const pair_t os_families[] = {
#include "plugins/grain/os_names.def"
};

/* Value of a key in a table; NULL when it is not there. BORROWED. */
static const char *
os_find(const pair_t *rows, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq(rows[i].key, key))
            return rows[i].value;
    }
    return NULL;
}

/* Salt's name of the distribution: the full name without "Linux", unless the table of names knows its start.
 * NEW. `id` may be NULL. */
static char *
derive_os(const char *full_name, const char *id)
{
    static const struct {
        const char *id, *name, *os;
    } kept[] = {
        { "astra", "Astra Linux (Orel)", "AstraLinuxCE" },
        { "astra", "Astra Linux (Smolensk)", "AstraLinuxSE" },
        { "pop", "Pop!_OS", "Pop" },
    };
    AUTO_FREE char *name = xstrdup(full_name);
    char start[11] = "";
    size_t n = 0;

    for (size_t i = 0; i < NELEMS(kept); i++) {
        if (str_eq(kept[i].id, id) && str_eq(kept[i].name, full_name))
            return xstrdup(kept[i].os);
    }

    /* "Debian GNU/Linux" is "Debian", "Oracle Linux Server" is "Oracle Server". */
    static const char *const words[] = { "gnu/linux", "linux" };
    for (char *at = name; *at != '\0';) {
        size_t drop = 0;
        for (size_t i = 0; i < NELEMS(words) && drop == 0; i++) {
            if (!isalnum((unsigned char) *at) && *at != '_' &&
                strncasecmp(at + 1, words[i], strlen(words[i])) == 0)
                drop = strlen(words[i]) + 1;
        }
        if (drop > 0)
            memmove(at, at + drop, strlen(at + drop) + 1);
        else
            at++;
    }

    const char *trimmed = str_trim(name);
    for (const char *c = trimmed; *c != '\0' && n < sizeof(start) - 1; c++) {
        if (*c != ' ')
            start[n++] = (char) tolower((unsigned char) *c);
    }
    const char *known = os_find(os_names, NELEMS(os_names), start);
    return xstrdup(known != NULL ? known : trimmed);
}

/* The family that ID_LIKE or the id itself names; else the last of them, capitalised. NEW. */
static char *
derive_family(const char *id, const char *like)
{
    static const pair_t known[] = { { "debian", "Debian" }, { "ubuntu", "Debian" }, { "fedora", "RedHat" },
                                    { "rhel", "RedHat" },   { "centos", "RedHat" }, { "suse", "Suse" },
                                    { "opensuse", "Suse" } };
    char **ancestors = str_split(like, " \t", true);
    size_t n = strv_len(ancestors);
    const char *family = os_find(known, NELEMS(known), id), *last = n > 0 ? ancestors[n - 1] : id;

    for (size_t i = 0; i < n && family == NULL; i++)
        family = os_find(known, NELEMS(known), ancestors[i]);
    char *text = xstrdup(family != NULL ? family : last);
    for (char *c = text; family == NULL && *c != '\0'; c++)
        *c = (char) (c == text ? toupper((unsigned char) *c) : tolower((unsigned char) *c));
    strv_free(ancestors);
    return text;
}

/* An empty field of os-release counts as one that is not there. */
static void
os_set_unless_empty(json_t *out, const char *key, const char *text)
{
    if (!str_empty(text))
        json_object_set_new(out, key, json_string(text));
}

/* Text within parentheses; NEW, or NULL. */
static char *
in_parentheses(const char *text)
{
    const char *open = text != NULL ? strchr(text, '(') : NULL;
    const char *close = open != NULL ? strrchr(open, ')') : NULL;

    return close != NULL ? xstrndup(open + 1, (size_t) (close - open - 1)) : NULL;
}

/* ---- distributions whose old spelling is kept ------------------------------------------------ */

/* Distributions whose os-release Salt has checked, so that it needs no older source. */
static bool
os_is_checked(const char *id)
{
    static const char *const ids[] = { "almalinux", "astra", "debian", "linuxmint",
                                       "mendel",    "pop",   "rocky",  "ubuntu" };

    for (size_t i = 0; i < NELEMS(ids); i++) {
        if (str_eq(ids[i], id))
            return true;
    }
    return false;
}

/* Derives lsb grains where there is no lsb-release. */
static void
add_lsb_from_os_release(const json_t *release, json_t *out)
{
    AUTO_FREE char *name = xstrdup(value_str(release, "NAME", ""));
    const char *codename = value_str(release, "VERSION_CODENAME", value_str(release, "PRETTY_NAME", ""));

    json_object_set_new(out, "lsb_distrib_id", json_string(str_trim(name)));
    if (value_get(release, "VERSION_ID") != NULL)
        json_object_set(out, "lsb_distrib_release", value_get(release, "VERSION_ID"));
    json_object_set_new(out, "lsb_distrib_codename", json_string(codename));
    if (value_get(release, "CPE_NAME") != NULL) {
        /* SUSE says in CPE_NAME what it is: "cpe:/o:opensuse:leap:15.5" or
         * "cpe:2.3:o:vendor:product:version:...". */
        char **part = str_split(value_str(release, "CPE_NAME", ""), ":", false);
        size_t n = strv_len(part);
        size_t at = n > 4 && str_eq(part[0], "cpe") && part[1][0] == '/'                              ? 2
                    : n >= 6 && n != 7 && n <= 13 && str_eq(part[0], "cpe") && str_eq(part[1], "2.3") ? 3
                                                                                                      : 0;
        bool open = at > 0 && strcasecmp(part[at], "opensuse") == 0;
        if (open || (at > 0 && strcasecmp(part[at], "suse") == 0)) {
            const char *named = value_str(release, "NAME", ""), *version = part[at + 2];
            json_object_set_new(out, "os", json_string("SUSE"));
            if (str_eq(named, "openSUSE Leap"))
                json_object_set_new(out, "osfullname", json_string("Leap"));
            else if (str_eq(value_str(release, "VERSION", NULL), "Tumbleweed"))
                json_object_set_new(out, "osfullname", json_string("Tumbleweed"));
            if (str_eq(part[at], "opensuse") && !str_empty(version) && !str_eq(version, "*"))
                json_object_set_new(out, "lsb_distrib_release", json_string(version));
        }
        strv_free(part);
    }
}

/* Codename as Python's `distro` derives it. NEW. */
static char *
distro_codename(const json_t *release, const old_release_t *old)
{
    const char *codename = value_str(release, "VERSION_CODENAME",
                                     value_str(release, "UBUNTU_CODENAME", NULL));

    if (codename != NULL)
        return xstrdup(codename);
    char *from_version = in_parentheses(value_str(release, "VERSION", NULL));
    return from_version != NULL ? from_version : xstrdup(old->codename);
}

/* A version with more parts says more: CentOS's own file has 7.9.2009 where os-release has 7. */
static size_t
dots(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += *text == '.';
    return n;
}

/* Names as older sources spell them, for distributions that Salt has not checked. */
static void
add_old_names(const json_t *release, const old_release_t *old, json_t *out)
{
    const char *version = value_str(release, "VERSION_ID", "");
    AUTO_FREE char *codename = distro_codename(release, old);
    const char *lsb_codename = value_str(out, "lsb_distrib_codename", "");

    if (str_empty(version) || dots(old->version) > dots(version))
        version = old->version;
    if (value_get(out, "osfullname") == NULL)
        json_object_set_new(out, "osfullname",
                            json_string(strncasecmp(value_str(out, "lsb_distrib_id", ""), "nilrt", 5) == 0
                                            ? "nilrt"
                                            : value_str(out, "lsb_distrib_id", old->name)));
    if (strstr(lsb_codename, "CentOS Linux 7") != NULL || strstr(lsb_codename, "CentOS Linux 8") != NULL)
        json_object_del(out, "lsb_distrib_release");
    if (value_get(out, "osrelease") == NULL)
        json_object_set_new(out, "osrelease", json_string(value_str(out, "lsb_distrib_release", version)));
    if (str_empty(lsb_codename) || strstr(lsb_codename, "Red Hat") != NULL)
        lsb_codename = codename;
    json_object_set_new(out, "oscodename", json_string(lsb_codename));
    if (value_get(out, "os") == NULL) {
        AUTO_FREE char *os = derive_os(value_str(out, "osfullname", ""), NULL);
        json_object_set_new(out, "os", json_string(os));
    }
    const char *os = value_str(out, "os", "");
    const char *family = os_find(os_families, NELEMS(os_families), os),
               *like = value_str(release, "ID_LIKE", "");
    AUTO_FREE char *derived = derive_family(value_str(release, "ID", ""), like);
    /* The distribution itself says what it descends from, if not from itself. */
    if (family == NULL)
        family = str_empty(like) || strcasecmp(derived, value_str(release, "ID", "")) == 0 ? os : derived;
    json_object_set_new(out, "os_family", json_string(family));
}

/* The end of a checked distribution. */
static void
os_add_missing(json_t *out)
{
    static const char *const always[] = { "oscodename", "osrelease" };
    static const char *const lsb[][2] = { { "lsb_distrib_id", "os" },
                                          { "lsb_distrib_release", "osrelease" },
                                          { "lsb_distrib_codename", "oscodename" } };

    /* Salt knows these two keys even where the distribution has none, as Debian's unstable. */
    for (size_t i = 0; i < NELEMS(always); i++) {
        if (value_get(out, always[i]) == NULL)
            json_object_set_new(out, always[i], json_null());
    }

    /* Names that lsb-release does not say are those of os-release. */
    for (size_t i = 0; i < NELEMS(lsb); i++) {
        if (value_get(out, lsb[i][0]) == NULL)
            os_set_unless_empty(out, lsb[i][0], value_str(out, lsb[i][1], ""));
    }
}

/* lsb-release first, then os-release over it; unchecked distributions get the old names in the end. */
static void
add_distribution(const char *root, json_t *out)
{
    json_auto_t *release = read_os_release(root);
    old_release_t old;

    /* lsb-release of Ubuntu, Arch and others. */
    static const pair_t rows[] = {
        { "DISTRIB_ID", "lsb_distrib_id" },
        { "DISTRIB_RELEASE", "lsb_distrib_release" },
        { "DISTRIB_CODENAME", "lsb_distrib_codename" },
        { "DISTRIB_DESCRIPTION", "lsb_distrib_description" },
    };
    AUTO_FREE char *text = root_read(root, "/etc/lsb-release");
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *value = line_value(line, '=');
        if (value == NULL)
            continue;
        value += strcspn(value, "\"'") == 0 ? 1 : 0;
        size_t len = 0;
        while (isalnum((unsigned char) value[len]) || (unsigned char) value[len] >= 0x80 ||
               (value[len] != '\0' && strchr(" \t._-", value[len]) != NULL))
            len++;
        value[len] = '\0';
        for (size_t i = 0; i < NELEMS(rows) && len > 0; i++) {
            if (str_eq(line, rows[i].key)) {
                const char *trimmed = str_trim(value);
                json_object_set_new(out, rows[i].value, value_utf8(trimmed, strlen(trimmed)));
            }
        }
    }

    if (release != NULL) {
        /* Reads the grains of os-release. */
        AUTO_FREE char *name = xstrdup(value_str(release, "NAME", ""));
        const char *id = value_str(release, "ID", ""), *full_name = str_trim(name);
        AUTO_FREE char *os = derive_os(value_str(release, "NAME", ""), id);
        AUTO_FREE char *family = derive_family(id, value_str(release, "ID_LIKE", ""));
        os_set_unless_empty(out, "os", os);
        os_set_unless_empty(out, "os_family", family);
        os_set_unless_empty(out, "oscodename", value_str(release, "VERSION_CODENAME", ""));
        os_set_unless_empty(out, "osfullname", full_name);
        os_set_unless_empty(out, "osrelease", value_str(release, "VERSION_ID", ""));

        /* Distributions that leave a field of os-release out and say it elsewhere. */
        static const pair_t in_version[] = { { "almalinux", "VERSION" }, { "rocky", "VERSION" } };
        id = value_str(release, "ID", "");
        if (value_get(out, "oscodename") == NULL && str_eq(id, "astra"))
            os_set_unless_empty(out, "oscodename", value_str(release, "VARIANT_ID", ""));
        const char *field = os_find(in_version, NELEMS(in_version), id);
        if (value_get(out, "oscodename") == NULL && field != NULL) {
            AUTO_FREE char *codename = in_parentheses(value_str(release, field, ""));
            os_set_unless_empty(out, "oscodename", codename);
        }
        if (value_get(out, "osrelease") == NULL && str_eq(id, "mendel")) {
            const char *pretty = value_str(release, "PRETTY_NAME", "");
            AUTO_FREE char *version = xstrdup(pretty + strcspn(pretty, "0123456789"));
            version[strcspn(version, " ")] = '\0';
            os_set_unless_empty(out, "osrelease", version);
        }
    }
    if (release != NULL && os_is_checked(value_str(release, "ID", ""))) {
        os_add_missing(out);
        return;
    }
    json_object_del(out, "osrelease");
    if (strncasecmp(value_str(out, "lsb_distrib_description", ""), "antergos", 8) == 0)
        json_object_set_new(out, "osfullname", json_string("Antergos Linux"));
    else if (value_get(out, "lsb_distrib_id") == NULL && release != NULL)
        add_lsb_from_os_release(release, out);
    else if (value_get(out, "lsb_distrib_id") == NULL)
        oldrelease_add_lsb(root, out);
    oldrelease_read(root, &old);
    add_old_names(release, &old, out);
    oldrelease_free(&old);
}

/* ---- what follows from them ------------------------------------------------------------------ */

static bool
os_is_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq(words[i], word))
            return true;
    }
    return false;
}

/* The architecture of the distribution's packages is that of this program, which came in one. */
#if defined(__x86_64__)
#define ARCH_DEB "amd64"
#define ARCH_RPM "x86_64"
#elif defined(__aarch64__)
#define ARCH_DEB "arm64"
#define ARCH_RPM "aarch64"
#elif defined(__i386__)
#define ARCH_DEB "i386"
#define ARCH_RPM "i686"
#elif defined(__arm__)
#define ARCH_DEB "armhf"
#define ARCH_RPM "armv7l"
#elif defined(__powerpc64__)
#define ARCH_DEB "ppc64el"
#define ARCH_RPM "ppc64le"
#elif defined(__s390x__)
#define ARCH_DEB "s390x"
#define ARCH_RPM "s390x"
#elif defined(__riscv)
#define ARCH_DEB "riscv64"
#define ARCH_RPM "riscv64"
#else
#error "add this processor's names in Debian and in RPM"
#endif

static int
os_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    add_distribution(ctx->root, out);
    if (!str_empty(value_str(out, "osrelease", ""))) {
        /* osrelease_info, osmajorrelease and osfinger from osrelease. */
        static const char *const by_os[] = { "Debian", "Raspbian" }, *const full[] = { "Ubuntu", "Pop" };
        const char *release = value_str(out, "osrelease", ""), *os = value_str(out, "os", "");
        char **parts = str_split(release, ".", false);
        json_t *info = json_array();
        long long number;
        for (size_t i = 0; parts[i] != NULL; i++) {
            bool digits = parts[i][0] != '\0' && strspn(parts[i], "0123456789") == strlen(parts[i]);
            if (digits && str_to_int(parts[i], 0, INT64_MAX, &number))
                json_array_append_new(info, json_integer(number));
            else
                json_array_append_new(info, json_string(parts[i]));
        }
        if (json_is_integer(json_array_get(info, 0)))
            json_object_set(out, "osmajorrelease", json_array_get(info, 0));
        json_object_set_new(out, "osrelease_info", info);
        json_object_set_new(
            out, "osfinger",
            value_fmt("%s-%s", os_is_one_of(os, by_os, NELEMS(by_os)) ? os : value_str(out, "osfullname", ""),
                      os_is_one_of(os, full, NELEMS(full)) ? release : parts[0]));
        strv_free(parts);
    }

    /* Adds the architecture under Salt's names. */
    static const pair_t rows[] = { { "Debian", ARCH_DEB }, { "RedHat", ARCH_RPM }, { "Suse", ARCH_RPM } };
    const char *arch = os_find(rows, NELEMS(rows), value_str(out, "os_family", ""));
    json_object_set_new(out, "osarch",
                        json_string(arch != NULL ? arch : value_str(ctx->grains, "cpuarch", ARCH_RPM)));

    return 0;
}

static const char *const keys[] = { "os",
                                    "os_family",
                                    "osfullname",
                                    "oscodename",
                                    "osfinger",
                                    "osrelease",
                                    "osrelease_info",
                                    "osmajorrelease",
                                    "osarch",
                                    "lsb_distrib_id",
                                    "lsb_distrib_release",
                                    "lsb_distrib_codename",
                                    "lsb_distrib_description",
                                    NULL };

PLUGIN(grain, os, .doc = "The distribution and its release.", .collect = os_collect, .cost = GRAIN_CHEAP,
       .keys = keys);
