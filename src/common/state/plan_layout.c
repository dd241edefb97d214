/* plan_layout.c - see plan_layout.h. A spot is a node, or the place where an edge passes a row; the spots of
 * a row stand in its array, from left to right. Times: proportional to spots and edges, but for the
 * sorting. */
#include "common/state/plan_layout.h"

#include <stdlib.h>

enum { SWEEPS = 12, NOT_PLACED = -1 };

typedef struct spot {
    int row;
    double width, x; /* x: of its middle */
    double wish;     /* mean of its neighbours: the sort key, and the place that it would like */
    size_t n_wishes; /* neighbours in the mean */
    size_t place;    /* in its row */
} spot_t;

/* Links between spots of neighbouring rows. */
typedef struct link {
    size_t up, down;
} link_t;

typedef struct row {
    size_t *spots;
    size_t n;
    size_t first_link; /* those that lead down from it; they end where the next row's begin */
} row_t;

typedef struct graph {
    spot_t *spots;
    size_t n_nodes, n_spots;
    link_t *links;
    size_t n_links;
    row_t *rows;
    size_t n_rows;
    size_t *first; /* per edge: its first bend, a spot; as many follow as rows lie between */
    bool *bent;    /* per edge */
    layout_sizes_t sizes;
} graph_t;

/* ---- rows ---------------------------------------------------------------------------------------- */

/* Edges by the node that they leave: `begin[n]` to `begin[n + 1]` in the NEW list of edges' numbers. */
static size_t *
by_origin(size_t n, const layout_edge_t *edges, size_t n_edges, size_t *begin)
{
    size_t *list = xcalloc(n_edges + 1, sizeof(*list)), *fill = xcalloc(n + 1, sizeof(*fill));

    for (size_t e = 0; e < n_edges; e++)
        begin[edges[e].from + 1]++;
    for (size_t i = 0; i < n; i++)
        begin[i + 1] += begin[i];
    for (size_t e = 0; e < n_edges; e++)
        list[begin[edges[e].from] + fill[edges[e].from]++] = e;
    free(fill);
    return list;
}

/* Takes the nodes in an order in which edges lead forward; in a circle, the first that is left. */
static void
make_rows(graph_t *self, const layout_edge_t *edges, size_t n_edges)
{
    size_t n = self->n_nodes, head = 0, tail = 0, next = 0;
    AUTO_FREE size_t *waits = xcalloc(n + 1, sizeof(size_t)), *queue = xcalloc(n + 1, sizeof(size_t)),
                     *begin = xcalloc(n + 2, sizeof(size_t)),
                     *taken = xcalloc(n + n / LAYOUT_ROW_MAX + 2, sizeof(size_t));
    AUTO_FREE int *least = xcalloc(n + 1, sizeof(int));
    AUTO_FREE bool *queued = xcalloc(n + 1, sizeof(bool));
    AUTO_FREE size_t *list = by_origin(n, edges, n_edges, begin);

    for (size_t e = 0; e < n_edges; e++)
        waits[edges[e].to]++;
    for (size_t i = 0; i < n; i++) {
        self->spots[i].row = NOT_PLACED;
        if (waits[i] == 0) {
            queue[tail++] = i;
            queued[i] = true;
        }
    }
    for (size_t done = 0; done < n; done++) {
        if (head == tail) {
            while (queued[next])
                next++;
            queue[tail++] = next;
            queued[next] = true;
        }
        size_t node = queue[head++];
        /* The first row behind those of its predecessors that has room. */
        int row = least[node];
        while (taken[row] >= LAYOUT_ROW_MAX)
            row++;
        taken[row]++;
        self->spots[node].row = row;
        if ((size_t) row + 1 > self->n_rows)
            self->n_rows = (size_t) row + 1;

        /* Its successors come below it, and one that waits for nothing more is next. */
        for (size_t k = begin[node]; k < begin[node + 1]; k++) {
            size_t to = edges[list[k]].to;
            if (queued[to] && self->spots[to].row != NOT_PLACED)
                continue;
            if (least[to] < self->spots[node].row + 1)
                least[to] = self->spots[node].row + 1;
            if (--waits[to] == 0 && !queued[to]) {
                queue[tail++] = to;
                queued[to] = true;
            }
        }
    }
}

/* The longest way over rows for which edges get bends, so that there are not too many of them. */
static int
longest_bent(const graph_t *self, const layout_edge_t *edges, size_t n_edges)
{
    AUTO_FREE size_t *of_span = xcalloc(self->n_rows + 1, sizeof(size_t));
    size_t total = 0, span = 1;

    for (size_t e = 0; e < n_edges; e++) {
        int rows = self->spots[edges[e].to].row - self->spots[edges[e].from].row;
        if (rows > 0)
            of_span[rows]++;
    }
    while (span + 1 < self->n_rows && total + of_span[span + 1] * span <= LAYOUT_BENDS_MAX) {
        span++;
        total += of_span[span] * (span - 1);
    }
    return (int) span;
}

/* Room grows by doubling, whenever the number is a power of two. */
static void
add_link(graph_t *self, size_t up, size_t down)
{
    if ((self->n_links & (self->n_links - 1)) == 0)
        self->links = xrealloc(self->links, (self->n_links ? 2 * self->n_links : 1) * sizeof(*self->links));
    self->links[self->n_links++] = (link_t){ up, down };
}

/* Brings the links into the order of their upper rows. */
static void
group_links(graph_t *self)
{
    AUTO_FREE link_t *all = self->links;
    AUTO_FREE size_t *fill = xcalloc(self->n_rows + 1, sizeof(size_t));

    self->links = xcalloc(self->n_links + 1, sizeof(*self->links));
    for (size_t l = 0; l < self->n_links; l++)
        self->rows[self->spots[all[l].up].row + 1].first_link++;
    for (size_t r = 0; r < self->n_rows; r++)
        self->rows[r + 1].first_link += self->rows[r].first_link;
    for (size_t l = 0; l < self->n_links; l++) {
        int row = self->spots[all[l].up].row;
        self->links[self->rows[row].first_link + fill[row]++] = all[l];
    }
}

/* Bends and links of the edges, and the rows' arrays. */
static void
make_links(graph_t *self, const layout_edge_t *edges, size_t n_edges)
{
    int longest = longest_bent(self, edges, n_edges);

    for (size_t e = 0; e < n_edges; e++) {
        size_t at = edges[e].from;
        int from = self->spots[at].row, to = self->spots[edges[e].to].row;
        self->bent[e] = to > from && to - from <= longest;
        self->first[e] = self->n_spots;
        for (int row = from + 1; self->bent[e] && row < to; row++) {
            /* A bend is a spot, too, so that the order of a row makes room for the edge. */
            self->spots = xrealloc(self->spots, (self->n_spots + 1) * sizeof(*self->spots));
            self->spots[self->n_spots] = (spot_t){ .row = row, .width = self->sizes.gap_edge };
            add_link(self, at, self->n_spots);
            at = self->n_spots++;
        }
        if (self->bent[e])
            add_link(self, at, edges[e].to);
    }
    self->rows = xcalloc(self->n_rows + 1, sizeof(*self->rows));
    for (size_t i = 0; i < self->n_spots; i++)
        self->rows[self->spots[i].row].n++;
    for (size_t r = 0; r < self->n_rows; r++) {
        self->rows[r].spots = xcalloc(self->rows[r].n, sizeof(size_t));
        self->rows[r].n = 0;
    }
    for (size_t i = 0; i < self->n_spots; i++) {
        row_t *row = &self->rows[self->spots[i].row];
        self->spots[i].place = row->n;
        row->spots[row->n++] = i;
    }
    group_links(self);
}

/* ---- order and places ---------------------------------------------------------------------------- */

/* Wishes of a row's spots: the mean over their neighbours in the row above (`down`) or below, of the place in
 * the row or of x. A spot that has none keeps its own. */
static void
make_wishes(graph_t *self, size_t r, bool down, bool by_x)
{
    const row_t *row = &self->rows[r], *upper = down && r > 0 ? row - 1 : row;
    size_t end = down && r == 0 ? upper->first_link : upper[1].first_link;

    for (size_t i = 0; i < row->n; i++) {
        self->spots[row->spots[i]].wish = 0;
        self->spots[row->spots[i]].n_wishes = 0;
    }
    for (size_t l = upper->first_link; l < end; l++) {
        spot_t *me = &self->spots[down ? self->links[l].down : self->links[l].up],
               *other = &self->spots[down ? self->links[l].up : self->links[l].down];
        me->wish += by_x ? other->x : (double) other->place;
        me->n_wishes++;
    }
    for (size_t i = 0; i < row->n; i++) {
        spot_t *spot = &self->spots[row->spots[i]];
        spot->wish = spot->n_wishes > 0 ? spot->wish / (double) spot->n_wishes
                     : by_x             ? spot->x
                                        : (double) spot->place;
    }
}

static int
by_wish(const void *a, const void *b, void *cookie)
{
    const spot_t *spots = cookie, *x = &spots[*(const size_t *) a], *y = &spots[*(const size_t *) b];

    if (x->wish != y->wish)
        return x->wish < y->wish ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Brings a row into the order of its wishes, which takes crossings out between it and its neighbour. */
static void
sort_row(graph_t *self, size_t r, bool down)
{
    row_t *row = &self->rows[r];

    make_wishes(self, r, down, false);
    qsort_r(row->spots, row->n, sizeof(size_t), by_wish, self->spots);
    for (size_t i = 0; i < row->n; i++)
        self->spots[row->spots[i]].place = i;
}

/* Between the middles of two neighbours of a row. */
static double
layout_distance(const graph_t *self, size_t left, size_t right)
{
    bool bends = left >= self->n_nodes || right >= self->n_nodes;

    return (self->spots[left].width + self->spots[right].width) / 2 +
           (bends ? self->sizes.gap_edge : self->sizes.gap_x);
}

/* Places a row's spots where they wish to be and their neighbours leave room: the mean of the places that
 * result from the left and from the right, which both keep the distances. */
static void
settle_row(graph_t *self, size_t r, bool down)
{
    const row_t *row = &self->rows[r];
    AUTO_FREE double *left = xcalloc(row->n + 1, sizeof(double)),
                     *right = xcalloc(row->n + 1, sizeof(double));

    make_wishes(self, r, down, true);
    for (size_t i = 0; i < row->n; i++) {
        double wished = self->spots[row->spots[i]].wish, least = wished;
        if (i > 0)
            least = left[i - 1] + layout_distance(self, row->spots[i - 1], row->spots[i]);
        left[i] = wished > least ? wished : least;
    }
    for (size_t i = row->n; i > 0; i--) {
        double wished = self->spots[row->spots[i - 1]].wish, most = wished;
        if (i < row->n)
            most = right[i] - layout_distance(self, row->spots[i - 1], row->spots[i]);
        right[i - 1] = wished < most ? wished : most;
    }
    for (size_t i = 0; i < row->n; i++)
        self->spots[row->spots[i]].x = (left[i] + right[i]) / 2;
}

/* Goes down and up by turns. */
static void
each_row(graph_t *self, void (*visit)(graph_t *self, size_t r, bool down))
{
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t i = 0; i < self->n_rows; i++)
            visit(self, sweep % 2 == 0 ? i : self->n_rows - 1 - i, sweep % 2 == 0);
}

/* ---- the result ---------------------------------------------------------------------------------- */

/* y of the upper edge of a row's boxes. */
static double
row_top(const graph_t *self, int row)
{
    return row * (self->sizes.height + self->sizes.gap_y);
}

/* The way of an edge. */
static layout_path_t
layout_path_of(const graph_t *self, const layout_edge_t *edge, size_t e)
{
    const spot_t *from = &self->spots[edge->from], *to = &self->spots[edge->to];
    size_t bends = self->bent[e] ? (size_t) (to->row - from->row - 1) : 0;
    layout_path_t path = { xcalloc(2 * bends + 2, sizeof(layout_point_t)), 2 * bends + 2 };

    path.points[0] = (layout_point_t){ from->x, row_top(self, from->row) + self->sizes.height };
    for (size_t i = 0; i < bends; i++) {
        const spot_t *bend = &self->spots[self->first[e] + i];
        double top = row_top(self, bend->row);
        path.points[2 * i + 1] = (layout_point_t){ bend->x, top };
        path.points[2 * i + 2] = (layout_point_t){ bend->x, top + self->sizes.height };
    }
    path.points[2 * bends + 1] = (layout_point_t){ to->x, row_top(self, to->row) };
    return path;
}

/* Coordinates from the picture's upper left corner: x starts at the leftmost edge of a box or bend. */
static layout_t *
result_of(graph_t *self, const layout_edge_t *edges, size_t n_edges)
{
    layout_t *out = xcalloc(1, sizeof(*out));
    double left = 0, right = 0;

    for (size_t i = 0; i < self->n_spots; i++) {
        double half = self->spots[i].width / 2, x = self->spots[i].x;
        left = i == 0 || x - half < left ? x - half : left;
        right = i == 0 || x + half > right ? x + half : right;
    }
    for (size_t i = 0; i < self->n_spots; i++)
        self->spots[i].x -= left;
    out->width = right - left;
    out->height = self->n_rows > 0 ? row_top(self, (int) self->n_rows - 1) + self->sizes.height : 0;
    out->nodes = xcalloc(self->n_nodes + 1, sizeof(*out->nodes));
    for (size_t i = 0; i < self->n_nodes; i++)
        out->nodes[i] = (layout_point_t){ self->spots[i].x - self->sizes.width / 2,
                                          row_top(self, self->spots[i].row) };
    out->paths = xcalloc(n_edges + 1, sizeof(*out->paths));
    out->n_paths = n_edges;
    for (size_t e = 0; e < n_edges; e++)
        out->paths[e] = layout_path_of(self, &edges[e], e);
    return out;
}

layout_t *
layout_new(size_t n, const layout_edge_t *edges, size_t n_edges, layout_sizes_t sizes)
{
    graph_t self = { .n_nodes = n, .n_spots = n, .sizes = sizes };

    self.spots = xcalloc(n + 1, sizeof(*self.spots));
    self.first = xcalloc(n_edges + 1, sizeof(*self.first));
    self.bent = xcalloc(n_edges + 1, sizeof(*self.bent));
    for (size_t i = 0; i < n; i++)
        self.spots[i].width = sizes.width;
    for (size_t e = 0; e < n_edges; e++)
        salt_assert(edges[e].from < n && edges[e].to < n && edges[e].from != edges[e].to);
    make_rows(&self, edges, n_edges);
    make_links(&self, edges, n_edges);
    each_row(&self, sort_row);

    /* From the left edge with the least distances, and from there to where the spots wish to be. */
    for (size_t r = 0; r < self.n_rows; r++) {
        const row_t *row = &self.rows[r];
        for (size_t i = 0; i < row->n; i++)
            self.spots[row->spots[i]].x = i == 0
                                              ? 0
                                              : self.spots[row->spots[i - 1]].x +
                                                    layout_distance(&self, row->spots[i - 1], row->spots[i]);
    }
    each_row(&self, settle_row);
    layout_t *out = result_of(&self, edges, n_edges);
    for (size_t r = 0; r < self.n_rows; r++)
        free(self.rows[r].spots);
    free(self.rows);
    free(self.spots);
    free(self.links);
    free(self.first);
    free(self.bent);
    return out;
}

void
layout_destroy(layout_t **self_p)
{
    layout_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    for (size_t e = 0; e < self->n_paths; e++)
        free(self->paths[e].points);
    free(self->paths);
    free(self->nodes);
    free(self);
}
