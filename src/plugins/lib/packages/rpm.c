/* rpm.c - see rpm.h: names with architectures, packages of the database and of files. */
#include "plugins/lib/packages/rpm.h"

#include <limits.h>
#include <strings.h>
#include <time.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpmver.h"

#define CONTEXT_KEY "pkg.list_pkgs"

/* ---- systems and architectures ---------------------------------------------------------------- */

/* Salt's list: the family, or systems whose family grain is another. */
bool
rpm_is_system(call_ctx_t *ctx, bool suse)
{
    static const char *const others[] = { "amazon",    "xcp",         "xenserver", "virtuozzolinux",
                                          "virtuozzo", "issabel pbx", "openeuler" };
    const char *family = value_str(ctx_grains(ctx), "os_family", "");

    if (strcasecmp(family, "redhat") == 0 || (suse && strcasecmp(family, "suse") == 0))
        return true;
    for (size_t i = 0; i < NELEMS(others); i++) {
        if (strcasecmp(value_str(ctx_grains(ctx), "os", ""), others[i]) == 0)
            return true;
    }
    return false;
}

static const char *const x86_32[] = { "i386", "i486", "i586", "i686" };
static const char *const arm_32[] = { "armv5tel", "armv5tejl", "armv6l",  "armv6hl",
                                      "armv7l",   "armv7hl",   "armv7hnl" };

static bool
rpm_among(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq(word, list[i]))
            return true;
    }
    return false;
}

bool
rpm_is_arch(const char *arch)
{
    static const char *const others[] = {
        "x86_64",    "athlon",    "amd64",        "ia32e",        "ia64",       "geode",    "ppc",
        "ppc64",     "ppc64le",   "ppc64iseries", "ppc64pseries", "s390",       "s390x",    "alpha",
        "alphaev4",  "alphaev45", "alphaev5",     "alphaev56",    "alphapca56", "alphaev6", "alphaev67",
        "alphaev68", "alphaev7",  "aarch64",      "sh3",          "sh4",        "sh4a",
    };

    return rpm_among(arch, others, NELEMS(others)) || rpm_among(arch, x86_32, NELEMS(x86_32)) ||
           rpm_among(arch, arm_32, NELEMS(arm_32));
}

/* Packages of any 32 bit architecture of a processor's line are native to each other. */
bool
rpm_both_32(const char *arch, const char *osarch)
{
    return (rpm_among(arch, x86_32, NELEMS(x86_32)) && rpm_among(osarch, x86_32, NELEMS(x86_32))) ||
           (rpm_among(arch, arm_32, NELEMS(arm_32)) && rpm_among(osarch, arm_32, NELEMS(arm_32)));
}

/* The grain: "x86_64". BORROWED. */
const char *
rpm_osarch(call_ctx_t *ctx)
{
    return value_str(ctx_grains(ctx), "osarch", "");
}

/* Packages of the machine's own architecture, and noarch ones, have no suffix. */
char *
rpm_full_name(const char *name, const char *arch, const char *osarch)
{
    bool usual = rpm_both_32(arch, osarch) || str_eq(arch, osarch) || str_eq(arch, "noarch");

    return usual ? xstrdup(name) : xasprintf("%s.%s", name, arch);
}

/* The suffix is cut off when it says nothing new. */
char *
rpm_normal_name(call_ctx_t *ctx, const char *name)
{
    const char *dot = strrchr(name, '.'), *osarch = rpm_osarch(ctx);
    bool usual = dot != NULL &&
                 (str_eq(dot + 1, "noarch") ||
                  (rpm_is_arch(dot + 1) && (str_eq(dot + 1, osarch) || rpm_both_32(dot + 1, osarch))));

    return usual ? xstrndup(name, (size_t) (dot - name)) : xstrdup(name);
}

/* *ret_arch points to ".arch" in `name`, or is "". */
char *
rpm_split_arch(const char *name, const char *osarch, bool split, const char **ret_arch)
{
    const char *dot = strrchr(name, '.');
    bool cut = dot != NULL && rpm_is_arch(dot + 1) && (split || !str_eq(dot + 1, osarch));

    *ret_arch = cut ? dot : "";
    return cut ? xstrndup(name, (size_t) (dot - name)) : xstrdup(name);
}

/* pkg.normalize_name. */
int
rpm_normalize_name(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *plain = rpm_normal_name(ctx, value_str(args, "name", ""));

    *ret_value = json_string(plain);
    return 0;
}

/* Salt knows "noarch" here too, and no other unknown word: "perl.x" is a name. */
int
rpm_parse_arch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *dot = strrchr(name, '.');

    if (dot != NULL && (rpm_is_arch(dot + 1) || str_eq(dot + 1, "noarch")))
        *ret_value = json_pack("{s:o, s:s}", "name", json_stringn(name, (size_t) (dot - name)), "arch",
                               dot + 1);
    else
        *ret_value = json_pack("{s:s, s:n}", "name", name, "arch");
    return 0;
}

/* Of module pkg or lowpkg, whose arguments have other names. */
int
rpm_version_cmp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool low = value_get(args, "ver1") != NULL;
    AUTO_FREE char *a = value_pystr(value_get(args, low ? "ver1" : "pkg1"));
    AUTO_FREE char *b = value_pystr(value_get(args, low ? "ver2" : "pkg2"));

    *ret_value = json_integer(rpmver_cmp(a, b, value_truthy(value_get(args, "ignore_epoch"))));
    return 0;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* `root` is another system's folder. */
int
rpm_begin(prog_t *prog, const json_t *kwargs, fail_t *err)
{
    json_t *root = value_get(kwargs, "root");
    int rc = tool_begin(prog, "rpm", err);

    if (rc == 0 && value_truthy(root))
        prog_add_option(prog, "--root", root);
    return rc;
}

/* The standard output, whatever the exit code. NEW, or NULL with *err. */
char *
rpm_text(call_ctx_t *ctx, prog_t *prog, unsigned flags, fail_t *err)
{
    json_auto_t *ret = tool_run(ctx, prog, flags, err);

    return ret != NULL ? xstrdup(value_str(ret, "stdout", "")) : NULL;
}

/* ---- packages --------------------------------------------------------------------------------- */

/* A line of the query, its fields parted by "_|-", which no field has. NULL for another line. Epoch 0 is no
 * epoch, and the name has its architecture when that is foreign. */
json_t *
rpm_package(const char *line, const char *osarch)
{
    enum { NAME, EPOCH, VERSION, RELEASE, ARCH, REPOID, TIME, FIELDS };
    AUTO_FREE char *copy = xstrdup(line);
    char *field[FIELDS] = { copy };
    long long when = 0;
    int n = 1;

    for (char *at = copy; (at = strstr(at, "_|-")) != NULL; n++) {
        if (n == FIELDS)
            return NULL;
        *at = '\0';
        field[n] = at += 3;
    }
    if (n != FIELDS)
        return NULL;
    AUTO_FREE char *name = rpm_full_name(field[NAME], field[ARCH], osarch);
    bool epoch = !str_eq(field[EPOCH], "(none)") && !str_eq(field[EPOCH], "0");
    bool dated = str_to_int(field[TIME], 1, LLONG_MAX, &when);
    time_t t = (time_t) when;
    struct tm tm;
    char utc[64] = "";
    if (dated && gmtime_r(&t, &tm) != NULL)
        (void) strftime(utc, sizeof(utc), "%Y-%m-%dT%H:%M:%SZ", &tm);
    return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o}", "name", name, "version",
                     value_fmt("%s%s%s%s%s", epoch ? field[EPOCH] : "", epoch ? ":" : "", field[VERSION],
                               *field[RELEASE] != '\0' ? "-" : "", field[RELEASE]),
                     "arch", field[ARCH], "repoid", field[REPOID], "install_date",
                     dated ? json_string(utc) : json_null(), "install_date_time_t",
                     dated ? json_integer(when) : json_null());
}

/* Adds a package to {name: [members]}, in the order of their versions without epoch and release, as Salt has
 * it. */
static void
add_package(json_t *pkgs, const json_t *package)
{
    const char *version = value_str(package, "version", ""), *colon = strchr(version, ':');
    const char *at = colon != NULL ? colon + 1 : version, *hyphen = strchr(at, '-');
    json_t *members = json_pack(
        "{s:o, s:o, s:o, s:O, s:O, s:O}", "epoch",
        colon != NULL ? json_stringn(version, (size_t) (colon - version)) : json_null(), "version",
        hyphen != NULL ? json_stringn(at, (size_t) (hyphen - at)) : json_string(at), "release",
        hyphen != NULL ? json_string(hyphen + 1) : json_null(), "arch", value_get(package, "arch"),
        "install_date", value_get(package, "install_date"), "install_date_time_t",
        value_get(package, "install_date_time_t"));
    const char *name = value_str(package, "name", "");
    json_t *list = json_object_get(pkgs, name);
    size_t i = 0;

    if (list == NULL) {
        pkg_add(pkgs, name, members);
        return;
    }
    while (i < json_array_size(list) &&
           strcmp(value_str(json_array_get(list, i), "version", ""), value_str(members, "version", "")) <= 0)
        i++;
    json_array_insert_new(list, i, members);
}

const json_t *
rpm_packages(call_ctx_t *ctx, const json_t *kwargs, bool fresh, fail_t *err)
{
    const char *root = value_str(kwargs, "root", "");
    AUTO_FREE char *key = xasprintf("%s%s%s", CONTEXT_KEY, *root != '\0' ? "_" : "", root);
    json_t *known = value_get(ctx_context(ctx), key);
    prog_auto_t prog = PROG_INIT;

    if (known != NULL && !fresh)
        return known;
    if (rpm_begin(&prog, kwargs, err) < 0)
        return NULL;
    prog_adds(&prog, "-qa", "--queryformat", RPM_FORMAT("(none)") "\n", NULL);
    AUTO_FREE char *text = rpm_text(ctx, &prog, TOOL_MERGE, err);
    if (text == NULL)
        return NULL;
    known = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        json_auto_t *package = rpm_package(line, rpm_osarch(ctx));
        if (package != NULL)
            add_package(known, package);
    }
    json_object_set_new(ctx_context(ctx), key, known);
    return known;
}

void
rpm_forget(call_ctx_t *ctx)
{
    const char *key;
    json_t *v;
    void *next;

    json_object_foreach_safe (ctx_context(ctx), next, key, v) {
        if (str_starts(key, CONTEXT_KEY))
            json_object_del(ctx_context(ctx), key);
    }
}

json_t *
rpm_pkgs(call_ctx_t *ctx, const json_t *kwargs, bool as_list, const json_t *attr, fail_t *err)
{
    json_t *use_context = value_get(kwargs, "use_context");
    bool fresh = use_context != NULL && !value_truthy(use_context);
    const json_t *known = rpm_packages(ctx, kwargs, fresh, err);
    json_auto_t *words = json_is_string(attr) && str_eq(json_string_value(attr), "all")
                             ? json_incref((json_t *) attr)
                             : pkg_words(attr);

    return known != NULL ? pkg_format(ctx, known, as_list, words) : NULL;
}

int
rpm_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs"), *names = value_get(args, "names");
    json_auto_t *pkgs = json_array_size(names) > 0 ? rpm_pkgs(ctx, kwargs, true, NULL, err) : json_object();

    if (pkgs == NULL)
        return err->code;
    *ret_value = pkg_versions(pkgs, names, pkg_arg_true(kwargs, "versions_as_list"));
    return 0;
}

/* ---- package files ---------------------------------------------------------------------------- */

json_t *
rpm_file_info(call_ctx_t *ctx, const char *path, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (rpm_begin(&prog, NULL, err) < 0)
        return NULL;
    prog_adds(&prog, "-qp", "--queryformat", RPM_FORMAT("none"), NULL);
    if (prog_operand(&prog, "path", path, err) < 0)
        return NULL;
    AUTO_FREE char *text = rpm_text(ctx, &prog, TOOL_QUIET, err);
    json_t *package = text != NULL ? rpm_package(text, rpm_osarch(ctx)) : NULL;
    return package != NULL || text == NULL ? package : json_null();
}

int
rpm_bin_pkg_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = NULL;
    int rc = pkg_local_file(ctx, args, &path, err);

    *ret_value = rc == 0 ? rpm_file_info(ctx, path, err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}
