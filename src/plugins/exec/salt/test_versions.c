/* test_versions.c - more of execution module `test`: which versions of what run here. Salt lists its
 * libraries in Python; here are the ones that this program is built on. The text report has Salt's layout,
 * which bug reports quote. */
#include "salt/plugin.h"

#include <gnu/libc-version.h>
#include <langinfo.h>
#include <locale.h>
#include <sys/utsname.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"

enum { OS_RELEASE_LIMIT = 64 * 1024 };

/* The unquoted value of NAME=value in an os-release file, "" when absent. NEW. Quotes within the value stay:
 * os-release(5) allows shell's, and no known file has them. */
static char *
release_value(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, name, len) == 0 && line[len] == '=') {
            const char *v = line + len + 1;
            size_t n = end != NULL ? (size_t) (end - v) : strlen(v);
            if (n >= 2 && (*v == '"' || *v == '\'') && v[n - 1] == *v)
                return xstrndup(v + 1, n - 2);
            return xstrndup(v, n);
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return xstrdup("");
}

/* {"system", "dist", "release", "machine", "version", "locale"}, as Salt names them. NEW. */
static json_t *
system_versions(void)
{
    buf_auto_t text = BUF_INIT;
    struct utsname uts;

    /* A host without the file has empty names, as Salt shows it. */
    (void) fs_read("/etc/os-release", OS_RELEASE_LIMIT, &text, NULL);
    AUTO_FREE char *id = release_value(buf_str(&text), "ID");
    AUTO_FREE char *name = release_value(buf_str(&text), "NAME");
    AUTO_FREE char *version = release_value(buf_str(&text), "VERSION_ID");
    AUTO_FREE char *code = release_value(buf_str(&text), "VERSION_CODENAME");
    AUTO_FREE char *dist = xasprintf("%s %s %s", id, version, code);
    AUTO_FREE char *full = xasprintf("%s %s %s", name, version, code);
    setlocale(LC_CTYPE, "");
    AUTO_FREE char *charset = xstrdup(nl_langinfo(CODESET));
    for (char *p = charset; *p != '\0'; p++)
        *p = (char) (*p >= 'A' && *p <= 'Z' ? *p + 'a' - 'A' : *p);
    uname(&uts);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "system", uts.sysname, "dist", str_trim(dist),
                     "release", uts.release, "machine", uts.machine, "version", str_trim(full), "locale",
                     charset);
}

/* {section: {name: version}}. NEW. */
static json_t *
all_versions(void)
{
    return json_pack("{s:{s:s, s:s}, s:{s:s, s:s}, s:o}", "Salt Version", "Halite", HALITE_RELEASE, "Salt",
                     HALITE_VERSION, "Dependency Versions", "glibc", gnu_get_libc_version(), "jansson",
                     jansson_version_str(), "System Versions", system_versions());
}

static int
test_halite_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_string(HALITE_RELEASE);
    return 0;
}

static int
test_versions_information(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = all_versions();
    return 0;
}

static int
test_versions_by_name(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *) a, *(const char *const *) b);
}

/* Sections stand in a fixed order, names in that of the alphabet whatever their case. */
static int
test_versions_report(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = all_versions();
    buf_auto_t text = BUF_INIT;
    const char *title;
    json_t *section;

    json_object_foreach (all, title, section) {
        /* Names right-aligned and sorted, then Salt's blank line. */
        int pad = (int) strlen("Not Installed") + 1;
        const char *names[16], *key;
        json_t *v;
        size_t n = 0;
        json_object_foreach (section, key, v) {
            salt_assert(n < NELEMS(names));
            names[n++] = key;
        }
        qsort(names, n, sizeof(*names), test_versions_by_name);
        buf_printf(&text, "%s%s:\n", text.len > 0 ? "\n" : "", title);
        for (size_t i = 0; i < n; i++)
            buf_printf(&text, "%*s: %s\n", pad, names[i], value_str(section, names[i], ""));
        buf_putc(&text, ' ');
    }
    *ret_value = json_string(buf_str(&text));
    return 0;
}

static const func_t funcs[] = {
    { "halite_version", test_halite_version, NULL, FN_READONLY,
      "Return the version of Halite that this minion is; ``test.version`` returns that of the Salt it speaks "
      "as." CLI_EXAMPLE("salt '*' test.halite_version") },
    { "versions", test_versions_report, NULL, FN_READONLY,
      "Another name of test.versions_report." CLI_EXAMPLE("salt '*' test.versions") },
    { "versions_information", test_versions_information, NULL, FN_READONLY,
      "Return the versions of Salt, of the libraries it uses and of the system." CLI_EXAMPLE(
          "salt '*' test.versions_information") },
    { "versions_report", test_versions_report, NULL, FN_READONLY,
      "Return the same as test.versions_information as one text to read." CLI_EXAMPLE(
          "salt '*' test.versions_report") },
};

PLUGIN(exec, test_versions, .provides = "test", .doc = "Versions of what runs here", FUNCS(funcs));
