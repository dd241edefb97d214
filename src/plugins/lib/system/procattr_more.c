/* procattr_more.c - attributes of a process that are lists of their own: its sockets, what it has mapped;
 * and its priority with disks. */
#include "plugins/lib/system/procattr_int.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/str.h"
#include "plugins/lib/system/sockets.h"
#include "salt/value.h"

#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_CLASS_SHIFT 13

/* [class, value]. */
json_t *
attr_ionice(const procfs_proc_t *p, fail_t *err)
{
    long prio = syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, p->pid);

    if (prio < 0)
        return json_null();
    return json_pack("[i, i]", (int) (prio >> IOPRIO_CLASS_SHIFT),
                     (int) (prio & ((1 << IOPRIO_CLASS_SHIFT) - 1)));
}

/* ---- sockets ---------------------------------------------------------------------------------- */

static json_t *
procattr_more_address(const char *ip, unsigned port)
{
    return port != 0 ? json_pack("[s, i]", ip, (int) port) : json_array();
}

/* [descriptor, family, type, [ip, port], [ip, port], state]: psutil's of kind inet. */
json_t *
attr_connections(const procfs_proc_t *p, fail_t *err)
{
    static const struct {
        const char *proto;
        int family, type;
    } kinds[] = { { "tcp", AF_INET, SOCK_STREAM },
                  { "tcp6", AF_INET6, SOCK_STREAM },
                  { "udp", AF_INET, SOCK_DGRAM },
                  { "udp6", AF_INET6, SOCK_DGRAM } };

    /* {inode: descriptor} of its sockets. */
    pid_t pid = p->pid;
    char **fds = procfs_list(pid, "fd", err);
    json_auto_t *inodes = fds != NULL ? json_object() : NULL;
    for (size_t i = 0; fds != NULL && fds[i] != NULL; i++) {
        AUTO_FREE char *name = xasprintf("fd/%s", fds[i]);
        AUTO_FREE char *target = procfs_link(pid, name, err);
        if (target == NULL || !str_starts(target, "socket:["))
            continue;
        target[strcspn(target, "]")] = '\0';
        json_object_set_new(inodes, target + strlen("socket:["), json_integer(strtol(fds[i], NULL, 10)));
    }
    strv_free(fds);

    if (inodes == NULL)
        return json_null();
    json_t *list = json_array();
    for (size_t k = 0; json_object_size(inodes) > 0 && k < NELEMS(kinds); k++) {
        size_t n;
        AUTO_FREE sock_row_t *rows = sock_rows(kinds[k].proto, &n, err);
        for (size_t i = 0; i < n; i++) {
            AUTO_FREE char *inode = xasprintf("%lu", rows[i].inode);
            json_t *fd = json_object_get(inodes, inode);
            if (fd == NULL)
                continue;
            const char *state = kinds[k].type == SOCK_STREAM ? sock_state(rows[i].state) : "NONE";
            json_array_append_new(list, json_pack("[O, i, i, o, o, s]", fd, kinds[k].family, kinds[k].type,
                                                  procattr_more_address(rows[i].local, rows[i].local_port),
                                                  procattr_more_address(rows[i].remote, rows[i].remote_port),
                                                  state));
        }
    }
    return list;
}

/* ---- memory ------------------------------------------------------------------------------------ */

enum { MAP_FIELDS = 10 };

/* "00400000-0040b000 r-xp 00000000 08:01 131 /bin/cat": where the path begins, or NULL for another line. */
static const char *
mapped_path(const char *line)
{
    unsigned long from, to;
    int at = 0;

    if (sscanf(line, "%lx-%lx %*s %*x %*s %*u %n", &from, &to, &at) != 2 || at == 0)
        return NULL;
    return line[at] != '\0' ? line + at : "[anon]";
}

/* Adds a line's kilobytes to the row that it belongs to. */
static void
add_size(json_t *row, const char *line)
{
    static const char *const names[MAP_FIELDS] = {
        "Rss:",           "Size:",          "Pss:",        "Shared_Clean:", "Shared_Dirty:",
        "Private_Clean:", "Private_Dirty:", "Referenced:", "Anonymous:",    "Swap:"
    };

    for (size_t i = 0; i < MAP_FIELDS; i++) {
        if (!str_starts(line, names[i]))
            continue;
        json_int_t bytes = strtoll(line + strlen(names[i]), NULL, 10) * 1024;
        json_t *sum = json_array_get(row, i + 1);
        json_integer_set(sum, json_integer_value(sum) + bytes);
    }
}

/* [path, rss, size, pss, shared_clean, shared_dirty, private_clean, private_dirty, referenced, anonymous,
 * swap] for each file that is mapped. */
json_t *
attr_memory_maps(const procfs_proc_t *p, fail_t *err)
{
    AUTO_FREE char *text = procfs_text(p->pid, "smaps", err);
    char **lines = str_split(text, "\n", true);
    json_t *list = json_array(), *row = NULL;
    json_auto_t *known = json_object();

    for (char **line = lines; *line != NULL; line++) {
        const char *file = mapped_path(*line);
        if (file == NULL) {
            add_size(row, *line);
            continue;
        }
        json_auto_t *name = value_utf8(file, strlen(file));
        row = json_object_get(known, json_string_value(name));
        if (row != NULL)
            continue;
        row = json_array();
        json_array_append(row, name);
        for (size_t i = 0; i < MAP_FIELDS; i++)
            json_array_append_new(row, json_integer(0));
        json_array_append_new(list, row);
        json_object_set(known, json_string_value(name), row);
    }
    strv_free(lines);
    return list;
}
