/* plan_draw.c - see plan.h: a plan as text, and in the languages of programs that draw graphs. */
#include "common/base/str.h"
#include "common/state/plan_int.h"
#include "salt/state.h"

/* Duration of a step that ran; nothing in a plan without times. */
static void
put_time(buf_t *out, const plan_t *self, const plan_node_t *node)
{
    if (self->timed && node->ran)
        buf_printf(out, ", %.0f ms%s", node->ms, node->failed ? ", failed" : "");
    else if (self->timed)
        buf_puts(out, ", not run");
}

/* One line per step: '*' marks the critical path, requisites stand in brackets; the path itself follows. */
static int
draw_text(const plan_t *self, buf_t *out, fail_t *err)
{
    json_auto_t *path = plan_critical(self);
    size_t i;
    json_t *at;

    for (i = 0; i < self->n; i++) {
        const plan_node_t *node = &self->nodes[i];
        AUTO_FREE char *what = plan_what_of(node);
        buf_printf(out, "%c %3zu  %s: %s%s", node->critical ? '*' : ' ', i + 1, plan_id_of(node), what,
                   plan_is_parallel(node) ? " (parallel)" : "");
        put_time(out, self, node);
        bool first = true; /* of the requisites; an edge without one is plain order, which is not shown */
        for (size_t k = 0; k < node->n_edges; k++) {
            if (node->edges[k].why == NULL)
                continue;
            buf_printf(out, "%s%s %s", first ? "  [" : ", ", node->edges[k].why,
                       plan_id_of(&self->nodes[node->edges[k].from]));
            first = false;
        }
        buf_puts(out, first ? "\n" : "]\n");
    }
    buf_puts(out, "Critical path:");
    json_array_foreach (path, i, at)
        buf_printf(out, "%s %s", i > 0 ? " ->" : "", plan_id_of(&self->nodes[json_integer_value(at)]));
    if (self->timed)
        buf_printf(out, " (%.0f ms)", self->total);
    else
        buf_printf(out, " (%zu of %zu steps)", json_array_size(path), self->n);
    return 0;
}

/* Text in quotes of Graphviz. */
static void
put_dot_text(buf_t *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            buf_putc(out, '\\');
        buf_putc(out, (unsigned char) *text < ' ' ? ' ' : *text);
    }
}

/* Text in quotes of Mermaid, which takes what is in them for HTML. */
static void
put_mermaid_text(buf_t *out, const char *text)
{
    static const struct {
        char sign;
        const char *entity;
    } rows[] = { { '"', "#quot;" }, { '<', "#lt;" }, { '>', "#gt;" }, { '&', "#amp;" }, { '#', "#35;" } };

    for (; *text != '\0'; text++) {
        const char *entity = NULL;
        for (size_t i = 0; i < NELEMS(rows) && entity == NULL; i++)
            entity = rows[i].sign == *text ? rows[i].entity : NULL;
        if (entity != NULL)
            buf_puts(out, entity);
        else if ((unsigned char) *text < ' ')
            buf_putc(out, ' ');
        else
            buf_putc(out, *text);
    }
}

/* Graphviz: requisites are labelled edges, plain order is dotted, the critical path is red. */
static int
draw_dot(const plan_t *self, buf_t *out, fail_t *err)
{
    buf_printf(out, "digraph %s {\n    rankdir=TB;\n    node [shape=box];\n",
               self->ordered ? "orchestration" : "states");
    for (size_t i = 0; i < self->n; i++) {
        const plan_node_t *node = &self->nodes[i];
        AUTO_FREE char *what = plan_what_of(node);
        buf_printf(out, "    s%zu [label=\"", i + 1);
        put_dot_text(out, plan_id_of(node));
        buf_puts(out, "\\n");
        put_dot_text(out, what);
        put_time(out, self, node);
        buf_printf(out, "\"%s];\n", node->critical ? ", penwidth=2, color=red" : "");
    }
    for (size_t i = 0; i < self->n; i++) {
        for (size_t k = 0; k < self->nodes[i].n_edges; k++) {
            const plan_edge_t *edge = &self->nodes[i].edges[k];
            bool hot = self->nodes[i].critical && self->nodes[i].via == edge->from;
            buf_printf(out, "    s%zu -> s%zu [", edge->from + 1, i + 1);
            if (edge->why != NULL)
                buf_printf(out, "label=\"%s\"", edge->why);
            else
                buf_puts(out, "style=dotted");
            buf_printf(out, "%s];\n", hot ? ", penwidth=2, color=red" : "");
        }
    }
    buf_puts(out, "}");
    return 0;
}

/* Mermaid flowchart. */
static int
draw_mermaid(const plan_t *self, buf_t *out, fail_t *err)
{
    buf_puts(out, "flowchart TD\n");
    for (size_t i = 0; i < self->n; i++) {
        const plan_node_t *node = &self->nodes[i];
        AUTO_FREE char *what = plan_what_of(node);
        buf_printf(out, "    s%zu[\"", i + 1);
        put_mermaid_text(out, plan_id_of(node));
        buf_puts(out, "<br/>");
        put_mermaid_text(out, what);
        put_time(out, self, node);
        buf_printf(out, "\"]%s\n", node->critical ? ":::critical" : "");
    }
    for (size_t i = 0; i < self->n; i++) {
        for (size_t k = 0; k < self->nodes[i].n_edges; k++) {
            const plan_edge_t *edge = &self->nodes[i].edges[k];
            if (edge->why != NULL)
                buf_printf(out, "    s%zu -->|%s| s%zu\n", edge->from + 1, edge->why, i + 1);
            else
                buf_printf(out, "    s%zu -.-> s%zu\n", edge->from + 1, i + 1);
        }
    }
    buf_puts(out, "    classDef critical stroke:#c00,stroke-width:3px");
    return 0;
}

/* For programs: [{"step", "needs": [{"step", "why": a requisite, or null for the order alone, "critical"}],
 * "critical", "ms"?}], steps by their place in the plan. */
static int
draw_json(const plan_t *self, buf_t *out, fail_t *err)
{
    json_auto_t *steps = json_array();

    for (size_t i = 0; i < self->n; i++) {
        const plan_node_t *node = &self->nodes[i];
        json_t *needs = json_array();
        for (size_t k = 0; k < node->n_edges; k++)
            json_array_append_new(needs,
                                  json_pack("{s:I, s:s?, s:b}", "step", (json_int_t) node->edges[k].from,
                                            "why", node->edges[k].why, "critical",
                                            node->critical && node->via == node->edges[k].from));
        json_t *step = json_pack("{s:I, s:o, s:b}", "step", (json_int_t) i, "needs", needs, "critical",
                                 node->critical);
        if (node->ran)
            json_object_set_new(step, "ms", json_real(node->ms));
        json_array_append_new(steps, step);
    }
    AUTO_FREE char *text = value_dump(steps);
    buf_puts(out, text);
    return 0;
}

static const struct drawing {
    const char *name;
    int (*draw)(const plan_t *self, buf_t *out, fail_t *err);
} drawings[] = {
    { "text", draw_text }, { "dot", draw_dot },      { "mermaid", draw_mermaid },
    { "json", draw_json }, { "svg", plan_draw_svg }, { "html", plan_draw_html },
};

/* NEW; NULL with *err for an unknown format, or for a plan that is too large for a picture. */
char *
plan_draw(const plan_t *self, const char *format, fail_t *err)
{
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i < NELEMS(drawings); i++) {
        if (str_eq(drawings[i].name, format))
            return drawings[i].draw(self, &out, err) == 0 ? buf_steal(&out) : NULL;
    }
    (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a way to draw a plan: " PLAN_FORMATS,
                     format);
    return NULL;
}
