/* oldrelease.c - see oldrelease.h. */
#include "common/host/oldrelease.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "salt/value.h"

/* ---- one line --------------------------------------------------------------------------------- */

/* Read "NAME [release] VERSION [LTS] [(CODENAME)]"; a line without a version is a name. */
static void
oldrelease_line(char *line, old_release_t *out)
{
    char *open = strchr(line, '('), *close = strrchr(line, ')');
    AUTO_FREE char *whole = xstrdup(line);
    bool coded = open != NULL && close > open;
    out->codename = coded ? xstrndup(open + 1, (size_t) (close - open - 1)) : xstrdup("");
    if (coded)
        *open = '\0';
    char *text = str_trim(line);
    if (coded && str_ends(text, " LTS"))
        text[strlen(text) - 4] = '\0';

    /* The version is the run of its letters at the end, from the first digit of it on. */
    size_t len = strlen(text), at = len;
    while (at > 0 && (islower((unsigned char) text[at - 1]) || strchr("0123456789.+-", text[at - 1]) != NULL))
        at--;
    while (at < len && !isdigit((unsigned char) text[at]))
        at++;
    out->version = xstrdup(text + at);
    if (at == len || at == 0) {
        free(out->codename);
        out->codename = xstrdup("");
        out->name = xstrdup(str_trim(whole));
        return;
    }
    text[at] = '\0';
    text = str_trim(text);
    if (str_ends(text, "release"))
        text[strlen(text) - strlen("release")] = '\0';
    out->name = xstrdup(str_trim(text));
}

static int
oldrelease_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

void
oldrelease_read(const char *root, old_release_t *out)
{
    static const char *const not_these[] = { "debian_version",  "lsb-release",    "oem-release",
                                             "os-release",      "system-release", "plesk-release",
                                             "iredmail-release" };
    AUTO_FREE char *text = NULL;
    char **names = root_list(root, "/etc");
    size_t n = names != NULL ? strv_len(names) : 0;
    if (n > 0)
        qsort(names, n, sizeof(*names), oldrelease_by_name);
    for (size_t i = 0; i < n && str_empty(text); i++) {
        bool is = str_ends(names[i], "-release") || str_ends(names[i], "_release") ||
                  str_ends(names[i], "-version") || str_ends(names[i], "_version");
        for (size_t k = 0; k < NELEMS(not_these); k++)
            is = is && !str_eq(names[i], not_these[k]);
        AUTO_FREE char *path = is ? xasprintf("/etc/%s", names[i]) : NULL;
        free(text);
        text = is ? root_read(root, path) : NULL;
        if (text != NULL)
            text[strcspn(text, "\n")] = '\0';
    }
    strv_free(names);
    if (text == NULL)
        text = xstrdup("");
    oldrelease_line(text, out);
}

void
oldrelease_free(old_release_t *self)
{
    free(self->name);
    free(self->version);
    free(self->codename);
}

/* ---- files of single distributions -------------------------------------------------------------- */

static void
oldrelease_set(json_t *out, const char *key, const char *text)
{
    json_object_set_new(out, key, value_utf8(text, strlen(text)));
}

/* The digits of a text, and no other of its characters. NEW. */
static char *
oldrelease_digits(const char *text)
{
    char *all = xstrdup(text), *to = all;
    for (const char *at = text; *at != '\0'; at++)
        if (isdigit((unsigned char) *at))
            *to++ = *at;
    *to = '\0';
    return all;
}

/* SuSE-release: "SUSE Linux Enterprise Server 11 (x86_64)", "VERSION = 11", "PATCHLEVEL = 3". */
static void
oldrelease_suse(char *text, json_t *out)
{
    AUTO_FREE char *version = xstrdup(""), *patch = xstrdup(""), *codename = xstrdup("");
    const char *id = "SUSE";
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (strcasestr(line, "enterprise") != NULL) {
            id = "SLES";
            line[strcspn(line, "(")] = '\0';
            free(codename);
            codename = xstrdup(str_trim(line));
        } else if (strcasestr(line, "version") != NULL) {
            free(version);
            version = oldrelease_digits(line);
        } else if (strcasestr(line, "patchlevel") != NULL) {
            free(patch);
            patch = oldrelease_digits(line);
        }
    }
    AUTO_FREE char *pack = xasprintf("SP%s", patch);
    AUTO_FREE char *release = xasprintf("%s%s%s", version, *patch != '\0' ? "." : "", patch);
    bool adds = *patch != '\0' && *codename != '\0' && strstr(codename, pack) == NULL;
    AUTO_FREE char *named = xasprintf("%s%s%s", codename, adds ? " " : "", adds ? pack : "");
    oldrelease_set(out, "lsb_distrib_id", id);
    oldrelease_set(out, "lsb_distrib_release", release);
    oldrelease_set(out, "lsb_distrib_codename", *named != '\0' ? named : "n.a");
}

/* altlinux-release: "ALT Linux 7.0.5 (Centaurus)". */
static void
oldrelease_alt(char *text, json_t *out)
{
    oldrelease_set(out, "lsb_distrib_id", "altlinux");
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t", true);
        if (strv_len(words) > 3 && str_eq(words[0], "ALT")) {
            char *name = words[3] + (words[3][0] == '(');
            name[strcspn(name, ")")] = '\0';
            oldrelease_set(out, "lsb_distrib_release", words[2]);
            oldrelease_set(out, "lsb_distrib_codename", name);
        }
        strv_free(words);
    }
}

/* centos-release; SUSE's Expanded Support has a redhat-release of Red Hat's beside it. */
static void
oldrelease_centos(char *text, const char *redhat, json_t *out)
{
    bool is_redhat = redhat != NULL && strcasestr(redhat, "red hat enterprise linux server") != NULL;
    oldrelease_set(out, "lsb_distrib_id", is_redhat ? "RedHat" : "CentOS");
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *open = strchr(line, '(');
        char *start = line + strcspn(line, "0123456789");
        size_t whole = strspn(start, "0123456789"), part = 0;
        if (start[whole] == '.')
            part = strspn(start + whole + 1, "0123456789");
        if (open != NULL && strchr(open, ')') != NULL) {
            AUTO_FREE char *codename = xstrndup(open + 1, strcspn(open + 1, ")"));
            oldrelease_set(out, "lsb_distrib_codename", codename);
        }
        if (part > 0) {
            AUTO_FREE char *release = xstrndup(start, whole + 1 + part);
            oldrelease_set(out, "lsb_distrib_release", release);
        }
    }
}

/* /etc.defaults/VERSION: majorversion="7", minorversion="2", buildnumber="64570". */
static void
oldrelease_synology(char *text, json_t *out)
{
    json_auto_t *said = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *value = line_value(line, '=');
        size_t len = value != NULL ? strlen(value) : 0;
        if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
            value[len - 1] = '\0';
            value++;
        }
        if (value != NULL)
            oldrelease_set(said, line, value);
    }
    const char *major = value_str(said, "majorversion", NULL), *minor = value_str(said, "minorversion", NULL),
               *build = value_str(said, "buildnumber", NULL);
    oldrelease_set(out, "osfullname", "Synology");
    if (major != NULL && minor != NULL && build != NULL)
        json_object_set_new(out, "osrelease", value_fmt("%s.%s-%s", major, minor, build));
}

void
oldrelease_add_lsb(const char *root, json_t *out)
{
    AUTO_FREE char *suse = root_read(root, "/etc/SuSE-release"),
                   *alt = root_read(root, "/etc/altlinux-release"),
                   *centos = root_read(root, "/etc/centos-release"),
                   *redhat = root_read(root, "/etc/redhat-release"),
                   *synology = root_read(root, "/etc.defaults/VERSION");
    if (suse != NULL)
        oldrelease_suse(suse, out);
    else if (alt != NULL)
        oldrelease_alt(alt, out);
    else if (centos != NULL)
        oldrelease_centos(centos, redhat, out);
    else if (synology != NULL && root_exists(root, "/etc.defaults/synoinfo.conf"))
        oldrelease_synology(synology, out);
}
