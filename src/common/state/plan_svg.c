/* plan_svg.c - see plan.h: a plan as a picture (SVG 1.1), and as a page (HTML) that holds the picture and a
 * table of the steps. Both need no other file, take the reader's dark or light colours, and tell by words,
 * too, what they tell by colours. All texts are of SLS files and of minions: they are escaped, and controls
 * made visible. */
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/base/visible.h"
#include "common/cli/term.h"
#include "common/state/plan_int.h"
#include "common/state/plan_layout.h"
#include "salt/value.h"

enum {
    BOX_W = 236,
    BOX_H = 58,
    GAP_X = 22,
    GAP_Y = 54,
    GAP_EDGE = 9,
    MARGIN = 16,
    HEAD_H = 34,
    CHARS = 31,
    LABELS_MAX = 200
};

/* ---- texts --------------------------------------------------------------------------------------- */

/* Appends text for XML and HTML, with at most `room` columns; a cut text ends in an ellipsis. */
static void
put_xml(buf_t *out, const char *text, size_t room)
{
    buf_auto_t shown = BUF_INIT;
    bool cut = term_width(text) > room;

    (void) term_put(&shown, text, cut ? room - 1 : room);
    for (const char *c = buf_str(&shown), *end = c + shown.len; c < end;) {
        uint32_t cp = 0;
        size_t len = utf8_next(c, (size_t) (end - c), &cp);
        const char *entity = cp == '&'   ? "&amp;"
                             : cp == '<' ? "&lt;"
                             : cp == '>' ? "&gt;"
                             : cp == '"' ? "&quot;"
                                         : NULL;
        if (entity != NULL)
            buf_puts(out, entity);
        else if (len == 0 || cp == 0xfffe || cp == 0xffff) /* no characters of XML */
            buf_putc(out, '?');
        else
            buf_add(out, c, len);
        c += len > 0 ? len : 1;
    }
    if (cut)
        buf_puts(out, "\u2026");
}

/* "12 ms", "failed, 12 ms", "not run"; "" for a plan without times. NEW. */
static char *
time_of(const plan_t *self, const plan_node_t *node)
{
    if (!self->timed)
        return xstrdup(plan_is_parallel(node) ? "parallel" : "");
    if (!node->ran)
        return xstrdup("not run");
    return xasprintf("%s%.0f ms", node->failed ? "failed, " : "", node->ms);
}

/* The classes of a step's box. BORROWED. */
static const char *
step_class(const plan_t *self, const plan_node_t *node)
{
    return !self->timed ? "plain" : !node->ran ? "off" : node->failed ? "bad" : "good";
}

/* "Critical path: 3 of 5 steps, 112 ms; failed: 1, not run: 2". NEW. */
static char *
summary_of(const plan_t *self)
{
    buf_t out = BUF_INIT;
    size_t critical = 0, failed = 0, off = 0;

    for (size_t i = 0; i < self->n; i++) {
        critical += self->nodes[i].critical;
        failed += self->nodes[i].failed;
        off += self->timed && !self->nodes[i].ran;
    }
    buf_printf(&out, "Critical path: %zu of %zu steps", critical, self->n);
    if (self->timed)
        buf_printf(&out, ", %.0f ms", self->total);
    if (failed + off > 0)
        buf_printf(&out, "; failed: %zu, not run: %zu", failed, off);
    return buf_steal(&out);
}

/* ---- the picture --------------------------------------------------------------------------------- */

/* Style of the boxes and edges; the second half is for readers who like it dark. */
static const char style[] =
    "<style>text{font:12px system-ui,sans-serif;fill:#1f2328}.ground{fill:#fff}.id{font-weight:600}"
    ".what,.time,.why{fill:#59636e;font-size:11px}.why{font-size:10px;text-anchor:middle;paint-order:stroke;"
    "stroke:#fff;stroke-width:3px}.box{fill:#f6f8fa;stroke:#8c959f}.good .box{fill:#eafbee;stroke:#1a7f37}"
    ".bad .box{fill:#ffe2e0;stroke:#cf222e;stroke-width:2}.bad .time{fill:#a40e26;font-weight:600}"
    ".off .box{fill:#eaeef2;stroke:#afb8c1;stroke-dasharray:4 3}.off text{fill:#6e7781}"
    ".hot .box{stroke-width:3}.edge{fill:none;stroke:#8c959f}.order{stroke-dasharray:2 3}"
    ".edge.hot,.plain.hot .box{stroke:#bc4c00}.edge.hot{stroke-width:2.5}.tip{fill:#8c959f}.tip.hot{fill:#bc4c00}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}.what,.time,.why{fill:#9da7b3}"
    ".why{stroke:#0d1117}.box{fill:#161b22;stroke:#6e7681}.good .box{fill:#0f2a17;stroke:#3fb950}"
    ".bad .box{fill:#3c1618;stroke:#f85149}.bad .time{fill:#ff7b72}.off .box{fill:#1c2128;stroke:#484f58}"
    ".off text{fill:#7d8590}.edge{stroke:#6e7681}.edge.hot,.plain.hot .box{stroke:#f0883e}.tip{fill:#6e7681}"
    ".tip.hot{fill:#f0883e}}</style>";

/* A box with the ID, the function and the time. The full texts are its title, which browsers show as a
 * tip. */
static void
put_step(buf_t *out, const plan_t *self, size_t i, layout_point_t at)
{
    const plan_node_t *node = &self->nodes[i];
    AUTO_FREE char *what = plan_what_of(node), *time = time_of(self, node);
    double x = at.x + MARGIN, y = at.y + HEAD_H + MARGIN;

    buf_printf(out, "<g class=\"%s%s\"><title>", step_class(self, node), node->critical ? " hot" : "");
    put_xml(out, plan_id_of(node), SIZE_MAX);
    buf_puts(out, ": ");
    put_xml(out, what, SIZE_MAX);
    buf_printf(out,
               "%s%s</title><rect class=\"box\" x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"6\"/>",
               *time != '\0' ? ", " : "", time, x, y, BOX_W, BOX_H);
    buf_printf(out, "<text class=\"id\" x=\"%.0f\" y=\"%.0f\">", x + 10, y + 18);
    put_xml(out, plan_id_of(node), CHARS);
    buf_printf(out, "</text><text class=\"what\" x=\"%.0f\" y=\"%.0f\">", x + 10, y + 34);
    put_xml(out, what, CHARS + 5);
    buf_puts(out, "</text>");
    if (*time != '\0')
        buf_printf(out, "<text class=\"time\" x=\"%.0f\" y=\"%.0f\">%s</text>", x + 10, y + 50, time);
    buf_puts(out, "</g>\n");
}

/* A curve that leaves and enters upright. `why` NULL: only the order, or too many to name. */
static void
put_edge(buf_t *out, const layout_path_t *path, const plan_edge_t *edge, bool hot, bool named)
{
    double dx = MARGIN, dy = HEAD_H + MARGIN;
    const layout_point_t *p = path->points;

    buf_printf(out, "<path class=\"edge%s%s\" marker-end=\"url(#%s)\" d=\"M%.0f %.0f", hot ? " hot" : "",
               edge->why == NULL ? " order" : "", hot ? "tip-hot" : "tip", p[0].x + dx, p[0].y + dy);
    for (size_t i = 1; i < path->n; i++) {
        double mid = (p[i - 1].y + p[i].y) / 2;
        buf_printf(out, "C%.0f %.0f %.0f %.0f %.0f %.0f", p[i - 1].x + dx, mid + dy, p[i].x + dx, mid + dy,
                   p[i].x + dx, p[i].y + dy);
    }
    buf_puts(out, "\"/>\n");
    if (named && edge->why != NULL)
        buf_printf(out, "<text class=\"why\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                   (p[0].x + 2 * p[1].x) / 3 + dx, (p[0].y + 2 * p[1].y) / 3 + dy, edge->why);
}

int
plan_draw_svg(const plan_t *self, buf_t *out, fail_t *err)
{
    static const layout_sizes_t sizes = { BOX_W, BOX_H, GAP_X, GAP_Y, GAP_EDGE };
    size_t n_edges = 0;

    for (size_t i = 0; i < self->n; i++)
        n_edges += self->nodes[i].n_edges;
    if (self->n > PLAN_STEPS_DRAWN || n_edges > PLAN_EDGES_DRAWN)
        return fail_kind(
            err, FAIL_INVOCATION, -E2BIG,
            "A picture of %zu steps with %zu requisites is nothing to look at: at most %d and %d are "
            "drawn; format=text shows them all",
            self->n, n_edges, PLAN_STEPS_DRAWN, PLAN_EDGES_DRAWN);

    /* The layout numbers edges as the nodes list them; the loop that draws them counts alike. */
    AUTO_FREE layout_edge_t *edges = xcalloc(n_edges + 1, sizeof(*edges));
    for (size_t i = 0, at = 0; i < self->n; i++)
        for (size_t k = 0; k < self->nodes[i].n_edges; k++)
            edges[at++] = (layout_edge_t){ .from = self->nodes[i].edges[k].from, .to = i };
    AUTO(layout) layout = layout_new(self->n, edges, n_edges, sizes);
    AUTO_FREE char *summary = summary_of(self);
    double width = layout->width + 2 * MARGIN, height = layout->height + 2 * MARGIN + HEAD_H;

    width = width > 420 ? width : 420; /* room for the summary */
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
               "%.0f\" role=\"img\">\n<title>%s</title>\n%s\n",
               width, height, width, height, summary, style);
    buf_puts(out, "<defs>");
    for (int hot = 0; hot < 2; hot++)
        buf_printf(out,
                   "<marker id=\"tip%s\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
                   "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip%s\" "
                   "d=\"M0 0L8 4L0 8z\"/></marker>",
                   hot ? "-hot" : "", hot ? " hot" : "");
    buf_puts(out, "</defs>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
    buf_printf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", MARGIN, MARGIN + 10, summary);
    /* Edges lie below the boxes, those of the critical path above the others. */
    for (int hot = 0; hot < 2; hot++)
        for (size_t i = 0, at = 0; i < self->n; i++)
            for (size_t k = 0; k < self->nodes[i].n_edges; k++, at++) {
                const plan_edge_t *edge = &self->nodes[i].edges[k];
                bool is_hot = self->nodes[i].critical && self->nodes[i].via == edge->from;
                if (is_hot == (hot == 1))
                    put_edge(out, &layout->paths[at], edge, is_hot, n_edges <= LABELS_MAX);
            }
    for (size_t i = 0; i < self->n; i++)
        put_step(out, self, i, layout->nodes[i]);
    buf_puts(out, "</svg>");
    return 0;
}

/* ---- the page ------------------------------------------------------------------------------------ */

static const char page_style[] =
    "<style>:root{color-scheme:light dark}body{margin:0;padding:1rem;font:15px system-ui,sans-serif;"
    "background:#fff;color:#1f2328}h1{font-size:1.2rem;margin:0 0 .5rem}.picture{margin-top:.5rem;overflow:auto;border:1px "
    "solid #8c959f;border-radius:6px;max-height:85vh}svg{display:block}#fit:checked~.picture svg{width:100%;height:auto}table{border-collapse:collapse;"
    "margin-top:1rem;font-size:13px}th,td{text-align:left;padding:.25rem .75rem .25rem 0;vertical-align:top;"
    "overflow-wrap:anywhere}tr.bad td{color:#cf222e}tr.off td{color:#6e7781}tr.hot td:first-child{font-weight:700}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}tr.bad td{color:#ff7b72}"
    "tr.off td{color:#7d8590}}</style>";

/* A step's row: number, ID, function, time, and the requisites that it waits for. */
static void
put_table_row(buf_t *out, const plan_t *self, size_t i)
{
    const plan_node_t *node = &self->nodes[i];
    AUTO_FREE char *what = plan_what_of(node), *time = time_of(self, node);
    bool any = false;

    buf_printf(out, "<tr class=\"%s%s\"><td>%s%zu</td><td>", step_class(self, node),
               node->critical ? " hot" : "", node->critical ? "* " : "", i + 1);
    put_xml(out, plan_id_of(node), SIZE_MAX);
    buf_puts(out, "</td><td>");
    put_xml(out, what, SIZE_MAX);
    buf_printf(out, "</td><td>%s</td><td>", time);
    for (size_t k = 0; k < node->n_edges; k++) {
        if (node->edges[k].why == NULL)
            continue;
        buf_printf(out, "%s%s ", any ? ", " : "", node->edges[k].why);
        put_xml(out, plan_id_of(&self->nodes[node->edges[k].from]), SIZE_MAX);
        any = true;
    }
    buf_puts(out, "</td></tr>\n");
}

int
plan_draw_html(const plan_t *self, buf_t *out, fail_t *err)
{
    buf_auto_t picture = BUF_INIT;
    AUTO_FREE char *summary = summary_of(self);
    int rc = plan_draw_svg(self, &picture, err);

    if (rc < 0)
        return rc;
    buf_printf(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"><title>%s</title>%s</head>\n<body><h1>%s</h1>\n",
        self->ordered ? "Orchestration" : "States", page_style, summary);
    buf_puts(out, "<input type=\"checkbox\" id=\"fit\"> <label for=\"fit\">Show the whole width</label>\n"
                  "<div class=\"picture\" tabindex=\"0\">\n");
    buf_add(out, buf_str(&picture), picture.len);
    buf_printf(out,
               "\n</div>\n<table><thead><tr><th>Step</th><th>ID</th><th>Function</th><th>%s</th><th>Waits "
               "for</th></tr></thead><tbody>\n",
               self->timed ? "Time" : "");
    for (size_t i = 0; i < self->n; i++)
        put_table_row(out, self, i);
    buf_puts(out, "</tbody></table>\n<p>* on the critical path</p></body></html>");
    return 0;
}
