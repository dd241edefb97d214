/* gate.c - how many descriptors the minions' ports hold. libzmq spins when they run out, so before that
 * happens new peers are turned away: first the unknown, then all. A connection that never says anything is
 * cut. */
#include "master/front.h"

#include <sys/socket.h>

#include "common/base/clock.h"
#include "salt/log.h"

#define SILENT_MS     60000 /* a storm of ten thousand handshakes takes half of that */
#define CHECK_MS      5000
#define STEP          1024 /* of the table */
/* Descriptors kept for operators, runners and the store: a share of all, within bounds. */
#define RESERVE_SHARE 25
#define RESERVE_MIN   64
#define RESERVE_MAX   4096

typedef struct door_line {
    int64_t since_ms; /* monotonic */
    uint8_t ports;    /* a bit for each that it is open at: their monitors are not in order with each other */
    bool proven;
} door_line_t;

struct gate {
    door_line_t *lines; /* by descriptor */
    int n_lines;
    long open, limit; /* connections */
    int64_t check_next_ms;
    zap_door_t door;
};

gate_t *
gate_new(long files)
{
    gate_t *self = xcalloc(1, sizeof(*self));
    long share = files / RESERVE_SHARE;
    long reserve = share < RESERVE_MIN ? RESERVE_MIN : share > RESERVE_MAX ? RESERVE_MAX : share;
    if (reserve > files / 2)
        reserve = files / 2;
    self->limit = files - reserve;
    return self;
}

void
gate_destroy(gate_t **self_p)
{
    gate_t *self = STEAL(*self_p);
    if (!self)
        return;
    free(self->lines);
    free(self);
}

long
gate_open(const gate_t *self)
{
    return self->open;
}

static door_line_t *
s_line(gate_t *self, int fd)
{
    if (fd < 0)
        return NULL;
    if (fd >= self->n_lines) {
        int n = fd + STEP;
        self->lines = xrealloc(self->lines, (size_t) n * sizeof(*self->lines));
        memset(self->lines + self->n_lines, 0, (size_t) (n - self->n_lines) * sizeof(*self->lines));
        self->n_lines = n;
    }
    return &self->lines[fd];
}

/* Strangers get nine tenths of what there is. */
static zap_door_t
s_wanted(const gate_t *self)
{
    /* Some slack before a door opens again, or it would swing. */
    long slack = self->limit / 50;
    long shut = self->limit - (self->door == ZAP_SHUT ? slack : 0);
    long known = self->limit * 9 / 10 - (self->door != ZAP_OPEN ? slack : 0);
    return self->open >= shut ? ZAP_SHUT : self->open >= known ? ZAP_KNOWN : ZAP_OPEN;
}

void
gate_door(front_t *front)
{
    gate_t *self = front->gate;
    zap_door_t door = s_wanted(self);
    if (door > self->door)
        log_error("%ld connections are open and the limit of open files allows %ld: %s are turned away; "
                  "raise the limit "
                  "(LimitNOFILE, max_open_files)",
                  self->open, self->limit, door == ZAP_SHUT ? "new peers" : "unknown minions");
    else if (door < self->door)
        log_warning("%ld connections are open: %s", self->open,
                    door == ZAP_OPEN ? "unknown minions may come again" : "known minions may come again");
    self->door = door;
    zap_set_door(front->zap, door == ZAP_OPEN && front->pending_full ? ZAP_KNOWN : door);
}

void
gate_came(front_t *front, port_t port, int fd)
{
    gate_t *self = front->gate;
    door_line_t *line = s_line(self, fd);
    if (!line)
        return;
    self->open += !(line->ports & 1u << port);
    *line = (door_line_t){ clock_mono_ms(), (uint8_t) (line->ports | 1u << port), false };
    if (s_wanted(self) != self->door)
        gate_door(front);
    /* Even the handshake of one more may cost the last descriptor. */
    if (self->door == ZAP_SHUT)
        (void) shutdown(fd, SHUT_RDWR);
}

void
gate_went(front_t *front, port_t port, int fd)
{
    gate_t *self = front->gate;
    door_line_t *line = s_line(self, fd);
    if (!line || !(line->ports & 1u << port))
        return;
    line->ports &= (uint8_t) ~(1u << port);
    self->open--;
    if (s_wanted(self) != self->door)
        gate_door(front);
}

bool
gate_is_open(const front_t *front, port_t port, int fd)
{
    const gate_t *self = front->gate;
    return fd >= 0 && fd < self->n_lines && (self->lines[fd].ports & 1u << port);
}

void
gate_spoke(front_t *front, int fd)
{
    door_line_t *line = s_line(front->gate, fd);
    if (line)
        line->proven = true;
}

void
gate_tick(front_t *front, int64_t now_ms)
{
    gate_t *self = front->gate;
    if (now_ms < self->check_next_ms)
        return;
    self->check_next_ms = now_ms + CHECK_MS;
    for (int fd = 0; fd < self->n_lines; fd++) {
        door_line_t *line = &self->lines[fd];
        if (line->ports == 0 || line->proven || now_ms - line->since_ms < SILENT_MS)
            continue;
        line->since_ms = now_ms;
        (void) shutdown(fd, SHUT_RDWR);
    }
}
