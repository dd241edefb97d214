# `group` is the cluster; `events` are those that came together. The name comes from the events: `json` writes it as one text.
set it up:
  local.state.apply:
    - tgt: {{ ('cluster:' ~ group) | json }}
    - tgt_type: pillar
