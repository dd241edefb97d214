/* versions.c - versions of this program and of its libraries.
 *
 * They come from the libraries' headers, so that no library is loaded to ask it; libyaml's header has
 * none. */
#include "common/cli/versions.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <sodium/version.h>
#include <sqlite3.h>
#include <sys/utsname.h>
#include <yaml.h>
#include <zmq.h>

#include "common/base/fs.h"
#include "salt/limits.h"
#include "salt/value.h"

#define TEXT_(x)         #x
#define TEXT(x)          TEXT_(x)
#define DOTTED(a, b)     TEXT(a) "." TEXT(b)
#define DOTTED3(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *
versions_product(void)
{
    return HALITE_VERSION " (Halite " HALITE_RELEASE ")";
}

/* NEW value of NAME= in an os-release file, without its quotes; "" when absent. */
static char *
os_release(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *p = text; p != NULL; p = strchr(p, '\n')) {
        p += *p == '\n' ? 1 : 0;
        if (strncmp(p, name, len) != 0 || p[len] != '=')
            continue;
        p += len + 1;
        p += *p == '"' ? 1 : 0;
        return xstrndup(p, strcspn(p, "\"\n"));
    }
    return xstrdup("");
}

/* Facts about the system, ordered by name. NEW. */
static json_t *
system_information(void)
{
    struct utsname u = { 0 };
    buf_auto_t text = BUF_INIT;

    (void) uname(&u);
    (void) fs_read("/etc/os-release", LIMIT_CONF_FILE, &text, NULL);
    AUTO_FREE char *id = os_release(buf_str(&text), "ID"),
                   *version = os_release(buf_str(&text), "VERSION_ID");
    AUTO_FREE char *codename = os_release(buf_str(&text), "VERSION_CODENAME");
    AUTO_FREE char *name = os_release(buf_str(&text), "NAME");
    AUTO_FREE char *dist = xasprintf("%s %s %s", id, version, codename);
    AUTO_FREE char *full = xasprintf("%s %s %s", name, version, codename);
    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:o}", "dist", value_utf8(dist, strlen(dist)), "locale",
                     "utf-8", "machine", u.machine, "release", u.release, "system", u.sysname, "version",
                     value_utf8(full, strlen(full)));
}

json_t *
versions_information(void)
{
    return json_pack("{s:{s:s, s:s}, s:o, s:o}", "Salt Version", "Halite", HALITE_RELEASE, "Salt",
                     HALITE_VERSION, "Dependency Versions",
                     json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "jansson", JANSSON_VERSION, "libsodium",
                               SODIUM_VERSION_STRING, "libyaml", yaml_get_version_string(), "libzmq",
                               DOTTED3(ZMQ_VERSION_MAJOR, ZMQ_VERSION_MINOR, ZMQ_VERSION_PATCH), "PCRE2",
                               DOTTED(PCRE2_MAJOR, PCRE2_MINOR), "SQLite", SQLITE_VERSION),
                     "System Versions", system_information());
}

void
versions_report(buf_t *out)
{
    enum { PAD = sizeof("Not Installed") };
    json_auto_t *all = versions_information();
    const char *headline, *name;
    json_t *section, *version;

    json_object_foreach (all, headline, section) {
        buf_printf(out, "%s:\n", headline);
        json_object_foreach (section, name, version)
            buf_printf(out, "%*s: %s\n", (int) PAD, name, json_string_value(version));
        buf_puts(out, " \n");
    }
}
