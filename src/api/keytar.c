/* keytar.c - see keytar.h. */
#include "api/keytar.h"

#include "common/conf/conf.h"

enum { BLOCK = 512 };

typedef struct ustar {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6],
        version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
} ustar_t;

void
keytar_add(buf_t *out, const char *name, const char *text)
{
    ustar_t head = {
        .type = '0', .magic = "ustar", .version = { '0', '0' }, .user = "root", .group = "root"
    };
    const unsigned char *bytes = (const unsigned char *) &head;
    size_t len = strlen(text);
    unsigned sum = 0;

    (void) snprintf(head.name, sizeof(head.name), "%s", name);
    (void) snprintf(head.mode, sizeof(head.mode), "%07o", 0600U);
    (void) snprintf(head.uid, sizeof(head.uid), "%07o", 0U);
    (void) snprintf(head.gid, sizeof(head.gid), "%07o", 0U);
    (void) snprintf(head.size, sizeof(head.size), "%011o", (unsigned) len);
    (void) snprintf(head.mtime, sizeof(head.mtime), "%011llo", (unsigned long long) time(NULL));
    memset(head.checksum, ' ', sizeof(head.checksum)); /* counts as blanks */
    for (size_t i = 0; i < sizeof(head); i++)
        sum += bytes[i];
    (void) snprintf(head.checksum, sizeof(head.checksum), "%06o", sum);
    buf_add(out, &head, sizeof(head));
    buf_add(out, text, len);
    buf_fill(out, '\0', (BLOCK - len % BLOCK) % BLOCK);
}

void
keytar_end(buf_t *out)
{
    buf_fill(out, '\0', 2UL * BLOCK);
}

bool
keytar_id_valid(const char *id, fail_t *err)
{
    return id != NULL && conf_id_valid(id, err);
}
