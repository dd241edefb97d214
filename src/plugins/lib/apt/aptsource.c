/* aptsource.c - one entry of a one-line list (sources.list(5)): "deb [options] address suite components #
 * comment". Parsing never fails: an unusable line becomes an invalid entry that is written back as it was. */
#include "common/base/str.h"
#include "plugins/lib/apt/aptsources_int.h"
#include "salt/limits.h"
#include "salt/value.h"

/* All members are there, empty. NEW. */
apt_source_t *
apt_source_empty(const char *file)
{
    apt_source_t *self = xcalloc(1, sizeof(*self));
    char **texts[] = { &self->line, &self->comment, &self->type, &self->uri, &self->dist, &self->signedby };

    for (size_t i = 0; i < NELEMS(texts); i++)
        *texts[i] = xstrdup("");
    self->file = xstrdup(file != NULL ? file : APT_MAIN_LIST);
    self->comps = json_array();
    self->archs = json_array();
    self->others = json_array();
    return self;
}

void
apt_source_destroy(apt_source_t **self_p)
{
    apt_source_t *self = *self_p;

    if (self == NULL)
        return;
    free(self->file);
    free(self->line);
    free(self->raw);
    free(self->comment);
    free(self->type);
    free(self->uri);
    free(self->dist);
    free(self->signedby);
    json_decref(self->comps);
    json_decref(self->archs);
    json_decref(self->others);
    free(self);
    *self_p = NULL;
}

/* The old text goes. */
void
apt_source_set(char **slot, const char *text)
{
    char *copy = xstrdup(text);

    free(*slot);
    *slot = copy;
}

static void
set_bytes(char **slot, const char *text, size_t len)
{
    json_auto_t *clean = value_utf8(text, len);

    apt_source_set(slot, json_string_value(clean));
}

static void
add_parts(json_t *list, const char *text, const char *seps)
{
    char **parts = str_split(text, seps, true);

    for (size_t i = 0; parts[i] != NULL; i++)
        json_array_append_new(list, value_utf8(parts[i], strlen(parts[i])));
    strv_free(parts);
}

/* "[a=b c=d]" at `p`. Returns what follows it, or NULL when it has no end. */
static const char *
aptsource_take_options(apt_source_t *self, const char *p)
{
    const char *end = strchr(p, ']');

    if (end == NULL)
        return NULL;
    AUTO_FREE char *text = xstrndup(p + 1, (size_t) (end - p - 1));
    char **options = str_split(text, " \t", true);
    for (size_t i = 0; options[i] != NULL; i++) {
        /* arch= and signed-by= have places of their own; others are kept as text. */
        const char *option = options[i];
        const char *value = strchr(option, '=');

        if (value != NULL && str_starts(option, "arch=")) {
            add_parts(self->archs, value + 1, ",");
        } else if (value != NULL && str_starts(option, "signed-by=")) {
            set_bytes(&self->signedby, value + 1, strlen(value + 1));
        } else {
            json_array_append_new(self->others, value_utf8(option, strlen(option)));
        }
    }
    strv_free(options);
    return end + 1;
}

static const char *
aptsource_skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n\v\f");
}

/* Stores the next word of *p in a slot; false at the end of the line. */
static bool
aptsource_take_word(const char **p, char **slot)
{
    const char *start = aptsource_skip_space(*p);
    size_t len = strcspn(start, " \t\r\n\v\f");

    set_bytes(slot, start, len);
    *p = start + len;
    return len > 0;
}

/* False when the text makes no entry. */
static bool
aptsource_parse(apt_source_t *self, const char *p)
{
    static const char *const types[] = { "deb", "deb-src", "rpm", "rpm-src" };
    bool known = false;

    if (!aptsource_take_word(&p, &self->type))
        return false;
    for (size_t i = 0; i < NELEMS(types); i++)
        known = known || str_eq(types[i], self->type);
    if (!known)
        return false;
    p = aptsource_skip_space(p);
    if (*p == '[' && (p = aptsource_take_options(self, p)) == NULL)
        return false;
    /* The address of a CD has blanks in it and ends with the last slash of the line. */
    const char *start = aptsource_skip_space(p), *slash = strrchr(start, '/');
    if (str_starts(start, "cdrom:") && slash != NULL) {
        set_bytes(&self->uri, start, (size_t) (slash + 1 - start));
        p = slash + 1;
    } else if (!aptsource_take_word(&p, &self->uri)) {
        return false;
    }
    if (!aptsource_take_word(&p, &self->dist))
        return false;
    add_parts(self->comps, p, " \t\r\n\v\f");
    return true;
}

/* A leading '#' makes a disabled entry when the rest is one, else an invalid one (a comment). */
apt_source_t *
apt_source_new(const char *line, const char *file)
{
    apt_source_t *self = apt_source_empty(file);
    size_t len = strcspn(line, "\r\n");
    AUTO_FREE char *copy = xstrndup(line, len);
    char *text = str_trim(copy);

    set_bytes(&self->line, line, len);
    if (*text == '#') {
        self->disabled = true;
        text++;
    }
    char *hash = *text != '\0' ? strchr(text + 1, '#') : NULL;
    if (hash != NULL) {
        set_bytes(&self->comment, hash + 1, strlen(hash + 1));
        *hash = '\0';
    }
    self->invalid = !aptsource_parse(self, text);
    if (self->invalid) {
        apt_source_set(&self->type, "");
        apt_source_set(&self->uri, "");
        apt_source_set(&self->dist, "");
        json_array_clear(self->comps);
    }
    return self;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void
aptsource_put_list(buf_t *out, const json_t *list, const char *sep)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        buf_printf(out, "%s%s", i > 0 ? sep : "", json_string_value(json_array_get(list, i)));
}

/* The line of the entry, without its end. NEW. */
char *
apt_source_render(const apt_source_t *self)
{
    buf_t out = BUF_INIT;

    if (self->invalid)
        return xstrdup(self->line);
    buf_printf(&out, "%s%s", self->disabled ? "# " : "", self->type);

    /* A key in place of its file's name has no one-line form. */
    bool signedby = *self->signedby != '\0' && strpbrk(self->signedby, " \t\r\n") == NULL;
    const char *gap = "";

    if (json_array_size(self->archs) != 0 || signedby || json_array_size(self->others) != 0) {
        buf_puts(&out, " [");
        if (json_array_size(self->archs) > 0) {
            buf_puts(&out, "arch=");
            aptsource_put_list(&out, self->archs, ",");
            gap = " ";
        }
        if (signedby) {
            buf_printf(&out, "%ssigned-by=%s", gap, self->signedby);
            gap = " ";
        }
        if (json_array_size(self->others) > 0)
            buf_puts(&out, gap);
        aptsource_put_list(&out, self->others, " ");
        buf_putc(&out, ']');
    }

    buf_printf(&out, " %s %s", self->uri, self->dist);
    if (json_array_size(self->comps) > 0)
        buf_putc(&out, ' ');
    aptsource_put_list(&out, self->comps, " ");
    if (*self->comment != '\0')
        buf_printf(&out, " #%s", self->comment);
    return buf_steal(&out);
}

/* The line follows the members after a change. */
void
apt_source_reline(apt_source_t *self)
{
    char *line = apt_source_render(self);

    free(self->line);
    self->line = line;
}

/* TAKES entry; one beyond LIMIT_APT_SOURCES is dropped. */
void
apt_sources_append(apt_sources_t *self, apt_source_t *entry)
{
    if (self->n >= LIMIT_APT_SOURCES) {
        apt_source_destroy(&entry);
        return;
    }
    self->items = xrealloc(self->items, (self->n + 1) * sizeof(*self->items));
    self->items[self->n++] = entry;
}
