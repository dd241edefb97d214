/* yaml_construct.c - the parts of PyYAML's SafeConstructor that the JSON and the Python loader share: default
 * values, and the messages for unknown tags, wrong shapes and malformed `!!pairs`. */
#include "common/data/yaml_construct.h"

#include "salt/limits.h"

static const char pairing[] = "while constructing pairs";

/* Follows `=` keys with a bounded loop: in a graph document a mapping may be its own default value. */
const ynode_t *
yaml_default_value(const ynode_t *node)
{
    for (int depth = 0; node->shape == YMAP && depth < LIMIT_YAML_DEPTH; depth++) {
        const ynode_t *value = NULL;
        for (size_t i = 0; i < node->n && value == NULL; i++) {
            if (node->pairs[i].key->kind == YAML_IS_VALUE)
                value = node->pairs[i].value;
        }
        if (value == NULL)
            break;
        node = value;
    }
    return node;
}

void
yaml_unknown_tag(const ynode_t *node, yproblem_t *problem)
{
    static const char *const plain[] = {
        [YAML_IS_MERGE] = "tag:yaml.org,2002:merge", [YAML_IS_VALUE] = "tag:yaml.org,2002:value"
    };

    yproblem_set(problem, YAML_CONSTRUCTOR, node->at, "could not determine a constructor for the tag '%s'",
                 node->tag != NULL ? node->tag : plain[node->kind]);
}

/* A `!!pairs` over something else than a sequence has a message of its own in PyYAML. */
void
yaml_wrong_shape(const ynode_t *node, yshape_t wanted, yproblem_t *problem)
{
    const ynode_t like = { .shape = wanted };

    if (node->kind == YAML_IS_PAIRS)
        yproblem_within(problem, YAML_CONSTRUCTOR, pairing, node->at, node->at,
                        "expected a sequence, but found %s", ynode_shape_name(node));
    else
        yproblem_set(problem, YAML_CONSTRUCTOR, node->at, "expected a %s node, but found %s",
                     ynode_shape_name(&like), ynode_shape_name(node));
}

bool
yaml_is_pair(const ynode_t *item, const ynode_t *pairs, yproblem_t *problem)
{
    if (item->shape != YMAP)
        return yproblem_within(problem, YAML_CONSTRUCTOR, pairing, pairs->at, item->at,
                               "expected a mapping of length 1, but found %s", ynode_shape_name(item));
    return item->n == 1 || yproblem_within(problem, YAML_CONSTRUCTOR, pairing, pairs->at, item->at,
                                           "expected a single mapping item, but found %zu items", item->n);
}
