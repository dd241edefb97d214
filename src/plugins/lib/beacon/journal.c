/* journal.c - see journal.h. */
#include "plugins/lib/beacon/journal.h"

#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

/* Fields that are numbers, as python-systemd reads them. */
static const char *const numbers[] = { "PRIORITY",
                                       "_UID",
                                       "_GID",
                                       "_PID",
                                       "SYSLOG_FACILITY",
                                       "SYSLOG_PID",
                                       "LEADER",
                                       "ERRNO",
                                       "CODE_LINE",
                                       "EXIT_STATUS",
                                       "_AUDIT_SESSION",
                                       "_AUDIT_LOGINUID",
                                       "_SYSTEMD_OWNER_UID",
                                       "USERSPACE_USEC",
                                       "INITRD_USEC",
                                       "KERNEL_USEC",
                                       "__REALTIME_TIMESTAMP",
                                       "__MONOTONIC_TIMESTAMP",
                                       "_SOURCE_REALTIME_TIMESTAMP",
                                       "_SOURCE_MONOTONIC_TIMESTAMP" };

json_t *
journal_entry(const char *line, size_t len)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *raw = value_parse(line, len, LIMIT_BEACON_READ, "journal", &why);
    json_t *entry = json_is_object(raw) ? json_object() : NULL, *v;
    const char *key;
    json_object_foreach (entry != NULL ? raw : NULL, key, v) {
        /* A number where the field is one; of several values the list. */
        long long n;
        bool is = false;
        for (size_t i = 0; !is && json_is_string(v) && i < NELEMS(numbers); i++)
            is = str_eq(numbers[i], key) && str_to_int(json_string_value(v), INT64_MIN, INT64_MAX, &n);
        json_object_set_new(entry, key, is ? json_integer(n) : json_incref(v));
    }
    return entry;
}
