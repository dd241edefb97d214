/* test_plan_layout.c - layouts of graphs: nothing overlaps, edges lead down, and every graph has one. */
#include "common/base/clock.h"
#include "common/state/plan_layout.h"
#include "unit/unit.h"

static const layout_sizes_t sizes = { 100, 40, 20, 50, 8 };

/* No two boxes overlap, all lie within the picture, edges begin and end at their boxes. */
static void
assert_sound(const layout_t *layout, size_t n, const layout_edge_t *edges, size_t n_edges, bool forward)
{
    for (size_t i = 0; i < n; i++) {
        layout_point_t a = layout->nodes[i];
        assert_true(a.x >= -0.01 && a.x + sizes.width <= layout->width + 0.01);
        assert_true(a.y >= 0 && a.y + sizes.height <= layout->height + 0.01);
        for (size_t k = i + 1; k < n; k++)
            assert_true(layout->nodes[k].y != a.y || layout->nodes[k].x >= a.x + sizes.width ||
                        a.x >= layout->nodes[k].x + sizes.width);
    }
    assert_int_equal(layout->n_paths, n_edges);
    for (size_t e = 0; e < n_edges; e++) {
        const layout_path_t *path = &layout->paths[e];
        assert_true(path->n >= 2);
        assert_true(path->points[0].y == layout->nodes[edges[e].from].y + sizes.height);
        assert_true(path->points[path->n - 1].y == layout->nodes[edges[e].to].y);
        for (size_t i = 1; forward && i < path->n; i++)
            assert_true(path->points[i].y > path->points[i - 1].y);
    }
}

static void
assert_laid_out(size_t n, const layout_edge_t *edges, size_t n_edges, bool forward)
{
    AUTO(layout) layout = layout_new(n, edges, n_edges, sizes);

    assert_sound(layout, n, edges, n_edges, forward);
}

static void
test_small(void **state)
{
    static const layout_edge_t diamond[] = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 0, 3 } };
    AUTO(layout) layout = layout_new(4, diamond, NELEMS(diamond), sizes);
    AUTO(layout) empty = layout_new(0, NULL, 0, sizes);

    assert_sound(layout, 4, diamond, NELEMS(diamond), true);
    assert_true(layout->nodes[1].y == layout->nodes[2].y);
    assert_true(layout->nodes[1].y == 90 && layout->nodes[3].y == 180);
    assert_int_equal(layout->paths[4].n, 4); /* passes the middle row */
    assert_true(empty->width == 0 && empty->height == 0);
    assert_laid_out(1, NULL, 0, true);
}

/* Circles: what closes them leads upwards, or to another place of the same row. */
static void
test_circles(void **state)
{
    static const layout_edge_t two[] = { { 0, 1 }, { 1, 0 } };
    static const layout_edge_t behind[] = { { 0, 1 }, { 1, 2 }, { 2, 1 }, { 2, 3 } };

    assert_laid_out(2, two, NELEMS(two), false);
    assert_laid_out(4, behind, NELEMS(behind), false);
}

/* Rows of many nodes are broken, so that the picture does not become a line. */
static void
test_wide(void **state)
{
    enum { N = 100 };
    layout_edge_t fan[N];
    AUTO(layout) alone = layout_new(N, NULL, 0, sizes);

    assert_sound(alone, N, NULL, 0, true);
    assert_true(alone->width <= LAYOUT_ROW_MAX * 120);
    for (size_t i = 0; i < N; i++)
        fan[i] = (layout_edge_t){ 0, i + 1 };
    assert_laid_out(N + 1, fan, N, true);
}

/* Random graphs from a fixed seed; the last ones with circles. */
static void
test_random(void **state)
{
    uint32_t seed = 7;

    for (size_t n = 2; n < 120; n += 3) {
        layout_edge_t edges[240];
        size_t n_edges = 0;
        for (size_t i = 0; i < 2 * n; i++) {
            seed = seed * 1664525 + 1013904223;
            size_t a = (seed >> 8) % n, b = (seed >> 20) % n;
            if (a != b)
                edges[n_edges++] = n < 90 && a > b ? (layout_edge_t){ b, a } : (layout_edge_t){ a, b };
        }
        assert_laid_out(n, edges, n_edges, n < 90);
    }
}

/* A chain whose every step is tied to the first: more bends than there may be. */
static void
test_large(void **state)
{
    enum { N = 1000 };

    SKIP_CHECKED(); /* how long that takes says nothing */
    AUTO_FREE layout_edge_t *edges = xcalloc(2 * N, sizeof(*edges));
    size_t n_edges = 0;
    int64_t begin = clock_mono_ms();
    for (size_t i = 1; i < N; i++) {
        edges[n_edges++] = (layout_edge_t){ i - 1, i };
        if (i > 1)
            edges[n_edges++] = (layout_edge_t){ 0, i };
    }
    assert_laid_out(N, edges, n_edges, true);
    assert_true(clock_mono_ms() - begin < 10000);
}

UNIT_MAIN(cmocka_unit_test(test_small), cmocka_unit_test(test_circles), cmocka_unit_test(test_wide),
          cmocka_unit_test(test_random), cmocka_unit_test(test_large))
