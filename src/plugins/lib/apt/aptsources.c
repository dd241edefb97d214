/* aptsources.c - apt's lists of sources as one list, and the way back to their files. Each file keeps the
 * text that was read and a dirty flag; only dirty files are written, and in them only changed entries
 * differ. */
#include "plugins/lib/apt/aptsources.h"

#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/file/partfile.h"
#include "plugins/lib/apt/aptsources_int.h"
#include "salt/limits.h"

#define PARTS_DIR "/etc/apt/sources.list.d"

bool
apt_is_stanzas(const char *path)
{
    return str_ends(path, ".sources");
}

/* The file's record, made when it is not known yet. BORROWED until the next one is made. */
static apt_file_t *
file_of(apt_sources_t *self, const char *path)
{
    for (size_t i = 0; i < self->n_files; i++) {
        if (str_eq(self->files[i].path, path))
            return &self->files[i];
    }
    self->files = xrealloc(self->files, (self->n_files + 1) * sizeof(*self->files));
    self->files[self->n_files] = (apt_file_t){ .path = xstrdup(path), .text = xstrdup("") };
    return &self->files[self->n_files++];
}

void
apt_sources_read(apt_sources_t *self, const char *file, const char *text, size_t len)
{
    apt_file_t *record = file_of(self, file);

    free(record->text);
    record->text = xstrndup(text, len);
    record->len = strlen(record->text);
    if (apt_is_stanzas(file))
        apt_stanzas_read(self, file, record->text, record->len);
    for (const char *p = record->text, *end = p + record->len; p < end && !apt_is_stanzas(file);) {
        const char *newline = memchr(p, '\n', (size_t) (end - p));
        const char *next = newline != NULL ? newline + 1 : end;
        AUTO_FREE char *raw = xstrndup(p, (size_t) (next - p));
        apt_source_t *entry = apt_source_new(raw, file);
        entry->raw = STEAL(raw);
        apt_sources_append(self, entry);
        p = next;
    }
}

static int
aptsources_load(apt_sources_t *self, const char *path, fail_t *err)
{
    AUTO_FREE char *real = root_path(self->root, path);
    buf_auto_t text = BUF_INIT;

    if (fs_absent(real) || fs_is_dir(real))
        return 0;
    int rc = fs_read(real, LIMIT_HOST_FILE, &text, err);
    if (rc == 0)
        apt_sources_read(self, path, buf_str(&text), text.len);
    return rc;
}

/* Reads the main list, then sources.list.d in the order of names. NULL with *err when a file can't be
 * read. */
apt_sources_t *
apt_sources_new(const char *root, fail_t *err)
{
    apt_sources_t *self = xcalloc(1, sizeof(*self));

    self->root = xstrdup(root);
    AUTO_FREE char *parts = root_path(root, PARTS_DIR);
    char **names = NULL;
    int rc = aptsources_load(self, APT_MAIN_LIST, err);
    rc = rc == 0 ? fs_names(parts, &names, err) : rc;
    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(PARTS_DIR, names[i]);
        if (str_ends(path, ".list") || apt_is_stanzas(path))
            rc = aptsources_load(self, path, err);
    }
    strv_free(names);
    if (rc < 0)
        apt_sources_destroy(&self);
    return self;
}

void
apt_sources_destroy(apt_sources_t **self_p)
{
    apt_sources_t *self = *self_p;

    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n; i++)
        apt_source_destroy(&self->items[i]);
    for (size_t i = 0; i < self->n_files; i++) {
        free(self->files[i].path);
        free(self->files[i].text);
    }
    free(self->items);
    free(self->files);
    free(self->root);
    free(self);
    *self_p = NULL;
}

size_t
apt_sources_count(const apt_sources_t *self)
{
    return self->n;
}

apt_source_t *
apt_sources_at(const apt_sources_t *self, size_t i)
{
    salt_assert(i < self->n);
    return self->items[i];
}

void
apt_sources_add(apt_sources_t *self, apt_source_t **entry_p)
{
    apt_source_t *entry = STEAL(*entry_p);

    entry->stanza = 0;
    file_of(self, entry->file)->dirty = true;
    apt_sources_append(self, entry);
}

void
apt_sources_remove(apt_sources_t *self, size_t i)
{
    apt_source_t *entry = apt_sources_at(self, i);

    file_of(self, entry->file)->dirty = true;
    apt_source_destroy(&entry);
    memmove(&self->items[i], &self->items[i + 1], (self->n - i - 1) * sizeof(*self->items));
    self->n--;
}

void
apt_sources_empty(apt_sources_t *self, const char *file)
{
    for (size_t i = self->n; i-- > 0;) {
        if (str_eq(self->items[i]->file, file))
            apt_sources_remove(self, i);
    }
    apt_file_t *record = file_of(self, file);
    record->text[0] = '\0';
    record->len = 0;
    record->dirty = true;
}

/* The entry is written to the other file; both become dirty. */
void
apt_sources_move(apt_sources_t *self, apt_source_t *entry, const char *file)
{
    if (str_eq(entry->file, file))
        return;
    file_of(self, entry->file)->dirty = true;
    file_of(self, file)->dirty = true;
    apt_source_set(&entry->file, file);
    entry->stanza = 0;
    entry->changed = true;
}

static void
write_lines(const apt_sources_t *self, const char *path, buf_t *out)
{
    for (size_t i = 0; i < self->n; i++) {
        const apt_source_t *entry = self->items[i];
        if (!str_eq(entry->file, path))
            continue;
        /* The last line of the file as it was may be without an end, and is not the last one any more. */
        if (out->len > 0 && out->data[out->len - 1] != '\n')
            buf_putc(out, '\n');
        AUTO_FREE char *fresh = entry->changed || entry->raw == NULL ? apt_source_render(entry) : NULL;
        if (fresh != NULL)
            buf_printf(out, "%s\n", fresh);
        else
            buf_puts(out, entry->raw);
    }
}

static void
aptsources_write_file(const apt_sources_t *self, const apt_file_t *file, buf_t *out)
{
    if (apt_is_stanzas(file->path))
        apt_stanzas_write(self, file, out);
    else
        write_lines(self, file->path, out);
}

char *
apt_sources_text(const apt_sources_t *self, const char *file)
{
    buf_t out = BUF_INIT;

    for (size_t i = 0; i < self->n_files; i++) {
        if (str_eq(self->files[i].path, file))
            aptsources_write_file(self, &self->files[i], &out);
    }
    return buf_steal(&out);
}

/* Replaces the file atomically, creating its folder. */
static int
save_file(const apt_sources_t *self, apt_file_t *file, fail_t *err)
{
    AUTO_FREE char *path = root_path(self->root, file->path);
    buf_auto_t out = BUF_INIT;
    AUTO_FREE char *dir = xstrndup(path, (size_t) (strrchr(path, '/') - path));
    int rc = fs_mkdirs(dir, 0755, err);
    if (rc < 0)
        return rc;
    aptsources_write_file(self, file, &out);
    rc = partfile_put(path, buf_str(&out), out.len, 0644, err);
    if (rc == 0)
        file->dirty = false;
    return rc;
}

int
apt_sources_save(apt_sources_t *self, fail_t *err)
{
    int rc = 0;

    for (size_t i = 0; i < self->n; i++) {
        if (self->items[i]->changed)
            file_of(self, self->items[i]->file)->dirty = true;
    }
    for (size_t i = 0; rc == 0 && i < self->n_files; i++) {
        if (self->files[i].dirty)
            rc = save_file(self, &self->files[i], err);
    }
    return rc;
}
