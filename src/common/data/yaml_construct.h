/* yaml_construct.h - what constructing JSON values and Python values of YAML nodes has in common.
 *
 * Layer      common/data; included by yaml_load.c and py/py_yaml_load.c
 * Threads    any
 * Errors     *problem, in the words of PyYAML's constructor
 * Tests      tests/unit/common/test_yaml.c, tests/cases/yaml
 */
#ifndef COMMON_DATA_YAML_CONSTRUCT_H
#define COMMON_DATA_YAML_CONSTRUCT_H

#include "common/data/yaml_node.h"

/* The node that counts where a scalar is expected: `{=: text}` stands for that text (YAML 1.1's default
 * value). BORROWED. */
const ynode_t *yaml_default_value(const ynode_t *node);
/* Set *problem: the node's tag has no constructor; the node's shape is not the one that its tag needs. */
void yaml_unknown_tag(const ynode_t *node, yproblem_t *problem);
void yaml_wrong_shape(const ynode_t *node, yshape_t wanted, yproblem_t *problem);
/* True when an item of a `!!pairs` is a mapping with one key; else false with *problem set. */
bool yaml_is_pair(const ynode_t *item, const ynode_t *pairs, yproblem_t *problem);

#endif
