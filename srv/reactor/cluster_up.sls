# `group` is the cluster; `events` are those that came together.
set it up:
  local.state.apply:
    - tgt: cluster:{{ group }}
    - tgt_type: pillar
